//! Purges and backups: what was purged is in no copy, also when it is purged while it is copied.

use std::io;
use std::sync::Arc;

use bilinc::storage::{Fault, FaultKind, FaultStorage, MemoryStorage, OpenMode, Storage};
use bilinc::{Memory, Seq};

use crate::backup::{SMALL, back_up, bench_in, open};
use crate::hooked::{Hook, Hooked};
use crate::purge::{LATER, files, purge, secret, traces};
use crate::support::*;

#[test]
fn what_was_purged_is_in_no_copy_and_an_unfinished_purge_is_finished_by_its_first_open() {
    for cut in [false, true] {
        let storage = MemoryStorage::new();
        let faults = FaultStorage::new(Arc::new(storage.clone())).unwrap();
        let bench = Bench::on(Arc::new(faults.clone()));
        bench.memory.commit(secret("k")).unwrap();
        bench.revise("k", "Quixotic-zebra#4711 moved to Bregenz");
        bench.put("other", "stays");
        if cut {
            // The machine stops before the first body is overwritten: the second write of a purge.
            let writes = |log: Vec<String>| log.iter().filter(|call| call.starts_with("write log/")).count();
            let before = writes(faults.call_log());
            let mut at = faults.calls();
            let probe = FaultStorage::new(Arc::new(storage.fork())).unwrap();
            let tried = Bench::on(Arc::new(probe.clone()));
            let start = probe.calls();
            tried.memory.forget(purge("k")).unwrap();
            let calls = probe.call_log();
            let overwrite = calls.iter().skip(usize::try_from(start).unwrap()).enumerate();
            let second = overwrite.filter(|(_, call)| call.starts_with("write log/")).nth(1).unwrap().0;
            at += second as u64 + 1;
            faults.set_fault(Some(Fault { at, kind: FaultKind::Freeze, sticky: false, only: None }));
            assert!(bench.memory.forget(purge("k")).is_err());
            assert!(writes(faults.call_log()) > before);
        } else {
            bench.memory.forget(purge("k")).unwrap();
        }
        let reader = Memory::builder().read_only(true).open_in(Arc::new(storage.fork())).unwrap();
        assert_eq!(traces(&storage).is_empty(), !cut, "the case is not the one that is meant");
        let (target, done) = back_up(&reader);
        assert_eq!(traces(&target), [""; 0]);
        let copied = Memory::builder().read_only(true).open_in(Arc::new(target.fork())).unwrap();
        assert_eq!(copied.head().unwrap(), done.head);
        assert_eq!(copied.verify(&mut |_, _| {}).unwrap().erased_bodies, 2);
        let copy = open(&target);
        let count = copy.recorded(Seq::ZERO).unwrap().iter().filter(|e| e.event.name() == "PurgeCompleted").count();
        assert_eq!((count, copy.head().unwrap().seq.get() - done.head.seq.get()), (1, u64::from(cut)));
        assert!(copy.get("k").unwrap().is_none());
        assert_eq!(value_of(&copy, "other").as_deref(), Some("stays"));
        assert_sound(&copy);
    }
}

/// A store in which `k` was written in many segments.
fn story() -> (MemoryStorage, Bench) {
    let bench = bench_in(SMALL);
    for round in 0..8 {
        bench.memory.with_idempotency_key(&format!("i{round}")).commit(secret("k")).unwrap();
        bench.put(&format!("k{round}"), &"x".repeat(300));
        bench.revise("k", LATER);
        bench.put(&format!("l{round}"), &"x".repeat(300));
    }
    let storage = MemoryStorage::new();
    for (path, bytes) in files(bench.storage.as_ref()) {
        storage.put(&path, bytes);
    }
    (storage, bench)
}

/// How a purge goes that comes in the middle of a backup.
#[derive(Debug, Clone, Copy)]
enum Meanwhile {
    Whole,
    /// It stops in the middle of the body of that number.
    Half(u64),
}

/// Purges `k` through a handle of its own, as another process does; the position it got.
fn purge_meanwhile(storage: &MemoryStorage, bench: &Bench, how: Meanwhile) -> impl FnOnce() + Send + use<> {
    let faults = FaultStorage::new(Arc::new(storage.clone())).unwrap();
    let memory = bench.builder().segment_bytes(SMALL).open_in(Arc::new(faults.clone())).unwrap();
    move || {
        if let Meanwhile::Half(body) = how {
            // The purge itself is the first write, and the mark that covers it the second.
            let kind = FaultKind::ShortWrite(30, io::ErrorKind::Other);
            let at = writes(&memory, &faults, body);
            faults.set_fault(Some(Fault { at, kind, sticky: true, only: None }));
        }
        let done = memory.forget(purge("k"));
        assert_eq!(done.is_ok(), matches!(how, Meanwhile::Whole));
    }
}

