//! A lock on a file, waited for without polling.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::file::open_regular;
use super::{LockOutcome, StorageLock, Window, window};
use crate::drawn;

/// What a holder leaves in the file: so much of its text, then the tag of its handle.
const HOLDER_BYTES: usize = TEXT_BYTES + TAG_BYTES;
const TEXT_BYTES: usize = 112;
const TAG_BYTES: usize = 16;

type Holder = [u8; HOLDER_BYTES];

/// How often a lock is tried, other threads let run in between, before a thread waits for it.
const BRIEF_TRIES: u32 = 32;

/// The handle that is tried first lives as long as this value, so that an uncontended lock costs two
/// system calls and no open.
#[derive(Debug)]
pub(super) struct FileLock {
    path: PathBuf,
    kept: Arc<File>,
    /// Drawn for this handle alone. Whoever takes the lock leaves a tag, so who finds its own knows that nobody
    /// had the lock since.
    tag: [u8; TAG_BYTES],
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    held: Held,
    undisturbed: bool,
    /// Tried once, when the file is as long as it gets.
    window: Option<Option<Arc<dyn Window>>>,
}

#[derive(Debug)]
enum Held {
    No,
    Kept,
    /// The helper's own handle: the lock belongs to an open file, so it is passed on with it.
    Other(File),
}

impl State {
    fn let_go(&mut self, kept: &File) {
        match std::mem::replace(&mut self.held, Held::No) {
            Held::No => {}
            Held::Kept => {
                let _ = kept.unlock();
            }
            Held::Other(file) => drop(file),
        }
    }
}

impl FileLock {
    pub(super) fn open(path: PathBuf) -> io::Result<Self> {
        let kept = Arc::new(open(&path)?);
        let mut tag = [0_u8; TAG_BYTES];
        drawn::fill(&mut tag)?;
        let state = Mutex::new(State { held: Held::No, undisturbed: false, window: None });
        Ok(Self { path, kept, tag, state })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the last holder left, and how many bytes of it there are.
    fn read_holder(&self) -> io::Result<(Holder, usize)> {
        let mut bytes = [0_u8; HOLDER_BYTES];
        let read = self.kept.read_at(&mut bytes, 0)?;
        Ok((bytes, read))
    }

    /// The holder's text and the tag of this handle.
    fn holder(&self, text: &str) -> Holder {
        let mut bytes = [0_u8; HOLDER_BYTES];
        let (to_text, to_tag) = bytes.split_at_mut(TEXT_BYTES);
        for (to, from) in to_text.iter_mut().zip(text.bytes()) {
            *to = from;
        }
        to_tag.copy_from_slice(&self.tag);
        bytes
    }

    /// Says who holds the lock, and finds out whether anybody else did since this handle.
    fn leave_holder(&self, state: &mut State, holder: &str) -> io::Result<()> {
        let holder = self.holder(holder);
        state.undisturbed = match &state.window {
            // Reading is cheaper than writing, and one process mostly follows itself.
            Some(Some(window)) => is_seen(window.as_ref(), &holder),
            _ => self.read_holder().is_ok_and(|(there, _)| there == holder),
        };
        if state.undisturbed {
            return Ok(());
        }
        if matches!(&state.window, Some(Some(window)) if window.write(0, &holder)) {
            return Ok(());
        }
        if let Err(error) = self.kept.write_all_at(&holder, 0) {
            // Where nobody has left a tag nobody looks for one, and the text is only a message (a full disk).
            // Otherwise the other one would find its own, and take the file for untouched.
            let untagged = self.read_holder().is_ok_and(|(_, len)| len < HOLDER_BYTES);
            return if untagged { Ok(()) } else { Err(error) };
        }
        state.window.get_or_insert_with(|| window::open(&self.kept, HOLDER_BYTES));
        Ok(())
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

fn is_seen(window: &dyn Window, holder: &Holder) -> bool {
    let (words, _) = holder.as_chunks::<8>();
    // The tag comes last, and is what differs.
    words.iter().enumerate().rev().all(|(at, word)| window.word(at * 8) == u64::from_le_bytes(*word))
}

impl StorageLock for FileLock {
    fn acquire(&self, wait: Duration, holder: &str) -> io::Result<LockOutcome> {
        let mut state = self.state();
        match self.try_briefly(wait) {
            Ok(()) => state.held = Held::Kept,
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) => {
                let granted = if wait.is_zero() { None } else { self.wait(wait)? };
                match granted {
                    Some(file) => state.held = Held::Other(file),
                    None => {
                        let (there, _) = self.read_holder()?;
                        let text = there.get(..TEXT_BYTES).unwrap_or_default();
                        let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
                        return Ok(LockOutcome::Busy { holder: String::from_utf8_lossy(text).into_owned() });
                    }
                }
            }
        }
        if let Err(error) = self.leave_holder(&mut state, holder) {
            state.let_go(&self.kept);
            return Err(error);
        }
        Ok(LockOutcome::Acquired)
    }

    fn undisturbed(&self) -> bool {
        self.state().undisturbed
    }

    fn release(&self) {
        self.state().let_go(&self.kept);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn take(lock: &FileLock) -> bool {
        assert_eq!(lock.acquire(Duration::ZERO, "the same text").unwrap(), LockOutcome::Acquired);
        let undisturbed = lock.undisturbed();
        lock.release();
        undisturbed
    }

    #[test]
    fn a_lock_that_another_handle_had_meanwhile_is_known_to_be_disturbed() {
        let dir = tempfile::tempdir().unwrap();
        let open = || FileLock::open(dir.path().join("lock")).unwrap();
        let (one, other) = (open(), open());
        assert!(!take(&one), "nobody knows who had it before");
        assert!(take(&one) && take(&one));
        assert!(!take(&other));
        assert!(!take(&one), "the other had it");
        assert!(take(&one));
        drop(one);
        assert!(!take(&open()), "a handle that is gone is another one");
    }

    #[test]
    fn a_lock_that_cannot_say_who_has_it_is_not_taken_from_one_that_would_not_notice() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let one = FileLock::open(path.clone()).unwrap();
        assert!(!take(&one) && take(&one));
        let read_only = Arc::new(File::open(&path).unwrap());
        let mut other = FileLock::open(path.clone()).unwrap();
        other.kept = Arc::clone(&read_only);
        other.acquire(Duration::ZERO, "other").unwrap_err();
        assert!(take(&one), "it was let go, and nothing was written");
        // With nothing there yet, nobody can mistake it for theirs.
        std::fs::write(&path, b"").unwrap();
        let mut other = FileLock::open(path).unwrap();
        other.kept = read_only;
        assert_eq!(other.acquire(Duration::ZERO, "other").unwrap(), LockOutcome::Acquired);
        assert!(!other.undisturbed());
    }
}
