//! Frames read lately: an operation of an import holds a thousand bodies, and reading a page of
//! entries must not read its frame a hundred times.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::log::Frame;

/// How many frames are kept, and how many bytes of them.
const MOST_FRAMES: usize = 64;
const MOST_BYTES: u64 = 8 * 1024 * 1024;

/// The frames that were read last, newest first. Bounded; holds what lies in the log anyway.
#[derive(Debug, Default)]
pub(super) struct FrameCache(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    frames: VecDeque<Frame>,
    bytes: u64,
}

impl FrameCache {
    pub(super) fn get(&self, seq: u64) -> Option<Frame> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.frames.iter().position(|frame| (frame.first_seq()..=frame.last_seq()).contains(&seq))?;
        let frame = kept.frames.remove(at)?;
        kept.frames.push_front(frame.clone());
        Some(frame)
    }

    /// Lets go of all of them: a frame shares its buffer with those around it, so none is kept that may
    /// hold what was erased.
    pub(super) fn clear(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Kept::default();
    }

    pub(super) fn put(&self, frame: &Frame) {
        let bytes = frame.location().len;
        if bytes > MOST_BYTES / 2 {
            return;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.bytes = kept.bytes.saturating_add(bytes);
        kept.frames.push_front(frame.clone());
        while kept.bytes > MOST_BYTES || kept.frames.len() > MOST_FRAMES {
            match kept.frames.pop_back() {
                Some(old) => kept.bytes = kept.bytes.saturating_sub(old.location().len),
                None => break,
            }
        }
    }
}
