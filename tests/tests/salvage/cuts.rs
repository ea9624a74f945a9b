//! The machine stops, or the disk fails, at any call of a salvage, and again while that is finished: what
//! is whole is never lost, and doing it again comes to the same.

use bilinc::storage::{Fault, FaultKind, FaultStorage};
use std::io::ErrorKind;

use super::*;

/// A store with a lost operation, a lost body, a damaged header and a missing segment at once.
struct Bad {
    whole: Whole,
    storage: MemoryStorage,
    lost: Vec<u64>,
    bodies: Vec<u64>,
}

fn bad() -> Bad {
    let whole = whole();
    let frame = whole.place_of("b", 0);
    let value = whole.place_of("d", 0);
    let paths = paths(&whole.storage);
    let last = whole.frames.last().unwrap().path.clone();
    assert!(frame.path != last && value.path != last && paths.len() > 2);
    let storage = without_frame(&whole.storage, &frame);
    let (offset, _, seq) = value.bodies[0];
    let storage = damaged(&storage, &value.path, |bytes| bytes[usize::try_from(offset).unwrap() + 21] ^= 1);
    let storage = damaged(&storage, &last, |bytes| bytes[20] ^= 1);
    let lost = (frame.first..=frame.last).collect();
    Bad { whole, storage, lost, bodies: vec![seq] }
}

fn freeze(at: u64) -> Fault {
    Fault { at, kind: FaultKind::Freeze, sticky: false, only: None }
}

