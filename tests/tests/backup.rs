//! A backup is a store that opens at once and holds a run of whole operations of the other; nothing
//! that stops it leaves less than that under the name of a store.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bilinc::log::LogError;
use bilinc::storage::{Fault, FaultKind, FaultStorage, MemoryStorage, Storage};
use bilinc::{BackedUp, CountingIds, Durability, EngineError, Error, KnownHead, ManualClock, Memory, Seq};

use crate::purge::{SECRET, files, purge, secret, traces};
use crate::support::*;

const SMALL: u64 = 3_000;
const FIRST: &str = "log/00000000000000000001.seg";

/// A store in small segments.
fn bench_in(segment_bytes: u64) -> Bench {
    let storage = Arc::new(MemoryStorage::new());
    let (clock, ids) = (Arc::new(ManualClock::at(START)), Arc::new(CountingIds::new(7)));
    let memory =
        builder(&clock, &ids).segment_bytes(segment_bytes).open_in(Arc::clone(&storage) as Arc<dyn Storage>).unwrap();
    Bench { memory, clock, ids, storage }
}

/// Some of everything, over several segments: imports, a dream's worth of changes, forgets, purges.
fn told(bench: &Bench) {
    for round in 0..6 {
        for index in 0..5 {
            bench.put(&format!("k{index}"), &format!("value {round}.{index} {}", "x".repeat(80)));
        }
        let lines: String = (0..4).map(|at| format!("{{\"key\":\"i{round}.{at}\",\"value\":{at}}}\n")).collect();
        bench.memory.import(lines.as_bytes(), Default::default(), &mut |_, _| {}).unwrap();
        bench.memory.with_idempotency_key(&format!("once{round}")).commit(secret("gone")).unwrap();
        bench.forget("k0");
    }
    bench.memory.snapshot(bilinc::Snapshot::default()).unwrap();
}

fn open(storage: &MemoryStorage) -> Memory {
    let (clock, ids) = (Arc::new(ManualClock::at(START.plus(DAY))), Arc::new(CountingIds::new(900)));
    builder(&clock, &ids).create(false).open_in(Arc::new(storage.clone())).unwrap()
}

fn back_up(memory: &Memory) -> (MemoryStorage, BackedUp) {
    let target = MemoryStorage::new();
    let done = memory.backup_to(Arc::new(target.clone()), &mut |_, _| {}).unwrap();
    (target, done)
}

/// The copy is the store as it stood at the position that the backup named.
fn assert_copied(memory: &Memory, copy: &Memory, done: &BackedUp) {
    assert_eq!((copy.head().unwrap(), copy.store_id()), (done.head, done.store));
    assert_ne!(copy.store_id(), memory.store_id());
    assert!(copy.is_same_state(&memory.replayed_through(done.head.seq).unwrap()).unwrap(), "another state");
    let told = memory.recorded(Seq::ZERO).unwrap().into_iter().take_while(|event| event.seq <= done.head.seq);
    assert!(copy.recorded(Seq::ZERO).unwrap().into_iter().eq(told), "another history");
    let verified = copy.verify(&mut |_, _| {}).unwrap();
    assert_eq!((verified.operations, verified.events, verified.bytes), (done.operations, done.events, done.bytes));
    assert_eq!((verified.segments, verified.state_equal), (done.segments, true));
    let status = copy.status().unwrap();
    assert_eq!((status.read_only, status.recovered), (None, None));
}

fn export(memory: &Memory) -> String {
    let mut lines = Vec::new();
    memory.export(&mut lines, &mut |_, _| {}).unwrap();
    String::from_utf8(lines).unwrap()
}

#[test]
fn a_copy_over_many_segments_is_the_store_under_another_id_and_goes_its_own_way() {
    let bench = bench_in(SMALL);
    told(&bench);
    let mut last = (0, 0);
    let target = MemoryStorage::new();
    let done = bench.memory.backup_to(Arc::new(target.clone()), &mut |done, total| {
        assert!(done <= total && done >= last.0);
        last = (done, total);
    });
    let done = done.unwrap();
    assert!(done.segments > 3 && last.0 == last.1 && last.1 >= done.bytes, "{done:?} {last:?}");
    assert_eq!(done.head, bench.memory.head().unwrap());
    let copy = open(&target);
    assert_copied(&bench.memory, &copy, &done);
    assert_eq!(export(&copy), export(&bench.memory));
    // No id and no secret of the other is in it; tokens, locks and what was set aside stay behind.
    let own = bench.memory.store_id().as_u128().to_le_bytes();
    for (path, bytes) in files(&target) {
        assert!(!bytes.windows(16).any(|window| window == own), "{path} holds the other store's id");
        assert!(path.starts_with("log/") || path.ends_with(".lock") || path == "mark", "{path}");
    }
    // Both write on, each for itself.
    copy.commit(commit("copy", "only here")).unwrap();
    bench.put("original", "only there");
    assert_ne!(copy.head().unwrap().chain, bench.memory.head().unwrap().chain);
    assert_eq!((value_of(&copy, "original"), bench.value("copy")), (None, None));
    assert_sound(&copy);
    bench.assert_sound();
}

