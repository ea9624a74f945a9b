//! Folding recorded events into the state.

use alloc::sync::Arc;

use super::tally::Brief;
use super::{DreamUndoRecord, SnapshotRecord, State};
use crate::event::{Event, RecordedEvent};
use crate::key::Key;
use crate::time::Timestamp;

/// What an event did to the entry of its key, as projections need it.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The key.
    pub key: Key,
    /// `updated_at` of the entry before, if there was one, expired or not.
    pub before: Option<Timestamp>,
    /// `updated_at` of the entry now, if there is one.
    pub after: Option<Timestamp>,
}

/// The state that these events add up to.
#[must_use]
pub fn replay<'a>(seed: u64, events: impl IntoIterator<Item = &'a RecordedEvent>) -> State {
    let mut state = State::new(seed);
    for event in events {
        state.evolve(event);
    }
    state
}

impl State {
    /// Folds the next event in and says what it did to the entry of its key, if it has one.
    pub fn evolve(&mut self, recorded: &RecordedEvent) -> Option<Change> {
        self.head = recorded.seq;
        self.last_time = Some(recorded.operation.at);
        self.recorded_bytes = self.recorded_bytes.saturating_add(recorded.event.body_bytes());
        if let Some(name) = &recorded.operation.idempotency {
            if recorded.seq == recorded.operation.first {
                self.idempotency.recorded(name, &recorded.operation);
            }
            if let Some(fingerprint) = recorded.body.as_ref().and_then(|body| body.fingerprint) {
                self.idempotency.recognised_by(name, fingerprint, &recorded.operation);
            }
        }
        match &recorded.event {
            Event::SnapshotTaken(event) => self.snapshots.push(SnapshotRecord {
                id: event.snapshot,
                seq: recorded.seq,
                at: recorded.operation.at,
                label: event.label.clone(),
                metadata: event.metadata.clone(),
                by_type: event.by_type,
            }),
            Event::DreamStarted(event) => self.dreams.started(event, recorded.seq, recorded.operation.at),
            Event::DreamPageApplied(event) => {
                self.dreams.page_applied(event.dream, &event.actions, recorded.seq, recorded.operation.at);
            }
            Event::DreamFinished(event) => {
                self.dreams.finished(event.dream, recorded.seq, recorded.operation.at);
                if let Some(start) = self.dreams.get(event.dream).map(|record| Arc::clone(&record.start)) {
                    // What the dream itself changed before this finish stops counting, too.
                    let changed = |key: &Key| {
                        let at = self.slots.at(key.as_str())?;
                        let (_, slot) = self.slots.get_at(at).filter(|(_, slot)| slot.entry.is_some())?;
                        Some((at, slot.changed))
                    };
                    self.review.finished(event.dream, &start.candidates, &self.dreams, changed);
                }
            }
            Event::Undone(event) => {
                let operation = &recorded.operation;
                for (dream, shift) in &event.dreams {
                    let undo = DreamUndoRecord {
                        summary: recorded.seq,
                        first: operation.first,
                        count: operation.count,
                        at: operation.at,
                        partly: false,
                    };
                    self.dreams.shifted(*dream, *shift, undo);
                    if let Some(start) = self.dreams.get(*dream).map(|record| Arc::clone(&record.start)) {
                        let at = |key: &Key| self.slots.at(key.as_str());
                        self.review.shifted(&start.candidates, &self.dreams, at);
                    }
                }
            }
            Event::Purged(event) => {
                self.purges.purged(recorded.seq, event);
                self.idempotency.erased(&event.bodies);
            }
            Event::PurgeCompleted(event) => self.purges.completed(event),
            Event::Salvaged(event) => {
                self.losses.salvaged(event);
                self.idempotency.erased(&event.bodies);
            }
            // About a key, which is folded below, or sums up what was.
            Event::Committed(_)
            | Event::Revised(_)
            | Event::Confirmed(_)
            | Event::Forgotten(_)
            | Event::Flagged(_)
            | Event::Unflagged(_)
            | Event::Restored(_)
            | Event::Removed(_)
            | Event::Reflagged(_)
            | Event::ReportWritten(_)
            | Event::RolledBack(_)
            | Event::Imported(_)
            | Event::Lost(_) => {}
        }
        self.evolve_key(recorded.event.key()?, recorded)
    }

    fn evolve_key(&mut self, key: &Key, recorded: &RecordedEvent) -> Option<Change> {
        let at = self.slots.at_or_new(key);
        let (key, slot) = self.slots.get_at_mut(at)?;
        // The key as it is held, so that no other copy of its text is.
        let key = key.clone();
        let before = Brief::of(slot);
        slot.apply(recorded);
        if let Some(entry) = &mut slot.entry {
            self.names.share_of(entry);
        }
        let after = Brief::of(slot);
        if let Some(dream) = recorded.dream().filter(|_| !key.is_reserved()) {
            self.dreams.acted(dream, recorded.seq);
        }
        self.tally.recount(&key, before.as_ref(), after.as_ref());
        if recorded.event.is_change() && !key.is_reserved() {
            let previous = before.as_ref().map(|entry| entry.changed);
            match (previous, &after) {
                (_, Some(after)) => {
                    self.review.changed((&key, at), previous, after.changed, recorded.dream(), &self.dreams);
                }
                (Some(previous), None) => self.review.gone(&key, previous),
                (None, None) => {}
            }
        }
        Some(Change { key, before: before.map(|entry| entry.updated_at), after: after.map(|entry| entry.updated_at) })
    }
}
