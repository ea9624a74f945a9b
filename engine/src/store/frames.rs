//! Frames read lately: an operation of an import holds a thousand bodies, and reading a page of
//! entries must not read its frame a hundred times.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::log::Frame;

/// How many frames are kept, and how many bytes of them.
const MOST_FRAMES: usize = 64;
const MOST_BYTES: u64 = 8 * 1024 * 1024;

/// The frames that were read last. Bounded; holds what lies in the log anyway.
#[derive(Debug, Default)]
pub(super) struct FrameCache(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// By their first positions; beside the table, which moves what it holds.
    frames: BTreeMap<u64, Box<Frame>>,
    /// Their first positions, oldest first: which one was used last would have to be noted at each look.
    order: VecDeque<u64>,
    bytes: u64,
}

impl FrameCache {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn get(&self, seq: u64) -> Option<Frame> {
        let kept = self.kept();
        let (_, frame) = kept.frames.range(..=seq).next_back()?;
        (frame.last_seq() >= seq).then(|| Frame::clone(frame))
    }

    /// Lets go of all of them: a frame shares its buffer with those around it, so none is kept that may
    /// hold what was erased.
    pub(super) fn clear(&self) {
        *self.kept() = Kept::default();
    }

    pub(super) fn put(&self, frame: &Frame) {
        let bytes = frame.location().len;
        if bytes > MOST_BYTES / 2 {
            return;
        }
        let mut kept = self.kept();
        // Another thread may have read it, too.
        if kept.frames.insert(frame.first_seq(), Box::new(frame.clone())).is_some() {
            return;
        }
        kept.order.push_back(frame.first_seq());
        kept.bytes = kept.bytes.saturating_add(bytes);
        while kept.bytes > MOST_BYTES || kept.frames.len() > MOST_FRAMES {
            let oldest = kept.order.pop_front();
            match oldest.and_then(|first| kept.frames.remove(&first)) {
                Some(old) => kept.bytes = kept.bytes.saturating_sub(old.location().len),
                None => break,
            }
        }
    }
}
