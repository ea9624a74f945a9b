//! The log as the rules look things up in it.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;

use bilinc_core::{Body, History, RecordedEvent, Seq, Timestamp};

use super::purge::UNEXPLAINED;
use super::{Published, Store};
use crate::codec::{self, Bodies};
use crate::error::EngineError;
use crate::log::Frame;

/// Operations decoded lately are kept, up to so many events: the chains of many keys go through the
/// same operations when imports repeat.
const MOST_EVENTS: usize = 128 * 1_024;

/// Recorded events up to a position.
pub(crate) struct LogHistory<'a> {
    store: &'a Store,
    through: Seq,
    /// None of the events was recorded before this; none where that is not known.
    earliest: Option<Timestamp>,
    decoded: RefCell<Decoded>,
}

/// Decoded operations by their first position, and those in the order they came.
#[derive(Debug, Default)]
struct Decoded {
    operations: BTreeMap<Seq, Vec<Arc<RecordedEvent>>>,
    order: VecDeque<Seq>,
    events: usize,
}

impl Decoded {
    fn get(&self, seq: Seq) -> Option<Arc<RecordedEvent>> {
        let (first, events) = self.operations.range(..=seq).next_back()?;
        let index = usize::try_from(seq.get().checked_sub(first.get())?).ok()?;
        events.get(index).map(Arc::clone)
    }

    fn put(&mut self, events: Vec<Arc<RecordedEvent>>) {
        let Some(first) = events.first().map(|event| event.seq) else { return };
        while self.events.saturating_add(events.len()) > MOST_EVENTS
            && let Some(oldest) = self.order.pop_front()
        {
            let gone = self.operations.remove(&oldest).map_or(0, |events| events.len());
            self.events = self.events.saturating_sub(gone);
        }
        self.events = self.events.saturating_add(events.len());
        self.order.push_back(first);
        self.operations.insert(first, events);
    }
}

impl<'a> LogHistory<'a> {
    /// What is recorded through that position, which must be readable.
    pub(crate) fn new(store: &'a Store, through: Seq) -> Self {
        Self { store, through, earliest: None, decoded: RefCell::default() }
    }

    /// What is recorded through the position at which that is published.
    pub(super) fn of(store: &'a Store, published: &Published) -> Self {
        Self { earliest: published.earliest(), ..Self::new(store, published.head()) }
    }

    /// The last position that is looked at.
    pub(crate) fn through(&self) -> Seq {
        self.through
    }
}

impl History for LogHistory<'_> {
    type Error = EngineError;

    fn event(&self, seq: Seq) -> Result<Arc<RecordedEvent>, EngineError> {
        if let Some(event) = self.decoded.borrow().get(seq) {
            return Ok(event);
        }
        let frame = self.store.frame(seq)?;
        let events: Vec<_> = codec::decode(&frame, Bodies::None)?.into_iter().map(Arc::new).collect();
        let mut decoded = self.decoded.borrow_mut();
        decoded.put(events);
        decoded.get(seq).ok_or_else(|| EngineError::Unreadable {
            position: seq,
            reason: "the frame that should hold it does not".to_owned(),
        })
    }

    fn body(&self, seq: Seq) -> Result<Option<Body>, EngineError> {
        self.store.body(seq)
    }

    fn position_at(&self, time: Timestamp) -> Result<Seq, EngineError> {
        // The log would look through the index of every segment.
        if self.earliest.is_some_and(|earliest| time < earliest) {
            return Ok(Seq::ZERO);
        }
        Ok(Seq::new(self.store.log.position_at(time.micros(), self.through.get())?))
    }

    fn between(&self, after: Seq, through: Seq, visit: &mut dyn FnMut(&RecordedEvent)) -> Result<(), EngineError> {
        let through = through.min(self.through);
        self.store.visit(after, through, Bodies::None, &mut |event| {
            visit(event);
            ControlFlow::Continue(())
        })
    }
}

impl Store {
    /// The frame that holds a position.
    pub(super) fn frame(&self, seq: Seq) -> Result<Frame, EngineError> {
        if let Some(frame) = self.frames.get(seq.get()) {
            return Ok(frame);
        }
        let cleared = self.bodies.cleared();
        let frame = self.log.frame_at(seq.get())?;
        self.frames.put(&frame);
        if self.bodies.cleared() != cleared {
            self.frames.clear();
        }
        Ok(frame)
    }

    /// Lets go of what was read of the log: some of it is erased, or is going to be.
    pub(super) fn forget_read(&self) {
        self.bodies.clear();
        self.frames.clear();
    }

    /// The body of the event at a position; `None` when it has none or it was erased.
    pub(crate) fn body(&self, seq: Seq) -> Result<Option<Body>, EngineError> {
        if let Some(body) = self.bodies.get(seq) {
            return Ok(Some(body));
        }
        let cleared = self.bodies.cleared();
        let body = self.read_body(seq)?;
        if let Some(body) = &body {
            self.bodies.put(seq, body, cleared);
        }
        Ok(body)
    }

    /// As [`Self::body`], from the log itself.
    pub(crate) fn read_body(&self, seq: Seq) -> Result<Option<Body>, EngineError> {
        let frame = self.frame(seq)?;
        let index = seq.get().saturating_sub(frame.first_seq());
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        let body = self.body_in(&frame, index)?;
        // Nothing but a purge erases a body, and nothing but damage takes one. Reads that a purge hides do
        // not come here.
        let gone = body.is_none() && frame.body_of(index).is_some();
        if gone && !self.is_lost_body(seq) && !self.is_named_by_a_purge(seq)? {
            return Err(self.damaged_body(seq, UNEXPLAINED)?);
        }
        Ok(body)
    }
}

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;
