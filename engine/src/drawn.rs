//! Random numbers drawn ahead of need, because each call of the system costs as much as a small write.

use std::io;
use std::sync::{Mutex, PoisonError};

static DRAWN: Mutex<Drawn> = Mutex::new(Drawn { bytes: [0; DRAWN_BYTES], used: DRAWN_BYTES, process: 0 });

const DRAWN_BYTES: usize = 1_024;

struct Drawn {
    bytes: [u8; DRAWN_BYTES],
    used: usize,
    /// A forked process begins with a copy, and must not use it.
    process: u32,
}

impl Drawn {
    fn take(&mut self, into: &mut [u8]) -> io::Result<()> {
        let fill = |bytes: &mut [u8]| getrandom::fill(bytes).map_err(|error| io::Error::other(error.to_string()));
        let process = std::process::id();
        if self.process != process || self.bytes.len() - self.used < into.len() {
            if into.len() > self.bytes.len() {
                return fill(into);
            }
            self.used = self.bytes.len();
            fill(&mut self.bytes)?;
            (self.used, self.process) = (0, process);
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

/// Fills `bytes` with what nobody can guess.
pub(crate) fn fill(bytes: &mut [u8]) -> io::Result<()> {
    DRAWN.lock().unwrap_or_else(PoisonError::into_inner).take(bytes)
}
