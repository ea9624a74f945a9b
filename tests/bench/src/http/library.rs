//! The library in this process, as many threads write with it.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use bilinc::{Commit, Json, Key, Memory};

use super::load::value;

/// A store of its own beside the server's data.
#[derive(Debug)]
pub(super) struct Library {
    memory: Memory,
    next: AtomicU64,
}

impl Library {
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        let memory = Memory::builder().create(true).open(folder.join("library")).map_err(io::Error::other)?;
        Ok(Self { memory, next: AtomicU64::new(0) })
    }

    /// Durable commits a second of so many threads together.
    pub(super) fn rate(&self, threads: usize, time: Duration) -> io::Result<f64> {
        let begin = Instant::now();
        let done: io::Result<Vec<u64>> = thread::scope(|scope| {
            let writers: Vec<_> = (0..threads).map(|_| scope.spawn(|| self.write_until(begin + time))).collect();
            let joined = writers.into_iter().map(|writer| writer.join());
            joined.map(|done| done.unwrap_or_else(|_| Err(io::Error::other("a writer broke off")))).collect()
        });
        let done: u64 = done?.iter().sum();
        Ok(done as f64 / begin.elapsed().as_secs_f64())
    }

    fn write_until(&self, end: Instant) -> io::Result<u64> {
        let mut done = 0;
        while Instant::now() < end {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let key = Key::new(&format!("library-{number}")).map_err(io::Error::other)?;
            let value = Json::parse(&value(number.wrapping_mul(0x9e37_79b9)), 1024).map_err(io::Error::other)?;
            self.memory.commit(Commit::new(key, value)).map_err(io::Error::other)?;
            done += 1;
        }
        Ok(done)
    }
}
