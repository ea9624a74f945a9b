//! The way of a write: decide, append, sync, publish, answer.
//!
//! A leader carries a batch of requests. Decisions are made on what is durable; frames that are
//! appended but not yet durable, by this process or another, are *pending*. A request whose
//! footprint meets a pending event waits until that is durable; all others are decided at once,
//! which gives the same result as deciding them one after the other. So no decision, and no
//! refusal, ever rests on something that a power cut could still take back.

use std::collections::{HashSet, VecDeque};
use std::ops::ControlFlow;
use std::sync::{Arc, MutexGuard, PoisonError};

use bilinc_core::{Decision, Event, Footprint, Key, RecordedEvent, Seq, Timestamp, recorded_time};

use super::judge::check_size;
use super::queue::Ticket;
use super::{Done, Request, Store};
use crate::checkpoint::Held;
use crate::codec::{self, Bodies};
use crate::drawn;
use crate::error::{EngineError, Error};
use crate::log::{Append, FrameDraft};

/// Events that are appended and not yet published, in the order of their positions.
#[derive(Debug, Default)]
pub(super) struct Pending {
    pub(super) events: VecDeque<Arc<RecordedEvent>>,
}

/// A request that is written, and its events.
type Unanswered = (Arc<Ticket>, Vec<Arc<RecordedEvent>>);

/// What is written and decided in one turn of the leader.
pub(super) struct Turn<'a> {
    pub(super) append: Append<'a>,
    /// Held while there is something to purge.
    held: Option<Held<'a>>,
    pub(super) drafts: Vec<FrameDraft>,
    /// Tickets whose events are in `drafts` or appended, and not yet durable.
    unanswered: Vec<Unanswered>,
    /// Whether anything is pending, and its keys and idempotency keys.
    pending: bool,
    /// Whether a purge is pending.
    purges: bool,
    keys: HashSet<Key>,
    names: HashSet<Arc<str>>,
    pub(super) next_seq: Seq,
    pub(super) last_time: Option<Timestamp>,
}

impl Store {
    /// Carries a request through to its answer.
    pub(crate) fn write(&self, request: Request) -> Result<Done, Error> {
        self.queue.submit(request, |batch| {
            if let Err(error) = self.carry(batch) {
                for ticket in batch.iter().filter(|ticket| !ticket.is_finished()) {
                    ticket.finish(Err(Error::Engine(error.again())));
                }
            }
        })
    }

    fn carry(&self, batch: &[Arc<Ticket>]) -> Result<(), EngineError> {
        if let Some(damage) = self.damage() {
            return Err(damage.again());
        }
        // Ids and salts of all that is written in this turn.
        let _checked = drawn::check_once();
        let append = self.log.begin_append()?;
        let result = self.turn(append, batch);
        if result.is_err() {
            self.drop_pending();
        }
        result
    }

