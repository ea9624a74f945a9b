//! The index of a segment: one row to a block of frames, built as frames are met, and beside it where in
//! its block a frame begins.

use super::frame_header::FrameHeader;

/// A block ends after so many frames or bytes, whichever comes first: a look-up walks no further.
pub(crate) const BLOCK_FRAMES: usize = 32;
/// At most 64 KiB, so that a start in a block fits 16 bits.
const BLOCK_BYTES: u64 = 64 * 1024;

/// What the index needs of a frame.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    offset: u64,
    len: u64,
    first_seq: u64,
    last_seq: u64,
    time: i64,
}

impl Entry {
    pub(crate) fn new(offset: u64, header: &FrameHeader) -> Self {
        Self {
            offset,
            len: header.frame_len(),
            first_seq: header.first_seq,
            last_seq: header.last_seq(),
            time: header.time,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Block {
    pub first_seq: u64,
    pub offset: u64,
    /// The earliest time in the block: times may step back.
    pub min_time: i64,
}

/// Where frames begin in a block, counted from its start: at index `n` one whose first position is the `n`th
/// of the block; 0 where none does or it is not known.
type Starts = [u16; BLOCK_FRAMES];

/// The place of a frame, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found {
    /// Where a frame begins that holds the position that was asked for, or lies before it in its block.
    pub offset: u64,
    pub first_seq: u64,
    /// The length of the frame, where it is known that it is the one.
    pub len: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct SegmentIndex {
    blocks: Vec<Block>,
    /// One to a block. A hint: a look-up walks where it says nothing.
    starts: Vec<Starts>,
    frames_in_last: usize,
    end_offset: u64,
    next_seq: u64,
}

impl SegmentIndex {
    pub(crate) fn new(end_offset: u64, next_seq: u64) -> Self {
        Self { blocks: Vec::new(), starts: Vec::new(), frames_in_last: 0, end_offset, next_seq }
    }

    /// Where the known part ends.
    pub(crate) fn end_offset(&self) -> u64 {
        self.end_offset
    }

    pub(crate) fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Takes a frame up when it is the next one; any other is known already or not adjacent.
    pub(crate) fn push(&mut self, entry: &Entry) {
        if entry.offset != self.end_offset || entry.first_seq != self.next_seq {
            return;
        }
        match self.blocks.last_mut() {
            Some(block)
                if self.frames_in_last < BLOCK_FRAMES && entry.offset.saturating_sub(block.offset) < BLOCK_BYTES =>
            {
                block.min_time = block.min_time.min(entry.time);
                let block = *block;
                self.frames_in_last = self.frames_in_last.saturating_add(1);
                note(&block, self.starts.last_mut(), entry);
            }
            _ => {
                self.blocks.push(Block { first_seq: entry.first_seq, offset: entry.offset, min_time: entry.time });
                self.starts.push([0; BLOCK_FRAMES]);
                self.frames_in_last = 1;
            }
        }
        self.end_offset = entry.offset.saturating_add(entry.len);
        self.next_seq = entry.last_seq.saturating_add(1);
    }

    /// Takes note of where frames begin that a walk has met in a block that is known.
    pub(crate) fn note(&mut self, entries: &[Entry]) {
        for entry in entries.iter().filter(|entry| entry.last_seq < self.next_seq) {
            let at = self.block_of(entry.first_seq);
            if let Some(block) = self.blocks.get(at) {
                note(block, self.starts.get_mut(at), entry);
            }
        }
    }

    /// The block that would hold a position.
    fn block_of(&self, seq: u64) -> usize {
        self.blocks.partition_point(|block| block.first_seq <= seq).saturating_sub(1)
    }

    /// Where a walk begins that finds `seq`.
    pub(crate) fn start_of(&self, seq: u64) -> Found {
        let end = Found { offset: self.end_offset, first_seq: self.next_seq, len: None };
        let at = self.block_of(seq);
        let Some(block) = self.blocks.get(at).filter(|_| seq < self.next_seq) else { return end };
        let none = [0; BLOCK_FRAMES];
        let starts = self.starts.get(at).unwrap_or(&none);
        let nth = usize::try_from(seq.saturating_sub(block.first_seq)).unwrap_or(usize::MAX);
        let before = starts.get(..=nth).unwrap_or(starts);
        // Nothing is at index 0, which stands for the block's own start.
        let from = before.iter().rposition(|start| *start > 0).unwrap_or(0);
        let (from, start) = (from as u64, before.get(from).copied().map_or(0, u64::from));
        let (offset, first_seq) = (block.offset.saturating_add(start), block.first_seq.saturating_add(from));
        // Where the next position has a frame of its own, this one is of one frame that ends there.
        let next = match self.blocks.get(at.saturating_add(1)) {
            Some(block) => (block.first_seq, block.offset),
            None => (self.next_seq, self.end_offset),
        };
        let end = if next.0 == seq.saturating_add(1) {
            Some(next.1)
        } else {
            let start = starts.get(nth.saturating_add(1)).copied().filter(|start| *start > 0);
            start.map(|start| block.offset.saturating_add(start.into()))
        };
        Found { offset, first_seq, len: end.filter(|_| first_seq == seq).and_then(|end| end.checked_sub(offset)) }
    }

    /// Forgets what lies past a frame's end. A block that loses frames keeps its earliest time,
    /// which only makes a look-up by time walk it in vain.
    pub(crate) fn cut(&mut self, offset: u64, next_seq: u64) {
        if self.end_offset <= offset {
            return;
        }
        let keep = self.blocks.partition_point(|block| block.offset < offset);
        self.blocks.truncate(keep);
        self.starts.truncate(keep);
        if let (Some(block), Some(starts)) = (self.blocks.last(), self.starts.last_mut()) {
            starts
                .iter_mut()
                .filter(|start| block.offset.saturating_add((**start).into()) >= offset)
                .for_each(|s| *s = 0);
        }
        self.frames_in_last = BLOCK_FRAMES;
        self.end_offset = offset;
        self.next_seq = next_seq;
    }

    /// What is known of the frames before `offset`, where `next_seq` goes on; of all frames that are known
    /// where they end before it.
    pub(crate) fn through(&self, offset: u64, next_seq: u64) -> KeptIndex {
        let cut = offset < self.end_offset;
        let keep = if cut { self.blocks.partition_point(|block| block.offset < offset) } else { self.blocks.len() };
        KeptIndex {
            blocks: self.blocks.get(..keep).unwrap_or_default().to_vec(),
            end_offset: if cut { offset } else { self.end_offset },
            next_seq: if cut { next_seq } else { self.next_seq },
        }
    }

    /// Takes up what was known earlier, unless more is known already.
    pub(crate) fn take_up(&mut self, kept: KeptIndex) {
        if kept.end_offset > self.end_offset {
            *self = Self {
                starts: vec![[0; BLOCK_FRAMES]; kept.blocks.len()],
                blocks: kept.blocks,
                frames_in_last: BLOCK_FRAMES,
                end_offset: kept.end_offset,
                next_seq: kept.next_seq,
            };
        }
    }
}

/// Takes note of where a frame begins in its block.
fn note(block: &Block, starts: Option<&mut Starts>, entry: &Entry) {
    let nth = usize::try_from(entry.first_seq.saturating_sub(block.first_seq)).unwrap_or(usize::MAX);
    let start = u16::try_from(entry.offset.saturating_sub(block.offset));
    if let (Some(place), Ok(start)) = (starts.and_then(|starts| starts.get_mut(nth)), start) {
        *place = start;
    }
}

/// What an index knew, to be kept beside the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeptIndex {
    pub blocks: Vec<Block>,
    pub end_offset: u64,
    pub next_seq: u64,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    /// Frames of all sizes, alone and of many events, from numbers that repeat.
    fn frames(seed: u64) -> Vec<Entry> {
        let (mut state, mut offset, mut first_seq) = (seed, 108, 1);
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut frames = Vec::new();
        for _ in 0..300 {
            let len = if random(20) == 0 { 80_000 } else { 100 + random(700) };
            let count = if random(9) == 0 { 1 + random(60) } else { 1 };
            let last_seq = first_seq + count - 1;
            frames.push(Entry { offset, len, first_seq, last_seq, time: 0 });
            (offset, first_seq) = (offset + len, last_seq + 1);
        }
        frames
    }

    fn holder(frames: &[Entry], seq: u64) -> Entry {
        *frames.iter().find(|frame| frame.last_seq >= seq).unwrap()
    }

    /// Each position is found at or before its frame, in its block, and what is said of a length is true.
    fn check(index: &SegmentIndex, frames: &[Entry], exact: bool) {
        for seq in 1..=frames.last().unwrap().last_seq {
            let (found, frame) = (index.start_of(seq), holder(frames, seq));
            let begun = frames.iter().find(|frame| frame.offset == found.offset).unwrap();
            assert_eq!(begun.first_seq, found.first_seq);
            assert!(found.offset <= frame.offset);
            assert!(found.len.is_none_or(|len| found.offset == frame.offset && len == frame.len), "{seq}: {found:?}");
            let alone = frame.first_seq == frame.last_seq && frame.len < BLOCK_BYTES;
            if exact && alone && frames.iter().all(|frame| frame.first_seq == frame.last_seq) {
                assert_eq!(found, Found { offset: frame.offset, first_seq: seq, len: Some(frame.len) });
            }
        }
    }

    #[test]
    fn a_place_that_is_told_is_that_of_the_frame_or_of_one_before_it() {
        for seed in 0..20 {
            let mut frames = frames(seed);
            if seed % 2 == 0 {
                for (seq, frame) in (1..).zip(&mut frames) {
                    (frame.first_seq, frame.last_seq) = (seq, seq);
                }
            }
            let mut index = SegmentIndex::new(108, 1);
            frames.iter().for_each(|frame| index.push(frame));
            check(&index, &frames, true);
            // Kept without its starts, it is told of them again.
            let mut kept = SegmentIndex::new(108, 1);
            kept.take_up(index.through(u64::MAX, u64::MAX));
            check(&kept, &frames, false);
            frames.chunks(7).for_each(|met| kept.note(met));
            check(&kept, &frames, true);
            // Cut in the middle of a block, it says nothing of what stood there.
            let (left, cut) = frames.split_at(150);
            index.cut(cut[0].offset, cut[0].first_seq);
            assert_eq!(index.start_of(cut[0].first_seq).offset, cut[0].offset);
            check(&index, left, true);
            cut.iter().for_each(|frame| index.push(frame));
            check(&index, &frames, true);
        }
    }
}
