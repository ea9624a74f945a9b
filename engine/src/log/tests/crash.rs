use std::sync::Arc;

use super::support::*;
use crate::log::*;
use crate::storage::{Fault, FaultKind, FaultStorage, MemoryStorage, Storage};

/// Works until the machine stops; what was acknowledged, and how many operations were tried.
fn work(faults: &FaultStorage, options: &LogOptions) -> (u64, u64) {
    let (mut acknowledged, mut tried) = (0, 0);
    let Ok((log, _)) = Log::open(Arc::new(faults.clone()), options.clone(), STORE) else {
        return (0, 0);
    };
    let batches: [u64; 6] = [1, 2, 1, 4, 1, 3];
    for size in batches {
        let drafts: Vec<_> = (tried + 1..=tried + size).map(draft).collect();
        tried += size;
        if commit(&log, &drafts).is_err() {
            return (acknowledged, tried);
        }
        acknowledged = tried;
    }
    (acknowledged, tried)
}

/// The store must show a run of operations from the first on, all acknowledged ones among them.
fn check(left: &MemoryStorage, options: &LogOptions, acknowledged: u64, tried: u64, what: &str) {
    let (log, report) = match try_open(left, options.clone()) {
        Ok(opened) => opened,
        Err(error) => panic!("{what}: {error}"),
    };
    assert!(report.damage.is_none() && report.read_only.is_none(), "{what}: {report:?}");
    let shown = shown(&log).unwrap_or_else(|error| panic!("{what}: {error}"));
    let count = shown.len() as u64;
    assert_eq!(shown, (1..=count).collect::<Vec<_>>(), "{what}");
    assert!(count >= acknowledged && count <= tried, "{what}: {count} of {acknowledged}..{tried}");
    let verified = log.verify(&mut |_, _| {}).unwrap();
    assert_eq!(verified.damage, None, "{what}");
    commit(&log, &[draft(count + 1)]).unwrap_or_else(|error| panic!("{what}: {error}"));
}

fn calls_of(options: &LogOptions) -> u64 {
    let faults = FaultStorage::new(Arc::new(MemoryStorage::new())).unwrap();
    work(&faults, options);
    faults.calls()
}

fn stop_at(faults: &FaultStorage, at: u64) {
    let kind = FaultKind::Freeze;
    faults.set_fault(Some(Fault { at, kind, sticky: false, only: None }));
}

#[test]
fn acknowledged_operations_survive_a_power_cut_at_every_call() {
    for options in [options(), LogOptions { segment_bytes: 700, ..options() }] {
        for at in 1..=calls_of(&options) {
            let faults = FaultStorage::new(Arc::new(MemoryStorage::new())).unwrap();
            stop_at(&faults, at);
            let (acknowledged, tried) = work(&faults, &options);
            for seed in 0..12 {
                let left = faults.after_power_cut(seed);
                check(&left, &options, acknowledged, tried, &format!("call {at}, seed {seed}"));
            }
        }
    }
}

#[test]
fn a_process_that_stops_at_any_call_leaves_all_it_had_written() {
    let options = LogOptions { segment_bytes: 700, ..options() };
    for at in 1..=calls_of(&options) {
        let memory = MemoryStorage::new();
        let faults = FaultStorage::new(Arc::new(memory.clone())).unwrap();
        stop_at(&faults, at);
        let (acknowledged, tried) = work(&faults, &options);
        check(&memory.fork(), &options, acknowledged, tried, &format!("call {at}"));
    }
}

#[test]
fn a_recovery_that_is_itself_cut_off_comes_to_the_same_result() {
    let options = LogOptions { segment_bytes: 700, ..options() };
    let total = calls_of(&options);
    for at in (1..=total).step_by(3) {
        let faults = FaultStorage::new(Arc::new(MemoryStorage::new())).unwrap();
        stop_at(&faults, at);
        let (acknowledged, tried) = work(&faults, &options);
        for seed in [1, 5] {
            let mut left = faults.after_power_cut(seed);
            for cut in 1..=12 {
                let again = FaultStorage::new(Arc::new(left.clone())).unwrap();
                stop_at(&again, cut);
                drop(Log::open(Arc::new(again.clone()), options.clone(), STORE));
                left = again.after_power_cut(seed * 31 + cut);
            }
            check(&left, &options, acknowledged, tried, &format!("call {at}, seed {seed}"));
        }
    }
}

#[test]
fn a_power_cut_in_relaxed_work_leaves_a_run_of_whole_operations() {
    for segment_bytes in [64 * 1024 * 1024, 700] {
        let relaxed = LogOptions { durability: Durability::Relaxed, segment_bytes, ..options() };
        for at in 1..=calls_of(&relaxed) {
            let faults = FaultStorage::new(Arc::new(MemoryStorage::new())).unwrap();
            stop_at(&faults, at);
            let (_, tried) = work(&faults, &relaxed);
            for seed in 0..6 {
                let left = faults.after_power_cut(seed);
                check(&left, &relaxed, 0, tried, &format!("call {at}, seed {seed}"));
            }
        }
    }
}

#[test]
fn a_lost_mark_after_a_power_cut_loses_no_acknowledged_operation() {
    let options = LogOptions { segment_bytes: 700, ..options() };
    for at in 1..=calls_of(&options) {
        let faults = FaultStorage::new(Arc::new(MemoryStorage::new())).unwrap();
        stop_at(&faults, at);
        let (acknowledged, tried) = work(&faults, &options);
        let left = faults.after_power_cut(at);
        if left.exists("log/00000000000000000001.seg").unwrap() {
            let _ = left.remove("mark");
        }
        check(&left, &options, acknowledged, tried, &format!("call {at}"));
    }
}

#[test]
fn a_mark_that_a_relaxed_process_moved_makes_no_operation_of_another_durable() {
    for seed in 0..40 {
        let faults = FaultStorage::new(Arc::new(MemoryStorage::new())).unwrap();
        let opened = |options| Log::open(Arc::new(faults.clone()), options, STORE).unwrap().0;
        let durable = opened(options());
        let relaxed = opened(LogOptions { durability: Durability::Relaxed, ..options() });
        // The other process shows both before this one has its turn to sync.
        let last = append(&durable, &[draft(1)]).unwrap()[0].last_seq();
        commit(&relaxed, &[draft(2)]).unwrap();
        relaxed.publish().unwrap();
        assert!(durable.durable().unwrap().seq > last);
        durable.sync_through(last).unwrap();
        let (left, _) = open(&faults.after_power_cut(seed), options());
        assert!(left.durable().unwrap().seq >= last, "seed {seed}: it was acknowledged");
    }
}
