//! One open store: the log, and what is folded from it.
//!
//! Writers go through [`commit`]: a leader decides for all that wait, appends their operations
//! together, and answers once they are durable. Readers look at [`Published`], which holds what the
//! mark of the log covers and nothing else.

mod ahead;
mod commit;
mod frames;
mod history;
mod judge;
mod publish;
mod published;
mod purge;
mod queue;
mod reading;
mod salvage;
mod token;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, OnceLock, RwLock};

use bilinc_core::{Actor, Command, IdempotencyRecord, Outcome, RecordedEvent, Seq, StoreId, Timestamp};

pub(crate) use self::history::LogHistory;
pub(crate) use self::published::Published;
pub(crate) use self::purge::UNEXPLAINED;
pub(crate) use self::reading::{Text, put as index_entry};
pub(crate) use self::salvage::{Examined, Recorder};

use self::commit::Pending;
use self::frames::FrameCache;
use self::queue::Queue;
use crate::clock::{Clock, Ids};
use crate::error::{EngineError, Error};
use crate::log::{Log, LogError, LogOptions};
use crate::storage::Storage;

/// How a store works apart from its log.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) refuse_secrets: bool,
}

/// An open store.
#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) log: Log,
    pub(crate) options: LogOptions,
    pub(crate) settings: Settings,
    pub(crate) storage: Arc<dyn Storage>,
    published: RwLock<Published>,
    pending: Mutex<Pending>,
    queue: Queue,
    frames: FrameCache,
    lost_bodies: Mutex<HashSet<Seq>>,
    recall: Mutex<reading::RecallIndex>,
    hash_seed: u64,
    /// What kept the log from being folded to its end when it was opened. What lies before is
    /// published, and never anything behind it.
    damage: OnceLock<EngineError>,
}

/// A command with who asks for it.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) command: Command,
    pub(crate) actor: Actor,
    pub(crate) idempotency: Option<String>,
}

/// What became of a request.
#[derive(Debug, Clone)]
pub(crate) enum Done {
    /// These events were recorded.
    Written(Vec<Arc<RecordedEvent>>),
    /// The request came before; this is its operation.
    Replayed(IdempotencyRecord),
    /// There was nothing to write.
    Nothing(Outcome),
}

impl Store {
    pub(crate) fn open(storage: Arc<dyn Storage>, options: LogOptions, settings: Settings) -> Result<Self, Error> {
        let mut seed = [0_u8; 8];
        getrandom::fill(&mut seed).map_err(|error| EngineError::Random(error.to_string()))?;
        let hash_seed = u64::from_le_bytes(seed);
        let (log, _) =
            Log::open(Arc::clone(&storage), options.clone(), settings.ids.next_id()).map_err(EngineError::from)?;
        let store = Self {
            log,
            options,
            settings,
            storage,
            published: RwLock::new(Published::new(hash_seed)),
            pending: Mutex::default(),
            queue: Queue::default(),
            frames: FrameCache::default(),
            lost_bodies: Mutex::default(),
            recall: Mutex::new(reading::RecallIndex::new(hash_seed)),
            hash_seed,
            damage: OnceLock::new(),
        };
        match store.refresh() {
            Ok(()) => {
                store.finish_purges_at_open();
                Ok(store)
            }
            Err(error @ (EngineError::Log(LogError::Damage(_)) | EngineError::Unreadable { .. })) => {
                // Set once, here.
                let _ = store.damage.set(error);
                Ok(store)
            }
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) fn id(&self) -> StoreId {
        StoreId::from_u128(self.log.store_id())
    }

    /// What kept the log from being folded to its end: reads answer from what lies before, writes
    /// are refused.
    pub(crate) fn damage(&self) -> Option<&EngineError> {
        self.damage.get()
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.settings.clock.now()
    }

    pub(crate) fn hash_seed(&self) -> u64 {
        self.hash_seed
    }
}