/// The number of the call that overwrites that body, found out on a copy.
fn writes(memory: &Memory, faults: &FaultStorage, body: u64) -> u64 {
    let _ = memory.status().unwrap();
    let fork = FaultStorage::new(Arc::new(faults.after_power_cut(0))).unwrap();
    let other = Bench::on_maybe(Arc::new(fork.clone())).unwrap();
    let start = fork.calls();
    other.forget(purge("k")).unwrap();
    let calls = fork.call_log();
    let since = calls.iter().enumerate().skip(usize::try_from(start).unwrap());
    // The first write into the log is that of the purge.
    let mut overwrites = since.filter(|(_, call)| call.starts_with("write log/")).skip(1);
    let at = overwrites.nth(usize::try_from(body).unwrap()).unwrap().0 as u64;
    faults.calls() + at - start + 1
}

#[test]
fn a_purge_at_any_call_of_a_backup_leaves_no_copy_that_holds_what_its_history_purged() {
    let (mut with, mut without) = (0, 0);
    for how in [Meanwhile::Whole, Meanwhile::Half(0), Meanwhile::Half(7), Meanwhile::Half(15)] {
        for source_side in [true, false] {
            for at in 1.. {
                let (storage, bench) = story();
                let hook = Hook::new(at, purge_meanwhile(&storage, &bench, how));
                let hooked = |inner: MemoryStorage, on: bool| -> Arc<dyn Storage> {
                    if on {
                        Arc::new(Hooked::<dyn Storage>(Arc::clone(&hook), Arc::new(inner)))
                    } else {
                        Arc::new(inner)
                    }
                };
                let target = MemoryStorage::new();
                let builder = Memory::builder().read_only(true);
                let memory = builder.open_in(hooked(storage.clone(), source_side)).unwrap();
                if hook.came() {
                    continue;
                }
                let what = format!("{how:?} at call {at}, of the source {source_side}");
                let done = memory.backup_to(hooked(target.clone(), !source_side), &mut |_, _| {});
                let done = done.unwrap_or_else(|error| panic!("{what}: {error}"));
                if !hook.came() {
                    break;
                }
                let reader = Memory::builder().read_only(true).open_in(Arc::new(target.fork())).unwrap();
                assert_eq!(reader.head().unwrap(), done.head, "{what}");
                let verified = reader.verify(&mut |_, _| {}).unwrap_or_else(|error| panic!("{what}: {error}"));
                assert!(verified.state_equal, "{what}");
                let events = reader.recorded(Seq::ZERO).unwrap();
                let purged = events.iter().any(|event| event.event.name() == "Purged");
                if purged {
                    assert_eq!((traces(&target), verified.erased_bodies), (vec![], 16), "{what}");
                    with += 1;
                } else {
                    // The purge came when all had been read: the copy is as of a position before it.
                    assert_eq!(verified.erased_bodies, 0, "{what}");
                    without += 1;
                }
                let copy = open(&target);
                assert_eq!(copy.get("k").unwrap().is_none(), purged, "{what}");
                assert_sound(&copy);
            }
        }
    }
    assert!(with > 20 && without > 20, "{with} copies with the purge, {without} without");
}

#[test]
fn a_body_that_the_purges_do_not_account_for_is_not_backed_up() {
    let storage = MemoryStorage::new();
    let bench = Bench::on(Arc::new(storage.clone()));
    bench.memory.commit(secret("k")).unwrap();
    bench.put("other", "stays");
    let segment = "log/00000000000000000001.seg";
    let whole = storage.contents(segment).unwrap();
    bench.memory.forget(purge("k")).unwrap();
    let purged = storage.contents(segment).unwrap();
    let differs: Vec<_> = whole.iter().zip(&purged).enumerate().filter(|(_, (a, b))| a != b && **b == 0).collect();
    let (first, last) = (differs.first().unwrap().0, differs.last().unwrap().0);
    let refused = |bytes: Vec<u8>| {
        let copy = storage.fork();
        copy.open(segment, OpenMode::ReadWrite).unwrap().write_at(&bytes, 0).unwrap();
        let target = MemoryStorage::new();
        let memory = Bench::on_maybe(Arc::new(copy)).unwrap();
        let error = memory.backup_to(Arc::new(target.clone()), &mut |_, _| {}).unwrap_err();
        assert_eq!((error.code(), files(&target)), ("store_corrupt", vec![]));
        error.to_string()
    };
    // The body is back, though a purge erased it.
    let mut back = purged.clone();
    back[first..=last].copy_from_slice(&whole[first..=last]);
    let told = refused(back);
    assert!(told.contains("position 1: the body is there, though a purge erased it"), "{told}");
    // Another one is erased, and no purge says so.
    let at = purged.windows(5).position(|window| window == b"stays").unwrap();
    let (from, len) = {
        let options = bilinc::log::LogOptions { read_only: true, ..Default::default() };
        let (log, _) = bilinc::log::Log::open(Arc::new(storage.fork()), options, 1).unwrap();
        log.frame_at(2).unwrap().body_of(0).unwrap().region()
    };
    let (from, end) = (from as usize, (from + len) as usize);
    assert!(from < at && at < end);
    let mut zeroed = purged;
    zeroed[from..end].fill(0);
    let told = refused(zeroed);
    assert!(told.contains("position 2: the body is erased, and no purge names it"), "{told}");
}
