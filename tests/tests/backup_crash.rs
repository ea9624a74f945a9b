//! The machine stops, or a disk fails, at any step of a backup: all of it is there, or no store, and the
//! store that was copied stays as it is.

use std::io;
use std::sync::Arc;

use bilinc::log::LogError;
use bilinc::storage::{Fault, FaultKind, FaultStorage, MemoryStorage, Storage};
use bilinc::{CountingIds, EngineError, Error, ManualClock, Memory, Seq};

use crate::backup::{SMALL, bench_in, told};
use crate::hooked::{Hook, Hooked};
use crate::purge::{SECRET, files, purge};
use crate::support::*;

const FIRST: &str = "log/00000000000000000001.seg";

/// How many power cuts are tried at each call; `BILINC_POWER_SEEDS` says more.
fn seeds(usual: u64) -> u64 {
    std::env::var("BILINC_POWER_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(usual)
}

/// What is left where a backup was interrupted: all of it, or no store.
fn assert_all_or_none(left: &MemoryStorage, memory: &Memory, what: &str) -> bool {
    for create in [false, true] {
        let (clock, ids) = (Arc::new(ManualClock::at(START)), Arc::new(CountingIds::new(900)));
        let empty = files(left).is_empty();
        match builder(&clock, &ids).create(create).open_in(Arc::new(left.fork())) {
            Ok(copy) if create && empty => assert_eq!(copy.head().unwrap().seq, Seq::ZERO),
            Ok(copy) => {
                assert_eq!(copy.damage(), None, "{what}");
                assert!(copy.is_same_state(memory).unwrap(), "{what}: less than was promised");
                assert_eq!(copy.head().unwrap(), memory.head().unwrap(), "{what}");
                assert!(copy.verify(&mut |_, _| {}).unwrap().state_equal, "{what}");
            }
            Err(Error::Engine(EngineError::Log(LogError::NotFound { .. }))) if !create => {}
            Err(Error::Engine(EngineError::Log(LogError::NotAStore { found, .. }))) => {
                assert_eq!(found, "unfinished.backup", "{what}");
            }
            Err(error) => panic!("{what}: {error}"),
        }
    }
    left.exists(FIRST).unwrap()
}

#[test]
fn a_power_cut_at_every_call_of_a_backup_leaves_all_of_it_or_no_store() {
    let bench = bench_in(SMALL);
    told(&bench);
    bench.memory.forget(purge("gone")).unwrap();
    let mut whole = 0;
    for at in 1.. {
        let target = MemoryStorage::new();
        let faults = FaultStorage::new(Arc::new(target.clone())).unwrap();
        faults.set_fault(Some(Fault { at, kind: FaultKind::Freeze, sticky: false, only: None }));
        let done = bench.memory.backup_to(Arc::new(faults.clone()), &mut |_, _| {});
        // Nothing rests on the last call, which forgets that the backup was unfinished.
        let ended = done.is_ok();
        assert!(!ended || faults.calls() <= at, "call {at}");
        for seed in 0..seeds(6) {
            let there =
                assert_all_or_none(&faults.after_power_cut(seed), &bench.memory, &format!("call {at}, seed {seed}"));
            assert!(there || !ended, "call {at}, seed {seed}: an acknowledged backup is gone");
            whole += u32::from(there);
        }
        assert_all_or_none(&target, &bench.memory, &format!("killed at call {at}"));
        if faults.calls() < at {
            break;
        }
    }
    assert!(whole > 12, "some are whole before they are acknowledged");
    bench.assert_sound();
}

#[test]
fn a_call_that_fails_is_told_takes_the_copy_back_and_leaves_the_store_alone() {
    let bench = bench_in(SMALL);
    told(&bench);
    let kinds = [
        FaultKind::Error(io::ErrorKind::PermissionDenied),
        FaultKind::Error(io::ErrorKind::StorageFull),
        FaultKind::ShortWrite(50, io::ErrorKind::StorageFull),
    ];
    for (kind, sticky) in kinds.into_iter().flat_map(|kind| [(kind, false), (kind, true)]) {
        for at in 1.. {
            let target = MemoryStorage::new();
            let faults = FaultStorage::new(Arc::new(target.clone())).unwrap();
            faults.set_fault(Some(Fault { at, kind, sticky, only: None }));
            let done = bench.memory.backup_to(Arc::new(faults.clone()), &mut |_, _| {});
            if faults.calls() < at {
                done.unwrap();
                break;
            }
            let what = format!("{kind:?} at call {at}, sticky {sticky}");
            if done.is_ok() {
                assert_eq!(faults.calls(), at, "{what}: it is not the last call");
                assert!(assert_all_or_none(&target, &bench.memory, &what));
                continue;
            }
            let error = done.unwrap_err();
            assert_eq!((error.code(), error.is_retryable()), ("cloud_runtime_unavailable", true), "{what}: {error}");
            for seed in 0..2 {
                assert_all_or_none(&faults.after_power_cut(seed), &bench.memory, &what);
            }
            assert_all_or_none(&target, &bench.memory, &what);
            faults.set_fault(None);
            if !sticky {
                assert_eq!(files(&target), [], "{what}");
                bench
                    .memory
                    .backup_to(Arc::new(faults), &mut |_, _| {})
                    .unwrap_or_else(|error| panic!("{what}: {error}"));
                assert_all_or_none(&target, &bench.memory, &what);
            }
        }
    }
    bench.put("after", "all that");
    bench.assert_sound();
}

#[test]
fn a_source_that_cannot_be_read_for_a_while_stays_as_it_is() {
    let storage = MemoryStorage::new();
    let bench = Bench::on(Arc::new(storage.clone()));
    bench.put("k", SECRET);
    bench.put("other", "stays");
    let faults = FaultStorage::new(Arc::new(storage)).unwrap();
    let memory = bench.builder().open_in(Arc::new(faults.clone())).unwrap();
    let kind = FaultKind::Error(io::ErrorKind::PermissionDenied);
    let mut failed = 0;
    for at in 1.. {
        faults.set_look_fault(Some(Fault { at: faults.looks() + at, kind, sticky: false, only: None }));
        let before = faults.looks();
        let target = MemoryStorage::new();
        match memory.backup_to(Arc::new(target.clone()), &mut |_, _| {}) {
            Ok(_) if faults.looks() < before + at => break,
            // The mark as it was read before is true, too.
            Ok(_) => {}
            Err(error) => {
                assert_eq!(error.code(), "cloud_runtime_unavailable", "look {at}: {error}");
                assert_eq!(files(&target), [], "look {at}");
                failed += 1;
            }
        }
    }
    faults.set_look_fault(None);
    assert!(failed > 3, "{failed}");
    assert_eq!(memory.status().unwrap().read_only, None);
    memory.commit(commit("after", "all that")).unwrap();
    bench.assert_sound();
}

#[test]
fn a_power_cut_while_a_failed_backup_is_taken_back_leaves_all_of_it_or_no_store() {
    let bench = bench_in(SMALL);
    told(&bench);
    let clean = FaultStorage::new(Arc::new(MemoryStorage::new())).unwrap();
    bench.memory.backup_to(Arc::new(clean.clone()), &mut |_, _| {}).unwrap();
    let named = clean.call_log().iter().position(|call| call == &format!("rename {FIRST}")).unwrap() as u64 + 1;
    // The last calls fail: the naming of the first segment, and what follows.
    for fails_at in named - 1..clean.calls() {
        for stops_at in 1.. {
            let target = MemoryStorage::new();
            let faults = FaultStorage::new(Arc::new(target.clone())).unwrap();
            let kind = FaultKind::Error(io::ErrorKind::Other);
            faults.set_fault(Some(Fault { at: fails_at, kind, sticky: false, only: None }));
            let stop = faults.clone();
            let hook = Hook::new(stops_at, move || {
                // Before that, the machine stops with nothing to take back.
                if stop.calls() >= fails_at {
                    let at = stop.calls() + 1;
                    stop.set_fault(Some(Fault { at, kind: FaultKind::Freeze, sticky: false, only: None }));
                }
            });
            let hooked = Hooked::<dyn Storage>(Arc::clone(&hook), Arc::new(faults.clone()));
            bench.memory.backup_to(Arc::new(hooked), &mut |_, _| {}).unwrap_err();
            if !hook.came() {
                break;
            }
            for seed in 0..seeds(4) {
                let what = format!("failed at call {fails_at}, stopped at {stops_at}, seed {seed}");
                assert_all_or_none(&faults.after_power_cut(seed), &bench.memory, &what);
            }
            assert_all_or_none(&target, &bench.memory, "killed");
        }
    }
}
