//! The operation under construction.

use alloc::sync::Arc;
use alloc::vec::Vec;

use foldhash::quality::FixedState;
use hashbrown::HashMap;

use super::{Context, Refusal, history};
use crate::entry::Entry;
use crate::event::{Actor, Body, ChangeInfo, Event, Operation, OperationKind, RecordedEvent};
use crate::history::History;
use crate::id::{Seq, Version};
use crate::key::Key;
use crate::slot::Slot;
use crate::state::State;
use crate::time::Timestamp;

/// Collects the events of one operation and shows the keys as those events leave them, so that a
/// later part of the operation is judged on what an earlier part did.
pub(super) struct Batch<'a, H> {
    pub(super) state: &'a State,
    context: &'a Context<'a, H>,
    operation: Arc<Operation>,
    events: Vec<RecordedEvent>,
    slots: HashMap<Key, Slot, FixedState>,
}

impl<'a, H: History> Batch<'a, H> {
    pub(super) fn new(state: &'a State, context: &'a Context<'a, H>, kind: OperationKind) -> Self {
        let operation = Arc::new(Operation {
            id: context.operation,
            at: context.at,
            clock_back: context.clock_back,
            actor: context.actor.clone(),
            kind,
            idempotency: context.idempotency.map(|key| Arc::clone(&key.name)),
            first: context.first,
            count: 0,
        });
        let slots = HashMap::with_hasher(state.hasher());
        Self { state, context, operation, events: Vec::new(), slots }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.context.now
    }

    pub(super) fn at(&self) -> Timestamp {
        self.context.at
    }

    pub(super) fn actor(&self) -> &'a Actor {
        self.context.actor
    }

    pub(super) fn operation(&self) -> &Operation {
        &self.operation
    }

    pub(super) fn history(&self) -> &'a H {
        self.context.history
    }

    /// The key as the events so far leave it.
    pub(super) fn slot(&self, key: &Key) -> Option<&Slot> {
        self.slots.get(key).or_else(|| self.state.slot(key.as_str()))
    }

    /// The entry as the events so far leave it, if it is there.
    pub(super) fn entry(&self, key: &Key) -> Option<&Entry> {
        self.slot(key)?.live(self.context.now)
    }

    /// The position that the next event gets.
    pub(super) fn next_seq(&self) -> Seq {
        self.context.first.plus(self.events.len() as u64)
    }

    /// The version that the next event gives.
    pub(super) fn next_version(&self) -> Version {
        Version::of(self.context.operation, u32::try_from(self.events.len()).unwrap_or(u32::MAX))
    }

    /// The newest change of a key as conflicts name it.
    pub(super) fn newest_change(&self, key: &Key) -> Result<Option<ChangeInfo>, Refusal<H::Error>> {
        let Some(seq) = self.slot(key).map(|slot| slot.changed).filter(|seq| seq.is_some()) else {
            return Ok(None);
        };
        if let Some(event) = self.events.iter().find(|event| event.seq == seq) {
            return Ok(event.change_info());
        }
        Ok(self.history().event(seq).map_err(history)?.change_info())
    }

    pub(super) fn push(&mut self, event: Event) {
        self.push_with(event, Body::default());
    }

    pub(super) fn push_with(&mut self, event: Event, body: Body) {
        let mut recorded = RecordedEvent {
            seq: self.next_seq(),
            prev: Seq::ZERO,
            operation: Arc::clone(&self.operation),
            event,
            body: (!body.is_empty()).then_some(body),
        };
        if let Some(key) = recorded.event.key() {
            let state = self.state;
            let slot =
                self.slots.entry(key.clone()).or_insert_with(|| state.slot(key.as_str()).cloned().unwrap_or_default());
            recorded.prev = slot.head;
            slot.apply(&recorded);
        }
        self.events.push(recorded);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The operation's events at their positions.
    pub(super) fn finish(self) -> Vec<RecordedEvent> {
        let count = u32::try_from(self.events.len()).unwrap_or(u32::MAX);
        let operation = Arc::new(Operation { count, ..(*self.operation).clone() });
        let mut events = self.events;
        for event in &mut events {
            event.operation = Arc::clone(&operation);
        }
        if let Some(key) = self.context.idempotency {
            // Where there is an event without a value it goes beside that: a purge of one value then
            // erases the fingerprint, too, and no value of another key with it.
            let at = events.iter().position(|event| event.body.is_none()).unwrap_or(0);
            if let Some(event) = events.get_mut(at) {
                event.body.get_or_insert_default().fingerprint = Some(key.fingerprint);
            }
        }
        events
    }
}

/// Bytes of a JSON text as events record them. A text is far below four gigabytes by its limit.
pub(super) fn json_bytes(json: &crate::json::Json) -> u32 {
    u32::try_from(json.as_str().len()).unwrap_or(u32::MAX)
}
