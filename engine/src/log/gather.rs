//! Waiting a little for other processes before a sync, so that it serves them too.
//!
//! Processes that write at once and each wait for the disk come back together when a sync has served them.
//! Whoever of them gets `sync.lock` first would sync its own frame alone, and the others would wait for that
//! and then for the next one: the disk would do twice the work. So it lets them append before it begins.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::frame_header::{FRAME_HEADER_BYTES, FrameHeader};
use super::mark::Mark;
use super::options::Durability;
use super::segment::Segment;
use super::{Log, lock};
use crate::storage::read_full;

/// For so many appends after one that found another process's, others are waited for.
const REMEMBERED: u32 = 32;

/// At most this part of the time that the last sync took is waited, and no longer than [`PATIENCE`].
const PART: u32 = 2;
const PATIENCE: Duration = Duration::from_millis(1);
/// Less is not worth the looks.
const LEAST: Duration = Duration::from_micros(20);

/// What this process has seen of others and of the disk.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// Appends to come for which other processes count as being at work.
    others: AtomicU32,
    /// How long the last sync took.
    sync_nanos: AtomicU64,
}

impl Pace {
    /// Takes note of an append that begins, and of whether others have appended since the last.
    pub(crate) fn appending(&self, undisturbed: bool) {
        let left = self.others.load(Ordering::Relaxed);
        let left = if undisturbed { left.saturating_sub(1) } else { REMEMBERED };
        self.others.store(left, Ordering::Relaxed);
    }

    /// Takes note of a sync.
    pub(crate) fn synced(&self, took: Duration) {
        self.sync_nanos.store(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Whether other processes have been at work lately.
    pub(crate) fn meets_others(&self) -> bool {
        self.others.load(Ordering::Relaxed) > 0
    }

    fn patience(&self) -> Duration {
        if !self.meets_others() {
            return Duration::ZERO;
        }
        let part = Duration::from_nanos(self.sync_nanos.load(Ordering::Relaxed)) / PART;
        if part < LEAST { Duration::ZERO } else { part.min(PATIENCE) }
    }
}

/// Where headers of frames lead to, whether or not the frames are whole.
#[derive(Debug)]
struct Ahead {
    segment: Arc<Segment>,
    offset: u64,
    seq: u64,
}

impl Ahead {
    /// The last position that a header speaks of by now. One that cannot be read is none: this is a guess.
    fn look(&mut self) -> u64 {
        let mut bytes = [0_u8; FRAME_HEADER_BYTES];
        while let Ok(FRAME_HEADER_BYTES) = read_full(self.segment.file.as_ref(), &mut bytes, self.offset)
            && let Ok(header) = FrameHeader::decode(&bytes, self.segment.place(self.offset))
        {
            self.offset = self.offset.saturating_add(header.frame_len());
            self.seq = header.last_seq();
        }
        self.seq
    }
}

impl Log {
    /// Waits for those who are about to append. They are as many positions as the last sync served, and those
    /// that came during it, when this process `waited` for it. Under `sync.lock`.
    pub(crate) fn gather(&self, mark: &Mark, waited: bool) {
        let patience = self.pace.patience();
        if patience.is_zero() || self.options.durability != Durability::Durable {
            return;
        }
        let Some(mut ahead) = self.ahead() else { return };
        let synced = mark.synced.seq;
        let there = ahead.look().saturating_sub(synced);
        let expected = self.marks.step().saturating_add(if waited { there } else { 0 });
        let begun = Instant::now();
        while ahead.look().saturating_sub(synced) < expected && begun.elapsed() < patience {
            thread::yield_now();
        }
    }

    fn ahead(&self) -> Option<Ahead> {
        let view = lock(&self.view);
        let segment = Arc::clone(view.end_segment()?);
        Some(Ahead { segment, offset: view.end.offset, seq: view.end.seq })
    }
}
