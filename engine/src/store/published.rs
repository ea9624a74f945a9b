//! What readers see: the folds of all that is durable.

use std::collections::HashSet;

use bilinc_core::{Change, Event, Key, RecordedEvent, Seq, State, Timestamp};
use bilinc_projections::Projection;
use bilinc_projections::order::{KeyOrder, TimeOrder};

/// The state and the orders of its entries. Orders are made when a read first needs them and kept
/// from then on.
#[derive(Debug)]
pub(crate) struct Published {
    pub(crate) state: State,
    keys: Option<KeyOrder>,
    times: Option<TimeOrder>,
    /// Keys that changed since the recall index last looked; none as long as there is no index.
    unindexed: Option<HashSet<Key>>,
    /// Keys purged since this was last asked.
    purged: Vec<Key>,
    /// Whether a purge was begun or completed since this was last asked. Between the two whoever looked at an
    /// entry a moment before may still read what is being erased.
    erased: bool,
    /// Positions of lost bodies recorded since this was last asked.
    lost: Vec<Seq>,
    /// None of the events so far was recorded before this; none where that is not known.
    earliest: Option<Timestamp>,
}

impl Published {
    /// A state, and the earliest recorded time of its events, where it is known.
    pub(crate) fn of(state: State, earliest: Option<Timestamp>) -> Self {
        Self {
            state,
            keys: None,
            times: None,
            unindexed: None,
            purged: Vec::new(),
            erased: false,
            lost: Vec::new(),
            earliest,
        }
    }

    /// What is folded of an empty log.
    pub(crate) fn of_nothing(hash_seed: u64) -> Self {
        Self::of(State::new(hash_seed), Some(Timestamp::MAX))
    }

    /// No event so far was recorded before this, where that is known.
    pub(crate) fn earliest(&self) -> Option<Timestamp> {
        self.earliest
    }

    pub(crate) fn head(&self) -> Seq {
        self.state.head()
    }

    /// Folds the next event in.
    pub(crate) fn apply(&mut self, event: &RecordedEvent) {
        if let Event::Salvaged(salvaged) = &event.event {
            self.lost.extend_from_slice(&salvaged.bodies);
        }
        self.earliest = self.earliest.map(|earliest| earliest.min(event.operation.at));
        self.erased |= matches!(event.event, Event::Purged(_) | Event::PurgeCompleted(_));
        let Some(change) = self.state.evolve(event) else { return };
        if matches!(event.event, Event::Purged(_)) {
            self.purged.push(change.key.clone());
        }
        if let Some(keys) = &mut self.keys {
            keys.apply(&change);
        }
        if let Some(times) = &mut self.times {
            times.apply(&change);
        }
        if let Some(unindexed) = self.unindexed.as_mut().filter(|_| event.event.is_change()) {
            unindexed.insert(change.key);
        }
    }

    /// Entries by key, if that order was made.
    pub(crate) fn keys(&self) -> Option<&KeyOrder> {
        self.keys.as_ref()
    }

    /// Entries by the time they were updated, if that order was made.
    pub(crate) fn times(&self) -> Option<&TimeOrder> {
        self.times.as_ref()
    }

    pub(crate) fn make_keys(&mut self) {
        if self.keys.is_none() {
            self.keys = Some(of_entries(&self.state));
        }
    }

    pub(crate) fn make_times(&mut self) {
        if self.times.is_none() {
            self.times = Some(of_entries(&self.state));
        }
    }

    /// Begins to keep the keys that change, for an index made from the present state.
    pub(crate) fn keep_unindexed(&mut self) {
        self.unindexed = Some(HashSet::new());
    }

    /// The keys that were purged since this was last asked.
    pub(crate) fn take_purged(&mut self) -> Vec<Key> {
        std::mem::take(&mut self.purged)
    }

    /// Whether a purge was begun or completed since this was last asked.
    pub(crate) fn take_erased(&mut self) -> bool {
        std::mem::take(&mut self.erased)
    }

    /// The positions of lost bodies that were recorded since this was last asked.
    pub(crate) fn take_lost(&mut self) -> Vec<Seq> {
        std::mem::take(&mut self.lost)
    }

    /// The keys that changed since this was last asked.
    pub(crate) fn take_unindexed(&mut self) -> Vec<Key> {
        self.unindexed.as_mut().map_or_else(Vec::new, |keys| keys.drain().collect())
    }
}

/// A projection of the entries that are there, which is that of all changes so far.
fn of_entries<P: Projection + Default>(state: &State) -> P {
    let mut projection = P::default();
    for (key, slot) in state.slots() {
        let after = slot.entry.as_ref().map(|entry| entry.updated_at);
        projection.apply(&Change { key: key.clone(), before: None, after });
    }
    projection
}
