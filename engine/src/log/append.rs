//! Appending operations.

use std::io;
use std::sync::{Arc, MutexGuard};

use super::chain::ChainHash;
use super::draft::{FrameDraft, FrameMeta};
use super::error::{Doing, LogError};
use super::index::Entry;
use super::locks::{HeldLock, SyncHeld};
use super::mark::End;
use super::segment::Segment;
use super::segment_header::SEGMENT_HEADER_BYTES;
use super::{Durable, Log, lock};
use crate::storage::StorageFile;

/// How much is preallocated at first; each step doubles it, so that a short-lived process does not
/// pay for space it cuts off again.
const FIRST_STEP: u64 = 64 * 1024;
const LAST_STEP: u64 = 8 * 1024 * 1024;

/// As much is set aside at once for the bytes of a batch; more grows.
const MOST_ROOM: u64 = 1024 * 1024;

/// What this process remembers between appends.
#[derive(Debug)]
pub(crate) struct Appending {
    /// Whether what follows the last frame has been looked at under `append.lock`.
    pub tail_checked: bool,
    /// Whether the view is known to end where the frames do, with nothing behind them: for this hold of
    /// `append.lock`, and the next if nobody else has it between.
    pub tail_known: bool,
    /// Whether this log has appended anything.
    pub appended: bool,
    /// The segment whose file is known to reach to `allocated` at least, unless others cut it.
    pub segment: u64,
    pub allocated: u64,
    pub step: u64,
}

impl Appending {
    pub(crate) fn new(tail_checked: bool) -> Self {
        Self { tail_checked, tail_known: false, appended: false, segment: 0, allocated: 0, step: FIRST_STEP }
    }
}

/// Frames that go into one segment with one write.
struct Batch {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    /// The end of the log after them.
    end: End,
}

/// Where the next operation goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The position its first event gets.
    pub next_seq: u64,
    /// The time of the operation before it.
    pub last_time: Option<i64>,
    /// The chain before it.
    pub chain: ChainHash,
}

/// The right to append, held against all threads and processes until it is dropped.
#[derive(Debug)]
#[must_use]
pub struct Append<'a> {
    pub(crate) log: &'a Log,
    pub(crate) end: End,
    pub(crate) synced_through: u64,
    durable: Durable,
    /// Whether this call of `append` has written anything yet.
    pub(crate) wrote: bool,
    // Dropped in this order: other processes first.
    _lock: HeldLock,
    pub(crate) state: MutexGuard<'a, Appending>,
}

impl Log {
    /// Takes the right to append: waits for other threads, and for other processes up to the time
    /// limit; cuts off a torn end; reads what others have appended.
    pub fn begin_append(&self) -> Result<Append<'_>, LogError> {
        self.begin_append_within(self.options.lock_timeout)
    }

    pub(crate) fn begin_append_within(&self, wait: std::time::Duration) -> Result<Append<'_>, LogError> {
        self.check_writable()?;
        let mut state = lock(&self.appending);
        let held = self.take_append_lock(&mut state, wait)?;
        // Whoever had the lock before may have failed.
        self.check_writable()?;
        if !state.tail_checked {
            let sync = self.take_sync_lock(wait)?;
            self.recover(&sync).map_err(|error| self.noting(error))?;
            state.tail_checked = true;
        }
        let mark = self.load_mark()?;
        // A mark that covers more than is known here is another's, whatever the lock file says: somebody may have
        // removed that, and others lock another one.
        if !state.tail_known || lock(&self.view).end.seq < mark.visible.seq {
            self.settle_tail(&mark)?;
            state.tail_known = true;
        }
        Ok(Append {
            log: self,
            end: lock(&self.view).end.clone(),
            synced_through: mark.synced.seq,
            durable: self.durable_by(mark),
            wrote: false,
            _lock: held,
            state,
        })
    }
}

