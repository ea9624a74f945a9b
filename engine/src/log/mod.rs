//! The log: segment files of frames, one frame to an operation, in the order of their positions.
//!
//! This layer knows positions, times, the chain of hashes and which bodies may be erased. What the
//! permanent part and the bodies mean is their codec's business. `docs/design.md` draws the bytes and
//! argues each step of a commit and of an open.

mod append;
mod bytes;
mod chain;
mod claim;
mod close;
mod copy;
mod digests;
mod draft;
mod erase;
mod error;
mod frame;
mod frame_header;
mod gather;
mod index;
mod kept;
mod locks;
mod mark;
mod mark_file;
mod open;
mod options;
mod prove;
mod read;
mod recover;
mod roll;
pub(crate) mod salvage;
mod scan;
mod segment;
mod segment_header;
mod sync;
mod torn;
mod verify;
mod view;

#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::storage::{Storage, StorageLock};

pub use append::{Append, Head};
pub use chain::ChainHash;
pub(crate) use copy::LogCopy;
pub use draft::{Body, FrameDraft, FrameMeta};
pub use error::{Damage, LogError};
pub use frame::{Bodies, BodyState, Frame, FrameLocation, StoredBody};
pub use open::OpenReport;
pub(crate) use open::is_store;
pub use options::{Durability, LogOptions, SaltSource, SystemSalts};
pub use torn::TornEnd;
pub(crate) use verify::Proved;
pub use verify::VerifyReport;

pub(crate) use open::refuse_network;

use append::Appending;
use error::Doing;
use gather::Pace;
pub(crate) use index::{Block, KeptIndex};
pub(crate) use locks::HeldLock;
use locks::Turns;
pub(crate) use locks::take as take_lock;
pub(crate) use mark::End;
use mark::Mark;
use mark_file::MarkFile;
use sync::Relaxed;
use view::{Segments, View};

/// What is folded from the log is kept beside it in this folder, under this lock. Nothing here reads it; a
/// purge empties it.
pub(crate) const CHECKPOINTS_DIR: &str = "checkpoints";
pub(crate) const CHECKPOINT_LOCK: &str = "checkpoint.lock";

/// The greatest length of one frame.
pub const MAX_OPERATION_BYTES: u64 = frame_header::MAX_FRAME_BYTES;

/// How far the log is durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Durable {
    /// The last durable position, 0 when there is none.
    pub seq: u64,
    /// The chain there.
    pub chain: ChainHash,
}

/// A segment on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentInfo {
    /// First position.
    pub first_seq: u64,
    /// The file's path in the store.
    pub path: String,
    /// The file's length, preallocation included.
    pub bytes: u64,
}

/// An open log. All methods take `&self`; any number of threads may share one.
///
/// Locks are always taken in the order: `appending`, `append.lock`, `syncing`, `sync.lock`, `view`, and
/// the rest one at a time.
#[derive(Debug)]
pub struct Log {
    storage: Arc<dyn Storage>,
    options: LogOptions,
    store_id: u128,
    marks: MarkFile,
    view: Mutex<View>,
    appending: Mutex<Appending>,
    syncing: Turns,
    pace: Pace,
    relaxed: Mutex<Relaxed>,
    append_lock: Option<Arc<dyn StorageLock>>,
    sync_lock: Option<Arc<dyn StorageLock>>,
    /// Why this log is for reading only, when it is.
    read_only: Option<String>,
    /// The end that was found when there is no mark and none can be written.
    unmarked: Option<End>,
    stopped: Mutex<Option<Stop>>,
    torn_ends: Mutex<Vec<TornEnd>>,
}

/// Why nobody writes through this log any more.
#[derive(Debug, Clone)]
enum Stop {
    Poisoned { durable: u64, cause: String },
    Damaged(Damage),
}

impl From<Stop> for LogError {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Poisoned { durable, cause } => Self::Poisoned { durable, cause },
            Stop::Damaged(damage) => Self::Damage(damage),
        }
    }
}

