//! The machine stops, or the disk fails, at any step of a purge: the next open, or the next writer,
//! finishes it, and nothing else is lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bilinc::storage::{Fault, FaultKind, FaultStorage, MemoryStorage, OpenMode, Storage};
use bilinc::{CountingIds, Durability, Error, Event, ManualClock, Memory, Seq};

use crate::purge::{LATER, META, SECRET, purge, secret, traces};
use crate::support::*;

/// All in one segment, and a few operations in each.
const SEGMENTS: [u64; 2] = [1 << 20, 600];

#[derive(Debug, Clone, Copy)]
struct How {
    segment_bytes: u64,
    durability: Durability,
}

impl How {
    const DURABLE: [Self; 2] = [Self::of(SEGMENTS[0], Durability::Durable), Self::of(SEGMENTS[1], Durability::Durable)];
    const RELAXED: [Self; 2] = [Self::of(SEGMENTS[0], Durability::Relaxed), Self::of(SEGMENTS[1], Durability::Relaxed)];

    const fn of(segment_bytes: u64, durability: Durability) -> Self {
        Self { segment_bytes, durability }
    }
}

fn open(storage: Arc<dyn Storage>, how: How) -> Result<Memory, Error> {
    let (clock, ids) = (Arc::new(ManualClock::at(START)), Arc::new(CountingIds::new(7)));
    builder(&clock, &ids).segment_bytes(how.segment_bytes).durability(how.durability).open_in(storage)
}

/// Writes around a key and into it, over several segments; a torn end lies aside.
fn prepared(storage: &MemoryStorage, how: How) -> Result<Memory, Error> {
    let memory = open(Arc::new(storage.clone()), how)?;
    for round in 0..3 {
        memory.commit(commit(&format!("other{round}"), "stays"))?;
        memory.with_idempotency_key(&format!("i{round}")).commit(secret("k"))?;
        memory.revise(revise("k", LATER))?;
    }
    storage.open("quarantine/1.torn", OpenMode::Create).unwrap().write_at(META.as_bytes(), 0).unwrap();
    Ok(memory)
}

/// The purge and what follows; the last position that was acknowledged.
fn work(memory: &Memory, acknowledged: &mut Seq) -> Result<(), Error> {
    let before = memory.commit(commit("between", "kept"))?.answer.seq;
    *acknowledged = before;
    *acknowledged = memory.forget(purge("k"))?.answer.seq;
    *acknowledged = memory.commit(commit("last", "kept"))?.answer.seq;
    Ok(())
}

/// What was left opens, stands at least at what was acknowledged, holds nothing of what its log says
/// was purged, and works on.
fn assert_finished(storage: &MemoryStorage, acknowledged: Seq, how: How, what: &str) {
    // Who may not write sees a purge that is not finished as one that is.
    let reader = Memory::builder().read_only(true).open_in(Arc::new(storage.fork()));
    let reader = reader.unwrap_or_else(|error| panic!("{what}: {error}"));
    let verified = reader.verify(&mut |_, _| {}).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(verified.state_equal, "{what}");
    let history = reader.history("k", 100, true).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(history.exists || history.items.iter().all(|item| item.values_redacted), "{what}");
    let memory = open(Arc::new(storage.clone()), how).unwrap_or_else(|error| panic!("{what}: {error}"));
    let status = memory.status().unwrap();
    assert_eq!(status.read_only, None, "{what}");
    assert!(status.head.seq >= acknowledged, "{what}: {acknowledged} was acknowledged, {} is there", status.head.seq);
    let events = memory.recorded(Seq::ZERO).unwrap_or_else(|error| panic!("{what}: {error}"));
    let count = |name: &str| events.iter().filter(|event| event.event.name() == name).count();
    let verified = memory.verify(&mut |_, _| {}).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(verified.state_equal, "{what}");
    let named = events.iter().find_map(|event| match &event.event {
        Event::Purged(purged) => Some(purged.bodies.len() as u64),
        _ => None,
    });
    if let Some(named) = named {
        assert_eq!(traces(storage), [""; 0], "{what}");
        assert_eq!((count("PurgeCompleted"), verified.erased_bodies), (1, named), "{what}");
        assert!(memory.get("k").unwrap().is_none(), "{what}");
    } else {
        assert_eq!((value_of(&memory, "k").as_deref(), verified.erased_bodies), (Some(LATER), 0), "{what}");
    }
    for round in 0..3 {
        assert_eq!(value_of(&memory, &format!("other{round}")).as_deref(), Some("stays"), "{what}");
    }
    memory.commit(commit("more", "work")).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_sound(&memory);
}

