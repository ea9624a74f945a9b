//! A call fails, once or from then on: nothing is answered that is not so, reads stay right, later
//! writes are refused by name or right, and opening anew settles what became of the failed one.

use std::cell::Cell;
use std::io::ErrorKind;
use std::sync::Arc;

use bilinc::storage::{Fault, FaultKind, FaultStorage, Storage};
use bilinc::{Durability, Error, Memory, Seq};
use bilinc_core::RecordedEvent;

use super::plan::{Case, Plan};
use super::told::{Range, Told, assert_holds, assert_verifies, open};
use super::workloads::Workload;
use super::world::{Failed, World};
use crate::support::*;

/// What fails and how.
#[derive(Debug, Clone, Copy)]
struct Way {
    kind: FaultKind,
    sticky: bool,
    /// Calls that only look rather than those that change something.
    looking: bool,
}

const fn way(kind: FaultKind, sticky: bool, looking: bool) -> Way {
    Way { kind, sticky, looking }
}

const CHANGES: [Way; 7] = [
    way(FaultKind::Error(ErrorKind::Other), false, false),
    way(FaultKind::Error(ErrorKind::Other), true, false),
    way(FaultKind::Error(ErrorKind::StorageFull), false, false),
    way(FaultKind::Error(ErrorKind::StorageFull), true, false),
    way(FaultKind::ShortWrite(100, ErrorKind::Other), false, false),
    way(FaultKind::ShortWrite(100, ErrorKind::StorageFull), false, false),
    way(FaultKind::ShortWrite(1_000_000, ErrorKind::Other), true, false),
];

const LOOKS: [Way; 2] =
    [way(FaultKind::Error(ErrorKind::Other), false, true), way(FaultKind::Error(ErrorKind::Other), true, true)];

impl Way {
    fn set(self, faults: &FaultStorage, at: u64) {
        let fault = Some(Fault { at, kind: self.kind, sticky: self.sticky, only: None });
        if self.looking { faults.set_look_fault(fault) } else { faults.set_fault(fault) }
    }
}

#[test]
fn a_call_that_fails_takes_nothing_and_answers_nothing_falsely() {
    let cases = try_ways(&CHANGES, |plan, workload, told| plan.calls(workload, told.calls));
    println!("{cases} failed calls");
}

#[test]
fn a_look_that_fails_takes_nothing_and_answers_nothing_falsely() {
    let cases = try_ways(&LOOKS, |plan, workload, told| plan.looks(workload, told.looks));
    println!("{cases} failed looks");
}

/// Fails call after call; in the usual form in one way each.
fn try_ways(ways: &[Way], calls: impl Fn(&Plan, &Workload, &Told) -> Vec<u64> + Sync) -> usize {
    let plan = Plan::from_env();
    plan.each(|workload, told| {
        let mut cases = 0;
        for call in calls(&plan, workload, told) {
            for seed in plan.seeds_of(workload, call, ways.len()) {
                let index = usize::try_from(seed).unwrap() % ways.len();
                fail(told, Case { workload, call, seed }, ways[index]);
                cases += 1;
            }
        }
        cases
    })
}

fn fail(told: &Told, case: Case, way: Way) {
    let what = case.what(&format!("{way:?}"));
    let settled = Cell::new(false);
    let settle = |world: &World<'_>, failed: &Failed<'_>| {
        settled.set(true);
        if way.sticky {
            let worse = world.memory(failed.handle).commit(commit("meanwhile", "value"));
            assert_typed(&worse.expect_err(&what), &what);
        }
        still(&world.faults);
        let trial = Trial { told, case, way, world, what: &what };
        trial.after(failed);
    };
    let mut world = World::settling(case.workload, &settle);
    way.set(&world.faults, case.call);
    let done = world.run();
    still(&world.faults);
    if let Err(error) = &done {
        assert_typed(error, &what);
    }
    let range = range(told, &world);
    let range = match case.workload.durability {
        Durability::Durable => range,
        Durability::Relaxed => Range { from: world.synced, ..range },
    };
    for memory in world.open_handles().filter(|_| !settled.get()) {
        told.assert_shows(memory, range, &what);
    }
    world.kill();
    if !settled.get() {
        let left: Arc<dyn Storage> = Arc::new(world.faults.after_power_cut(case.seed));
        told.goes_on(&left, Range { from: world.synced, ..range }, &what);
    }
    built_upon(&world, case, &what);
}

/// What the next process shows and writes on the same disk survives a power cut: it trusts nothing
/// that the one before failed to sync.
fn built_upon(world: &World<'_>, case: Case, what: &str) {
    let what = format!("built upon: {what}");
    let memory = open(case.workload, Arc::new(world.faults.clone())).unwrap_or_else(|error| panic!("{what}: {error}"));
    let held = |memory: &Memory| {
        let events = memory.recorded(Seq::ZERO).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_holds(case.workload, Arc::new(world.faults.after_power_cut(case.mixed())), &events, &what);
    };
    held(&memory);
    memory.commit(commit("after", "the failure")).unwrap_or_else(|error| panic!("{what}: {error}"));
    held(&memory);
}

