use super::support::*;
use crate::log::*;
use crate::storage::{MemoryStorage, OpenMode, Storage};

fn verify(storage: &MemoryStorage) -> VerifyReport {
    let (log, _) = open(storage, small_segments());
    let (mut last, mut total) = (0, 0);
    let report = log.verify(&mut |done, of| {
        assert!(done >= last && done <= of);
        (last, total) = (done, of);
    });
    assert_eq!(last, total);
    report.unwrap()
}

#[test]
fn a_sound_log_is_proved_and_counted() {
    let storage = store_of(20, small_segments());
    let report = verify(&storage);
    assert_eq!(report.damage, None);
    assert_eq!((report.frames, report.events, report.bodies), (20, 40, 20));
    assert_eq!(report.last_seq, 40);
    let (log, _) = open(&storage, small_segments());
    assert_eq!(report.chain, log.durable().unwrap().chain);
    assert_eq!(report.bytes, log.bytes_on_disk().unwrap());
    assert_eq!(verify(&MemoryStorage::new()).last_seq, 0);
}

/// Overwrites the body of `seq` as a purge does.
fn zero_body(storage: &MemoryStorage, seq: u64) {
    let (log, _) = open(storage, small_segments());
    let frame = log.frame_at(seq).unwrap();
    let (offset, len) = frame.body_of(1).unwrap().region();
    let path = format!("log/{:020}.seg", frame.location().segment);
    let file = storage.open(&path, OpenMode::ReadWrite).unwrap();
    file.write_at(&vec![0; usize::try_from(len).unwrap()], offset).unwrap();
}

#[test]
fn a_zeroed_body_is_told_from_damage_and_the_chain_still_holds() {
    let storage = store_of(20, small_segments());
    let before = verify(&storage);
    for seq in [2, 12, 40] {
        zero_body(&storage, seq);
    }
    let (log, report) = open(&storage, small_segments());
    assert!(report.damage.is_none());
    let body = |seq| log.frame_at(seq).unwrap();
    assert_eq!(body(12).body_of(1).unwrap().read(), Ok(BodyState::Zeroed));
    assert!(matches!(body(14).body_of(1).unwrap().read(), Ok(BodyState::Present(_))));
    let after = verify(&storage);
    assert_eq!(after.zeroed, [2, 12, 40]);
    assert_eq!((after.chain, after.bodies, after.damage), (before.chain, 20, None));
}

#[test]
fn a_half_zeroed_body_is_damage() {
    let storage = store_of(3, options());
    let (log, _) = open(&storage, options());
    let frame = log.frame_at(4).unwrap();
    let (offset, _) = frame.body_of(1).unwrap().region();
    storage.open(FIRST, OpenMode::ReadWrite).unwrap().write_at(&[0; 17], offset).unwrap();
    let damage = log.frame_at(4).unwrap().body_of(1).unwrap().read().unwrap_err();
    assert_eq!((damage.offset, damage.position), (offset, 4));
    assert_eq!(log.verify(&mut |_, _| {}).unwrap().damage, Some(damage));
}

#[test]
fn a_history_that_was_rewritten_with_right_checksums_is_found() {
    let storage = store_of(20, small_segments());
    let (log, _) = open(&storage, small_segments());
    // The same place, another history: right in all but the chain that follows.
    let other = MemoryStorage::new();
    let (forged, _) = open(&other, small_segments());
    for n in 1..=20 {
        let mut draft = draft(n);
        if n == 3 {
            draft.permanent = b"permanent 7".to_vec();
        }
        commit(&forged, &[draft]).unwrap();
    }
    let start = log.frame_at(5).unwrap().location();
    let mut bytes = storage.contents(FIRST).unwrap();
    let from = usize::try_from(start.offset).unwrap();
    let to = from + usize::try_from(start.len).unwrap();
    bytes[from..to].copy_from_slice(&other.contents(FIRST).unwrap()[from..to]);
    let report = verify(&with_file(&storage, FIRST, bytes));
    let damage = report.damage.unwrap();
    assert_eq!(damage.position, 7, "the frame after the forged one does not follow it");
    assert_eq!(report.last_seq, 6);

    // A whole segment of another history.
    let whole = with_file(&storage, FIRST, other.contents(FIRST).unwrap());
    let (log, _) = open(&whole, small_segments());
    assert!(frames(&log, 1, 40).is_err(), "the next segment states another chain");
    assert!(verify(&whole).damage.is_some());
}

#[test]
fn damage_in_any_segment_is_reported_as_the_first_one() {
    let storage = store_of(20, small_segments());
    let (log, _) = open(&storage, small_segments());
    let segments = log.segments().unwrap();
    drop(log);
    for segment in &segments[1..segments.len() - 1] {
        let mut bytes = storage.contents(&segment.path).unwrap();
        bytes[150] ^= 4;
        let report = verify(&with_file(&storage, &segment.path, bytes));
        let damage = report.damage.unwrap();
        assert_eq!(format!("log/{}", damage.segment), segment.path);
        assert_eq!(damage.position, segment.first_seq);
        assert_eq!(report.last_seq + 1, segment.first_seq);
    }
}

#[test]
fn a_body_that_was_replaced_with_a_right_checksum_is_found_by_its_digest() {
    let storage = store_of(3, options());
    let (log, _) = open(&storage, options());
    let (offset, len) = log.frame_at(4).unwrap().body_of(1).unwrap().region();
    let from = usize::try_from(offset).unwrap();
    let mut bytes = storage.contents(FIRST).unwrap();
    let region = &mut bytes[from..from + usize::try_from(len).unwrap()];
    region[20] ^= 1;
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&region[..16]);
    hasher.update(&region[20..]);
    region[16..20].copy_from_slice(&hasher.finalize().to_le_bytes());
    let forged = with_file(&storage, FIRST, bytes);
    let (log, _) = open(&forged, options());
    assert!(matches!(log.frame_at(4).unwrap().body_of(1).unwrap().read(), Ok(BodyState::Present(_))));
    assert_eq!(log.verify(&mut |_, _| {}).unwrap().damage.unwrap().position, 4);
}
