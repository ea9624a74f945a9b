//! The only place that knows sled: packs under their numbers.
//!
//! sled 0.34 is no longer maintained, panics at some damaged files and may ask for much memory because of
//! others. So it is only ever given files whose bytes are those that it left (the manifest sees to that),
//! and a panic counts as a doubt. A database changes its files when it is first read, and then no more: so a
//! new one is read until it is at rest.

use std::fs::{File, TryLockError};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::folder::Doubt;

/// The file that sled locks, and writes to.
const FILE: &str = "db";
/// Bytes of sled's own cache: everything is read once, in order.
const CACHE_BYTES: u64 = 16 * 1024 * 1024;

fn open(path: &Path) -> Result<sled::Db, Doubt> {
    let config = sled::Config::new().path(path).mode(sled::Mode::HighThroughput).cache_capacity(CACHE_BYTES);
    // Nothing is written in the background: what is written is flushed below.
    config.flush_every_ms(None).open().map_err(doubt)
}

/// Makes a database of the packs that `give` gives, one after the other, in a folder that is not there.
pub(super) fn write<T>(
    path: &Path,
    give: impl FnOnce(&mut dyn FnMut(&[u8]) -> Result<(), Doubt>) -> Result<T, Doubt>,
) -> Result<T, Doubt> {
    guarded(|| {
        let tree = open(path)?;
        let mut number = 0_u32;
        let given = give(&mut |pack| {
            tree.insert(number.to_be_bytes(), pack).map_err(doubt)?;
            number = number.saturating_add(1);
            Ok(())
        })?;
        tree.flush().map_err(doubt)?;
        drop(tree);
        let_go(path)?;
        Ok(given)
    })
}

/// Hands over the packs in their order, until `take` fails.
pub(super) fn read(path: &Path, take: &mut dyn FnMut(&[u8]) -> Result<(), Doubt>) -> Result<(), Doubt> {
    guarded(|| {
        let tree = open(path)?;
        for (number, item) in (0_u32..).zip(tree.iter()) {
            let (key, pack) = item.map_err(doubt)?;
            if key.as_ref() != number.to_be_bytes() {
                return Err(Doubt::wrong("a pack is missing"));
            }
            take(&pack)?;
        }
        drop(tree);
        let_go(path)
    })
}

/// Waits until threads of sled have let go of the file, which they may do some time after the database was
/// closed: until then it is still being written to, and cannot be opened again.
fn let_go(path: &Path) -> Result<(), Doubt> {
    const TRIES: u32 = 2_000;
    const PAUSE: Duration = Duration::from_millis(1);
    let file = File::open(path.join(FILE))?;
    for _ in 0..TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
    }
    Err(Doubt::Machine(io::ErrorKind::WouldBlock.into()))
}

fn guarded<T>(work: impl FnOnce() -> Result<T, Doubt>) -> Result<T, Doubt> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(Doubt::wrong("the database could not be understood")))
}

/// A disk or a lock that says no is no doubt about what was kept.
fn doubt(error: sled::Error) -> Doubt {
    match error {
        sled::Error::Io(source) if source.kind() == io::ErrorKind::UnexpectedEof => Doubt::wrong(source),
        sled::Error::Io(source) => Doubt::Machine(source),
        other => Doubt::wrong(other),
    }
}
