//! How a store is opened.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bilinc_core::Actor;

use super::Memory;
use crate::clock::{Clock, Ids, SystemClock, TimeOrderedIds};
use crate::error::Error;
use crate::log::{Durability, LogOptions, SaltSource};
use crate::storage::{FileStorage, Storage};
use crate::store::{Settings, Store};

/// How a store is opened. Every method returns the builder; the defaults are those of
/// [`Memory::open`].
///
/// ```
/// use bilinc::{Durability, Memory};
///
/// # fn main() -> Result<(), bilinc::Error> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("memory");
/// let memory = Memory::builder().durability(Durability::Relaxed).refuse_secrets(true).open(path)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct MemoryBuilder {
    pub(super) log: LogOptions,
    pub(super) settings: Settings,
    actor: Actor,
}

impl Default for MemoryBuilder {
    fn default() -> Self {
        Self {
            log: LogOptions::default(),
            settings: Settings::new(Arc::new(SystemClock), Arc::new(TimeOrderedIds)),
            actor: Actor::default(),
        }
    }
}

impl MemoryBuilder {
    /// Whether to make the store when it is not there; true by default.
    pub fn create(mut self, create: bool) -> Self {
        self.log.create = create;
        self
    }

    /// Whether to take no lock and write nothing, unless [`Self::checkpoints`] are asked for; false by default.
    pub fn read_only(mut self, read_only: bool) -> Self {
        self.log.read_only = read_only;
        self
    }

    /// When a write counts as done. [`Durability::Relaxed`] gives up the promise that an answered
    /// write survives a power cut, and other processes may see it later (the mark moves once in 64
    /// operations, and at close); `status` shows it.
    pub fn durability(mut self, durability: Durability) -> Self {
        self.log.durability = durability;
        self
    }

    /// How long to wait for another process that writes, 10 seconds by default.
    pub fn lock_timeout(mut self, timeout: Duration) -> Self {
        self.log.lock_timeout = timeout;
        self
    }

    /// Whether to go on although the folder is on a network file system, where locks and syncs do
    /// not keep their promises; false by default.
    pub fn force_network_file_system(mut self, force: bool) -> Self {
        self.log.force_network_file_system = force;
        self
    }

    /// Who writes through the handle; nobody by name by default.
    pub fn actor(mut self, actor: Actor) -> Self {
        self.actor = actor;
        self
    }

    /// Whether to refuse values, metadata and reasons that hold a credential; false by default in
    /// the library, true on every surface.
    pub fn refuse_secrets(mut self, refuse: bool) -> Self {
        self.settings.refuse_secrets = refuse;
        self
    }

    /// Where the time comes from; the system's clock by default.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.settings.clock = clock;
        self
    }

    /// Where ids come from; UUIDs of version 7 by default.
    pub fn ids(mut self, ids: Arc<dyn Ids>) -> Self {
        self.settings.ids = ids;
        self
    }

    /// Where the salts of erasable bodies come from; the system's random numbers by default. Fixed
    /// salts, ids and times make byte-equal logs.
    pub fn salts(mut self, salts: Arc<dyn SaltSource>) -> Self {
        self.log.salts = salts;
        self
    }

    /// A segment of the log takes no further operation that would make it longer; 64 MiB by default.
    pub fn segment_bytes(mut self, bytes: u64) -> Self {
        self.log.segment_bytes = bytes;
        self
    }

    /// Whether to open from a checkpoint where there is one, and to keep checkpoints; true by default, but
    /// false for stores that are opened for reading only. Set to true there, it lets readers open as fast as
    /// writers do, and touches what is derived from the log, never the log.
    pub fn checkpoints(mut self, checkpoints: bool) -> Self {
        self.settings.checkpoints = Some(checkpoints);
        self
    }

    /// After how many events a checkpoint is made in the background, 50,000 by default; later where there are more than
    /// eight times as many keys, because it costs what they do.
    pub fn checkpoint_every(mut self, events: u64) -> Self {
        self.settings.checkpoint_every = events;
        self
    }

    /// Opens the store in a folder.
    ///
    /// # Errors
    /// [`crate::EngineError::Log`] when the folder cannot be used, is no store, was written by a
    /// later version, or is on a network file system. Damage inside the log is no error here: the
    /// store opens for reading, and `status` says so.
    pub fn open(self, path: impl AsRef<Path>) -> Result<Memory, Error> {
        self.open_in(Arc::new(FileStorage::new(path.as_ref())))
    }

    /// Opens the store in a storage of the caller's.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_in(mut self, storage: Arc<dyn Storage>) -> Result<Memory, Error> {
        if self.log.created_at.is_none() {
            self.log.created_at = Some(self.settings.clock.now().micros());
        }
        let store = Store::open(storage, self.log, self.settings)?;
        Ok(Memory { store, actor: self.actor, idempotency: None })
    }
}
