//! What all workers were answered, against what their log holds.

use std::collections::{BTreeMap, BTreeSet};

use bilinc::{Event, Memory, Seq};

use super::said::Acknowledged;
use super::work::assert_recorded;

/// What workers said.
#[derive(Debug, Default)]
pub(super) struct Left {
    pub(super) operations: u64,
    pub(super) kills: u64,
    pub(super) acknowledged: Vec<Acknowledged>,
    pub(super) refused: Vec<String>,
    /// Commits that were tried again after a kill: not done before, and done before.
    pub(super) repeated: [u64; 2],
    /// How often one saw what another was answered.
    pub(super) seen: u64,
}

impl Left {
    pub(super) fn and(mut self, other: Self) -> Self {
        self.operations += other.operations;
        self.kills += other.kills;
        self.acknowledged.extend(other.acknowledged);
        self.refused.extend(other.refused);
        self.repeated = [self.repeated[0] + other.repeated[0], self.repeated[1] + other.repeated[1]];
        self.seen += other.seen;
        self
    }

    pub(super) fn summary(&self) -> String {
        let Self { operations, kills, acknowledged, refused, repeated: [anew, before], seen } = self;
        format!(
            "{operations} operations, {} acknowledged, {} refused, {kills} kills, \
             {anew} of the killed commits done anew and {before} found done, {seen} seen by others",
            acknowledged.len(),
            refused.len()
        )
    }

    /// The log holds all of it, once, and nothing that was refused; its length.
    pub(super) fn assert_there(&self, memory: &Memory, what: &str) -> u64 {
        assert_eq!((memory.damage(), memory.status().unwrap().read_only), (None, None), "{what}");
        let events = memory.recorded(Seq::ZERO).unwrap();
        assert!(events.iter().zip(1_u64..).all(|(event, seq)| event.seq.get() == seq), "{what}: positions have a gap");
        let versions: Vec<_> = events.iter().filter_map(|event| event.event.version()).collect();
        assert_eq!(versions.iter().collect::<BTreeSet<_>>().len(), versions.len(), "{what}: versions repeat");
        let mut operations = BTreeMap::new();
        for event in &events {
            if let Some(name) = event.operation.idempotency.as_deref() {
                let before = operations.insert(name, event.operation.id);
                assert!(before.is_none_or(|id| id == event.operation.id), "{what}: {name} was done twice");
            }
        }
        for done in &self.acknowledged {
            assert_recorded(done, &events[usize::try_from(done.seq.get()).unwrap() - 1]);
        }
        let erased: BTreeSet<Seq> = (events.iter())
            .filter_map(|event| if let Event::Purged(purged) = &event.event { Some(&purged.bodies) } else { None })
            .flatten()
            .copied()
            .collect();
        for done in self.acknowledged.iter().filter(|done| done.digest.is_some() && !erased.contains(&done.seq)) {
            let body = events[usize::try_from(done.seq.get()).unwrap() - 1].body.as_ref();
            assert!(body.is_some_and(|body| body.value.is_some()), "{what}: the value of {} is lost", done.seq);
        }
        for name in &self.refused {
            assert!(!operations.contains_key(name.as_str()), "{what}: {name} was refused and done");
        }
        events.len() as u64
    }
}
