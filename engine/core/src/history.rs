//! What was recorded earlier, as decisions and reads look it up.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::event::{Body, RecordedEvent};
use crate::id::Seq;
use crate::slot::Slot;
use crate::time::Timestamp;

/// Read access to recorded events. What it answers never changes, so a decision stays a function
/// of its inputs; only the machine under it can fail.
pub trait History {
    /// How looking up can fail.
    type Error;

    /// The facts of the event at a position; its body may be left out.
    ///
    /// # Errors
    /// When the event cannot be read.
    fn event(&self, seq: Seq) -> Result<Arc<RecordedEvent>, Self::Error>;

    /// The body of the event at a position, `None` when it has none or it was erased.
    ///
    /// # Errors
    /// When the event cannot be read.
    fn body(&self, seq: Seq) -> Result<Option<Body>, Self::Error>;

    /// The last position recorded at or before a time, [`Seq::ZERO`] when there is none.
    ///
    /// # Errors
    /// When the log cannot be read.
    fn position_at(&self, time: Timestamp) -> Result<Seq, Self::Error>;

    /// Visits the facts of all events after one position through another, in order.
    ///
    /// # Errors
    /// When the log cannot be read.
    fn between(&self, after: Seq, through: Seq, visit: &mut dyn FnMut(&RecordedEvent)) -> Result<(), Self::Error>;
}

/// The events of one key from its `head` back to the first, oldest first. Costs what that key has
/// been through, whatever the size of the log.
///
/// # Errors
/// When an event cannot be read.
pub fn chain_of<H: History>(history: &H, head: Seq) -> Result<Vec<Arc<RecordedEvent>>, H::Error> {
    let mut chain = Vec::new();
    let mut next = head;
    while next.is_some() {
        let event = history.event(next)?;
        // A link always points back; anything else would never end.
        next = if event.prev < next { event.prev } else { Seq::ZERO };
        chain.push(event);
    }
    chain.reverse();
    Ok(chain)
}

/// A key as it stood at a position: the fold of its chain up to there.
#[must_use]
pub fn slot_at(chain: &[Arc<RecordedEvent>], position: Seq) -> Slot {
    let mut slot = Slot::default();
    for event in chain.iter().take_while(|event| event.seq <= position) {
        slot.apply(event);
    }
    slot
}
