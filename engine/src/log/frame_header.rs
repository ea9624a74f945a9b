//! The fixed header before every frame. `docs/design.md` draws it.

use super::bytes::{all_zero, array_at, i64_at, put_at, put_fields, u32_at, u64_at};
use super::chain::ChainHash;

pub(crate) const FRAME_HEADER_BYTES: usize = 84;
/// The newest frame version this program writes and reads.
pub(crate) const FRAME_VERSION: u8 = 1;
/// The newest codec that this program reads. Codecs are numbered from 1.
pub(crate) const NEWEST_CODEC: u8 = 1;
/// No frame is longer, header included.
pub(crate) const MAX_FRAME_BYTES: u64 = 64 * 1024 * 1024;
/// No operation has more events.
pub(crate) const MAX_FRAME_COUNT: u32 = 1 << 20;
pub(crate) const FRAME_MAGIC: [u8; 4] = *b"BLf\xd7";

/// The operation's time was moved up to its predecessor's or lies before it: the clock stepped back.
pub(crate) const FLAG_CLOCK_BACK: u8 = 1;
/// The permanent part starts with a table of bodies.
pub(crate) const FLAG_BODIES: u8 = 2;
const KNOWN_FLAGS: u8 = FLAG_CLOCK_BACK | FLAG_BODIES;

const CRC_AT: usize = 80;

/// Where a frame lies. Its header's CRC covers this too, so a frame that a disk wrote to, or read
/// from, another place, and bytes inside a body that look like a frame, are no frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// CRC of the store's id and the segment's first position.
    pub seed: u32,
    /// Offset in the segment's file.
    pub offset: u64,
}

