//! The sparse index of a segment: one row to a block of frames, built as frames are met.

use super::frame_header::FrameHeader;

/// A block ends after so many frames or bytes, whichever comes first: a look-up walks no further.
const BLOCK_FRAMES: u32 = 32;
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

#[derive(Debug)]
pub(crate) struct SegmentIndex {
    blocks: Vec<Block>,
    frames_in_last: u32,
    end_offset: u64,
    next_seq: u64,
}

impl SegmentIndex {
    pub(crate) fn new(end_offset: u64, next_seq: u64) -> Self {
        Self { blocks: Vec::new(), frames_in_last: 0, end_offset, next_seq }
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
                self.frames_in_last = self.frames_in_last.saturating_add(1);
            }
            _ => {
                self.blocks.push(Block { first_seq: entry.first_seq, offset: entry.offset, min_time: entry.time });
                self.frames_in_last = 1;
            }
        }
        self.end_offset = entry.offset.saturating_add(entry.len);
        self.next_seq = entry.last_seq.saturating_add(1);
    }

    /// The offset and first position from which a walk finds `seq`.
    pub(crate) fn start_of(&self, seq: u64) -> (u64, u64) {
        if seq >= self.next_seq {
            return (self.end_offset, self.next_seq);
        }
        let after = self.blocks.partition_point(|block| block.first_seq <= seq);
        (self.blocks.get(after.saturating_sub(1)))
            .map_or((self.end_offset, self.next_seq), |block| (block.offset, block.first_seq))
    }

    /// Forgets what lies past a frame's end. A block that loses frames keeps its earliest time,
    /// which only makes a look-up by time walk it in vain.
    pub(crate) fn cut(&mut self, offset: u64, next_seq: u64) {
        if self.end_offset <= offset {
            return;
        }
        let keep = self.blocks.partition_point(|block| block.offset < offset);
        self.blocks.truncate(keep);
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
                blocks: kept.blocks,
                frames_in_last: BLOCK_FRAMES,
                end_offset: kept.end_offset,
                next_seq: kept.next_seq,
            };
        }
    }
}

/// What an index knew, to be kept beside the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeptIndex {
    pub blocks: Vec<Block>,
    pub end_offset: u64,
    pub next_seq: u64,
}
