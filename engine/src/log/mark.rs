//! The mark: how far the log is durable, for all processes; and its bytes, two slots in a small file.

use super::bytes::{array_at, i64_at, put_at, put_fields, u16_at, u32_at, u64_at};
use super::chain::ChainHash;
use super::options::Durability;

pub(crate) const MARK: &str = "mark";
pub(crate) const MARK_TEMPORARY: &str = "mark.tmp";

const MAGIC: [u8; 4] = *b"BLm\xd7";
pub(super) const VERSION: u16 = 1;
pub(super) const SLOT_BYTES: usize = 188;
/// One slot to a sector: writing one never touches the other.
pub(super) const SLOT_STRIDE: usize = 512;
pub(super) const FILE_BYTES: usize = 2 * SLOT_STRIDE;
pub(super) const SEQUENCE_AT: usize = 8;
pub(super) const CRC_AT: usize = 184;
const FLAG_FAILED: u16 = 1;
/// Set together with [`FLAG_FAILED`]: the files that it speaks of are being replaced.
const FLAG_REPLACED: u16 = 2;
const NO_TIME: i64 = i64::MIN;

/// A frame's end, and with it an end of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct End {
    /// The last position, 0 before the first.
    pub seq: u64,
    /// The chain there.
    pub chain: ChainHash,
    /// The time of the last operation.
    pub time: Option<i64>,
    /// First position of the segment.
    pub segment: u64,
    /// Where the last frame starts, 0 when the segment has none yet.
    pub frame: u64,
    /// Where the next frame goes.
    pub offset: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The greater is the newer slot.
    pub sequence: u64,
    /// A sync failed: nobody writes until an open has put that right.
    pub failed: bool,
    /// A salvage replaces the files that this speaks of: whoever has them open writes no more. Failed, too.
    pub replaced: bool,
    /// What may be shown.
    pub visible: End,
    /// What a sync has covered: the same, but for relaxed durability.
    pub synced: End,
}

impl Mark {
    /// Whether an operation through `seq` may be acknowledged. What a process with relaxed durability shows is
    /// not on the disk yet, and no answer of one with another.
    pub(crate) fn covers(&self, seq: u64, durability: Durability) -> bool {
        let end = match durability {
            Durability::Durable => &self.synced,
            Durability::Relaxed => &self.visible,
        };
        end.seq >= seq
    }

    /// Whether a later mark than this is known: one that was read before a wait for a lock may come behind
    /// it. One that stops writing counts whatever its sequence, which begins anew where a file was spoiled.
    pub(super) fn is_older(&self, known: &Self) -> bool {
        let later = known.visible.seq == self.visible.seq && known.sequence > self.sequence && !self.failed;
        later || known.visible.seq > self.visible.seq
    }
}

/// The slot of the mark with this sequence.
pub(super) fn place_of(sequence: u64) -> usize {
    if sequence.is_multiple_of(2) { 0 } else { SLOT_STRIDE }
}

pub(super) fn encode(mark: &Mark, store_id: u128) -> [u8; SLOT_BYTES] {
    let mut bytes = [0_u8; SLOT_BYTES];
    let flags = if mark.failed { FLAG_FAILED } else { 0 } | if mark.replaced { FLAG_REPLACED } else { 0 };
    let ends = [&mark.visible, &mark.synced].map(|end| {
        let mut bytes = [0_u8; 72];
        let fields: [&[u8]; 6] = [
            &end.seq.to_le_bytes(),
            &end.time.unwrap_or(NO_TIME).to_le_bytes(),
            &end.segment.to_le_bytes(),
            &end.frame.to_le_bytes(),
            &end.offset.to_le_bytes(),
            &end.chain,
        ];
        put_fields(&mut bytes, &fields);
        bytes
    });
    let fields: [&[u8]; 8] = [
        &MAGIC,
        &VERSION.to_le_bytes(),
        &flags.to_le_bytes(),
        &mark.sequence.to_le_bytes(),
        &store_id.to_le_bytes(),
        &ends[0],
        &ends[1],
        &[0; 8],
    ];
    put_fields(&mut bytes, &fields);
    let crc = crc32fast::hash(bytes.get(..CRC_AT).unwrap_or_default()).to_le_bytes();
    put_at(&mut bytes, CRC_AT, &crc);
    bytes
}

/// A mark file that has never been written over, of a log that ends at `end`.
pub(crate) fn fresh(end: &End, store_id: u128) -> Vec<u8> {
    let (visible, synced) = (end.clone(), end.clone());
    let mut bytes = vec![0_u8; FILE_BYTES];
    let mark = Mark { sequence: 1, failed: false, replaced: false, visible, synced };
    put_at(&mut bytes, SLOT_STRIDE, &encode(&mark, store_id));
    bytes
}

/// What a slot holds.
pub(super) enum Slot {
    Sound(Mark),
    /// One of a later version: who reads it as a missing one would write over what it does not know.
    Newer(u16),
    Bad,
}

/// Magic, version, store id and CRC keep their places in every later version.
pub(super) fn decode(bytes: &[u8], store_id: u128) -> Slot {
    let Some(bytes) = bytes.first_chunk::<SLOT_BYTES>() else {
        return Slot::Bad;
    };
    let sound = array_at(bytes, 0) == MAGIC
        && u32_at(bytes, CRC_AT) == crc32fast::hash(bytes.get(..CRC_AT).unwrap_or_default())
        && u128::from_le_bytes(array_at(bytes, 16)) == store_id;
    let version = u16_at(bytes, 4);
    if !sound || version == 0 {
        return Slot::Bad;
    }
    if version > VERSION {
        return Slot::Newer(version);
    }
    let end = |at: usize| End {
        seq: u64_at(bytes, at),
        time: Some(i64_at(bytes, at + 8)).filter(|time| *time != NO_TIME),
        segment: u64_at(bytes, at + 16),
        frame: u64_at(bytes, at + 24),
        offset: u64_at(bytes, at + 32),
        chain: array_at(bytes, at + 40),
    };
    Slot::Sound(Mark {
        sequence: u64_at(bytes, SEQUENCE_AT),
        failed: u16_at(bytes, 6) & FLAG_FAILED != 0,
        replaced: u16_at(bytes, 6) & FLAG_REPLACED != 0,
        visible: end(32),
        synced: end(104),
    })
}