/// The seed of every place in a segment.
pub(crate) fn place_seed(store_id: u128, segment: u64) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&store_id.to_le_bytes());
    hasher.update(&segment.to_le_bytes());
    hasher.finalize()
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FrameHeader {
    pub codec: u8,
    pub flags: u8,
    pub first_seq: u64,
    pub count: u32,
    /// Stored length: the table of bodies and the opaque part.
    pub permanent_len: u32,
    pub bodies_len: u32,
    pub permanent_crc: u32,
    pub time: i64,
    /// The last position known durable when this was written.
    pub synced_through: u64,
    /// The chain after this frame.
    pub chain: ChainHash,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum HeaderFault {
    /// Nothing was written here.
    Zeros,
    /// A frame of a later format, or one whose parts are.
    Newer { found: u8, supported: u8 },
    /// Not a header, or one that a write did not finish.
    Broken(&'static str),
    /// A header whose CRC holds and that says what no program of this format writes.
    Impossible(&'static str),
}

impl FrameHeader {
    pub(crate) fn last_seq(&self) -> u64 {
        self.first_seq.saturating_add(u64::from(self.count)).saturating_sub(1)
    }

    pub(crate) fn frame_len(&self) -> u64 {
        (FRAME_HEADER_BYTES as u64)
            .saturating_add(u64::from(self.permanent_len))
            .saturating_add(u64::from(self.bodies_len))
    }

    pub(crate) fn encode(&self, place: Place) -> [u8; FRAME_HEADER_BYTES] {
        let mut bytes = [0_u8; FRAME_HEADER_BYTES];
        let fields: [&[u8]; 10] = [
            &FRAME_MAGIC,
            &[FRAME_VERSION, self.codec, self.flags, 0],
            &self.first_seq.to_le_bytes(),
            &self.count.to_le_bytes(),
            &self.permanent_len.to_le_bytes(),
            &self.bodies_len.to_le_bytes(),
            &self.permanent_crc.to_le_bytes(),
            &self.time.to_le_bytes(),
            &self.synced_through.to_le_bytes(),
            &self.chain,
        ];
        put_fields(&mut bytes, &fields);
        let crc = header_crc(&bytes, place).to_le_bytes();
        put_at(&mut bytes, CRC_AT, &crc);
        bytes
    }

    /// Nothing in the header is believed, and no length used, before its CRC has been checked.
    pub(crate) fn decode(bytes: &[u8], place: Place) -> Result<Self, HeaderFault> {
        let Some(bytes) = bytes.first_chunk::<FRAME_HEADER_BYTES>() else {
            return Err(HeaderFault::Broken("the file ends inside a frame header"));
        };
        if array_at(bytes, 0) != FRAME_MAGIC {
            return Err(if all_zero(bytes) { HeaderFault::Zeros } else { HeaderFault::Broken("no frame starts here") });
        }
        if u32_at(bytes, CRC_AT) != header_crc(bytes, place) {
            return Err(HeaderFault::Broken("the frame header fails its checksum"));
        }
        let [version, codec, flags, reserved] = array_at(bytes, 4);
        if version > FRAME_VERSION {
            return Err(HeaderFault::Newer { found: version, supported: FRAME_VERSION });
        }
        let header = Self {
            codec,
            flags,
            first_seq: u64_at(bytes, 8),
            count: u32_at(bytes, 16),
            permanent_len: u32_at(bytes, 20),
            bodies_len: u32_at(bytes, 24),
            permanent_crc: u32_at(bytes, 28),
            time: i64_at(bytes, 32),
            synced_through: u64_at(bytes, 40),
            chain: array_at(bytes, 48),
        };
        let impossible = if version == 0 || codec == 0 || reserved != 0 || flags & !KNOWN_FLAGS != 0 {
            "the frame header has unknown flags"
        } else if header.count == 0 || header.count > MAX_FRAME_COUNT {
            "the frame's count is out of range"
        } else if header.permanent_len == 0 || header.frame_len() > MAX_FRAME_BYTES {
            "the frame's length is out of range"
        } else if (header.bodies_len != 0) != (flags & FLAG_BODIES != 0) {
            "the frame's flags contradict its lengths"
        } else if header.first_seq == 0
            || header.first_seq.checked_add(u64::from(header.count)).is_none()
            || header.synced_through >= header.first_seq
        {
            "the frame's positions are out of range"
        } else if codec > NEWEST_CODEC {
            return Err(HeaderFault::Newer { found: codec, supported: NEWEST_CODEC });
        } else {
            return Ok(header);
        };
        Err(HeaderFault::Impossible(impossible))
    }
}

fn header_crc(bytes: &[u8; FRAME_HEADER_BYTES], place: Place) -> u32 {
    let mut hasher = crc32fast::Hasher::new_with_initial(place.seed);
    hasher.update(&place.offset.to_le_bytes());
    hasher.update(bytes.get(..CRC_AT).unwrap_or_default());
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    const PLACE: Place = Place { seed: 7, offset: 96 };

    fn header() -> FrameHeader {
        FrameHeader {
            codec: 1,
            flags: FLAG_BODIES,
            first_seq: 9,
            count: 3,
            permanent_len: 100,
            bodies_len: 40,
            permanent_crc: 77,
            time: -5,
            synced_through: 8,
            chain: [3; 32],
        }
    }

    #[test]
    fn a_header_survives_encoding_only_at_its_own_place() {
        let bytes = header().encode(PLACE);
        assert_eq!(FrameHeader::decode(&bytes, PLACE), Ok(header()));
        for place in [Place { seed: 8, ..PLACE }, Place { offset: 97, ..PLACE }] {
            let fault = FrameHeader::decode(&bytes, place).unwrap_err();
            assert!(matches!(fault, HeaderFault::Broken(_)));
        }
    }

    #[test]
    fn every_flipped_bit_of_a_header_is_noticed_before_a_length_is_used() {
        let good = header().encode(PLACE);
        for bit in 0..good.len() * 8 {
            let mut bad = good;
            bad[bit / 8] ^= 1 << (bit % 8);
            let fault = FrameHeader::decode(&bad, PLACE).unwrap_err();
            assert!(matches!(fault, HeaderFault::Broken(_)), "bit {bit}");
        }
    }

    #[test]
    fn impossible_headers_are_refused_though_their_checksum_holds() {
        let wrong: [fn(&mut FrameHeader); 11] = [
            |h| h.codec = 0,
            |h| h.flags = 0,
            |h| h.bodies_len = 0,
            |h| h.count = 0,
            |h| h.count = MAX_FRAME_COUNT + 1,
            |h| h.permanent_len = 0,
            |h| h.permanent_len = u32::MAX,
            |h| h.bodies_len = u32::MAX,
            |h| h.flags = 64,
            |h| h.first_seq = u64::MAX,
            |h| h.synced_through = 9,
        ];
        for change in wrong {
            let mut header = header();
            change(&mut header);
            let fault = FrameHeader::decode(&header.encode(PLACE), PLACE).unwrap_err();
            assert!(matches!(fault, HeaderFault::Impossible(_)), "{header:?}");
        }
        assert_eq!(FrameHeader::decode(&[0; 200], PLACE), Err(HeaderFault::Zeros));
    }
}
