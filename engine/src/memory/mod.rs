//! [`Memory`]: the façade that people embed.

mod backup;
mod builder;
mod checkpoint;
mod cursor;
mod diff;
mod dream;
mod history;
mod judge;
mod list;
mod log;
mod point;
mod recall;
mod replay;
mod salvage;
mod since;
mod snapshot;
mod status;
mod transfer;
mod undo;
mod verify;
mod write;

use std::path::Path;
use std::sync::Arc;

use bilinc_core::{Actor, Seq, StoreId, Timestamp};

pub use self::builder::MemoryBuilder;
pub use self::transfer::ImportOptions;

use crate::answer::{ChainHash, Head};
use crate::error::{EngineError, Error};
use crate::storage::MemoryStorage;
use crate::store::Shared;

/// A store of memories.
///
/// A cheap handle: clones share the store, and any number of threads may use them. Writes return
/// when they are durable; a read does not wait for the sync of a write, and takes no lock that another
/// process may hold. Several processes may have the same folder open.
///
/// ```
/// use bilinc::{Actor, Commit, Forget, Json, Key, Memory, Undo, Selection};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// let memory = Memory::open(folder.path().join("memory"))?
///     .acting_as(Actor { source: "build-agent".into(), session_id: None });
/// let key = Key::new("build.command")?;
/// memory.commit(Commit::new(key.clone(), Json::string("make all")))?;
/// let forget = Forget { key, reason: "the build moved to cargo".into(), expected_version: None, purge: false };
/// let forgotten = memory.forget(forget)?.answer;
///
/// // Anything can be taken back, by writer, session, range or single position.
/// memory.undo(Undo { selection: Selection::Seqs(vec![forgotten.seq]), dry_run: false })?;
/// assert!(memory.get("build.command")?.is_some());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Memory {
    store: Arc<Shared>,
    actor: Actor,
    idempotency: Option<String>,
}

impl Memory {
    /// Opens the store in a folder, and makes it when it is not there.
    ///
    /// # Errors
    /// [`EngineError::Log`] when the folder cannot be used.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::builder().open(path)
    }

    /// A store that lives as long as its handles, for tests and for replaying histories.
    ///
    /// # Errors
    /// [`EngineError::Random`] when the system has no random numbers.
    pub fn in_memory() -> Result<Self, Error> {
        Self::builder().open_in(Arc::new(MemoryStorage::new()))
    }

    /// How a store is opened, step by step.
    pub fn builder() -> MemoryBuilder {
        MemoryBuilder::default()
    }

    /// A handle whose writes are this actor's.
    #[must_use]
    pub fn acting_as(&self, actor: Actor) -> Self {
        Self { actor, ..self.clone() }
    }

    /// A handle for one request: sent again with the same key and the same payload within 24 hours,
    /// it gets the first answer again and writes nothing.
    #[must_use]
    pub fn with_idempotency_key(&self, name: &str) -> Self {
        Self { idempotency: Some(name.to_owned()), ..self.clone() }
    }

    /// The store's id.
    #[must_use]
    pub fn store_id(&self) -> StoreId {
        self.store.id()
    }

    /// The present moment by the store's clock.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.store.now()
    }

    /// Closes this handle. The store closes with its last handle: the log is cut to its real length
    /// and the mark is synced. Dropping the handles does the same.
    pub fn close(self) {
        drop(self);
    }

    /// Why the store is damaged, if it is: the log could not be folded to its end when it was
    /// opened. Reads answer from what lies before the damage; writes are refused with
    /// `store_corrupt`.
    #[must_use]
    pub fn damage(&self) -> Option<String> {
        self.store.damage().map(ToString::to_string)
    }

    /// Where the log stands.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn head(&self) -> Result<Head, Error> {
        let durable = self.store.log.durable().map_err(EngineError::from)?;
        Ok(Head { seq: Seq::new(durable.seq), chain: ChainHash(durable.chain) })
    }
}

/// The promise above, held by the compiler.
const _: () = {
    const fn assert_shared<T: Send + Sync>() {}
    assert_shared::<Memory>();
};
