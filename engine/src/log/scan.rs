//! Walks along the frames of a segment.

use std::sync::Arc;

use super::bytes::all_zero;
use super::error::{Damage, Doing, LogError};
use super::frame::{Frame, FrameFault};
use super::frame_header::{FRAME_HEADER_BYTES, FrameHeader, HeaderFault};
use super::index::Entry;
use super::segment::Segment;
use super::torn::later_frame;
use crate::storage::read_full;

/// A place where a frame should be and none is.
#[derive(Debug, Clone)]
pub(crate) struct BadFrame {
    pub offset: u64,
    /// The position that belongs there.
    pub seq: u64,
    pub reason: &'static str,
    /// Whether a write that did not finish can look like this.
    pub torn: bool,
    /// Whether everything but a body is as it should be.
    pub body: bool,
}

/// What lies at the scanner's place.
#[derive(Debug)]
pub(crate) enum HeaderStep {
    Header(FrameHeader),
    /// No further frame: the file ends (`eof`), or zeros follow.
    End {
        eof: bool,
    },
    Bad(BadFrame),
}

/// As [`HeaderStep`], with all of the frame.
#[derive(Debug)]
pub(crate) enum Step {
    Frame(Frame),
    End { eof: bool },
    Bad(BadFrame),
}

#[derive(Debug)]
pub(crate) struct Scanner {
    segment: Arc<Segment>,
    offset: u64,
    next_seq: u64,
    check_bodies: bool,
    /// Everything through this position was durable at some time, so that bodies of zeros in it are
    /// erased ones.
    durable: u64,
    read_bytes: usize,
    /// How much the next piece has.
    piece: usize,
    /// The last piece read; frames share it.
    buffer: Arc<Vec<u8>>,
    buffer_offset: u64,
    filled: usize,
    /// Pieces read before, which frames may still share.
    earlier: Vec<Arc<Vec<u8>>>,
    /// Frames that the segment's index may not know yet, handed over in batches.
    learned: Vec<Entry>,
    index_end: u64,
}

const LEARN_BATCH: usize = 512;
/// The first piece that is read, and how much each has of the one before.
const FIRST_PIECE: usize = 4 * 1_024;
const GROWTH: usize = 4;
/// So many pieces are kept to be used again. Who reads ahead lets some wait with the frames in them.
const EARLIER: usize = 8;

impl Scanner {
    /// Starts at a frame's start. Reads little at first, since mostly few frames are wanted, then ever larger
    /// pieces, up to `read_bytes` at a time; more for a frame that is longer.
    pub(crate) fn new(segment: Arc<Segment>, offset: u64, next_seq: u64, read_bytes: usize) -> Self {
        let index_end = segment.index().end_offset();
        Self {
            segment,
            offset,
            next_seq,
            check_bodies: false,
            durable: 0,
            read_bytes,
            piece: read_bytes.min(FIRST_PIECE),
            buffer: Arc::new(Vec::new()),
            buffer_offset: offset,
            filled: 0,
            earlier: Vec::new(),
            learned: Vec::new(),
            index_end,
        }
    }

    /// Reads larger pieces from here on.
    pub(crate) fn reading(mut self, read_bytes: usize) -> Self {
        self.read_bytes = read_bytes;
        self
    }

    /// Frames behind `durable` whose bodies fail their CRC are bad too: for the end of the log, where
    /// such a body is one that has not been written to its end. One that a sync has covered is another
    /// matter, for who reads it to judge: it may be half erased. A body of zeros past `durable` is bad
    /// as well, unless a later frame shows that it was durable, and thus erased since.
    pub(crate) fn checking_bodies(mut self, durable: u64) -> Self {
        self.check_bodies = true;
        self.durable = durable;
        self
    }

    pub(crate) fn segment(&self) -> &Arc<Segment> {
        &self.segment
    }

    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    pub(crate) fn next_seq(&self) -> u64 {
        self.next_seq
    }

    /// The header at this place, without moving.
    pub(crate) fn peek(&mut self) -> Result<HeaderStep, LogError> {
        let start = self.fill(FRAME_HEADER_BYTES)?;
        let available = self.buffer.get(start..self.filled).unwrap_or_default();
        if available.len() < FRAME_HEADER_BYTES {
            return Ok(if all_zero(available) {
                HeaderStep::End { eof: true }
            } else {
                self.bad("the file ends inside a frame header", true)
            });
        }
        Ok(match FrameHeader::decode(available, self.segment.place(self.offset)) {
            Ok(header) if header.first_seq != self.next_seq => {
                self.bad("the frame's position is not the next one", false)
            }
            Ok(header) => HeaderStep::Header(header),
            Err(HeaderFault::Zeros) => HeaderStep::End { eof: false },
            Err(HeaderFault::Broken(reason)) => self.bad(reason, true),
            Err(HeaderFault::Impossible(reason)) => self.bad(reason, false),
            Err(HeaderFault::Newer { found, supported }) => return Err(self.segment.newer(found, supported)),
        })
    }