impl Append<'_> {
    /// As [`Log::durable`], when this was taken.
    #[must_use]
    pub fn durable(&self) -> Durable {
        self.durable
    }

    /// The end of all that anybody has appended, durable or not. What lies between the mark and it
    /// can be read with [`Log::read`], to decide upon, not to be shown.
    #[must_use]
    pub fn head(&self) -> Head {
        Head { next_seq: self.end.seq.saturating_add(1), last_time: self.end.time, chain: self.end.chain }
    }

    /// Appends operations in order, each whole or not at all, with one write where they fit into the
    /// segment. They count once [`Log::sync_through`] has covered them.
    ///
    /// A draft that is refused leaves nothing written. So does a full disk, when nothing of this call
    /// had been written before; any other failure stops the writer ([`LogError::Poisoned`]).
    pub fn append(&mut self, drafts: &[FrameDraft]) -> Result<Vec<FrameMeta>, LogError> {
        let log = self.log;
        let lens = (drafts.iter().map(FrameDraft::frame_len)).collect::<Result<Vec<u64>, _>>()?;
        log.check_writable()?;
        self.wrote = false;
        if let Some(mark) = log.marks.cached() {
            self.synced_through = self.synced_through.max(mark.synced.seq);
        }
        // Taken before anything is written, so that waiting for it can be given up.
        let sync = if self.needs_roll(&lens) { Some(log.take_sync_lock(log.options.lock_timeout)?) } else { None };
        let room = lens.iter().fold(0_u64, |room, len| room.saturating_add(*len)).min(MOST_ROOM);
        let mut metas = Vec::with_capacity(drafts.len());
        let mut left = drafts.iter().zip(lens).peekable();
        while let Some((_, len)) = left.peek() {
            if !fits(self.end.offset, *len, log.options.segment_bytes) {
                let sync = sync.as_ref().ok_or(LogError::InvalidDraft { reason: "its length changed" })?;
                let rolled = self.roll(sync);
                rolled.map_err(|error| self.stop_if_begun(error))?;
            }
            let batch = self.encode(&mut left, &mut metas, room).map_err(|error| self.stop_if_begun(error))?;
            self.write(batch, sync.as_ref())?;
        }
        Ok(metas)
    }

    /// The frames that fit into this segment, as one piece.
    fn encode<'d>(
        &self,
        left: &mut std::iter::Peekable<impl Iterator<Item = (&'d FrameDraft, u64)>>,
        metas: &mut Vec<FrameMeta>,
        room: u64,
    ) -> Result<Batch, LogError> {
        let options = &self.log.options;
        let segment = self.segment()?;
        let bytes = Vec::with_capacity(usize::try_from(room).unwrap_or_default());
        let mut batch = Batch { bytes, entries: Vec::new(), end: self.end.clone() };
        while let Some((draft, len)) = left.next_if(|(_, len)| fits(batch.end.offset, *len, options.segment_bytes)) {
            let end = &batch.end;
            let (meta, entry) = draft.encode(
                &mut batch.bytes,
                end.seq.saturating_add(1),
                self.synced_through,
                &end.chain,
                segment.place(end.offset),
                options.salts.as_ref(),
            )?;
            batch.entries.push(entry);
            batch.end = End {
                seq: meta.last_seq(),
                chain: meta.chain,
                time: Some(draft.time),
                segment: end.segment,
                frame: end.offset,
                offset: end.offset.saturating_add(len),
            };
            metas.push(meta);
        }
        Ok(batch)
    }

    fn write(&mut self, batch: Batch, sync: Option<&SyncHeld<'_>>) -> Result<(), LogError> {
        let segment = self.segment()?;
        let file = segment.writer(self.log.storage.as_ref());
        let file = file.map_err(|error| self.stop_if_begun(error))?;
        let Batch { bytes, entries, end } = batch;
        self.allocate(&segment, file.as_ref(), end.offset)?;
        self.state.tail_known = false;
        if let Err(error) = file.write_at(&bytes, self.end.offset) {
            return Err(self.take_back(&segment, file.as_ref(), error, sync));
        }
        self.wrote = true;
        self.state.appended = true;
        segment.learn(&entries);
        let mut view = lock(&self.log.view);
        // A sync of this process may have met these frames already.
        if view.end.seq < end.seq {
            view.end = end.clone();
        }
        drop(view);
        self.state.tail_known = true;
        self.end = end;
        Ok(())
    }

    /// Makes room up to `need`, with some to spare, or exactly when the disk has no more.
    fn allocate(&mut self, segment: &Segment, file: &dyn StorageFile, need: u64) -> Result<(), LogError> {
        if self.state.segment == segment.first_seq() && need <= self.state.allocated {
            return Ok(());
        }
        let len = file.len().doing("measure a segment", &segment.path);
        let len = len.map_err(|error| self.stop_if_begun(error))?;
        self.state.segment = segment.first_seq();
        self.state.allocated = len;
        if need <= len {
            return Ok(());
        }
        let limit = self.log.options.segment_bytes.max(need);
        let ample = len.max(self.end.offset).saturating_add(self.state.step);
        let ample = ample.clamp(need, limit);
        self.state.step = self.state.step.saturating_mul(2).min(LAST_STEP);
        let mut allocated = file.allocate(ample).map(|()| ample);
        if allocated.as_ref().is_err_and(is_full) {
            // What was gained so far goes back, then no more than is needed is asked for.
            allocated = file.set_len(len).and_then(|()| file.allocate(need)).map(|()| need);
        }
        match allocated {
            Ok(allocated) => {
                self.state.allocated = allocated;
                Ok(())
            }
            Err(error) if is_full(&error) && file.set_len(len).is_ok() => {
                let error = Err(error).doing("make room in the log", &segment.path);
                error.map_err(|error| self.stop_if_begun(error))
            }
            Err(error) => Err(self.log.poison(&format!("making room failed: {error}"))),
        }
    }

    /// After a failed write. A full disk leaves a part of it: that is cut off again, unless a sync
    /// elsewhere has already counted whole frames in it. Everything else stops the writer.
    fn take_back(
        &mut self,
        segment: &Segment,
        file: &dyn StorageFile,
        error: io::Error,
        sync: Option<&SyncHeld<'_>>,
    ) -> LogError {
        let cause = format!("a write to {} failed: {error}", segment.path);
        if self.wrote || !is_full(&error) {
            return self.log.poison(&cause);
        }
        let start = self.end.offset;
        let taken;
        if sync.is_none() {
            taken = self.log.take_sync_lock(self.log.options.lock_timeout);
            if taken.is_err() {
                return self.log.poison(&cause);
            }
        }
        let unseen =
            (self.log.marks.load()).is_ok_and(|mark| mark.is_some_and(|mark| mark.visible.seq <= self.end.seq));
        let cut = unseen && file.set_len(start).is_ok() && file.len().is_ok_and(|len| len == start);
        if !cut {
            return self.log.poison(&cause);
        }
        self.state.segment = 0;
        lock(&self.log.view).go_back(&self.end);
        LogError::Io { path: segment.path.clone(), doing: "append to the log", source: error }
    }

    /// Once a part of a call has been written its caller must not take an error for "nothing done".
    pub(crate) fn stop_if_begun(&self, error: LogError) -> LogError {
        match error {
            error @ LogError::Poisoned { .. } => error,
            error if self.wrote => self.log.poison(&error.to_string()),
            error => error,
        }
    }

    pub(crate) fn segment(&self) -> Result<Arc<Segment>, LogError> {
        let view = lock(&self.log.view);
        let at = super::view::View::index_of(&view.segments, self.end.segment);
        let segment = view.segments.get(at).map(Arc::clone);
        drop(view);
        segment.ok_or_else(|| self.log.poison("the segment has gone"))
    }

    fn needs_roll(&self, lens: &[u64]) -> bool {
        let limit = self.log.options.segment_bytes;
        let mut offset = self.end.offset;
        lens.iter().any(|len| {
            let fits = fits(offset, *len, limit);
            offset = offset.saturating_add(*len);
            !fits
        })
    }
}

/// Whether a frame may go at `offset`: an empty segment takes any.
fn fits(offset: u64, len: u64, limit: u64) -> bool {
    offset <= SEGMENT_HEADER_BYTES as u64 || offset.saturating_add(len) <= limit
}

/// Whether there is no room for more: on the disk, in somebody's share of it, or in a file of a process
/// with a limit.
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge)
}
