//! The power goes at any call.

use std::sync::Arc;

use bilinc::Durability;
use bilinc::storage::Storage;

use super::plan::{Case, Plan};
use super::told::{Range, Told, reader};
use super::workloads::Workload;
use super::world::World;

/// Works until the machine stops; what must and what may be left of it.
pub(super) fn stopped<'a>(told: &Told, workload: &'static Workload, call: u64, what: &str) -> (World<'a>, Range) {
    let mut world = World::stopping(workload, call);
    let done = world.run();
    assert!(done.is_err() || call > told.worked, "{what}: work went on behind a machine that had stopped");
    let to = told.ceiling(&world.answered);
    // Whatever anybody has been shown by now must stay.
    let durable = workload.durability == Durability::Durable;
    let seen = Range { from: if durable { world.answered() } else { world.synced }, to };
    let mut shown: Vec<_> = world.open_handles().map(|memory| told.assert_shows(memory, seen, what)).collect();
    if let Some(reader) = reader(Arc::new(world.faults.clone()), what) {
        shown.push(told.assert_shows(&reader, seen, what));
    }
    if durable {
        world.synced = shown.into_iter().fold(world.synced, Ord::max);
    }
    let range = Range { from: world.synced, to };
    (world, range)
}

#[test]
fn what_was_answered_or_shown_survives_a_power_cut_at_every_call() {
    let plan = Plan::from_env();
    let cases = plan.each(|workload, told| {
        let mut cases = 0;
        for call in plan.calls(workload, told.calls + 1) {
            let at = Case { workload, call, seed: 0 }.what("cut");
            let (world, range) = stopped(told, workload, call, &at);
            for seed in plan.seeds(workload, call) {
                let case = Case { workload, call, seed };
                let left: Arc<dyn Storage> = Arc::new(world.faults.after_power_cut(seed));
                told.goes_on(&left, range, &case.what("cut"));
                cases += 1;
            }
        }
        cases
    });
    println!("{cases} power cuts");
}