    /// Moves past the frame whose header [`Scanner::peek`] gave.
    pub(crate) fn pass(&mut self, header: &FrameHeader) {
        if self.offset >= self.index_end {
            self.learned.push(Entry::new(self.offset, header));
            if self.learned.len() >= LEARN_BATCH {
                self.teach();
            }
        }
        self.offset = self.offset.saturating_add(header.frame_len());
        self.next_seq = header.last_seq().saturating_add(1);
    }

    /// The frame at this place; moves past it.
    pub(crate) fn next(&mut self) -> Result<Step, LogError> {
        let header = match self.peek()? {
            HeaderStep::Header(header) => header,
            HeaderStep::End { eof } => return Ok(Step::End { eof }),
            HeaderStep::Bad(bad) => return Ok(Step::Bad(bad)),
        };
        let len = usize::try_from(header.frame_len()).unwrap_or(usize::MAX);
        let start = self.fill(len)?;
        if self.filled.saturating_sub(start) < len {
            return Ok(self.bad_frame("the file ends inside a frame", true));
        }
        let made = Frame::new(header, self.segment.first_seq(), self.offset, Arc::clone(&self.buffer), start);
        let frame = match made {
            Ok(frame) => frame,
            Err(FrameFault::Broken(reason)) => return Ok(self.bad_frame(reason, true)),
            Err(FrameFault::Impossible(reason)) => return Ok(self.bad_frame(reason, false)),
        };
        if self.check_bodies && frame.first_seq() > self.durable {
            if frame.check_bodies().is_err() {
                return Ok(Step::Bad(BadFrame { body: true, ..self.bad_of("a body fails its checksum", true) }));
            }
            if frame.lacks_a_body() {
                let bad = self.bad_of("a body is missing", true);
                match later_frame(&self.segment, &bad)? {
                    Some(witness) => self.durable = witness.synced_through,
                    None => return Ok(Step::Bad(bad)),
                }
            }
        }
        self.pass(frame.header());
        Ok(Step::Frame(frame))
    }

    /// Damage at this place.
    pub(crate) fn damage(&self, reason: &str) -> Damage {
        self.segment.damage(self.offset, self.next_seq, reason)
    }

    fn bad_of(&self, reason: &'static str, torn: bool) -> BadFrame {
        BadFrame { offset: self.offset, seq: self.next_seq, reason, torn, body: false }
    }

    fn bad(&self, reason: &'static str, torn: bool) -> HeaderStep {
        HeaderStep::Bad(self.bad_of(reason, torn))
    }

    fn bad_frame(&self, reason: &'static str, torn: bool) -> Step {
        Step::Bad(self.bad_of(reason, torn))
    }

    /// Makes `want` bytes from this place on available, as far as the file goes; answers where in the
    /// buffer they start. `want` is a header's length or one that a header's CRC has vouched for; room is
    /// made for no more than the file holds.
    fn fill(&mut self, want: usize) -> Result<usize, LogError> {
        let start = usize::try_from(self.offset.saturating_sub(self.buffer_offset));
        let start = start.unwrap_or(usize::MAX);
        if start <= self.filled && self.filled.saturating_sub(start) >= want {
            return Ok(start);
        }
        let mut size = want;
        if size > self.read_bytes {
            let len = self.segment.file.len().doing("measure a segment", &self.segment.path)?;
            size = size.min(usize::try_from(len.saturating_sub(self.offset)).unwrap_or(usize::MAX));
        }
        let size = size.max(self.piece);
        self.piece = self.piece.saturating_mul(GROWTH).min(self.read_bytes);
        self.take_buffer(size);
        let Some(buffer) = Arc::get_mut(&mut self.buffer) else {
            return Ok(0);
        };
        self.filled =
            read_full(self.segment.file.as_ref(), buffer, self.offset).doing("read a segment", &self.segment.path)?;
        self.buffer_offset = self.offset;
        Ok(0)
    }

    /// A buffer that no frame shares any more is used again: new memory is dear, as the system clears it.
    fn take_buffer(&mut self, size: usize) {
        let is_free = |buffer: &mut Arc<Vec<u8>>| Arc::get_mut(buffer).is_some_and(|buffer| buffer.len() >= size);
        if is_free(&mut self.buffer) {
            return;
        }
        let free = self.earlier.iter_mut().position(is_free);
        let taken = free.map_or_else(|| Arc::new(vec![0; size]), |at| self.earlier.swap_remove(at));
        let before = std::mem::replace(&mut self.buffer, taken);
        // What was made for a frame longer than a piece would be kept for nothing.
        if before.len() == self.read_bytes && self.earlier.len() < EARLIER {
            self.earlier.push(before);
        }
    }

    fn teach(&mut self) {
        if self.learned.is_empty() {
            return;
        }
        let mut index = self.segment.index();
        for entry in self.learned.drain(..) {
            index.push(&entry);
        }
    }
}

impl Drop for Scanner {
    fn drop(&mut self) {
        self.teach();
    }
}
