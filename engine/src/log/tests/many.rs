use std::sync::Arc;

use super::support::*;
use crate::log::*;
use crate::storage::{Fault, FaultKind, FaultStorage, FileStorage, MemoryStorage, Storage};

#[test]
fn two_logs_on_one_store_append_without_a_gap_and_see_each_other() {
    for options in [options(), small_segments()] {
        let storage = MemoryStorage::new();
        let (one, _) = open(&storage, options.clone());
        let (two, _) = open(&storage, options);
        let mut expected = Vec::new();
        for n in 1..=40 {
            let (writer, reader) = if n % 3 == 0 { (&two, &one) } else { (&one, &two) };
            commit(writer, &[draft(n)]).unwrap();
            expected.push(n);
            assert_eq!(shown(reader).unwrap(), expected);
            assert_eq!(number(&reader.frame_at(2 * n).unwrap()).unwrap(), n);
            let at = reader.position_at(i64::try_from(n).unwrap() * 10, 2 * n).unwrap();
            assert_eq!(at, 2 * n);
        }
        assert_eq!(one.segments().unwrap(), two.segments().unwrap());
        assert!(one.verify(&mut |_, _| {}).unwrap().damage.is_none());
    }
}

#[test]
fn a_log_closed_by_one_goes_on_for_the_other() {
    let storage = MemoryStorage::new();
    let (one, _) = open(&storage, options());
    commit(&one, &[draft(1)]).unwrap();
    for n in 2..=6 {
        let (two, _) = open(&storage, options());
        commit(&two, &[draft(n * 10)]).unwrap();
        two.close().unwrap();
        commit(&one, &[draft(n)]).unwrap();
    }
    assert_eq!(shown(&one).unwrap(), [1, 20, 2, 30, 3, 40, 4, 50, 5, 60, 6]);
}

#[test]
fn nothing_past_the_mark_is_shown() {
    let storage = MemoryStorage::new();
    let (one, _) = open(&storage, options());
    let (two, _) = open(&storage, options());
    commit(&one, &[draft(1)]).unwrap();
    append(&one, &[draft(2)]).unwrap();
    assert_eq!(shown(&one).unwrap(), [1]);
    assert_eq!(shown(&two).unwrap(), [1]);
    // To decide upon, the next writer reads it all the same.
    let append = two.begin_append().unwrap();
    assert_eq!(append.head().next_seq, 5);
    assert_eq!(frames(&two, 3, append.head().next_seq - 1).unwrap().len(), 1);
    drop(append);
    // And one sync covers what others have appended.
    append_and_sync_other(&one, &two);
    assert_eq!(shown(&one).unwrap(), [1, 2, 3]);
}

fn append_and_sync_other(one: &Log, two: &Log) {
    append(two, &[draft(3)]).unwrap();
    assert_eq!(one.sync_through(4).unwrap().seq, 6);
}

#[test]
fn threads_and_logs_that_commit_at_once_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let file: Arc<dyn Storage> = Arc::new(FileStorage::new(dir.path()));
    let memory: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    for storage in [file, memory] {
        let (each, threads) = (25_u64, 3_u64);
        let options = LogOptions { segment_bytes: 4_000, ..options() };
        std::thread::scope(|scope| {
            for process in 0..3 {
                let (storage, options) = (Arc::clone(&storage), options.clone());
                scope.spawn(move || {
                    let (log, report) = Log::open(storage, options, STORE).unwrap();
                    assert!(report.damage.is_none(), "{report:?}");
                    std::thread::scope(|scope| {
                        for thread in 0..threads {
                            let log = &log;
                            scope.spawn(move || {
                                for n in 0..each {
                                    let n = (process * threads + thread) * each + n + 1;
                                    let last = commit(log, &[draft(n)]).unwrap();
                                    let frame = log.frame_at(last).unwrap();
                                    assert_eq!(number(&frame).unwrap(), n);
                                }
                            });
                        }
                    });
                });
            }
        });
        let (log, report) = Log::open(storage, options, STORE).unwrap();
        assert!(report.torn.is_none() && report.damage.is_none());
        let mut numbers = shown(&log).unwrap();
        numbers.sort_unstable();
        assert_eq!(numbers, (1..=3 * threads * each).collect::<Vec<_>>());
        assert!(log.verify(&mut |_, _| {}).unwrap().damage.is_none());
    }
}

#[test]
fn a_reader_follows_over_segments_that_others_began() {
    let storage = MemoryStorage::new();
    let (writer, _) = open(&storage, small_segments());
    let read_only = LogOptions { read_only: true, ..small_segments() };
    let (reader, _) = open(&storage, read_only);
    for n in 1..=30 {
        commit(&writer, &[draft(n)]).unwrap();
    }
    assert_eq!(number(&reader.frame_at(60).unwrap()).unwrap(), 30);
    assert_eq!(reader.position_at(155, 60).unwrap(), 30);
    assert_eq!(shown(&reader).unwrap().len(), 30);
    assert_eq!(frames(&reader, 57, 60).unwrap().len(), 2);
}

