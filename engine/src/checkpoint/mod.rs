//! Checkpoints: folds kept beside the log, so that an open costs what is alive and not all that ever was.
//!
//! A checkpoint is never needed and never believed: it holds nothing that the log does not give again, and
//! any doubt about it (its files, its version, its place in the log, its rows) sets it aside, so that the
//! fold is made anew. `docs/design.md` says what may be found in the folder and what is done with it.
//!
//! ```text
//! checkpoints/state/      manifest, and the files of a sled database
//! checkpoints/places/     the same: where frames lie
//! checkpoints/recall/     the same; it holds words of values, and goes with every purge
//! checkpoints/*.new/      one in the making; never read
//! checkpoints/doubted/    the last that was set aside
//! checkpoint.lock         held by whoever loads, makes or removes one
//! ```
//!
//! Only stores in a real folder have them, because sled goes its own way to the disk.

mod beside;
mod folder;
mod manifest_file;
mod packs;
#[cfg(test)]
mod tests;
mod tree;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

pub(crate) use self::beside::{Beside, Decode};
pub(crate) use self::folder::Kept;

use crate::log::{CHECKPOINT_LOCK, HeldLock, LogError, take_lock};
use crate::storage::{Storage, StorageLock};

/// The checkpoints of one store.
#[derive(Debug)]
pub(crate) struct Checkpoints {
    storage: Arc<dyn Storage>,
    /// The store's folder, where it is a real one.
    root: Option<PathBuf>,
    holder: String,
    /// One thread of this process at a time.
    turn: Mutex<()>,
    lock: Mutex<Option<Arc<dyn StorageLock>>>,
    setting_aside: Mutex<()>,
}

/// The right to load, make or remove checkpoints, until this is dropped.
#[derive(Debug)]
pub(crate) struct Held<'a> {
    checkpoints: &'a Checkpoints,
    // Dropped in this order: other processes first.
    _lock: HeldLock,
    _turn: MutexGuard<'a, ()>,
}

impl Checkpoints {
    pub(crate) fn new(storage: Arc<dyn Storage>, holder: String) -> Self {
        let root = storage.folder();
        Self { storage, root, holder, turn: Mutex::default(), lock: Mutex::default(), setting_aside: Mutex::default() }
    }

    /// Whether there can be any.
    pub(crate) fn are_possible(&self) -> bool {
        self.root.is_some()
    }

    /// Takes `checkpoint.lock`, waiting at most `wait` for other processes, and for as long as it takes for
    /// another thread of this one. Who waits here holds none of the store's own locks that a checkpoint in
    /// the making needs: neither the recall index nor what is published.
    pub(crate) fn hold(&self, wait: Duration) -> Result<Held<'_>, LogError> {
        self.held(self.turn.lock().unwrap_or_else(PoisonError::into_inner), wait)
    }

    /// As [`Self::hold`], without waiting for a thread of this process.
    pub(crate) fn hold_unless_at_work(&self, wait: Duration) -> Result<Held<'_>, LogError> {
        let turn = match self.turn.try_lock() {
            Ok(turn) => turn,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                let holder = "another thread of this process".to_owned();
                return Err(LogError::Busy { lock: CHECKPOINT_LOCK, holder, waited: Duration::ZERO });
            }
        };
        self.held(turn, wait)
    }

    fn held<'a>(&'a self, turn: MutexGuard<'a, ()>, wait: Duration) -> Result<Held<'a>, LogError> {
        let lock = take_lock(&self.file()?, CHECKPOINT_LOCK, wait, &self.holder)?;
        Ok(Held { checkpoints: self, _lock: lock, _turn: turn })
    }

    /// The lock's file, opened when it is first needed.
    fn file(&self) -> Result<Arc<dyn StorageLock>, LogError> {
        let mut lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lock) = lock.as_ref() {
            return Ok(Arc::clone(lock));
        }
        let opened = self.storage.lock(CHECKPOINT_LOCK);
        let opened =
            opened.map_err(|source| LogError::Io { path: CHECKPOINT_LOCK.to_owned(), doing: "open a lock", source })?;
        Ok(Arc::clone(lock.insert(opened)))
    }
}
