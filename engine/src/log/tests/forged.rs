//! Headers and tables whose checksums hold and which no program of this format writes.

use super::support::*;
use crate::log::chain::body_digest;
use crate::log::frame_header::{
    FLAG_BODIES, FRAME_HEADER_BYTES, FrameHeader, MAX_FRAME_BYTES, MAX_FRAME_COUNT, Place, place_seed,
};
use crate::storage::MemoryStorage;

/// A closed log of one operation, without a mark, and behind it these parts under a header for them that
/// `change` has been at.
fn forged(permanent: &[u8], bodies: &[u8], change: impl FnOnce(&mut FrameHeader)) -> MemoryStorage {
    let storage = without_mark(&store_of(1, options()));
    let mut bytes = storage.contents(FIRST).unwrap();
    let mut header = FrameHeader {
        codec: 1,
        flags: if bodies.is_empty() { 0 } else { FLAG_BODIES },
        first_seq: 3,
        count: 2,
        permanent_len: u32::try_from(permanent.len()).unwrap(),
        bodies_len: u32::try_from(bodies.len()).unwrap(),
        permanent_crc: crc32fast::hash(permanent),
        time: 20,
        synced_through: 2,
        chain: [9; 32],
    };
    change(&mut header);
    let place = Place { seed: place_seed(STORE, 1), offset: bytes.len() as u64 };
    bytes.extend_from_slice(&header.encode(place));
    bytes.extend_from_slice(permanent);
    bytes.extend_from_slice(bodies);
    storage.put(FIRST, bytes);
    storage
}

fn assert_damage(storage: &MemoryStorage, case: &str) {
    let before = storage.contents(FIRST).unwrap();
    let (log, report) = open(storage, options());
    let damage = report.damage.unwrap_or_else(|| panic!("{case}: taken for a frame or a torn end"));
    assert_eq!((damage.position, damage.offset > 108), (3, true), "{case}");
    assert_eq!(shown(&log).unwrap(), [1], "{case}");
    assert_eq!(storage.contents(FIRST).unwrap(), before, "{case}");
}

#[test]
fn a_header_that_says_what_nobody_writes_is_damage_and_never_a_torn_end() {
    type Change = fn(&mut FrameHeader);
    let wrong: [(&str, Change); 16] = [
        ("no events", |h| h.count = 0),
        ("too many events", |h| h.count = MAX_FRAME_COUNT + 1),
        ("as many as there are numbers", |h| h.count = u32::MAX),
        ("no permanent part", |h| h.permanent_len = 0),
        ("a permanent part over the limit", |h| h.permanent_len = u32::MAX),
        ("both parts just over the limit", |h| h.permanent_len = u32::try_from(MAX_FRAME_BYTES).unwrap()),
        ("bodies over the limit", |h| (h.bodies_len, h.flags) = (u32::MAX, FLAG_BODIES)),
        ("bodies without their flag", |h| h.bodies_len = 40),
        ("the flag without bodies", |h| h.flags = FLAG_BODIES),
        ("unknown flags", |h| h.flags = 4),
        ("all flags", |h| h.flags = u8::MAX),
        ("no codec", |h| h.codec = 0),
        ("a position of zero", |h| (h.first_seq, h.synced_through) = (0, 0)),
        ("the last of all positions", |h| h.first_seq = u64::MAX),
        ("another position", |h| h.first_seq = 9),
        ("itself as synced", |h| h.synced_through = 3),
    ];
    for (case, change) in wrong {
        assert_damage(&forged(b"permanent 2", &[], change), case);
    }
}

#[test]
fn a_length_within_the_limit_and_past_the_file_is_a_torn_end() {
    let most = u32::try_from(MAX_FRAME_BYTES).unwrap() - u32::try_from(FRAME_HEADER_BYTES).unwrap();
    for len in [12, 70_000, most] {
        let storage = forged(b"permanent 2", &[], |header| header.permanent_len = len);
        let (log, report) = open(&storage, options());
        assert_eq!((report.damage, report.torn.unwrap().position), (None, 3), "{len}");
        assert_eq!(shown(&log).unwrap(), [1]);
    }
}

/// A table of bodies with these rows, whatever they say.
fn table(count: u32, rows: &[(u32, u32)], opaque: &[u8]) -> Vec<u8> {
    let mut bytes = count.to_le_bytes().to_vec();
    for (index, len) in rows {
        bytes.extend_from_slice(&index.to_le_bytes());
        bytes.extend_from_slice(&len.to_le_bytes());
        bytes.extend_from_slice(&body_digest(&[0; 16], b"x"));
    }
    bytes.extend_from_slice(opaque);
    bytes
}

#[test]
fn tables_of_bodies_that_contradict_themselves_or_their_region_are_damage() {
    let region = vec![7_u8; 60];
    let wrong = [
        ("no rows", table(0, &[], b"p")),
        ("more rows than events", table(3, &[(0, 0), (1, 0), (2, 0)], b"p")),
        ("rows without end", table(u32::MAX, &[(0, 40)], b"p")),
        ("rows that are not there", table(2, &[(0, 40)], b"")),
        ("nothing behind the rows", table(1, &[(0, 40)], b"")),
        ("an event that is not there", table(1, &[(2, 40)], b"p")),
        ("an event twice", table(2, &[(1, 10), (1, 10)], b"p")),
        ("events out of order", table(2, &[(1, 10), (0, 10)], b"p")),
        ("bodies that reach past the region", table(1, &[(0, 41)], b"p")),
        ("bodies that leave some of it", table(1, &[(0, 39)], b"p")),
        ("a length that goes round", table(2, &[(0, u32::MAX), (1, 21)], b"p")),
    ];
    for (case, permanent) in wrong {
        assert_damage(&forged(&permanent, &region, |_| {}), case);
    }
}