/// A purge with the machine stopping, or a call failing, at each of its calls in turn.
fn at_every_call(hows: [How; 2], kind: FaultKind, check: &mut dyn FnMut(u64, &FaultStorage, &MemoryStorage, How, Seq)) {
    for how in hows {
        for at in 1.. {
            let storage = MemoryStorage::new();
            drop(prepared(&storage, how).unwrap());
            let faults = FaultStorage::new(Arc::new(storage.clone())).unwrap();
            let memory = open(Arc::new(faults.clone()), how).unwrap();
            let fault = Fault { at: faults.calls() + at, kind, sticky: false, only: None };
            faults.set_fault(Some(fault));
            let mut acknowledged = Seq::ZERO;
            let done = work(&memory, &mut acknowledged);
            drop(memory);
            if faults.calls() < fault.at {
                done.unwrap();
                assert!(at > 15, "a purge takes more calls than {at}");
                break;
            }
            check(at, &faults, &storage, how, acknowledged);
        }
    }
}

#[test]
fn a_power_cut_at_every_call_of_a_purge_leaves_one_that_the_next_open_finishes() {
    at_every_call(How::DURABLE, FaultKind::Freeze, &mut |at, faults, storage, how, acknowledged| {
        for seed in 0..8 {
            let what = format!("{how:?}, power cut at call {at}, seed {seed}");
            assert_finished(&faults.after_power_cut(seed), acknowledged, how, &what);
        }
        assert_finished(&storage.fork(), acknowledged, how, &format!("{how:?}, killed at call {at}"));
    });
}

#[test]
fn relaxed_durability_never_leaves_an_erased_body_without_its_purge() {
    at_every_call(How::RELAXED, FaultKind::Freeze, &mut |at, faults, storage, how, acknowledged| {
        for seed in 0..8 {
            let what = format!("{how:?}, power cut at call {at}, seed {seed}");
            assert_finished(&faults.after_power_cut(seed), Seq::ZERO, how, &what);
        }
        assert_finished(&storage.fork(), acknowledged, how, &format!("{how:?}, killed at call {at}"));
    });
}

#[test]
fn a_power_cut_while_a_purge_is_finished_leaves_one_that_is_finished_later() {
    at_every_call(How::DURABLE, FaultKind::Freeze, &mut |at, faults, _, how, acknowledged| {
        let left = faults.after_power_cut(at);
        for again in (1..40).step_by(3) {
            let copy = FaultStorage::new(Arc::new(left.fork())).unwrap();
            copy.set_fault(Some(Fault { at: again, kind: FaultKind::Freeze, sticky: false, only: None }));
            drop(open(Arc::new(copy.clone()), how));
            let what = format!("{how:?}, power cut at call {at}, and at call {again} of the next open");
            assert_finished(&copy.after_power_cut(again), acknowledged, how, &what);
        }
    });
}

#[test]
fn a_disk_that_fails_at_any_call_stops_the_writer_and_the_next_open_finishes() {
    for kind in [
        FaultKind::Error(std::io::ErrorKind::PermissionDenied),
        FaultKind::ShortWrite(9, std::io::ErrorKind::Other),
        FaultKind::ShortWrite(40, std::io::ErrorKind::StorageFull),
    ] {
        at_every_call(How::DURABLE, kind, &mut |at, faults, storage, how, acknowledged| {
            faults.set_fault(None);
            let what = format!("{how:?}, call {at}: {kind:?}");
            assert_finished(&storage.fork(), acknowledged, how, &what);
            assert_finished(&faults.after_power_cut(at), acknowledged, how, &what);
        });
    }
}