/// The disk works again.
fn still(faults: &FaultStorage) {
    faults.set_fault(None);
    faults.set_look_fault(None);
}

fn range(told: &Told, world: &World<'_>) -> Range {
    Range { from: world.answered(), to: told.ceiling(&world.answered) }
}

fn assert_typed(error: &Error, what: &str) {
    assert!(matches!(error.code(), "cloud_runtime_unavailable" | "read_only"), "{what}: {} {error}", error.code());
}

struct Trial<'a> {
    told: &'a Told,
    case: Case,
    way: Way,
    world: &'a World<'a>,
    what: &'a str,
}

impl Trial<'_> {
    fn after(&self, failed: &Failed<'_>) {
        let Self { told, case, world, what, .. } = self;
        assert_typed(failed.error, what);
        let range = range(told, world);
        let durable = case.workload.durability == Durability::Durable;
        let mut shown = world.synced;
        for memory in world.open_handles() {
            let from = if durable { range.from } else { world.synced };
            shown = shown.max(told.assert_shows(memory, Range { from, ..range }, what));
        }
        // Who is told to try again is told that nothing was done.
        let to = if failed.error.is_retryable() { self.kept(range) } else { range.to };
        let killed: Arc<dyn Storage> = Arc::new(world.disk.fork());
        self.settle(&killed, Range { from: range.from.max(shown), to }, failed);
        let from = if durable { shown } else { world.synced };
        let cut: Arc<dyn Storage> = Arc::new(world.faults.after_power_cut(case.seed));
        self.settle(&cut, Range { from, to }, failed);
        if durable && !self.way.sticky {
            self.others_go_on(failed);
        }
        self.go_on(failed);
    }

    /// Whoever else is at work goes on, or refuses by name; but builds on nothing that may vanish.
    fn others_go_on(&self, failed: &Failed<'_>) {
        let Self { case, world, what, .. } = self;
        for other in world.others(failed.handle) {
            match other.commit(commit("elsewhere", "value")) {
                Ok(_) => {
                    let left = Arc::new(world.faults.after_power_cut(case.mixed()));
                    let events = other.recorded(Seq::ZERO).unwrap_or_else(|error| panic!("{what}: {error}"));
                    assert_holds(case.workload, left, &events, &format!("elsewhere: {what}"));
                }
                Err(error) => assert_typed(&error, what),
            }
        }
    }

    /// How far a log may reach when the failed operation left nothing. Calls of several operations
    /// may have carried out the first; those that read for their answer what they have recorded may
    /// fail in that.
    fn kept(&self, range: Range) -> Seq {
        let excepted = ["import_of_two", "dream", "rollback", "retries"];
        let name = self.case.workload.name;
        if excepted.iter().any(|start| name.starts_with(start)) { range.to } else { range.from }
    }

    /// The same request under the same key is carried out once, whatever became of the first try.
    fn settle(&self, left: &Arc<dyn Storage>, range: Range, failed: &Failed<'_>) {
        let Self { told, case, world, what, .. } = self;
        let memory = told.recovered(left, range, what);
        let head = memory.head().unwrap().seq;
        drop(memory);
        let memory = open(case.workload, Arc::clone(left)).unwrap();
        if case.workload.durability == Durability::Durable || head >= world.answered() {
            (failed.again)(&memory).unwrap_or_else(|error| panic!("{what}: asked again: {error}"));
            let end = told.ceiling(&world.answered);
            assert_eq!(memory.head().unwrap().seq, end, "{what}: asked again at {head}");
        }
        assert_verifies(&memory, what);
    }

    /// A handle that failed refuses by name, or is right.
    fn go_on(&self, failed: &Failed<'_>) {
        let Self { case, world, what, .. } = self;
        let memory = world.memory(failed.handle);
        let head = memory.head().unwrap();
        let retried = (failed.again)(&memory);
        if let Err(error) = &retried {
            assert_typed(error, what);
        }
        let later: Result<Seq, Error> = memory.commit(commit("later", "value")).map(|written| written.answer.seq);
        let mut events: Vec<RecordedEvent> = Vec::new();
        match &later {
            Ok(seq) => {
                assert!(retried.is_ok(), "{what}: another write is taken, but not this one again");
                assert_eq!(*seq, memory.head().unwrap().seq, "{what}");
                assert_eq!(value_of(&memory, "later").as_deref(), Some("value"), "{what}");
                events = memory.recorded(Seq::ZERO).unwrap();
            }
            Err(error) => {
                assert_typed(error, what);
                assert!(retried.is_err() || failed.error.is_retryable(), "{what}: {error}");
                assert!(memory.status().unwrap().read_only.is_some(), "{what}: {error}");
                let again = memory.commit(commit("later", "value")).unwrap_err();
                assert_eq!((again.code(), memory.head().unwrap()), (error.code(), head), "{what}");
                assert_verifies(&memory, what);
            }
        }
        if later.is_ok() && case.workload.durability == Durability::Durable {
            let left = Arc::new(world.faults.after_power_cut(case.mixed()));
            assert_holds(case.workload, left, &events, what);
        }
    }
}