#[test]
fn cursors_and_tokens_of_the_store_do_not_fit_its_copy_and_retries_do() {
    let bench = bench_in(SMALL);
    told(&bench);
    let snapshot = bench.memory.snapshot(bilinc::Snapshot::default()).unwrap().answer.id;
    bench.put("later", "change");
    let token = bench.memory.rollback_preview(snapshot, "back", 100).unwrap().confirmation_token;
    let page = bench.memory.list(&bilinc::ListQuery { limit: 2, ..Default::default() }).unwrap();
    let (target, _) = back_up(&bench.memory);
    let copy = open(&target);
    let query = bilinc::ListQuery { limit: 2, cursor: page.next_cursor, ..Default::default() };
    assert_eq!(invalid(copy.list(&query).unwrap_err()).1, "invalid_cursor");
    assert!(copy.rollback(snapshot, "back", &token).is_err());
    // What was done is done in the copy, too. A day has passed in it; a store of the same day replays.
    let again = bench.builder().open_in(Arc::new(target)).unwrap();
    assert!(again.with_idempotency_key("once5").commit(secret("gone")).unwrap().replayed);
}

#[test]
fn an_empty_store_is_copied_and_a_copy_is_copied() {
    let bench = Bench::new();
    let (target, done) = back_up(&bench.memory);
    let copy = open(&target);
    assert_copied(&bench.memory, &copy, &done);
    assert_eq!((done.head.seq, done.events, done.segments), (Seq::ZERO, 0, 1));
    copy.commit(commit("a", "first")).unwrap();
    let (third, done) = back_up(&copy);
    assert_copied(&copy, &open(&third), &done);
    open(&third).verify_since(bench.memory.head().unwrap(), &mut |_, _| {}).unwrap();
}

#[test]
fn the_head_of_the_store_proves_the_copy_and_what_the_copy_wrote_since() {
    let bench = bench_in(SMALL);
    told(&bench);
    let noted: KnownHead = bench.memory.head().unwrap().to_string().parse().unwrap();
    bench.memory.forget(purge("gone")).unwrap();
    let (target, done) = back_up(&bench.memory);
    let copy = open(&target);
    assert_copied(&bench.memory, &copy, &done);
    copy.commit(commit("k1", "of the copy")).unwrap();
    copy.forget(purge("k2")).unwrap();
    for memory in [&bench.memory, &copy] {
        let proof = memory.verify_since(noted, &mut |_, _| {}).unwrap();
        assert_eq!(proof.met.seq, noted.seq.unwrap());
        assert_eq!(proof.events_since, memory.head().unwrap().seq.get() - proof.met.seq.get());
    }
    let later = copy.head().unwrap();
    copy.verify_since(later, &mut |_, _| {}).unwrap();
    assert_eq!(bench.memory.verify_since(later, &mut |_, _| {}).unwrap_err().code(), "store_corrupt");
}

#[test]
fn what_is_copied_while_threads_write_is_a_run_of_whole_operations() {
    for durability in [Durability::Durable, Durability::Relaxed] {
        let bench = bench_in(20_000);
        let other = bench.builder().segment_bytes(20_000).durability(durability).open_in(Arc::clone(&bench.storage));
        let other = other.unwrap();
        let done = AtomicBool::new(false);
        let copies = std::thread::scope(|scope| {
            for (thread, memory) in [(0, &bench.memory), (1, &bench.memory), (2, &other), (3, &other)] {
                let done = &done;
                scope.spawn(move || {
                    let mut round = 0;
                    while !done.load(Ordering::SeqCst) {
                        round += 1;
                        let lines: String =
                            (0..3).map(|at| format!("{{\"key\":\"t{thread}.{at}\",\"value\":{round}}}\n")).collect();
                        memory.import(lines.as_bytes(), Default::default(), &mut |_, _| {}).unwrap();
                        memory.commit(secret(&format!("gone{thread}"))).unwrap();
                        if round % 4 == 0 {
                            memory.forget(purge(&format!("gone{thread}"))).unwrap();
                        }
                    }
                });
            }
            let copies: Vec<_> =
                (0..12).map(|copy| back_up(if copy % 2 == 0 { &bench.memory } else { &other })).collect();
            done.store(true, Ordering::SeqCst);
            copies
        });
        for (target, done) in copies {
            let reader = Memory::builder().read_only(true).open_in(Arc::new(target.fork())).unwrap();
            assert_eq!(reader.head().unwrap(), done.head);
            let verified = reader.verify_since(done.head, &mut |_, _| {}).unwrap().verified;
            assert!(verified.state_equal);
            // Bodies that were purged since are there in the copy: its facts are the same.
            let facts = |events: Vec<bilinc_core::RecordedEvent>| -> Vec<_> {
                let events = events.into_iter().take_while(|event| event.seq <= done.head.seq);
                events.map(|event| (event.seq, event.operation, event.event)).collect()
            };
            assert!(facts(reader.recorded(Seq::ZERO).unwrap()) == facts(bench.memory.recorded(Seq::ZERO).unwrap()));
            assert_sound(&open(&target));
        }
        bench.assert_sound();
    }
}

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

