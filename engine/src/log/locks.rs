//! The two locks between processes.

use std::convert::Infallible;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::append::Appending;
use super::error::{Doing, LogError};
use super::{Log, lock};
use crate::storage::{LockOutcome, StorageLock};

pub(crate) const APPEND_LOCK: &str = "append.lock";
pub(crate) const SYNC_LOCK: &str = "sync.lock";

/// A lock that is held until this is dropped.
#[derive(Debug)]
pub(crate) struct HeldLock(Arc<dyn StorageLock>);

impl Drop for HeldLock {
    fn drop(&mut self) {
        self.0.release();
    }
}

/// Whose turn it is among the threads of this process. Those who wait are woken all at once when a
/// turn ends: most find that it has served them too.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    now: Mutex<Now>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct Now {
    taken: bool,
    /// Threads that sleep until a turn ends.
    sleeping: usize,
}

#[derive(Debug)]
pub(crate) struct Turn<'a>(&'a Turns);

impl Turns {
    /// Waits for a turn, or until `served` (asked each time a turn ends) has an answer.
    pub(crate) fn take<T>(&self, served: impl Fn() -> Option<T>) -> Result<Turn<'_>, T> {
        let mut now = lock(&self.now);
        loop {
            if let Some(answer) = served() {
                return Err(answer);
            }
            if !now.taken {
                now.taken = true;
                return Ok(Turn(self));
            }
            now.sleeping += 1;
            now = self.ended.wait(now).unwrap_or_else(PoisonError::into_inner);
            now.sleeping -= 1;
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut now = lock(&self.0.now);
        now.taken = false;
        let sleeping = now.sleeping > 0;
        drop(now);
        if sleeping {
            self.0.ended.notify_all();
        }
    }
}

/// `sync.lock`, against other processes and other threads of this one.
#[derive(Debug)]
pub(crate) struct SyncHeld<'a> {
    // Dropped in this order: other processes first.
    _lock: HeldLock,
    _turn: Turn<'a>,
}

impl<'a> SyncHeld<'a> {
    pub(crate) fn new(lock: HeldLock, turn: Turn<'a>) -> Self {
        Self { _lock: lock, _turn: turn }
    }
}

/// Takes a lock, waiting at most `wait`.
pub(crate) fn take(
    held: &Arc<dyn StorageLock>,
    name: &'static str,
    wait: Duration,
    holder: &str,
) -> Result<HeldLock, LogError> {
    match held.acquire(wait, holder).doing("take a lock", name)? {
        LockOutcome::Acquired => Ok(HeldLock(Arc::clone(held))),
        LockOutcome::Busy { holder } => Err(LogError::Busy { lock: name, holder, waited: wait }),
    }
}

impl Log {
    /// `append.lock`. What was known of the tail counts no more when others have had it since.
    pub(crate) fn take_append_lock(&self, appending: &mut Appending, wait: Duration) -> Result<HeldLock, LogError> {
        let held = self.take(self.append_lock.as_ref(), APPEND_LOCK, wait)?;
        let undisturbed = held.0.undisturbed();
        appending.tail_known &= undisturbed;
        self.pace.appending(undisturbed);
        Ok(held)
    }

    /// `sync.lock`. The flag that stops writing is checked after it is held.
    pub(crate) fn take_sync_lock(&self, wait: Duration) -> Result<SyncHeld<'_>, LogError> {
        match self.syncing.take(|| None::<Infallible>) {
            Ok(turn) => self.lock_for(turn, wait),
            Err(never) => match never {},
        }
    }

    /// `sync.lock`, in a turn that this thread has.
    pub(crate) fn lock_for<'a>(&self, turn: Turn<'a>, wait: Duration) -> Result<SyncHeld<'a>, LogError> {
        let held = self.take(self.sync_lock.as_ref(), SYNC_LOCK, wait)?;
        Ok(SyncHeld::new(held, turn))
    }

    /// `sync.lock`, if nobody has it.
    pub(crate) fn try_sync_lock(&self) -> Result<Option<HeldLock>, LogError> {
        match self.take(self.sync_lock.as_ref(), SYNC_LOCK, Duration::ZERO) {
            Ok(held) => Ok(Some(held)),
            Err(LogError::Busy { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn take(
        &self,
        held: Option<&Arc<dyn StorageLock>>,
        name: &'static str,
        wait: Duration,
    ) -> Result<HeldLock, LogError> {
        let Some(held) = held else {
            let reason = self.read_only.clone().unwrap_or_default();
            return Err(LogError::ReadOnly { reason });
        };
        take(held, name, wait, &self.options.holder)
    }
}
