//! Random numbers drawn ahead of need, because each call of the system costs as much as a small write.

use std::cell::Cell;
use std::io;
use std::marker::PhantomData;
use std::sync::{Mutex, MutexGuard, PoisonError};

static DRAWN: Mutex<Drawn> = Mutex::new(Drawn { bytes: [0; DRAWN_BYTES], used: DRAWN_BYTES, process: 0 });

const DRAWN_BYTES: usize = 1_024;

struct Drawn {
    bytes: [u8; DRAWN_BYTES],
    used: usize,
    /// A forked process begins with a copy, and must not use it.
    process: u32,
}

impl Drawn {
    /// Forgets what another process drew.
    fn check_process(&mut self) {
        let process = std::process::id();
        if self.process != process {
            (self.used, self.process) = (self.bytes.len(), process);
        }
    }

    fn take(&mut self, into: &mut [u8]) -> io::Result<()> {
        let fill = |bytes: &mut [u8]| getrandom::fill(bytes).map_err(|error| io::Error::other(error.to_string()));
        if self.bytes.len() - self.used < into.len() {
            if into.len() > self.bytes.len() {
                return fill(into);
            }
            self.used = self.bytes.len();
            fill(&mut self.bytes)?;
            self.used = 0;
        }
        let end = self.used + into.len();
        if let Some(next) = self.bytes.get_mut(self.used..end) {
            into.copy_from_slice(next);
            // What was given out is known to nobody else.
            next.fill(0);
        }
        self.used = end;
        Ok(())
    }
}

thread_local! {
    static CHECKED: Cell<bool> = const { Cell::new(false) };
}

/// While this lives, its thread does not ask again which process it is in: to ask is a call of the system, and a thread
/// that does not fork stays where it is.
#[must_use]
pub(crate) struct Checked(PhantomData<*const ()>);

impl Drop for Checked {
    fn drop(&mut self) {
        CHECKED.set(false);
    }
}

/// Asks once for all that is drawn until the answer is dropped, in work that does not fork.
pub(crate) fn check_once() -> Checked {
    drawn().check_process();
    CHECKED.set(true);
    Checked(PhantomData)
}

fn drawn() -> MutexGuard<'static, Drawn> {
    DRAWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Fills `bytes` with what nobody can guess.
pub(crate) fn fill(bytes: &mut [u8]) -> io::Result<()> {
    let mut drawn = drawn();
    if !CHECKED.get() {
        drawn.check_process();
    }
    drawn.take(bytes)
}