    pub(super) fn turn<'a>(&'a self, append: Append<'a>, batch: &[Arc<Ticket>]) -> Result<(), EngineError> {
        self.publish_up_to(Seq::new(append.durable().seq))?;
        let head = append.head();
        let mut turn = Turn {
            append,
            held: None,
            drafts: Vec::new(),
            unanswered: Vec::new(),
            pending: false,
            purges: false,
            keys: HashSet::new(),
            names: HashSet::new(),
            next_seq: Seq::new(head.next_seq),
            last_time: head.last_time.map(Timestamp::from_micros),
        };
        self.read_pending(&mut turn)?;
        let unfinished = turn.purges || !self.published().state.unfinished_purges().is_empty();
        if unfinished || batch.iter().any(|ticket| ticket.request.command.is_purge()) {
            // Before anything is recorded: who cannot have the lock has done nothing.
            turn.held = self.hold_for_purge()?;
        }
        if unfinished {
            self.flush(&mut turn)?;
        }
        for (at, ticket) in (1..).zip(batch) {
            if turn.meets(&ticket.request) {
                self.flush(&mut turn)?;
            }
            self.judge_ticket(&mut turn, ticket, at == batch.len())?;
            if turn.purges {
                self.flush(&mut turn)?;
            }
        }
        turn.append_drafts()?;
        let Turn { append, unanswered, next_seq, held, .. } = turn;
        // Others may append, and keep checkpoints, while this waits for the disk.
        drop((held, append));
        let durable = self.make_durable(next_seq.before());
        durable.map_err(|error| self.unsettled(error, &unanswered))?;
        answer(unanswered);
        Ok(())
    }

    /// Learns what others appended behind what is published.
    fn read_pending(&self, turn: &mut Turn<'_>) -> Result<(), EngineError> {
        // Never asked for while `pending` is held: publishing takes the two in the other order.
        let published = self.published().head();
        let mut pending = self.pending();
        pending.events.retain(|event| event.seq > published);
        let last = pending.events.back().map_or(published, |event| event.seq);
        let end = turn.next_seq.before();
        if last > end {
            // Frames that were cut off again after a failure elsewhere.
            pending.events.clear();
        }
        let last = pending.events.back().map_or(published, |event| event.seq);
        if last < end {
            self.visit(last, end, Bodies::ForState, &mut |event| {
                pending.events.push_back(Arc::new(event.clone()));
                ControlFlow::Continue(())
            })?;
        }
        for event in &pending.events {
            turn.note(event);
            turn.learn_names(event);
        }
        Ok(())
    }

    /// Decides on a request; on the `last` of a batch, nobody asks afterwards what it would meet.
    fn judge_ticket(&self, turn: &mut Turn<'_>, ticket: &Arc<Ticket>, last: bool) -> Result<(), EngineError> {
        let now = self.now();
        let time = recorded_time(now, turn.last_time);
        let decision = {
            let published = self.published();
            self.decide(&published, &ticket.request, now, time, turn.next_seq)
        };
        let events = match decision {
            Ok(Decision::Append(events)) => events,
            Ok(Decision::Replay(record)) => {
                ticket.finish(Ok(Done::Replayed(record)));
                return Ok(());
            }
            Ok(Decision::Nothing(outcome)) => {
                ticket.finish(Ok(Done::Nothing(outcome)));
                return Ok(());
            }
            Err(error) => {
                ticket.finish(Err(error));
                return Ok(());
            }
        };
        let draft = match check_size(&events) {
            Ok(draft) => draft,
            Err(error) => {
                ticket.finish(Err(error));
                return Ok(());
            }
        };
        let events: Vec<_> = events.into_iter().map(Arc::new).collect();
        turn.drafts.push(draft);
        turn.last_time = Some(time.0);
        turn.next_seq = turn.next_seq.plus(events.len() as u64);
        for event in &events {
            turn.note(event);
            if !last {
                turn.learn_names(event);
            }
        }
        self.pending().events.extend(events.iter().map(Arc::clone));
        turn.unanswered.push((Arc::clone(ticket), events));
        Ok(())
    }

    /// Makes everything pending durable and published, so that the next decision can rest on it, and
    /// finishes what purges are among it.
    fn flush(&self, turn: &mut Turn<'_>) -> Result<(), EngineError> {
        self.settle(turn)?;
        if self.erase_purged(turn)? {
            self.settle(turn)?;
            // Both places of the mark lie behind the purge then: no power cut takes it from a reader.
            self.log.harden_through(turn.next_seq.before().get())?;
        }
        answer(std::mem::take(&mut turn.unanswered));
        Ok(())
    }

    fn settle(&self, turn: &mut Turn<'_>) -> Result<(), EngineError> {
        turn.append_drafts()?;
        let durable = self.make_durable(turn.next_seq.before());
        durable.map_err(|error| self.unsettled(error, &turn.unanswered))?;
        turn.pending = false;
        turn.purges = false;
        turn.keys.clear();
        turn.names.clear();
        Ok(())
    }

    /// A failure while operations of ours wait for the disk: they may yet become durable, and are told
    /// so. Whoever has not been written gets the failure as it is.
    fn unsettled(&self, error: EngineError, ours: &[Unanswered]) -> EngineError {
        let rest = error.again();
        if let EngineError::Log(error) = error
            && !ours.is_empty()
        {
            let theirs = EngineError::Log(self.log.unsettled(error));
            for (ticket, _) in ours {
                ticket.finish(Err(Error::Engine(theirs.again())));
            }
        }
        rest
    }

    fn make_durable(&self, through: Seq) -> Result<(), EngineError> {
        let durable = self.log.sync_through(through.get())?;
        self.publish_through(Seq::new(durable.seq))
    }

    /// Nothing is shown of what is not durable; what became so is read from the log.
    pub(super) fn drop_pending(&self) {
        self.pending().events.clear();
    }

    pub(super) fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn<'_> {
    fn note(&mut self, event: &RecordedEvent) {
        self.pending = true;
        self.purges |= matches!(event.event, Event::Purged(_));
    }

    /// What [`Turn::meets`] asks about.
    fn learn_names(&mut self, event: &RecordedEvent) {
        self.keys.extend(event.event.key().cloned());
        self.names.extend(event.operation.idempotency.as_ref().map(Arc::clone));
    }

    /// Whether the decision on a request would look at something pending.
    fn meets(&self, request: &Request) -> bool {
        if !self.pending {
            return false;
        }
        if request.idempotency.as_ref().is_some_and(|name| self.names.contains(name.as_str())) {
            return true;
        }
        match request.command.footprint() {
            Footprint::Everything => true,
            Footprint::Keys(keys) => keys.iter().any(|key| self.keys.contains(key)),
        }
    }

    fn append_drafts(&mut self) -> Result<(), EngineError> {
        if !self.drafts.is_empty() {
            self.append.append(&self.drafts)?;
            self.drafts.clear();
        }
        Ok(())
    }
}

fn answer(unanswered: Vec<Unanswered>) {
    for (ticket, events) in unanswered {
        ticket.finish(Ok(Done::Written(events)));
    }
}

impl Store {
    /// Appends a recorded operation as it is, if it follows the last position; says whether it does.
    pub(crate) fn feed(&self, events: Vec<RecordedEvent>) -> Result<bool, EngineError> {
        if let Some(damage) = self.damage() {
            return Err(damage.again());
        }
        let mut append = self.log.begin_append()?;
        let follows = events.first().is_some_and(|first| first.seq.get() == append.head().next_seq);
        if !follows {
            return Ok(false);
        }
        append.append(&[codec::encode(&events)?])?;
        drop(append);
        let last = events.last().map_or(Seq::ZERO, |event| event.seq);
        self.make_durable(last).map_err(|error| match error {
            EngineError::Log(error) => self.log.unsettled(error).into(),
            other => other,
        })?;
        Ok(true)
    }
}
