//! What the log needs of a disk, as a small trait, so that tests can freeze, tear and fail it.
//!
//! Paths are relative to the store's folder and use `/`; the empty path is that folder itself.
//! The trait knows nothing of segments or marks: it moves bytes and names.

mod fault;
mod fault_file;
mod fault_image;
mod file;
mod file_lock;
mod memory;
mod network;
mod window;

use std::fmt::Debug;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub use fault::{Fault, FaultKind, FaultStorage};
pub use file::FileStorage;
pub use memory::MemoryStorage;
pub use window::Window;

/// How [`Storage::open`] opens a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    /// An existing file, for reading only.
    Read,
    /// An existing file, for reading and writing.
    ReadWrite,
    /// For reading and writing; made when it is not there, kept as it is when it is.
    Create,
    /// For reading and writing; made anew, whatever lay under the name is emptied.
    Truncate,
    /// For reading and writing; made by this call, and `AlreadyExists` when the name is taken. Of
    /// several that try at once, one succeeds.
    New,
}

/// A name inside a folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DirEntry {
    /// The last part of the path.
    pub name: String,
    /// Whether it is a folder.
    pub is_dir: bool,
}

/// One store's folder.
pub trait Storage: Send + Sync + Debug {
    /// Where this is, for messages.
    fn describe(&self) -> String;
    /// The names inside `dir`, in order. A missing folder is `NotFound`.
    fn list(&self, dir: &str) -> io::Result<Vec<DirEntry>>;
    /// Whether a file or folder of that name is there.
    fn exists(&self, path: &str) -> io::Result<bool>;
    /// Opens a file. The handle keeps working when the file is renamed or removed.
    fn open(&self, path: &str, mode: OpenMode) -> io::Result<Arc<dyn StorageFile>>;
    /// Moves a file over `to`, replacing what is there. Durable after [`Storage::sync_dir`].
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Removes a file. Durable after [`Storage::sync_dir`].
    fn remove(&self, path: &str) -> io::Result<()>;
    /// Makes a folder and what is missing above it; one that exists is left alone. With the empty path
    /// the names of the store's folder and of those above it are durable afterwards, whoever made them.
    fn create_dir(&self, path: &str) -> io::Result<()>;
    /// Removes an empty folder, for tidiness: where that cannot be done it stays.
    fn remove_dir(&self, _path: &str) -> io::Result<()> {
        Ok(())
    }
    /// Makes the names inside a folder durable.
    fn sync_dir(&self, path: &str) -> io::Result<()>;
    /// A lock on a file that is never deleted; made when it is not there.
    fn lock(&self, path: &str) -> io::Result<Arc<dyn StorageLock>>;
    /// The folder itself, where the files are ordinary ones of the system. What goes its own way to the disk
    /// (checkpoints, which no log depends on) is kept in such a folder only.
    fn folder(&self) -> Option<PathBuf> {
        None
    }
    /// The kind of network file system this lies on, when it does.
    fn network_file_system(&self) -> io::Result<Option<&'static str>>;
}

/// An open file. Reads and writes name their offset, so one handle serves all threads.
pub trait StorageFile: Send + Sync + Debug {
    /// Reads at `offset`; may be short, and is 0 only at or past the end.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Writes all of `bytes` at `offset`. On an error any part of them may have been written.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
    /// The length now.
    fn len(&self) -> io::Result<u64>;
    /// Whether the length is zero.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }
    /// Cuts or lengthens (with zeros) to `len`.
    fn set_len(&self, len: u64) -> io::Result<()>;
    /// Lengthens to `len` with zeros whose space is reserved on the disk. Never shortens.
    fn allocate(&self, len: u64) -> io::Result<()>;
    /// Makes the contents and the length durable.
    fn sync_data(&self) -> io::Result<()>;
    /// A look at the first `len` bytes that costs no call, where there is one: for a file that nobody
    /// ever cuts shorter, by which a process that looks would be killed.
    fn window(&self, _len: usize) -> Option<Arc<dyn Window>> {
        None
    }
}

/// What became of an attempt to take a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LockOutcome {
    /// It is ours until [`StorageLock::release`].
    Acquired,
    /// Somebody else had it for all the time we were willing to wait; what they wrote about themselves.
    Busy {
        /// The holder's text, empty when it left none.
        holder: String,
    },
}

/// An exclusive lock between processes and between handles of one process.
///
/// One handle is used by one holder at a time; the log guards it with a mutex of its own.
pub trait StorageLock: Send + Sync + Debug {
    /// Takes the lock, waiting at most `wait` (zero: not at all), and leaves `holder` for others to read:
    /// some hundred bytes of it.
    fn acquire(&self, wait: Duration, holder: &str) -> io::Result<LockOutcome>;
    /// Whether nobody else has held the lock since this handle held it before; asked while it is held.
    /// `false` says nothing.
    fn undisturbed(&self) -> bool {
        false
    }
    /// Lets go. Does nothing when the lock is not held.
    fn release(&self);
}

/// Reads until `buffer` is full or the file ends; answers how much was read.
pub(crate) fn read_full(file: &dyn StorageFile, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut filled = 0_usize;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, offset.saturating_add(filled as u64)) {
            Ok(0) => break,
            Ok(read) => filled = filled.saturating_add(read),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Whether a name leads to nothing that could be read as a file: it is not there, is a folder, a pipe, or
/// a link that leads nowhere. No failure of the disk, and no better at the next try.
pub(crate) fn is_no_file(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::IsADirectory | io::ErrorKind::Unsupported)
        || error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

/// The folder part of a path.
pub(crate) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(dir, _)| dir)
}

/// `dir` and `name` as one path.
pub(crate) fn join(dir: &str, name: &str) -> String {
    if dir.is_empty() { name.to_owned() } else { format!("{dir}/{name}") }
}

#[cfg(test)]
mod tests;
