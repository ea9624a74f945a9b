//! What would be, if some requests were written one after the other: nothing of it is recorded.

use std::sync::Arc;

use bilinc_core::{Body, Decision, History, RecordedEvent, Seq, State, Timestamp, recorded_time};

use super::{LogHistory, Request, Store};
use crate::error::{EngineError, Error};

/// The state behind events that are not recorded, and those events.
///
/// Costs a copy of the state, so it is for dry runs of more than one operation only.
pub(crate) struct LookAhead<'a> {
    store: &'a Store,
    state: State,
    from: Seq,
    events: Vec<Arc<RecordedEvent>>,
}

impl Store {
    /// Begins with what is durable.
    pub(crate) fn look_ahead(&self) -> Result<LookAhead<'_>, EngineError> {
        self.refresh()?;
        let state = self.published().state.clone();
        Ok(LookAhead { store: self, from: state.head(), state, events: Vec::new() })
    }
}

impl LookAhead<'_> {
    /// The events that the request would write behind those before; folds them in.
    pub(crate) fn judge(&mut self, request: &Request) -> Result<Vec<Arc<RecordedEvent>>, Error> {
        let now = self.store.now();
        let time = recorded_time(now, self.state.last_time());
        let history =
            AheadHistory { log: LogHistory::new(self.store, self.from), from: self.from, events: &self.events };
        let first = self.state.head().plus(1);
        let decision = self.store.decide_on(&self.state, &history, request, now, time, first)?;
        let Decision::Append(events) = decision else { return Ok(Vec::new()) };
        super::judge::check_size(&events)?;
        let events: Vec<_> = events.into_iter().map(Arc::new).collect();
        for event in &events {
            self.state.evolve(event);
        }
        self.events.extend(events.iter().map(Arc::clone));
        Ok(events)
    }
}

/// The log, and behind it what is not recorded.
struct AheadHistory<'a> {
    log: LogHistory<'a>,
    from: Seq,
    events: &'a [Arc<RecordedEvent>],
}

impl AheadHistory<'_> {
    fn ahead(&self, seq: Seq) -> Option<&Arc<RecordedEvent>> {
        let index = seq.get().checked_sub(self.from.get())?.checked_sub(1)?;
        self.events.get(usize::try_from(index).ok()?)
    }
}

impl History for AheadHistory<'_> {
    type Error = EngineError;

    fn event(&self, seq: Seq) -> Result<Arc<RecordedEvent>, EngineError> {
        self.ahead(seq).map_or_else(|| self.log.event(seq), |event| Ok(Arc::clone(event)))
    }

    fn body(&self, seq: Seq) -> Result<Option<Body>, EngineError> {
        self.ahead(seq).map_or_else(|| self.log.body(seq), |event| Ok(event.body.clone()))
    }

    fn position_at(&self, time: Timestamp) -> Result<Seq, EngineError> {
        let ahead = self.events.iter().rev().find(|event| event.operation.at <= time);
        ahead.map_or_else(|| self.log.position_at(time), |event| Ok(event.seq))
    }

    fn between(&self, after: Seq, through: Seq, visit: &mut dyn FnMut(&RecordedEvent)) -> Result<(), EngineError> {
        self.log.between(after, through, visit)?;
        for event in self.events.iter().filter(|event| event.seq > after && event.seq <= through) {
            visit(event);
        }
        Ok(())
    }
}
