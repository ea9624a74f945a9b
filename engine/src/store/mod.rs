//! One open store: the log, and what is folded from it.
//!
//! Writers go through [`commit`]: a leader decides for all that wait, appends their operations
//! together, and answers once they are durable. Readers look at [`Published`], which holds what the
//! mark of the log covers and nothing else.

mod ahead;
mod bodies;
mod checkpoint;
mod commit;
mod earlier;
mod frames;
mod history;
mod indexing;
mod judge;
mod keeping;
mod publish;
mod published;
mod purge;
mod queue;
mod reading;
mod salvage;
mod saving;
#[cfg(test)]
mod testing;
mod token;
mod visit;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, OnceLock, RwLock, Weak};
use std::time::Instant;

use bilinc_core::{Actor, Command, IdempotencyRecord, Outcome, RecordedEvent, Seq, StoreId, Timestamp};

pub(crate) use self::checkpoint::kept_through;
pub(crate) use self::earlier::{EarlierValues, named_by};
pub(crate) use self::history::LogHistory;
pub(crate) use self::indexing::put as index_entry;
pub(crate) use self::keeping::Shared;
pub(crate) use self::published::Published;
pub(crate) use self::purge::UNEXPLAINED;
pub(crate) use self::reading::Text;
pub(crate) use self::salvage::{Examined, Recorder};
pub(crate) use self::visit::MANY;

use self::bodies::BodyCache;
use self::commit::Pending;
use self::frames::FrameCache;
use self::keeping::{Keeping, SLOW_REPLAY};
use self::queue::Queue;
use crate::checkpoint::Checkpoints;
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
    /// Whether to open from checkpoints and keep them; unless said, stores for reading only do not.
    pub(crate) checkpoints: Option<bool>,
    /// A checkpoint is due after so many events.
    pub(crate) checkpoint_every: u64,
}

impl Settings {
    pub(crate) fn new(clock: Arc<dyn Clock>, ids: Arc<dyn Ids>) -> Self {
        Self { clock, ids, refuse_secrets: false, checkpoints: None, checkpoint_every: 50_000 }
    }
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
    bodies: BodyCache,
    lost_bodies: Mutex<HashSet<Seq>>,
    recall: Mutex<indexing::RecallIndex>,
    earlier: Mutex<EarlierValues>,
    checkpoints: Checkpoints,
    keeping: Keeping,
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
    pub(crate) fn open(
        storage: Arc<dyn Storage>,
        options: LogOptions,
        settings: Settings,
    ) -> Result<Arc<Shared>, Error> {
        let mut seed = [0_u8; 8];
        getrandom::fill(&mut seed).map_err(|error| EngineError::Random(error.to_string()))?;
        let hash_seed = u64::from_le_bytes(seed);
        let (log, _) =
            Log::open(Arc::clone(&storage), options.clone(), settings.ids.next_id()).map_err(EngineError::from)?;
        let keeps = settings.checkpoints.unwrap_or(!options.read_only);
        let store = Arc::new_cyclic(|store| Self {
            checkpoints: Checkpoints::new(Arc::clone(&storage), options.holder.clone()),
            keeping: Keeping::new(keeps, settings.checkpoint_every, Weak::clone(store)),
            log,
            options,
            settings,
            storage,
            published: RwLock::new(Published::of_nothing(hash_seed)),
            pending: Mutex::default(),
            queue: Queue::default(),
            frames: FrameCache::default(),
            bodies: BodyCache::default(),
            lost_bodies: Mutex::default(),
            recall: Mutex::new(indexing::RecallIndex::new(hash_seed)),
            earlier: Mutex::new(EarlierValues::new(hash_seed)),
            hash_seed,
            damage: OnceLock::new(),
        });
        store.fold_at_open()?;
        Ok(Arc::new(Shared(store)))
    }

    /// Folds the log, from a checkpoint on where there is one. Damage is kept for those who write or ask.
    fn fold_at_open(&self) -> Result<(), EngineError> {
        let begun = Instant::now();
        let ahead = self.take_up_checkpoint();
        let damage = match (self.refresh(), ahead) {
            (Ok(()), None) => {
                self.finish_purges_at_open();
                if begun.elapsed() >= SLOW_REPLAY && self.is_past_checkpoint() {
                    self.keep_in_background();
                }
                return Ok(());
            }
            (Ok(()), Some(damage)) => EngineError::Log(self.log.damaged(damage)),
            (Err(error @ (EngineError::Log(LogError::Damage(_)) | EngineError::Unreadable { .. })), _) => error,
            (Err(error), _) => return Err(error),
        };
        // Set once, here.
        let _ = self.damage.set(damage);
        Ok(())
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
