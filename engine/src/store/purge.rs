//! Finishing purges, and telling a body that is being erased from a damaged one.
//!
//! The steps, all under the right to append: the purge is durable, then its bodies are overwritten and
//! that is synced, copies are removed, then it is recorded that the purge is complete, and only then is
//! it answered. Whoever finds a purge that is not complete begins with the second step.

use std::ops::ControlFlow;
use std::time::Duration;

use bilinc_core::{Body, Event, OperationId, Seq, complete_purges, recorded_time};

use super::Store;
use super::commit::Turn;
use crate::codec::{self, Bodies};
use crate::error::EngineError;
use crate::log::{Frame, LogError, StoredBody};

/// What an erased body is when nothing says that it should be.
pub(crate) const UNEXPLAINED: &str = "the body is erased, and no purge names it";

impl Store {
    /// Finishes what an interruption left of purges, unless somebody else is writing: every writer
    /// begins with it. What fails here fails again at the next write, which tells of it.
    pub(super) fn finish_purges_at_open(&self) {
        let unfinished = !self.published().state.unfinished_purges().is_empty();
        if unfinished
            && let Ok(append) = self.log.begin_append_within(Duration::ZERO)
            && self.turn(append, &[]).is_err()
        {
            self.drop_pending();
        }
    }

    /// Erases the bodies of published purges that are not complete and drafts the event that says so;
    /// whether there were any. Under the right to append.
    pub(super) fn erase_purged(&self, turn: &mut Turn<'_>) -> Result<bool, EngineError> {
        let (purges, bodies) = {
            let published = self.published();
            let unfinished = published.state.unfinished_purges();
            let mut bodies: Vec<u64> = unfinished.values().flatten().map(|seq| seq.get()).collect();
            bodies.sort_unstable();
            bodies.dedup();
            (unfinished.keys().copied().collect::<Vec<Seq>>(), bodies)
        };
        let Some(last) = purges.last() else { return Ok(false) };
        turn.append.erase(&bodies, last.get())?;
        // A reader may have looked at a body just before it was overwritten.
        self.forget_read();
        let operation = OperationId::from_u128(self.settings.ids.next_id());
        let time = recorded_time(self.now(), turn.last_time);
        let completed = complete_purges(purges, operation, time, turn.next_seq);
        turn.drafts.push(codec::encode(std::slice::from_ref(&completed))?);
        turn.last_time = Some(time.0);
        turn.next_seq = turn.next_seq.plus(1);
        Ok(true)
    }

    /// The body of the event at an index of a frame; `None` when it has none, or it was or is being
    /// erased. One that is damaged stops writing.
    pub(super) fn body_in(&self, frame: &Frame, event_index: u32) -> Result<Option<Body>, EngineError> {
        frame.body_of(event_index).map_or(Ok(None), |stored| self.stored_body(&stored))
    }

    /// The same, of a body that is stored.
    pub(super) fn stored_body(&self, stored: &StoredBody<'_>) -> Result<Option<Body>, EngineError> {
        match codec::body_in(stored) {
            Err(EngineError::Log(LogError::Damage(damage))) => {
                let seq = Seq::new(stored.seq());
                if self.is_named_by_a_purge(seq)? { Ok(None) } else { Err(self.log.damaged(damage).into()) }
            }
            read => read,
        }
    }

    /// The damage of a body that is not what the purges say, which stops writing.
    pub(crate) fn damaged_body(&self, seq: Seq, reason: &str) -> Result<EngineError, EngineError> {
        let frame = self.log.frame_at(seq.get())?;
        let index = u32::try_from(seq.get().saturating_sub(frame.first_seq())).unwrap_or(u32::MAX);
        let body = frame.body_of(index).map(|body| body.damage(reason));
        let nowhere = || EngineError::Unreadable { position: seq, reason: reason.to_owned() };
        Ok(body.map_or_else(nowhere, |damage| self.log.damaged(damage).into()))
    }

    /// Whether a durable purge, or the record of a salvage, names the body at this position. Reads the log
    /// behind it: for bodies that fail their checksum only.
    ///
    /// A purge is durable before it touches a body, so whoever meets a body half erased finds it.
    pub(crate) fn is_named_by_a_purge(&self, seq: Seq) -> Result<bool, EngineError> {
        let durable = Seq::new(self.log.durable()?.seq);
        let mut named = false;
        self.visit(seq, durable, Bodies::None, &mut |event| {
            named |= match &event.event {
                Event::Purged(purged) => purged.bodies.binary_search(&seq).is_ok(),
                Event::Salvaged(salvaged) => salvaged.bodies.binary_search(&seq).is_ok(),
                _ => false,
            };
            if named { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        Ok(named)
    }
}

#[cfg(test)]
#[path = "purge_tests.rs"]
mod tests;