fn seeds() -> u64 {
    std::env::var("BILINC_SALVAGE_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(2)
}

impl Bad {
    /// The calls of a salvage that goes through.
    fn calls(&self) -> Vec<String> {
        let faults = FaultStorage::new(Arc::new(self.storage.fork())).unwrap();
        at_work().salvage_in(Arc::new(faults.clone())).unwrap();
        faults.call_log()
    }

    /// Whatever was left, a salvage of it comes to the one result; and so does an open before it.
    fn assert_ends_well(&self, left: &MemoryStorage, what: &str) {
        if let Ok(memory) = at_work().open_in(Arc::new(left.clone())) {
            // Nothing may be shown that is not so; a damaged store takes no writes.
            for key in ["a", "x", "y"] {
                if let Some(entry) = memory.get(key).unwrap_or_else(|error| panic!("{what}: {error}")) {
                    assert!(entry.value.is_some() || entry.lost, "{what}: {key}");
                }
            }
        }
        salvage(left).unwrap_or_else(|error| panic!("{what}: {error}"));
        let again = salvage(left).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(!again.is_needed(), "{what}: {again:?}");
        self.whole.assert_salvaged(left, &self.lost, &self.bodies, what);
        assert_eq!(open(left).verify(&mut |_, _| {}).unwrap().salvages.len(), 1, "{what}");
        // The evidence is still there.
        let aside = files(left).into_iter().filter(|(path, _)| path.starts_with("quarantine/damaged-")).count();
        assert!(aside >= 3, "{what}: {aside} files set aside");
    }
}

#[test]
fn a_stop_at_any_call_of_a_salvage_loses_nothing_that_is_whole() {
    let bad = bad();
    let calls = bad.calls().len() as u64;
    for at in 1..=calls {
        let disk = bad.storage.fork();
        let faults = FaultStorage::new(Arc::new(disk.clone())).unwrap();
        faults.set_fault(Some(freeze(at)));
        let _ = at_work().salvage_in(Arc::new(faults.clone()));
        let call = faults.call_log()[usize::try_from(at).unwrap() - 1].clone();
        // Between the decision and its being durable there is most to go wrong.
        let seeds = if call.ends_with("salvage") || call.ends_with("plan") { 4 * seeds() } else { seeds() };
        for seed in 0..seeds {
            let left = faults.after_power_cut(seed * 1_000 + at);
            bad.assert_ends_well(&left, &format!("power cut at call {at}, {call}, seed {seed}"));
        }
        bad.assert_ends_well(&disk.fork(), &format!("killed at call {at}, {call}"));
    }
    println!("{calls} calls of a salvage");
}

#[test]
fn a_second_stop_while_an_interrupted_salvage_is_finished_loses_nothing() {
    let bad = bad();
    let calls = bad.calls();
    let decided = calls.iter().position(|call| call == "rename salvage/plan").unwrap() as u64 + 1;
    for at in decided..=calls.len() as u64 {
        let faults = FaultStorage::new(Arc::new(bad.storage.fork())).unwrap();
        faults.set_fault(Some(freeze(at)));
        let _ = at_work().salvage_in(Arc::new(faults.clone()));
        for seed in 0..seeds() {
            let left = faults.after_power_cut(seed * 1_000 + at);
            for again in 1.. {
                let second = FaultStorage::new(Arc::new(left.fork())).unwrap();
                second.set_fault(Some(freeze(again)));
                drop(at_work().open_in(Arc::new(second.clone())));
                let what = format!("power cut at call {at}, and at call {again} of the next open, seed {seed}");
                bad.assert_ends_well(&second.after_power_cut(seed + again), &what);
                if second.calls() < again || again > 24 {
                    break;
                }
            }
        }
    }
}

#[test]
fn a_call_that_fails_leaves_a_store_that_the_next_salvage_puts_in_order() {
    let bad = bad();
    let calls = bad.calls().len() as u64;
    let kinds = [
        (FaultKind::Error(ErrorKind::Other), false),
        (FaultKind::Error(ErrorKind::StorageFull), true),
        (FaultKind::ShortWrite(100, ErrorKind::StorageFull), false),
    ];
    for at in 1..=calls {
        for (kind, sticky) in kinds {
            let disk = bad.storage.fork();
            let faults = FaultStorage::new(Arc::new(disk.clone())).unwrap();
            faults.set_fault(Some(Fault { at, kind, sticky, only: None }));
            let what = format!("{kind:?} at call {at}");
            let done = at_work().salvage_in(Arc::new(faults.clone()));
            if let Err(error) = &done {
                assert!(matches!(error.code(), "cloud_runtime_unavailable" | "read_only"), "{what}: {error}");
            }
            faults.set_fault(None);
            bad.assert_ends_well(&faults.after_power_cut(at), &format!("{what}, and a power cut"));
            bad.assert_ends_well(&disk, &what);
        }
    }
}

#[test]
fn a_look_that_fails_changes_nothing_or_is_made_good_later() {
    let bad = bad();
    let faults = FaultStorage::new(Arc::new(bad.storage.fork())).unwrap();
    at_work().salvage_in(Arc::new(faults.clone())).unwrap();
    let looks = faults.looks();
    for at in (1..=looks).step_by(3) {
        let disk = bad.storage.fork();
        let faults = FaultStorage::new(Arc::new(disk.clone())).unwrap();
        let kind = FaultKind::Error(ErrorKind::Other);
        faults.set_look_fault(Some(Fault { at, kind, sticky: false, only: None }));
        let _ = at_work().salvage_in(Arc::new(faults.clone()));
        faults.set_look_fault(None);
        bad.assert_ends_well(&disk, &format!("look {at} fails"));
    }
}

#[test]
fn left_overs_of_an_undecided_salvage_are_ignored_by_opens_and_removed_by_a_purge() {
    let bad = bad();
    let decided = bad.calls().iter().position(|call| call == "rename salvage/plan").unwrap() as u64 + 1;
    let faults = FaultStorage::new(Arc::new(bad.storage.fork())).unwrap();
    faults.set_fault(Some(freeze(decided)));
    at_work().salvage_in(Arc::new(faults.clone())).unwrap_err();
    let left = faults.after_power_cut(3);
    let staged = |storage: &MemoryStorage| storage.list("salvage").unwrap_or_default().len();
    assert!(staged(&left) > 0);
    let healthy = bad.whole.storage.fork();
    for (path, bytes) in files(&left).into_iter().filter(|(path, _)| path.starts_with("salvage/")) {
        healthy.put(&path, bytes);
    }
    let memory = open(&healthy);
    assert_eq!(memory.status().unwrap().read_only, None);
    assert!(staged(&healthy) > 0, "an open removes nothing that it did not make");
    memory.forget(bilinc::Forget { purge: true, ..forget("a") }).unwrap();
    assert_eq!(staged(&healthy), 0);
    assert_sound(&memory);
}

#[test]
fn new_segments_are_not_moved_out_again_when_somebody_empties_the_quarantine() {
    let bad = bad();
    let calls = bad.calls();
    let moved_in = calls.iter().position(|call| call == "rename mark").unwrap() as u64 + 1;
    let disk = bad.storage.fork();
    let faults = FaultStorage::new(Arc::new(disk.clone())).unwrap();
    faults.set_fault(Some(freeze(moved_in)));
    at_work().salvage_in(Arc::new(faults)).unwrap_err();
    for (path, _) in files(&disk).into_iter().filter(|(path, _)| path.starts_with("quarantine/")) {
        disk.remove(&path).unwrap();
    }
    bad.whole.assert_salvaged(&disk, &bad.lost, &bad.bodies, "an emptied quarantine");
}
