use std::sync::Arc;

use super::support::*;
use crate::log::*;
use crate::storage::{FileStorage, MemoryStorage, Storage};

#[test]
fn what_was_written_is_there_after_opening_anew() {
    let dir = tempfile::tempdir().unwrap();
    let file: Arc<dyn Storage> = Arc::new(FileStorage::new(dir.path().join("store")));
    for storage in [Arc::new(MemoryStorage::new()) as Arc<dyn Storage>, file] {
        let (log, report) = Log::open(Arc::clone(&storage), LogOptions::default(), STORE).unwrap();
        assert!(report.created);
        assert_eq!((log.store_id(), log.durable().unwrap().seq), (STORE, 0));
        let metas = append(&log, &[draft(1), draft(2), draft(3)]).unwrap();
        assert_eq!(metas.iter().map(|meta| meta.first_seq).collect::<Vec<_>>(), [1, 3, 5]);
        let durable = log.sync_through(6).unwrap();
        assert_eq!((durable.seq, durable.chain), (6, metas[2].chain));
        commit(&log, &[draft(4)]).unwrap();
        assert_eq!(shown(&log).unwrap(), [1, 2, 3, 4]);
        log.close().unwrap();
        let (log, report) = Log::open(storage, LogOptions::default(), 99).unwrap();
        assert_eq!(log.store_id(), STORE);
        assert!(!report.created && report.mark_known && report.tail_checked);
        assert!(report.torn.is_none() && report.damage.is_none() && report.read_only.is_none());
        assert_eq!(shown(&log).unwrap(), [1, 2, 3, 4]);
        assert_eq!(log.chain_at(6).unwrap(), durable.chain);
        assert_eq!(log.begin_append().unwrap().head().last_time, Some(40));
    }
}

#[test]
fn a_closed_log_keeps_no_preallocation() {
    let storage = MemoryStorage::new();
    let (log, _) = open(&storage, options());
    commit(&log, &[draft(1)]).unwrap();
    let used = 108 + draft(1).frame_len().unwrap();
    assert!(log.bytes_on_disk().unwrap() > used);
    log.close().unwrap();
    assert_eq!(storage.contents(FIRST).unwrap().len() as u64, used);
    let (log, _) = open(&storage, options());
    commit(&log, &[draft(2)]).unwrap();
    assert_eq!(shown(&log).unwrap(), [1, 2]);
}

#[test]
fn a_batch_goes_over_several_segments_and_every_frame_lies_in_one() {
    let storage = MemoryStorage::new();
    let (log, _) = open(&storage, small_segments());
    let drafts: Vec<_> = (1..=20).map(draft).collect();
    commit(&log, &drafts[..13]).unwrap();
    commit(&log, &drafts[13..]).unwrap();
    let expected: Vec<u64> = (1..=20).collect();
    assert_eq!(shown(&log).unwrap(), expected);
    let segments = log.segments().unwrap();
    assert!(segments.len() > 3);
    for segment in &segments[..segments.len() - 1] {
        assert!(segment.bytes <= 1_000);
    }
    drop(log);
    let (log, _) = open(&storage, small_segments());
    assert_eq!(shown(&log).unwrap(), expected);
    assert_eq!(frames(&log, 12, 17).unwrap().len(), 4);
    for seq in 1..=40 {
        assert_eq!(number(&log.frame_at(seq).unwrap()).unwrap(), seq.div_ceil(2));
    }
    let missing = log.frame_at(41).unwrap_err();
    assert!(matches!(missing, LogError::NoSuchPosition { seq: 41, last: 40 }));
}

#[test]
fn a_frame_longer_than_a_segment_gets_one_of_its_own() {
    let storage = MemoryStorage::new();
    let (log, _) = open(&storage, small_segments());
    let mut long = draft(2);
    long.permanent = vec![b'x'; 300_000];
    commit(&log, &[draft(1), long.clone(), draft(3)]).unwrap();
    assert_eq!(log.segments().unwrap().len(), 3);
    assert_eq!(log.frame_at(3).unwrap().permanent(), long.permanent);
    assert_eq!(number(&log.frame_at(5).unwrap()).unwrap(), 3);
}

#[test]
fn an_operation_over_the_limit_is_refused_and_leaves_nothing() {
    let storage = MemoryStorage::new();
    let (log, _) = open(&storage, options());
    let before = storage.contents(FIRST).unwrap();
    let mut large = draft(2);
    large.permanent = vec![1; usize::try_from(MAX_OPERATION_BYTES).unwrap()];
    let error = append(&log, &[draft(1), large]).unwrap_err();
    assert!(matches!(error, LogError::OperationTooLarge { .. }), "{error}");
    for spoil in [
        |draft: &mut FrameDraft| draft.count = 0,
        |draft: &mut FrameDraft| draft.permanent.clear(),
        |draft: &mut FrameDraft| draft.bodies[0].event_index = 2,
        |draft: &mut FrameDraft| draft.bodies.push(draft.bodies[0].clone()),
    ] {
        let mut bad = draft(2);
        spoil(&mut bad);
        let error = append(&log, &[draft(1), bad]).unwrap_err();
        assert!(matches!(error, LogError::InvalidDraft { .. }), "{error}");
    }
    assert_eq!(storage.contents(FIRST).unwrap(), before);
    commit(&log, &[draft(1)]).unwrap();
    assert_eq!(shown(&log).unwrap(), [1]);
}

#[test]
fn an_operation_of_exactly_the_limit_can_be_read_back() {
    let storage = MemoryStorage::new();
    let (log, _) = open(&storage, options());
    let mut large = draft(1);
    large.permanent = Vec::new();
    large.bodies[0].bytes = vec![0; usize::try_from(MAX_OPERATION_BYTES).unwrap() - 84 - 44 - 20 - 1];
    large.permanent = vec![7];
    assert_eq!(large.frame_len().unwrap(), MAX_OPERATION_BYTES);
    commit(&log, &[large.clone(), draft(2)]).unwrap();
    let frame = log.frame_at(2).unwrap();
    let read = frame.body_of(1).unwrap();
    assert_eq!(read.read().unwrap(), BodyState::Present(&large.bodies[0].bytes));
    assert_eq!(number(&log.frame_at(3).unwrap()).unwrap(), 2);
}

#[test]
fn equal_operations_and_salts_make_equal_bytes() {
    let one = store_of(5, small_segments());
    let two = store_of(5, small_segments());
    for path in [FIRST, "log/00000000000000000009.seg", "mark"] {
        assert_eq!(one.contents(path), two.contents(path), "{path}");
    }
}

#[test]
fn relaxed_operations_are_shown_without_a_sync_and_synced_at_close() {
    let storage = MemoryStorage::new();
    let faults = crate::storage::FaultStorage::new(Arc::new(storage.clone())).unwrap();
    let relaxed = LogOptions { durability: Durability::Relaxed, ..options() };
    let (log, _) = Log::open(Arc::new(faults.clone()), relaxed, STORE).unwrap();
    commit(&log, &[draft(1)]).unwrap();
    let before = faults.call_log().len();
    commit(&log, &[draft(2)]).unwrap();
    assert_eq!(shown(&log).unwrap(), [1, 2]);
    let (other, _) = open(&storage, LogOptions { read_only: true, ..options() });
    log.publish().unwrap();
    assert_eq!(shown(&other).unwrap(), [1, 2]);
    assert!(!faults.call_log()[before..].iter().any(|call| call.starts_with("sync")));
    log.close().unwrap();
    let left = faults.after_power_cut(1);
    let (log, _) = open(&left, options());
    assert_eq!(shown(&log).unwrap(), [1, 2]);
}
