use super::support::*;
use crate::log::*;
use crate::storage::{OpenMode, Storage};

fn erase(log: &Log, positions: &[u64], through: u64) {
    log.begin_append().unwrap().erase(positions, through).unwrap();
}

#[test]
fn erased_bodies_are_zeros_in_their_places_and_nothing_else_is_touched() {
    let storage = store_of(20, small_segments());
    let (log, _) = open(&storage, small_segments());
    let chain = log.durable().unwrap().chain;
    // Positions without a body are passed over.
    erase(&log, &[2, 3, 12, 40], 40);
    let report = log.verify(&mut |_, _| {}).unwrap();
    assert_eq!((report.zeroed, report.chain, report.damage), (vec![2, 12, 40], chain, None));
    for seq in (4..40).step_by(2).filter(|seq| *seq != 12) {
        number(&log.frame_at(seq).unwrap()).unwrap();
    }
    // Again comes to the same, and the log goes on.
    let bytes = storage.contents(FIRST).unwrap();
    erase(&log, &[2], 40);
    assert_eq!(storage.contents(FIRST).unwrap(), bytes);
    commit(&log, &[draft(21)]).unwrap();
}

#[test]
fn what_was_set_aside_goes_and_what_is_in_use_stays() {
    let storage = store_of(3, options());
    storage.put("quarantine/x.torn", b"body 1".to_vec());
    storage.put("quarantine/x.torn.tmp", b"body 1".to_vec());
    storage.put("log/00000000000000000099.seg.tmp", b"body 1".to_vec());
    storage.put("token.key", vec![7; 32]);
    let (log, _) = open(&storage, options());
    erase(&log, &[2], 6);
    assert_eq!(storage.list("quarantine").unwrap().len(), 0);
    assert_eq!(storage.list("log").unwrap().len(), 1);
    assert!(storage.contents("token.key").is_some() && storage.contents("mark").is_some());
}

#[test]
fn relaxed_work_is_hardened_before_anything_is_erased() {
    let storage = store_of(0, options());
    let relaxed = LogOptions { durability: Durability::Relaxed, ..options() };
    let (log, _) = open(&storage, relaxed);
    commit(&log, &[draft(1), draft(2)]).unwrap();
    let (reader, _) = open(&storage, LogOptions { read_only: true, ..options() });
    assert_eq!(reader.durable().unwrap().seq, 0, "the mark is behind");
    erase(&log, &[2], 4);
    assert_eq!(reader.durable().unwrap().seq, 4);
    assert_eq!(reader.verify(&mut |_, _| {}).unwrap().zeroed, [2]);
}

#[test]
fn a_body_that_was_whole_once_is_no_torn_end_although_the_mark_is_lost() {
    let storage = store_of(4, options());
    let half = |seq: u64| {
        let (log, _) = open(&storage, LogOptions { read_only: true, ..options() });
        let (offset, _) = log.frame_at(seq).unwrap().body_of(1).unwrap().region();
        let copy = without_mark(&storage);
        copy.open(FIRST, OpenMode::ReadWrite).unwrap().write_at(&[0; 17], offset).unwrap();
        open(&copy, options())
    };
    // Later frames were written when it was durable: whoever reads it judges it.
    let (log, report) = half(4);
    assert_eq!((report.damage, report.torn, log.durable().unwrap().seq), (None, None, 8));
    assert_eq!(log.verify(&mut |_, _| {}).unwrap().damage.unwrap().position, 4);
    let judged = half(4).0.verify_judging(&mut |_, _| {}, &|seq| seq == 4).unwrap();
    assert_eq!((judged.zeroed, judged.half_erased, judged.damage), (vec![], vec![4], None));
    // Nothing says so of the last one.
    let (log, report) = half(8);
    assert_eq!((report.torn.unwrap().position, log.durable().unwrap().seq), (7, 6));
}

#[test]
fn a_frame_tells_what_was_synced_when_it_was_written_also_within_one_turn() {
    let storage = store_of(0, options());
    let (log, _) = open(&storage, options());
    let mut append = log.begin_append().unwrap();
    append.append(&[draft(1)]).unwrap();
    log.sync_through(2).unwrap();
    append.append(&[draft(2)]).unwrap();
    drop(append);
    log.sync_through(4).unwrap();
    let (offset, _) = log.frame_at(2).unwrap().body_of(1).unwrap().region();
    drop(log);
    let copy = without_mark(&storage);
    copy.open(FIRST, OpenMode::ReadWrite).unwrap().write_at(&[0; 17], offset).unwrap();
    let (log, report) = open(&copy, options());
    assert_eq!((report.damage, report.torn, log.durable().unwrap().seq), (None, None, 4));
}
