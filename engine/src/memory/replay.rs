//! Replaying histories: feed recorded events, compare states.

use std::ops::ControlFlow;
use std::sync::Arc;

use bilinc_core::{RecordedEvent, Rejection, Seq};

use super::Memory;
use crate::error::Error;

impl Memory {
    /// Appends operations that were recorded elsewhere, as they are: same ids, times, positions.
    /// They must follow this store's last position, whole operation by whole operation.
    ///
    /// For tests and replays: nothing is decided anew, so what is fed must come from a log.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use bilinc::{Commit, Json, Key, Memory, Seq};
    ///
    /// let live = Memory::in_memory()?;
    /// live.commit(Commit::new(Key::new("a")?, Json::string("one")))?;
    /// live.commit(Commit::new(Key::new("a")?, Json::string("two")))?;
    ///
    /// let replayed = Memory::in_memory()?;
    /// replayed.feed(live.recorded(Seq::ZERO)?)?;
    /// assert!(replayed.is_same_state(&live)?);
    ///
    /// let earlier = live.replayed_through(Seq::new(1))?;
    /// assert_eq!(earlier.get("a")?.and_then(|entry| entry.value), Some(Json::string("one")));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Rejection::Invalid`] when the events do not follow; those before have been appended then.
    pub fn feed(&self, events: impl IntoIterator<Item = RecordedEvent>) -> Result<(), Error> {
        let mut operation: Vec<RecordedEvent> = Vec::new();
        for event in events {
            operation.push(event);
            let whole = operation.first().is_some_and(|first| first.operation.count as usize == operation.len());
            if whole {
                self.feed_operation(std::mem::take(&mut operation))?;
            }
        }
        match operation.first() {
            Some(first) => Err(not_following(first.seq, "its operation is not whole").into()),
            None => Ok(()),
        }
    }

    fn feed_operation(&self, events: Vec<RecordedEvent>) -> Result<(), Error> {
        let whole = events.first().map(|event| Arc::clone(&event.operation));
        let in_order = whole.is_some_and(|operation| {
            let mut seqs = (0_u64..).map(|index| operation.first.plus(index));
            events.iter().all(|event| Some(event.seq) == seqs.next() && event.operation == operation)
        });
        let first = events.first().map_or(Seq::ZERO, |event| event.seq);
        if !in_order {
            return Err(not_following(first, "its operation is out of order").into());
        }
        if !self.store.feed(events)? {
            return Err(not_following(first, "it does not follow the last position of this store").into());
        }
        Ok(())
    }

    /// A store in memory with what was recorded through a position, which must end an operation.
    /// Its clock shows that operation's time for ever.
    ///
    /// # Errors
    /// When the position is not the last of an operation, or the log cannot be read.
    pub fn replayed_through(&self, seq: Seq) -> Result<Self, Error> {
        self.store.refresh()?;
        let clock = if seq.is_some() { self.operation_at(seq)?.at } else { self.now() };
        let memory = Self::builder()
            .clock(Arc::new(crate::clock::ManualClock::at(clock)))
            .open_in(Arc::new(crate::storage::MemoryStorage::new()))?;
        let mut events = Vec::new();
        self.visit_recorded(Seq::ZERO, &mut |event| {
            if event.seq > seq {
                return ControlFlow::Break(());
            }
            events.push(event);
            ControlFlow::Continue(())
        })?;
        memory.feed(events)?;
        Ok(memory)
    }

    /// Whether two stores stand at the same position with the same state, bit for bit.
    ///
    /// # Errors
    /// When a log cannot be read.
    pub fn is_same_state(&self, other: &Self) -> Result<bool, Error> {
        self.store.refresh()?;
        other.store.refresh()?;
        if Arc::ptr_eq(&self.store, &other.store) {
            return Ok(true);
        }
        // One lock at a time: two threads may compare the same stores the other way round.
        let this = self.store.published().state.clone();
        Ok(this == other.store.published().state)
    }
}

fn not_following(seq: Seq, why: &str) -> Rejection {
    Rejection::invalid("events", "out_of_order", format!("the event at position {seq} cannot be fed: {why}"))
}
