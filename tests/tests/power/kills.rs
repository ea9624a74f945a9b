//! A process is killed at any call: what it had written is there, but not yet on the disk. The next
//! one builds on it, and then the power goes.

use std::sync::Arc;

use bilinc::Seq;
use bilinc::storage::Storage;

use super::cuts::stopped;
use super::plan::{Case, Plan};
use super::told::{Range, assert_holds};

#[test]
fn what_a_process_shows_that_follows_a_killed_one_survives_a_power_cut() {
    let plan = Plan::from_env();
    let cases = plan.each(|workload, told| {
        let mut cases = 0;
        for call in plan.calls(workload, told.calls + 1) {
            for seed in plan.seeds(workload, call) {
                let case = Case { workload, call, seed };
                let what = case.what("killed, then cut");
                let (mut world, range) = stopped(told, workload, call, &what);
                world.kill();
                let next: Arc<dyn Storage> = Arc::new(world.faults.clone());
                // A kill takes nothing that was answered, whatever the durability.
                let range = Range { from: world.answered(), ..range };
                let memory = told.recovered(&next, range, &what);
                if plan.is_full() || call % 2 == 0 {
                    let events = memory.recorded(Seq::ZERO).unwrap();
                    assert_holds(workload, Arc::new(world.faults.after_power_cut(case.mixed())), &events, &what);
                    cases += 1;
                }
                drop(memory);
                let events = told.goes_on(&next, range, &what);
                assert_holds(workload, Arc::new(world.faults.after_power_cut(seed)), &events, &what);
                cases += 1;
            }
        }
        cases
    });
    println!("{cases} power cuts after a kill");
}
