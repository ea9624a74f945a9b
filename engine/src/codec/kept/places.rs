//! Where frames lie: the sparse index of a segment.

use bincode::{BorrowDecode, Encode};

use super::super::config;
use super::super::v1::List;
use crate::log::{Block, KeptIndex};

#[derive(Encode, BorrowDecode)]
struct Wire {
    segment: u64,
    blocks: List<(u64, u64, i64)>,
    end_offset: u64,
    next_seq: u64,
}

/// The index of a segment, by its first position.
pub(crate) fn encode_places(segment: u64, index: &KeptIndex) -> Result<Vec<u8>, String> {
    let blocks = index.blocks.iter().map(|block| (block.first_seq, block.offset, block.min_time)).collect();
    let wire = Wire { segment, blocks, end_offset: index.end_offset, next_seq: index.next_seq };
    bincode::encode_to_vec(wire, config()).map_err(|error| error.to_string())
}

/// The indexes that take up all the bytes.
pub(crate) fn decode_places(bytes: &[u8]) -> Result<Vec<(u64, KeptIndex)>, String> {
    let (mut rest, mut found) = (bytes, Vec::new());
    while !rest.is_empty() {
        let (wire, used): (Wire, usize) =
            bincode::borrow_decode_from_slice(rest, config()).map_err(|error| error.to_string())?;
        let blocks = wire.blocks.into_iter();
        let blocks = blocks.map(|(first_seq, offset, min_time)| Block { first_seq, offset, min_time }).collect();
        found.push((wire.segment, KeptIndex { blocks, end_offset: wire.end_offset, next_seq: wire.next_seq }));
        rest = rest.get(used..).filter(|_| used > 0).ok_or("an index without bytes")?;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn indexes_come_back_as_they_were_and_never_in_part() {
        let block = |number: u64| Block { first_seq: number, offset: number * 90, min_time: -7 };
        let index = |number| KeptIndex { blocks: vec![block(1), block(number)], end_offset: 999, next_seq: number + 1 };
        let mut bytes = encode_places(1, &index(40)).unwrap();
        bytes.extend(encode_places(41, &index(90)).unwrap());
        assert_eq!(decode_places(&bytes).unwrap(), [(1, index(40)), (41, index(90))]);
        assert!(decode_places(bytes.get(..bytes.len() - 1).unwrap()).is_err());
    }
}