#[test]
fn a_handle_that_was_open_before_finishes_it_before_it_writes() {
    let short = FaultKind::ShortWrite(30, std::io::ErrorKind::Other);
    for (kind, how) in [(FaultKind::Freeze, How::DURABLE[1]), (short, How::DURABLE[0]), (short, How::DURABLE[1])] {
        for at in 1..40 {
            let what = format!("{how:?}, call {at}: {kind:?}");
            let storage = MemoryStorage::new();
            let idle = prepared(&storage, how).unwrap();
            let other = open(Arc::new(storage.clone()), how).unwrap();
            assert_eq!(value_of(&other, "k").as_deref(), Some(LATER));
            let faults = FaultStorage::new(Arc::new(storage.clone())).unwrap();
            let memory = open(Arc::new(faults.clone()), how).unwrap();
            // Written here, so that the others meet its frame for the first time when it is half erased.
            memory.with_idempotency_key("late").commit(secret("k")).unwrap();
            faults.set_fault(Some(Fault { at: faults.calls() + at, kind, sticky: false, only: None }));
            let asked = memory.forget(purge("k"));
            drop(memory);
            let failed = idle.commit(commit("by", "another")).err();
            // After a failed sync nobody writes until an open has put that right.
            assert!(failed.is_none() || asked.is_err(), "{what}: {failed:?}");
            if failed.is_some() {
                assert_finished(&storage, Seq::ZERO, how, &what);
                continue;
            }
            let there = idle.get("k").unwrap().is_some();
            assert_eq!(there, !traces(&storage).is_empty(), "{what}");
            assert_eq!(other.get("k").unwrap().is_some(), there, "{what}");
            assert!(other.verify(&mut |_, _| {}).unwrap().state_equal, "{what}");
            assert_sound(&idle);
        }
    }
}

#[test]
fn a_half_erased_body_is_known_for_what_it_is_when_the_mark_is_lost() {
    at_every_call(How::DURABLE, FaultKind::Freeze, &mut |at, faults, storage, how, acknowledged| {
        for (seed, left) in (0..6).map(|seed| (seed, faults.after_power_cut(seed))).chain([(9, storage.fork())]) {
            left.remove("mark").unwrap();
            assert_finished(&left, acknowledged, how, &format!("{how:?}, call {at}, seed {seed}, the mark lost"));
        }
    });
}

#[test]
fn readers_meet_no_damage_while_keys_are_purged() {
    let storage = MemoryStorage::new();
    let bench = Bench::on(Arc::new(storage.clone()));
    let large = format!("{SECRET} ").repeat(6_000);
    for index in 0..12 {
        bench.put(&format!("k{index}"), &large);
    }
    let other = bench.open_again();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for memory in [&bench.memory, &other] {
            scope.spawn(|| {
                while !done.load(Ordering::SeqCst) {
                    for index in 0..12 {
                        let name = format!("k{index}");
                        memory.get(&name).unwrap();
                        memory.history(&name, 10, true).unwrap();
                    }
                    assert!(memory.verify(&mut |_, _| {}).unwrap().state_equal);
                    memory.recall(&bilinc::RecallQuery::new("Villach")).unwrap();
                }
            });
        }
        for index in 0..12 {
            bench.memory.forget(purge(&format!("k{index}"))).unwrap();
        }
        done.store(true, Ordering::SeqCst);
    });
    assert_eq!(traces(&storage), [""; 0]);
    bench.assert_sound();
}

#[test]
fn writers_and_purges_side_by_side_lose_nothing_and_leave_nothing() {
    let storage = MemoryStorage::new();
    let bench = Bench::on(Arc::new(storage.clone()));
    let other = bench.open_again();
    std::thread::scope(|scope| {
        for (writer, memory) in [(0, &bench.memory), (1, &bench.memory), (2, &other), (3, &other)] {
            scope.spawn(move || {
                for round in 0..12 {
                    let name = format!("gone{writer}");
                    memory.commit(secret(&name)).unwrap();
                    memory.commit(commit(&format!("kept{writer}.{round}"), "kept")).unwrap();
                    assert_eq!(memory.forget(purge(&name)).unwrap().answer.purged.unwrap().events, 1);
                }
            });
        }
    });
    assert_eq!(traces(&storage), [""; 0]);
    assert_eq!(bench.memory.status().unwrap().counts.entries(), 48);
    assert_eq!(other.verify(&mut |_, _| {}).unwrap().erased_bodies, 48);
    bench.assert_sound();
}

/// Purges a key once the first line is written.
struct PurgesMeanwhile<'a>(&'a Memory, Vec<u8>);

impl std::io::Write for PurgesMeanwhile<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.1.is_empty() {
            self.0.forget(purge("k")).unwrap();
        }
        self.1.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_export_leaves_out_what_is_purged_while_it_is_written() {
    let bench = Bench::new();
    bench.put("a", "first");
    bench.memory.commit(secret("k")).unwrap();
    bench.put("z", "last");
    let other = bench.open_again();
    let mut output = PurgesMeanwhile(&other, Vec::new());
    assert_eq!(bench.memory.export(&mut output, &mut |_, _| {}).unwrap(), 2);
    let lines = String::from_utf8(output.1).unwrap();
    assert!(lines.contains("first") && lines.contains("last") && !lines.contains("\"k\""), "{lines}");
}
