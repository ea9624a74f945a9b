//! Others have the store open while it is salvaged.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bilinc::storage::{Fault, FaultKind, FaultStorage, OpenMode};
use bilinc::{Durability, EngineError};

use super::*;

/// Spoils a byte under everybody who has the file open.
fn spoil(storage: &MemoryStorage, path: &str, at: u64) {
    let file = storage.open(path, OpenMode::ReadWrite).unwrap();
    let mut byte = [0];
    file.read_at(&mut byte, at).unwrap();
    file.write_at(&[byte[0] ^ 0x20], at).unwrap();
}

fn assert_stopped(memory: &Memory, what: &str) {
    let error = memory.commit(commit("late", "never acknowledged")).unwrap_err();
    assert_eq!(error.code(), "cloud_runtime_unavailable", "{what}: {error}");
    assert!(!error.is_retryable(), "{what}");
    // What it had is still shown, and nothing new.
    assert!(memory.get("late").unwrap().is_none(), "{what}");
    assert!(memory.status().unwrap().read_only.is_some(), "{what}");
}

#[test]
fn whoever_had_the_store_open_acknowledges_nothing_any_more() {
    for durability in [Durability::Durable, Durability::Relaxed] {
        for (mark, idle) in [("whole", true), ("whole", false), ("spoiled", true), ("spoiled", false)] {
            let what = format!("{durability:?}, mark {mark}, idle {idle}");
            let whole = whole();
            let storage = whole.storage.fork();
            let writer = at_work().durability(durability).open_in(Arc::new(storage.clone())).unwrap();
            let other = at_work().durability(durability).open_in(Arc::new(storage.clone())).unwrap();
            if !idle {
                writer.commit(commit("early", "kept")).unwrap();
            }
            let place = whole.place_of("b", 0);
            spoil(&storage, &place.path, place.offset + 90);
            if mark == "spoiled" {
                storage.open("mark", OpenMode::ReadWrite).unwrap().write_at(&[0xee; 1_024], 0).unwrap();
            }
            let report = salvage(&storage).unwrap_or_else(|error| panic!("{what}: {error}"));
            assert!(report.is_needed(), "{what}");
            assert_stopped(&writer, &what);
            assert_stopped(&other, &what);
            drop((writer, other));
            let memory = open(&storage);
            assert!(memory.get("late").unwrap().is_none(), "{what}");
            assert_eq!(value_of(&memory, "early").is_some(), !idle, "{what}");
            assert_sound(&memory);
        }
    }
}

#[test]
fn what_was_acknowledged_while_a_salvage_went_on_is_in_its_result() {
    let whole = whole();
    let storage = whole.storage.fork();
    let writers: Vec<Memory> = (0..2).map(|_| open(&storage)).collect();
    let place = whole.place_of("b", 0);
    spoil(&storage, &place.path, place.offset + 90);
    let done = AtomicBool::new(false);
    let write = |writer: usize, memory: &Memory| {
        let mut acknowledged = Vec::new();
        let mut late = 0;
        for round in 0_u32.. {
            late += u32::from(done.load(Ordering::SeqCst));
            assert!(late < 3, "a write was acknowledged after the salvage");
            let key = format!("w{writer}-{round}");
            match memory.commit(commit(&key, "acknowledged")) {
                Ok(_) => acknowledged.push(key),
                Err(_) => break,
            }
        }
        acknowledged
    };
    let acknowledged: Vec<String> = std::thread::scope(|scope| {
        let running: Vec<_> = writers
            .iter()
            .enumerate()
            .map(|(index, memory)| {
                let write = &write;
                scope.spawn(move || write(index, memory))
            })
            .collect();
        let salvaged = salvage(&storage);
        done.store(true, Ordering::SeqCst);
        salvaged.unwrap();
        running.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    drop(writers);
    let memory = open(&storage);
    for key in &acknowledged {
        assert_eq!(value_of(&memory, key).as_deref(), Some("acknowledged"), "{key}");
    }
    assert_sound(&memory);
}

#[test]
fn a_salvage_waits_for_who_is_writing_no_longer_than_it_was_told_to() {
    let whole = whole();
    let bad = without_frame(&whole.storage, &whole.place_of("b", 0));
    let lock = bad.lock("sync.lock").unwrap();
    lock.acquire(Duration::ZERO, "somebody").unwrap();
    let before = files(&bad);
    let error = at_work().lock_timeout(Duration::ZERO).salvage_in(Arc::new(bad.clone())).unwrap_err();
    assert!(error.is_retryable(), "{error}");
    assert_eq!(files(&bad), before);
    lock.release();
    let error = at_work().read_only(true).salvage_in(Arc::new(bad.clone())).unwrap_err();
    assert_eq!((error.code(), files(&bad) == before), ("read_only", true));
    assert!(salvage(&bad).unwrap().is_needed());
}

#[test]
fn an_interrupted_salvage_is_finished_by_an_open_for_writing_and_refused_by_one_for_reading() {
    let whole = whole();
    let place = whole.place_of("b", 0);
    let bad = without_frame(&whole.storage, &place);
    let faults = FaultStorage::new(Arc::new(bad.fork())).unwrap();
    at_work().salvage_in(Arc::new(faults.clone())).unwrap();
    let decided = faults.call_log().iter().position(|call| call == "rename salvage/plan").unwrap() as u64 + 1;
    let moves = faults.call_log().iter().filter(|call| call.starts_with("rename log/")).count() as u64;
    for at in decided + 1..decided + 2 + 2 * moves {
        let disk = bad.fork();
        let faults = FaultStorage::new(Arc::new(disk.clone())).unwrap();
        faults.set_fault(Some(Fault { at, kind: FaultKind::Freeze, sticky: false, only: None }));
        at_work().salvage_in(Arc::new(faults)).unwrap_err();
        let before = files(&disk);
        let refused = at_work().read_only(true).open_in(Arc::new(disk.clone())).unwrap_err();
        let unfinished = |error: &Error| {
            matches!(error, Error::Engine(EngineError::Log(bilinc::log::LogError::SalvageUnfinished { .. })))
        };
        assert!(unfinished(&refused), "{refused}");
        assert!(unfinished(&at_work().salvage_preview_in(Arc::new(disk.clone())).unwrap_err()));
        assert_eq!(files(&disk), before);
        let salvaged = disk.fork();
        let lost: Vec<u64> = (place.first..=place.last).collect();
        whole.assert_salvaged(&disk, &lost, &[], "finished by an open");
        let report = salvage(&salvaged).unwrap();
        assert!(report.finished_earlier && !report.is_needed(), "{report:?}");
        whole.assert_salvaged(&salvaged, &lost, &[], "finished by a salvage");
    }
}
