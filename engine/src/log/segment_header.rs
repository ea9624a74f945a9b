//! The fixed header of a segment file. Its bytes keep their meaning in every later version, so
//! that an older program can still say what it found.

use super::bytes::{array_at, i64_at, put_at, put_fields, u16_at, u32_at, u64_at};
use super::chain::ChainHash;

pub(crate) const SEGMENT_HEADER_BYTES: usize = 108;
/// The newest segment version this program writes and reads.
pub(crate) const SEGMENT_VERSION: u16 = 1;
const SEGMENT_MAGIC: [u8; 8] = *b"BILINC\xd7\n";
const STORE_ID_AT: usize = 16;
const CRC_AT: usize = 104;
/// Stands for "no operation yet".
const NO_TIME: i64 = i64::MIN;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SegmentHeader {
    pub store_id: u128,
    pub first_seq: u64,
    /// First position of the segment before, 0 for the first: a missing file is noticed at once.
    pub previous_first_seq: u64,
    /// The chain before this segment's first frame.
    pub previous_chain: ChainHash,
    /// Time of the last operation before this segment.
    pub previous_time: Option<i64>,
    pub created_at: i64,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SegmentFault {
    Newer(u16),
    Broken(&'static str),
}

impl SegmentHeader {
    pub(crate) fn encode(&self) -> [u8; SEGMENT_HEADER_BYTES] {
        let mut bytes = [0_u8; SEGMENT_HEADER_BYTES];
        let fields: [&[u8]; 10] = [
            &SEGMENT_MAGIC,
            &SEGMENT_VERSION.to_le_bytes(),
            &[0; 6],
            &self.store_id.to_le_bytes(),
            &self.first_seq.to_le_bytes(),
            &self.previous_first_seq.to_le_bytes(),
            &self.previous_time.unwrap_or(NO_TIME).to_le_bytes(),
            &self.created_at.to_le_bytes(),
            &self.previous_chain,
            &[0; 8],
        ];
        put_fields(&mut bytes, &fields);
        let crc = crc32fast::hash(bytes.get(..CRC_AT).unwrap_or_default()).to_le_bytes();
        put_at(&mut bytes, CRC_AT, &crc);
        bytes
    }

    /// What stands where a header has the store's id, whether the header is sound or not.
    pub(crate) fn stated_store_id(bytes: &[u8; SEGMENT_HEADER_BYTES]) -> u128 {
        u128::from_le_bytes(array_at(bytes, STORE_ID_AT))
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, SegmentFault> {
        let Some(bytes) = bytes.first_chunk::<SEGMENT_HEADER_BYTES>() else {
            return Err(SegmentFault::Broken("the file ends inside its header"));
        };
        if array_at(bytes, 0) != SEGMENT_MAGIC {
            return Err(SegmentFault::Broken("the file is not a log segment"));
        }
        let crc = crc32fast::hash(bytes.get(..CRC_AT).unwrap_or_default());
        if u32_at(bytes, CRC_AT) != crc {
            return Err(SegmentFault::Broken("the segment header fails its checksum"));
        }
        let version = u16_at(bytes, 8);
        if version > SEGMENT_VERSION {
            return Err(SegmentFault::Newer(version));
        }
        let header = Self {
            store_id: u128::from_le_bytes(array_at(bytes, STORE_ID_AT)),
            first_seq: u64_at(bytes, 32),
            previous_first_seq: u64_at(bytes, 40),
            previous_time: Some(i64_at(bytes, 48)).filter(|time| *time != NO_TIME),
            created_at: i64_at(bytes, 56),
            previous_chain: array_at(bytes, 64),
        };
        if version == 0 || header.first_seq <= header.previous_first_seq {
            return Err(SegmentFault::Broken("the segment header contradicts itself"));
        }
        Ok(header)
    }
}

/// The file name of the segment that starts at `first_seq`.
pub(crate) fn segment_name(first_seq: u64) -> String {
    format!("{first_seq:020}.seg")
}

/// The first position that a segment's file name states.
pub(crate) fn parse_segment_name(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(".seg")?;
    if digits.len() != 20 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    fn header() -> SegmentHeader {
        SegmentHeader {
            store_id: 5,
            first_seq: 12,
            previous_first_seq: 1,
            previous_chain: [4; 32],
            previous_time: None,
            created_at: 99,
        }
    }

    #[test]
    fn every_flipped_bit_of_a_segment_header_is_noticed() {
        let good = header().encode();
        assert_eq!(SegmentHeader::decode(&good), Ok(header()));
        for bit in 0..good.len() * 8 {
            let mut bad = good;
            bad[bit / 8] ^= 1 << (bit % 8);
            let fault = SegmentHeader::decode(&bad).unwrap_err();
            assert!(matches!(fault, SegmentFault::Broken(_)), "bit {bit}");
        }
    }

    #[test]
    fn names_are_parsed_only_as_they_are_written() {
        assert_eq!(parse_segment_name(&segment_name(u64::MAX)), Some(u64::MAX));
        for name in ["1.seg", "00000000000000000001.seg.tmp", "+0000000000000000001.seg", ""] {
            assert_eq!(parse_segment_name(name), None);
        }
    }
}