/// What the chain should be behind a frame that follows this hash.
pub(crate) fn link_of(before: &ChainHash, frame: &Frame) -> ChainHash {
    chain::link(before, frame.header(), frame.stored_permanent())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Log {
    /// The store's id, made with the store.
    #[must_use]
    pub fn store_id(&self) -> u128 {
        self.store_id
    }

    /// The chain before the first position: what the first segment's header says. In a copy it is that
    /// of the store that was copied, so that the chain, and every head that was noted of it, goes on.
    #[must_use]
    pub fn genesis(&self) -> ChainHash {
        self.start().chain
    }

    /// How far the log may be shown: one look at the mark, never a wait.
    pub fn durable(&self) -> Result<Durable, LogError> {
        let end = self.visible()?;
        Ok(Durable { seq: end.seq, chain: end.chain })
    }

    /// The position of [`Log::durable`].
    pub(crate) fn durable_seq(&self) -> Result<u64, LogError> {
        let marked = self.marks.visible_seq()?;
        // Nothing else is acknowledged past the mark.
        if let Some(seq) = marked.filter(|_| self.options.durability == Durability::Durable) {
            return Ok(seq);
        }
        Ok(self.durable()?.seq)
    }

    /// Why this log is for reading only, when it was opened so.
    #[must_use]
    pub fn read_only(&self) -> Option<&str> {
        self.read_only.as_deref()
    }

    /// Why writing has stopped, when it has.
    #[must_use]
    pub fn stopped(&self) -> Option<LogError> {
        lock(&self.stopped).clone().map(LogError::from)
    }

    /// The torn ends that this log has cut off, at open and since.
    #[must_use]
    pub fn torn_ends(&self) -> Vec<TornEnd> {
        lock(&self.torn_ends).clone()
    }

    /// The segment files as they are now; in a damaged log, those that hold together.
    pub fn segments(&self) -> Result<Vec<SegmentInfo>, LogError> {
        let refreshed = lock(&self.view).refresh(self.storage.as_ref());
        match refreshed.map_err(|error| self.noting(error)) {
            Ok(()) | Err(LogError::Damage(_)) => {}
            Err(error) => return Err(error),
        }
        let segments = self.known_segments();
        let info = segments.iter().map(|segment| {
            Ok(SegmentInfo {
                first_seq: segment.first_seq(),
                path: segment.path.clone(),
                bytes: segment.file.len().doing("measure a segment", &segment.path)?,
            })
        });
        info.collect()
    }

    /// The length of all segment files, preallocation included.
    pub fn bytes_on_disk(&self) -> Result<u64, LogError> {
        Ok(self.segments()?.iter().map(|segment| segment.bytes).sum())
    }

    /// As [`Log::durable`], by a mark that has been read.
    fn durable_by(&self, mark: Mark) -> Durable {
        let end = self.shown(Some(mark.visible));
        Durable { seq: end.seq, chain: end.chain }
    }

    fn visible(&self) -> Result<End, LogError> {
        let mark = self.marks.load()?;
        Ok(self.shown(mark.map(|mark| mark.visible)))
    }

    /// The further of what the mark says and what was acknowledged here.
    fn shown(&self, marked: Option<End>) -> End {
        let relaxed = lock(&self.relaxed).end.clone();
        let further = [marked, relaxed].into_iter().flatten().max_by_key(|end| end.seq);
        further.or_else(|| self.unmarked.clone()).unwrap_or_else(|| self.start())
    }

    /// The end of a log without frames.
    fn start(&self) -> End {
        let first = lock(&self.view).segments.first().map(Arc::clone);
        first.map_or_else(|| lock(&self.view).end.clone(), |first| first.start())
    }

    fn known_segments(&self) -> Segments {
        Arc::clone(&lock(&self.view).segments)
    }

    /// Refuses when this log cannot write, or must not any more.
    fn check_writable(&self) -> Result<(), LogError> {
        if let Some(stop) = lock(&self.stopped).clone() {
            return Err(stop.into());
        }
        match &self.read_only {
            Some(reason) => Err(LogError::ReadOnly { reason: reason.clone() }),
            None => Ok(()),
        }
    }

    /// Stops writing for good; what the mark does not cover is forgotten here.
    fn poison(&self, cause: &str) -> LogError {
        let visible = self.shown(self.marks.cached().map(|mark| mark.visible));
        let stop = {
            let mut stopped = lock(&self.stopped);
            stopped.get_or_insert_with(|| Stop::Poisoned { durable: visible.seq, cause: cause.to_owned() }).clone()
        };
        lock(&self.view).go_back(&visible);
        stop.into()
    }

    /// What a failure means for operations that are appended and not yet known to be durable: nobody
    /// can say any more that nothing was done. A disk that fails stops the writer, as in a sync.
    pub(crate) fn unsettled(&self, error: LogError) -> LogError {
        match error {
            error @ LogError::Io { .. } => self.poison(&error.to_string()),
            LogError::Busy { lock, holder, waited } => LogError::Unsettled { lock, holder, waited },
            other => other,
        }
    }

    /// Remembers the first damage that is met: nobody writes behind it.
    pub(crate) fn damaged(&self, damage: Damage) -> LogError {
        lock(&self.stopped).get_or_insert_with(|| Stop::Damaged(damage.clone()));
        LogError::Damage(damage)
    }

    /// As [`Log::damaged`] for errors that may be damage.
    fn noting(&self, error: LogError) -> LogError {
        match error {
            LogError::Damage(damage) => self.damaged(damage),
            other => other,
        }
    }
}
