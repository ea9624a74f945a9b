//! What a workload comes to when nothing fails, and what may be left of it when something does.

use std::sync::Arc;

use bilinc::storage::Storage;
use bilinc::{CountingIds, Error, ManualClock, Memory, Seq};
use bilinc_core::RecordedEvent;

use super::workloads::Workload;
use super::world::World;
use crate::support::*;

pub(super) struct Told {
    workload: &'static Workload,
    events: Vec<RecordedEvent>,
    /// Where the log can end, and the state there.
    ends: Vec<(Seq, Memory)>,
    /// The head behind each operation.
    answered: Vec<Seq>,
    /// The calls of all of it, and those until the last operation was answered.
    pub(super) calls: u64,
    pub(super) worked: u64,
    pub(super) looks: u64,
}

/// From where to where a log may reach.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    pub(super) from: Seq,
    pub(super) to: Seq,
}

impl Told {
    pub(super) fn of(workload: &'static Workload) -> Self {
        let mut world = World::new(workload);
        world.run().unwrap_or_else(|error| panic!("{}: {error}", workload.name));
        let (calls, looks) = (world.faults.calls(), world.faults.looks());
        let memory = open(workload, Arc::new(world.disk.fork())).unwrap();
        let events = memory.recorded(Seq::ZERO).unwrap();
        let mut ends = vec![(Seq::ZERO, Memory::in_memory().unwrap())];
        for last in events.iter().filter(|event| event.seq == last_of(event)) {
            let state = Memory::in_memory().unwrap();
            state.feed(events.iter().take_while(|event| event.seq <= last.seq).cloned()).unwrap();
            ends.push((last.seq, state));
        }
        Self { workload, events, ends, worked: world.worked, answered: world.answered, calls, looks }
    }

    /// What may be there when so many operations were answered: those, and what one more had begun.
    pub(super) fn ceiling(&self, answered: &[Seq]) -> Seq {
        assert_eq!(answered, &self.answered[..answered.len()], "an answer without its effect");
        self.answered.get(answered.len()).or(self.answered.last()).copied().unwrap()
    }

    /// A handle shows a run of whole operations, and the state that they make.
    pub(super) fn assert_shows(&self, memory: &Memory, range: Range, what: &str) -> Seq {
        let head = memory.head().unwrap_or_else(|error| panic!("{what}: {error}")).seq;
        let Range { from, to } = range;
        assert!(from <= head && head <= to, "{what}: {head} is shown, which should be from {from} to {to}");
        let Some((_, state)) = self.ends.iter().find(|(end, _)| *end == head) else {
            panic!("{what}: {head} is in the middle of an operation");
        };
        let events = memory.recorded(Seq::ZERO).unwrap_or_else(|error| panic!("{what}: {error}"));
        let told = self.events.iter().take_while(|event| event.seq <= head);
        assert!(events.iter().eq(told), "{what}: another history");
        let same = memory.is_same_state(state).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(same, "{what}: another state");
        head
    }

    /// What is left opens, shows a run of whole operations, proves and takes writes.
    pub(super) fn recovered(&self, left: &Arc<dyn Storage>, range: Range, what: &str) -> Memory {
        let memory = open(self.workload, Arc::clone(left)).unwrap_or_else(|error| panic!("{what}: {error}"));
        let status = memory.status().unwrap();
        assert_eq!(memory.damage(), None, "{what}");
        assert_eq!(status.read_only, None, "{what}");
        if status.recovered.is_some() {
            let kept = left.list("quarantine").unwrap();
            assert!(kept.iter().any(|entry| entry.name.ends_with(".torn")), "{what}: a torn end was not set aside");
        }
        self.assert_shows(&memory, range, what);
        assert_verifies(&memory, what);
        memory
    }

    /// As [`Told::recovered`], and work goes on; says what is recorded then.
    pub(super) fn goes_on(&self, left: &Arc<dyn Storage>, range: Range, what: &str) -> Vec<RecordedEvent> {
        let memory = self.recovered(left, range, what);
        let head = memory.head().unwrap().seq;
        let written = memory.commit(commit("after", "the fall")).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(written.answer.seq, head.plus(1), "{what}");
        assert_eq!(value_of(&memory, "after").as_deref(), Some("the fall"), "{what}");
        memory.recorded(Seq::ZERO).unwrap()
    }
}

/// Exactly these events are there, and prove.
pub(super) fn assert_holds(workload: &'static Workload, left: Arc<dyn Storage>, events: &[RecordedEvent], what: &str) {
    let memory = open(workload, left).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(memory.damage(), None, "{what}");
    let found = memory.recorded(Seq::ZERO).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(found == events, "{what}: {} events are left of {}", found.len(), events.len());
    assert_verifies(&memory, what);
}

pub(super) fn assert_verifies(memory: &Memory, what: &str) {
    let verified = memory.verify(&mut |_, _| {}).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(verified.state_equal && verified.head == memory.head().unwrap(), "{what}");
}

/// At the end of any workload, with ids that none uses.
pub(super) fn open(workload: &'static Workload, storage: Arc<dyn Storage>) -> Result<Memory, Error> {
    let (clock, ids) = (Arc::new(ManualClock::at(START.plus(3 * MINUTE))), Arc::new(CountingIds::new(900)));
    builder(&clock, &ids).segment_bytes(workload.segment_bytes).open_in(storage)
}

/// Somebody who only reads; none as long as there is no store.
pub(super) fn reader(storage: Arc<dyn Storage>, what: &str) -> Option<Memory> {
    match Memory::builder().read_only(true).open_in(storage) {
        Ok(memory) => Some(memory),
        Err(error) if error.code() == "not_found" => None,
        Err(error) => panic!("{what}: {error}"),
    }
}

/// The last position of an event's operation.
fn last_of(event: &RecordedEvent) -> Seq {
    event.operation.first.plus(u64::from(event.operation.count)).before()
}