#[test]
fn a_writer_takes_no_durable_operation_of_another_for_a_torn_end() {
    let storage = MemoryStorage::new();
    let (one, _) = open(&storage, options());
    let (two, _) = open(&storage, options());
    commit(&one, &[draft(1)]).unwrap();
    append(&two, &[]).unwrap();
    commit(&one, &[draft(2)]).unwrap();
    let path = &one.segments().unwrap()[0].path;
    let location = one.frame_at(3).unwrap().location();
    let file = storage.open(path, crate::storage::OpenMode::ReadWrite).unwrap();
    file.write_at(&[0xee], location.offset + 90).unwrap();
    let before = storage.contents(path).unwrap();
    assert!(matches!(append(&two, &[draft(3)]), Err(LogError::Damage(_))));
    assert_eq!(storage.contents(path).unwrap(), before);
}

#[test]
fn relaxed_operations_reach_other_processes_by_themselves_in_the_end() {
    let storage = MemoryStorage::new();
    let (one, _) = open(&storage, LogOptions { durability: Durability::Relaxed, ..options() });
    let (two, _) = open(&storage, LogOptions { read_only: true, ..options() });
    for n in 1..=200 {
        commit(&one, &[draft(n)]).unwrap();
        assert_eq!(one.durable().unwrap().seq, 2 * n);
    }
    assert!(two.durable().unwrap().seq > 2 * 100);
    // A writer decides on all of it at once.
    let (three, _) = open(&storage, options());
    commit(&three, &[draft(201)]).unwrap();
    assert_eq!(shown(&one).unwrap(), (1..=201).collect::<Vec<_>>());
    assert_eq!(shown(&two).unwrap().len(), 201);
}

#[test]
fn an_append_that_fails_before_it_has_read_what_others_wrote_does_not_let_the_next_write_over_it() {
    let faults = FaultStorage::new(Arc::new(MemoryStorage::new())).unwrap();
    let open = || Log::open(Arc::new(faults.clone()), options(), STORE).unwrap().0;
    let (one, two) = (open(), open());
    commit(&one, &[draft(1)]).unwrap();
    commit(&one, &[draft(2)]).unwrap();
    commit(&two, &[draft(3)]).unwrap();
    // The lock was had, and let go again with nothing looked at: the mark, which comes first.
    let at = faults.looks() + 1;
    let kind = FaultKind::Error(std::io::ErrorKind::Other);
    faults.set_look_fault(Some(Fault { at, kind, sticky: false, only: Some("read") }));
    assert!(matches!(append(&one, &[draft(4)]), Err(LogError::Io { .. })));
    commit(&one, &[draft(5)]).unwrap();
    for log in [&one, &two] {
        assert_eq!(shown(log).unwrap(), [1, 2, 3, 5]);
    }
}

#[test]
fn two_logs_on_a_folder_that_sync_in_turn_serve_each_other_and_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let open = || Log::open(Arc::new(FileStorage::new(dir.path())), options(), STORE).unwrap().0;
    let logs = [open(), open(), open()];
    let written: Vec<u64> = std::thread::scope(|scope| {
        let write = |(at, log): (u64, &Log)| -> Vec<u64> {
            (0..60_u64)
                .map(|n| {
                    let n = at * 1_000 + n;
                    let last = commit(log, &[draft(n)]).unwrap();
                    assert_eq!(number(&log.frame_at(last).unwrap()).unwrap(), n);
                    n
                })
                .collect()
        };
        let threads: Vec<_> = (1..).zip(&logs).map(|numbered| scope.spawn(move || write(numbered))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let mut there = shown(&logs[0]).unwrap();
    there.sort_unstable();
    assert_eq!(there, written);
    assert!(logs[1].verify(&mut |_, _| {}).unwrap().damage.is_none());
}

#[test]
fn what_another_made_durable_is_not_written_over_when_somebody_has_removed_the_lock_files() {
    let dir = tempfile::tempdir().unwrap();
    let open = || Log::open(Arc::new(FileStorage::new(dir.path())), options(), STORE).unwrap().0;
    let one = open();
    commit(&one, &[draft(1)]).unwrap();
    commit(&one, &[draft(2)]).unwrap();
    for name in ["append.lock", "sync.lock"] {
        std::fs::remove_file(dir.path().join(name)).unwrap();
    }
    let two = open();
    commit(&two, &[draft(3)]).unwrap();
    commit(&one, &[draft(4)]).unwrap();
    commit(&two, &[draft(5)]).unwrap();
    for log in [&one, &two] {
        assert_eq!(shown(log).unwrap(), [1, 2, 3, 4, 5]);
    }
}
