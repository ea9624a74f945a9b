//! What damage of the log has taken, as salvages recorded it.

use alloc::collections::{BTreeMap, BTreeSet};

use crate::event::Salvaged;
use crate::id::Seq;

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct LossBook {
    /// Lost events: the first position of each run, with the last.
    events: BTreeMap<Seq, Seq>,
    /// Events whose bodies were lost.
    bodies: BTreeSet<Seq>,
}

impl LossBook {
    pub(super) fn salvaged(&mut self, salvaged: &Salvaged) {
        self.events.extend(salvaged.lost.iter().map(|range| (range.first, range.last)));
        self.bodies.extend(salvaged.bodies.iter().copied());
    }

    /// Runs of lost events, and events whose bodies were lost.
    pub(super) fn all(&self) -> (impl Iterator<Item = (Seq, Seq)>, impl Iterator<Item = Seq>) {
        (self.events.iter().map(|(first, last)| (*first, *last)), self.bodies.iter().copied())
    }

    /// Takes up what was lost.
    pub(super) fn take_up(&mut self, events: &[(Seq, Seq)], bodies: &[Seq]) {
        self.events.extend(events.iter().copied());
        self.bodies.extend(bodies);
    }

    pub(super) fn contains(&self, seq: Seq) -> bool {
        let run = self.events.range(..=seq).next_back();
        run.is_some_and(|(_, last)| seq <= *last) || self.bodies.contains(&seq)
    }

    pub(super) fn events(&self) -> u64 {
        let count = |(first, last): (&Seq, &Seq)| last.get().saturating_sub(first.get()).saturating_add(1);
        self.events.iter().map(count).sum()
    }

    pub(super) fn bodies(&self) -> u64 {
        self.bodies.len() as u64
    }
}
