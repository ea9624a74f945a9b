//! What a write that was cut off leaves, and what it is told from.

use std::sync::Arc;

use super::support::*;
use crate::log::*;
use crate::storage::{FaultStorage, MemoryStorage, OpenMode, Storage};

/// Zeros in the place of the body of an operation of [`store_of`].
fn without_body(storage: &MemoryStorage, seq: u64) -> MemoryStorage {
    let copy = storage.fork();
    let (offset, len) = open(&storage.fork(), options()).0.frame_at(seq).unwrap().body_of(1).unwrap().region();
    let file = copy.open(FIRST, OpenMode::ReadWrite).unwrap();
    file.write_at(&vec![0; usize::try_from(len).unwrap()], offset).unwrap();
    copy
}

#[test]
fn a_body_that_never_arrived_makes_a_torn_end() {
    let unmarked = without_body(&without_mark(&store_of(3, options())), 6);
    let (log, report) = open(&unmarked, options());
    assert_eq!(report.damage, None);
    assert_eq!(report.torn.unwrap().position, 5);
    assert_eq!(shown(&log).unwrap(), [1, 2]);
    commit(&log, &[draft(4)]).unwrap();
    assert_eq!(shown(&log).unwrap(), [1, 2, 4]);
}

#[test]
fn a_body_that_was_erased_after_it_was_durable_makes_none() {
    let store = store_of(3, options());
    // The mark, or else a later frame, says that it was durable.
    for erased in [without_body(&store, 6), without_body(&without_mark(&store), 4)] {
        let (log, report) = open(&erased, options());
        assert_eq!((report.damage, report.torn), (None, None));
        assert_eq!(log.durable().unwrap().seq, 6);
        commit(&log, &[draft(4)]).unwrap();
    }
}

#[test]
fn a_sync_beside_a_write_counts_no_operation_whose_body_is_not_there_yet() {
    let storage = MemoryStorage::new();
    let (log, _) = open(&storage, options());
    let (other, _) = open(&storage, options());
    commit(&log, &[draft(1)]).unwrap();
    append(&other, &[draft(2)]).unwrap();
    let whole = storage.contents(FIRST).unwrap();
    let bytes = without_body(&storage, 4).contents(FIRST).unwrap();
    let file = storage.open(FIRST, OpenMode::ReadWrite).unwrap();
    file.write_at(&bytes, 0).unwrap();
    assert!(matches!(log.sync_through(4), Err(LogError::NoSuchPosition { seq: 4, last: 2 })));
    file.write_at(&whole, 0).unwrap();
    assert_eq!(log.sync_through(4).unwrap().seq, 4);
    assert_eq!(shown(&log).unwrap(), [1, 2]);
}

#[test]
fn what_is_set_aside_is_durable_before_it_is_cut_off_also_in_a_store_without_the_folder() {
    let whole = store_of(3, options());
    let log = whole.contents(FIRST).unwrap();
    for seed in 0..20 {
        let copied = MemoryStorage::new();
        copied.put(FIRST, [log.clone(), vec![0xff; 9]].concat());
        copied.put("mark", whole.contents("mark").unwrap());
        let faults = FaultStorage::new(Arc::new(copied)).unwrap();
        let (_log, report) = Log::open(Arc::new(faults.clone()), options(), STORE).unwrap();
        let left = faults.after_power_cut(seed);
        assert_eq!(left.contents(FIRST).unwrap().len(), log.len());
        let aside = left.contents(&report.torn.unwrap().quarantined_as);
        assert_eq!(aside.as_deref(), Some(&[0xff; 9][..]), "seed {seed}");
    }
}