#[test]
fn damage_is_not_backed_up_and_leaves_nothing_behind() {
    let bench = bench_in(SMALL);
    told(&bench);
    let storage = MemoryStorage::new();
    for (path, bytes) in files(bench.storage.as_ref()) {
        storage.put(&path, bytes);
    }
    let names: Vec<String> =
        files(&storage).into_iter().map(|(path, _)| path).filter(|path| path.ends_with(".seg")).collect();
    for path in &names {
        let bytes = storage.contents(path).unwrap();
        let end = bytes.iter().rposition(|byte| *byte != 0).unwrap();
        for at in (0..end).step_by(211) {
            let copy = storage.fork();
            let mut flipped = bytes.clone();
            flipped[at] ^= 0x10;
            copy.put(path, flipped);
            let Ok(memory) = Bench::on_maybe(Arc::new(copy)) else { continue };
            let target = MemoryStorage::new();
            let what = format!("byte {at} of {path}");
            let done = memory.backup_to(Arc::new(target.clone()), &mut |_, _| {});
            let error = done.err().unwrap_or_else(|| panic!("{what} was flipped and is backed up"));
            assert_eq!(error.code(), "store_corrupt", "{what}: {error}");
            assert_eq!((files(&target), target.list("").unwrap()), (vec![], vec![]), "{what}");
        }
    }
}

#[test]
fn a_folder_that_is_taken_is_refused_and_left_alone() {
    let bench = Bench::new();
    bench.put("k", "v");
    let (target, _) = back_up(&bench.memory);
    let foreign = MemoryStorage::new();
    foreign.put("thesis.txt", b"precious".to_vec());
    let dotted = MemoryStorage::new();
    dotted.put(".hidden", b"precious".to_vec());
    for there in [target, foreign, dotted] {
        let before = files(&there);
        let refused = bench.memory.backup_to(Arc::new(there.clone()), &mut |_, _| {}).unwrap_err();
        assert_eq!(invalid(refused), ("target".to_owned(), "not_empty"));
        assert_eq!(files(&there), before);
    }
    let own = bench.memory.backup_to(Arc::clone(&bench.storage), &mut |_, _| {}).unwrap_err();
    assert_eq!(invalid(own).1, "not_empty");
    bench.assert_sound();
}

#[test]
fn of_backups_that_race_for_one_folder_one_gets_it_and_is_whole() {
    let bench = bench_in(SMALL);
    told(&bench);
    for _ in 0..8 {
        let target = MemoryStorage::new();
        let done: Vec<_> = std::thread::scope(|scope| {
            let backup = || bench.memory.backup_to(Arc::new(target.clone()), &mut |_, _| {});
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(backup)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let (whole, refused): (Vec<_>, Vec<_>) = done.into_iter().partition(Result::is_ok);
        assert_eq!(whole.len(), 1);
        for error in refused {
            assert_eq!(invalid(error.unwrap_err()).1, "not_empty");
        }
        assert_copied(&bench.memory, &open(&target), whole.first().unwrap().as_ref().unwrap());
    }
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
            Err(Error::Engine(EngineError::Log(LogError::NotFound { .. }))) if empty && !create => {}
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
        let ended = faults.calls() < at;
        assert_eq!(done.is_ok(), ended, "call {at}");
        for seed in 0..6 {
            let there =
                assert_all_or_none(&faults.after_power_cut(seed), &bench.memory, &format!("call {at}, seed {seed}"));
            assert!(there || !ended, "call {at}, seed {seed}: an acknowledged backup is gone");
            whole += u32::from(there);
        }
        assert_all_or_none(&target, &bench.memory, &format!("killed at call {at}"));
        if ended {
            break;
        }
    }
    assert!(whole > 6, "some are whole before they are acknowledged");
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
            let error = done.expect_err(&what);
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
