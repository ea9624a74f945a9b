//! What can go wrong with the log, apart from the domain's own refusals.

use std::fmt;
use std::io;
use std::time::Duration;

/// Where and how the log is damaged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The segment's file name inside `log/`, or `mark`.
    pub segment: String,
    /// Offset in that file.
    pub offset: u64,
    /// The first position that is affected.
    pub position: u64,
    /// What was found.
    pub reason: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { segment, offset, position, reason } = self;
        write!(f, "{segment} at offset {offset}, position {position}: {reason}")
    }
}

/// A failure of the log. Unless a variant says otherwise, nothing was written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// The system refused something. Nothing of what was asked for was done, and trying again may
    /// succeed (a disk that was full, a permission that was missing).
    #[error("cannot {doing} ({path}): {source}")]
    Io {
        /// The file or folder.
        path: String,
        /// What was being done.
        doing: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// Bytes of the log are not what was written. What lies before can be read; writes are refused
    /// until a salvage is asked for. Nothing was changed.
    #[error("the log is damaged: {0}")]
    Damage(Damage),
    /// The store was written by a later version of this program; it was left untouched. Use that version.
    #[error("{path} has format version {found}, this program knows up to {supported}")]
    NewerFormat {
        /// The file.
        path: String,
        /// Its version.
        found: u32,
        /// The newest version known here.
        supported: u32,
    },
    /// Another process held a lock for longer than the time limit. Try again.
    #[error("{lock} was held by {holder} for {waited:?}")]
    Busy {
        /// The lock's file.
        lock: &'static str,
        /// What the holder wrote about itself.
        holder: String,
        /// How long we waited.
        waited: Duration,
    },
    /// The operation was appended, but another process held a lock for so long that it is not known
    /// yet whether it counts. Ask again under the same idempotency key, or look.
    #[error(
        "the operation was written, but {lock} was held by {holder} for {waited:?}: it is not known yet whether it counts"
    )]
    Unsettled {
        /// The lock's file.
        lock: &'static str,
        /// What the holder wrote about itself.
        holder: String,
        /// How long we waited.
        waited: Duration,
    },
    /// An append or a sync failed, here or in another process, so writing has stopped. The outcome of
    /// operations past `durable` is unknown until the log has been opened anew; reads go on.
    #[error("writing stopped after a failure ({cause}); durable through position {durable}")]
    Poisoned {
        /// The last position that is surely durable.
        durable: u64,
        /// The first failure.
        cause: String,
    },
    /// The log was opened for reading only, by choice or because nothing else was possible.
    #[error("the log is open for reading only: {reason}")]
    ReadOnly {
        /// Why.
        reason: String,
    },
    /// One operation would need a frame over the limit. Split it.
    #[error("the operation needs {bytes} bytes, the limit is {limit}")]
    OperationTooLarge {
        /// What it needs.
        bytes: u64,
        /// The limit of a frame.
        limit: u64,
    },
    /// A draft that cannot be a frame: no events, no permanent part, bodies out of order.
    #[error("not a valid operation: {reason}")]
    InvalidDraft {
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The folder is on a network file system, where locks and syncs do not keep their promises.
    /// Use a local disk, or force it.
    #[error("{path} is on a network file system ({kind})")]
    NetworkFileSystem {
        /// The folder.
        path: String,
        /// Its kind.
        kind: &'static str,
    },
    /// A salvage was decided upon and not carried out to its end. It is finished by whoever opens the store
    /// for writing, or asks for a salvage again.
    #[error("a salvage of {path} was interrupted; opening it for writing, or a salvage, finishes that")]
    SalvageUnfinished {
        /// The store's folder.
        path: String,
    },
    /// There is no store in the folder and none was to be made.
    #[error("no store in {path}")]
    NotFound {
        /// The folder.
        path: String,
    },
    /// The folder holds other things, so no store was made in it. Use an empty one.
    #[error("{path} is not a store: it holds {found:?}")]
    NotAStore {
        /// The folder.
        path: String,
        /// One of the things it holds.
        found: String,
    },
    /// No event has that position (yet).
    #[error("there is no position {seq}, the log ends at {last}")]
    NoSuchPosition {
        /// What was asked for.
        seq: u64,
        /// The last position there is.
        last: u64,
    },
}

/// Says what was being done to what when the system refused.
pub(crate) trait Doing<T> {
    fn doing(self, doing: &'static str, path: &str) -> Result<T, LogError>;
}

impl<T> Doing<T> for io::Result<T> {
    fn doing(self, doing: &'static str, path: &str) -> Result<T, LogError> {
        self.map_err(|source| LogError::Io { path: path.to_owned(), doing, source })
    }
}
