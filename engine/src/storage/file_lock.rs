//! A lock on a file, waited for without polling.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::file::open_regular;
use super::{LockOutcome, StorageLock};

/// How much of the holder's text is kept.
const HOLDER_BYTES: usize = 128;

/// How often a lock is tried, other threads let run in between, before a thread waits for it.
const BRIEF_TRIES: u32 = 32;

/// The handle that is tried first lives as long as this value, so that an uncontended lock costs two
/// system calls and no open.
#[derive(Debug)]
pub(super) struct FileLock {
    path: PathBuf,
    kept: File,
    held: Mutex<Held>,
}

#[derive(Debug)]
enum Held {
    No,
    Kept,
    /// The helper's own handle: the lock belongs to an open file, so it is passed on with it.
    Other(File),
}

impl FileLock {
    pub(super) fn open(path: PathBuf) -> io::Result<Self> {
        let kept = open(&path)?;
        Ok(Self { path, kept, held: Mutex::new(Held::No) })
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_holder(&self) -> io::Result<[u8; HOLDER_BYTES]> {
        let mut bytes = [0_u8; HOLDER_BYTES];
        let _ = self.kept.read_at(&mut bytes, 0)?;
        Ok(bytes)
    }

    /// Only a message: a lock that is held stays held when the text cannot be written (a full disk).
    fn write_holder(&self, holder: &str) {
        let mut bytes = [0_u8; HOLDER_BYTES];
        for (to, from) in bytes.iter_mut().zip(holder.bytes()) {
            *to = from;
        }
        // Reading is cheaper than writing, and one process mostly follows itself.
        if self.read_holder().is_ok_and(|there| there == bytes) {
            return;
        }
        let _ = self.kept.write_all_at(&bytes, 0);
    }

    /// A lock of the log is mostly held for microseconds: less than a thread costs.
    fn try_briefly(&self, wait: Duration) -> Result<(), TryLockError> {
        let tries = if wait.is_zero() { 0 } else { BRIEF_TRIES };
        for _ in 0..tries {
            match self.kept.try_lock() {
                Err(TryLockError::WouldBlock) => std::thread::yield_now(),
                other => return other,
            }
        }
        self.kept.try_lock()
    }

    /// Waits in a thread of its own, on a handle of its own: when the time is up, the lock that the
    /// thread may still be granted is let go with that handle, and never mixes with a later attempt.
    fn wait(&self, wait: Duration) -> io::Result<Option<File>> {
        let file = open(&self.path)?;
        let (granted, waiting) = mpsc::sync_channel(0);
        std::thread::Builder::new().name("bilinc-lock".to_owned()).spawn(move || {
            let outcome = file.lock().map(|()| file);
            // A rendezvous: when nobody waits any more the file comes back and is dropped here.
            let _ = granted.send(outcome);
        })?;
        match waiting.recv_timeout(wait) {
            Ok(outcome) => outcome.map(Some),
            Err(_) => Ok(None),
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    open_regular(OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600), path)
}

impl StorageLock for FileLock {
    fn acquire(&self, wait: Duration, holder: &str) -> io::Result<LockOutcome> {
        let mut held = self.held();
        match self.try_briefly(wait) {
            Ok(()) => *held = Held::Kept,
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) => {
                let granted = if wait.is_zero() { None } else { self.wait(wait)? };
                match granted {
                    Some(file) => *held = Held::Other(file),
                    None => {
                        let there = self.read_holder()?;
                        let text = there.split(|byte| *byte == 0).next().unwrap_or_default();
                        return Ok(LockOutcome::Busy { holder: String::from_utf8_lossy(text).into_owned() });
                    }
                }
            }
        }
        self.write_holder(holder);
        Ok(LockOutcome::Acquired)
    }

    fn release(&self) {
        let mut held = self.held();
        match std::mem::replace(&mut *held, Held::No) {
            Held::No => {}
            Held::Kept => {
                let _ = self.kept.unlock();
            }
            Held::Other(file) => drop(file),
        }
    }
}
