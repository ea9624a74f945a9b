//! A recovery that is cut off itself, or in which a call fails.

use std::io::ErrorKind;
use std::sync::Arc;

use bilinc::storage::{Fault, FaultKind, FaultStorage, MemoryStorage, Storage};
use bilinc::{Durability, Seq};

use super::cuts::stopped;
use super::plan::{Case, Plan};
use super::told::{Range, Told, assert_holds, open};
use super::world::freeze;

#[test]
fn a_recovery_that_is_itself_cut_off_loses_nothing_either() {
    println!("{} power cuts while recovering", recoveries(14, cut_again));
}

#[test]
fn a_recovery_in_which_a_call_fails_loses_nothing_either() {
    println!("{} failed calls while recovering", recoveries(14, fail_again));
}

/// Hands what power cuts have left to `again`; says how many cases it counted.
fn recoveries(of: u64, again: impl Fn(&Told, &MemoryStorage, Range, Case) -> usize + Sync) -> usize {
    let plan = Plan::from_env();
    plan.each(|workload, told| {
        let mut cases = 0;
        for call in plan.calls(workload, told.calls + 1) {
            let picked = |seed: &u64| Case { workload, call, seed: *seed }.is_picked(&plan, of);
            let seeds: Vec<u64> = plan.seeds(workload, call).into_iter().filter(picked).collect();
            if seeds.is_empty() {
                continue;
            }
            let (world, range) = stopped(told, workload, call, &Case { workload, call, seed: 0 }.what("cut"));
            for seed in seeds {
                cases += again(told, &world.faults.after_power_cut(seed), range, Case { workload, call, seed });
            }
        }
        cases
    })
}

/// Cuts the recovery at each of its calls.
fn cut_again(told: &Told, left: &MemoryStorage, range: Range, case: Case) -> usize {
    for call in 1.. {
        let what = case.what(&format!("cut again at call {call} of the recovery"));
        let again = FaultStorage::new(Arc::new(left.fork())).unwrap();
        again.set_fault(Some(freeze(call)));
        drop(open(case.workload, Arc::new(again.clone())));
        let twice: Arc<dyn Storage> = Arc::new(again.after_power_cut(case.mixed().wrapping_add(call)));
        told.recovered(&twice, range, &what);
        if again.calls() < call {
            return usize::try_from(call).unwrap();
        }
    }
    0
}

/// Fails each call of the recovery; the next one puts that right.
fn fail_again(told: &Told, left: &MemoryStorage, range: Range, case: Case) -> usize {
    for call in 1.. {
        let what = case.what(&format!("failed at call {call} of the recovery"));
        let again = FaultStorage::new(Arc::new(left.fork())).unwrap();
        let kind = FaultKind::Error(if call % 2 == 0 { ErrorKind::Other } else { ErrorKind::StorageFull });
        again.set_fault(Some(Fault { at: call, kind, sticky: call % 3 == 0, only: None }));
        match open(case.workload, Arc::new(again.clone())) {
            // What could not be settled is not shown, and nothing is written behind it.
            Ok(memory) => {
                assert_eq!(memory.damage(), None, "{what}");
                let durable = case.workload.durability == Durability::Durable;
                let known = memory.status().unwrap().read_only.is_none() && durable;
                let from = if known { range.from } else { Seq::ZERO };
                told.assert_shows(&memory, Range { from, ..range }, &what);
            }
            Err(error) => assert_eq!(error.code(), "cloud_runtime_unavailable", "{what}: {error}"),
        }
        let reached = again.calls() >= call;
        again.set_fault(None);
        let next: Arc<dyn Storage> = Arc::new(again.clone());
        let events = told.goes_on(&next, range, &what);
        let cut = again.after_power_cut(case.mixed().wrapping_add(call));
        assert_holds(case.workload, Arc::new(cut), &events, &what);
        if !reached {
            return usize::try_from(call).unwrap();
        }
    }
    0
}
