//! When checkpoints are kept: in the background, after much has happened.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::Store;
use super::checkpoint::LOAD_WAIT;

/// A replay that took longer is worth a checkpoint, however few events it had.
pub(super) const SLOW_REPLAY: Duration = Duration::from_secs(1);

/// A checkpoint costs what its keys do, which is several times what it takes to fold an event. So one that spares an
/// open fewer events than one for so many keys is not made.
const KEYS_PER_EVENT: u64 = 8;

/// When checkpoints are kept, and by whom.
#[derive(Debug)]
pub(super) struct Keeping {
    /// Whether the store opens from checkpoints and keeps them.
    pub(super) is_on: bool,
    /// One is due after so many events at least.
    every: u64,
    /// The position of the newest one that was loaded, kept or begun.
    pub(super) since: AtomicU64,
    thread: Mutex<Option<JoinHandle<()>>>,
    store: Weak<Store>,
}

impl Keeping {
    pub(super) fn new(is_on: bool, every: u64, store: Weak<Store>) -> Self {
        Self { is_on, every, since: AtomicU64::new(0), thread: Mutex::default(), store }
    }
}

impl Store {
    /// Whether anything has been folded since the checkpoint that was taken up.
    pub(super) fn is_past_checkpoint(&self) -> bool {
        self.published().head().get() > self.keeping.since.load(Ordering::Relaxed)
    }

    /// Keeps a checkpoint in the background once enough has been published since the last.
    pub(super) fn keep_if_due(&self) {
        let (head, keys) = {
            let published = self.published();
            (published.head().get(), published.state.key_count() as u64)
        };
        let events = head.saturating_sub(self.keeping.since.load(Ordering::Relaxed));
        if events >= self.keeping.every.max(keys / KEYS_PER_EVENT) {
            self.keep_in_background();
        }
    }

    /// Keeps a checkpoint in the background, unless one is in the making. What goes wrong there costs time at
    /// the next open, and nothing else.
    pub(super) fn keep_in_background(&self) {
        if !self.keeping.is_on || !self.checkpoints.are_possible() || !self.is_sound() {
            return;
        }
        let mut thread = self.keeping.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.as_ref().is_some_and(|thread| !thread.is_finished()) {
            return;
        }
        let Some(store) = self.keeping.store.upgrade() else { return };
        // Also when it fails: not again before as much has come once more.
        self.keeping.since.store(self.published().head().get(), Ordering::Relaxed);
        let work = move || drop(store.keep_checkpoint(LOAD_WAIT));
        *thread = thread::Builder::new().name("bilinc-checkpoint".to_owned()).spawn(work).ok();
    }

    /// Waits for a checkpoint in the making.
    pub(super) fn finish_keeping(&self) {
        let thread = self.keeping.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // A thread that broke off has left something that is never read.
            let _ = thread.join();
        }
    }
}

/// An open store that handles share. The last of them waits for a checkpoint in the making, so that the log
/// closes with it and not some time later.
#[derive(Debug)]
pub(crate) struct Shared(pub(super) Arc<Store>);

impl std::ops::Deref for Shared {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.0
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.0.finish_keeping();
    }
}
