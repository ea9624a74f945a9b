//! Decisions on the published state.

use std::sync::Arc;

use bilinc_core::{
    Command, Context, Decision, Fingerprint, History, IdempotencyKey, OperationId, RecordedEvent, Refusal, Rejection,
    Seq, State, Timestamp, recorded_time,
};

use super::{Done, LogHistory, Published, Request, Store};
use crate::codec;
use crate::error::{EngineError, Error};
use crate::log::{FrameDraft, LogError};

/// So many ids that are known are drawn before their source is given up.
const MOST_KNOWN_IDS: u32 = 1 << 16;

impl Store {
    /// Judges a request as it would be judged now and writes nothing.
    pub(crate) fn judge(&self, request: &Request) -> Result<Done, Error> {
        self.refresh()?;
        let published = self.published();
        let now = self.now();
        let (at, clock_back) = recorded_time(now, published.state.last_time());
        let first = published.head().plus(1);
        if let Some(command) = request.command.in_earnest() {
            // What would not fit a frame must not be promised.
            let real = Request { command, ..request.clone() };
            if let Decision::Append(events) = self.decide(&published, &real, now, (at, clock_back), first)? {
                check_size(&events)?;
            }
        }
        match self.decide(&published, request, now, (at, clock_back), first)? {
            Decision::Append(events) => Ok(Done::Written(events.into_iter().map(Arc::new).collect())),
            Decision::Replay(record) => Ok(Done::Replayed(record)),
            Decision::Nothing(outcome) => Ok(Done::Nothing(outcome)),
        }
    }

    pub(super) fn decide(
        &self,
        published: &Published,
        request: &Request,
        now: Timestamp,
        time: (Timestamp, bool),
        first: Seq,
    ) -> Result<Decision, Error> {
        let history = LogHistory::of(self, published);
        self.decide_on(&published.state, &history, request, now, time, first)
    }

    /// An id for an operation. A dream or a snapshot is called by it: one that is known already would undo
    /// or bring back another one's doing, so it is passed over.
    fn new_id(&self, state: &State, command: &Command) -> Result<OperationId, EngineError> {
        let mut ids = (0..MOST_KNOWN_IDS).map(|_| OperationId::from_u128(self.settings.ids.next_id()));
        let is_new = |id: &OperationId| match command {
            Command::DreamStart(_) => state.dream((*id).into()).is_none(),
            Command::Snapshot(_) => state.snapshot((*id).into()).is_none(),
            _ => true,
        };
        ids.find(is_new).ok_or_else(|| EngineError::Random("the source of ids repeats itself".to_owned()))
    }

    pub(super) fn decide_on<H: History<Error = EngineError>>(
        &self,
        state: &State,
        history: &H,
        request: &Request,
        now: Timestamp,
        (at, clock_back): (Timestamp, bool),
        first: Seq,
    ) -> Result<Decision, Error> {
        let idempotency = request
            .idempotency
            .as_ref()
            .map(|name| IdempotencyKey { name: Arc::from(name.as_str()), fingerprint: fingerprint(request) });
        let context = Context {
            now,
            at,
            clock_back,
            operation: self.new_id(state, &request.command)?,
            first,
            actor: &request.actor,
            idempotency: idempotency.as_ref(),
            history,
        };
        state.decide(&request.command, &context).map_err(|refusal| match refusal {
            Refusal::Rejected(rejection) => Error::Rejected(rejection),
            Refusal::History(error) => Error::Engine(error),
        })
    }
}

/// The frame of an operation, if it fits one.
pub(super) fn check_size(events: &[RecordedEvent]) -> Result<FrameDraft, Error> {
    let draft = codec::encode(events)?;
    match draft.frame_len() {
        Ok(_) => Ok(draft),
        Err(LogError::OperationTooLarge { bytes, limit }) => Err(Rejection::OperationTooLarge { bytes, limit }.into()),
        Err(error) => Err(EngineError::from(error).into()),
    }
}

/// By what a repeated request is recognised: its command and who acts.
fn fingerprint(request: &Request) -> Fingerprint {
    let actor = (&*request.actor.source, request.actor.session_id.as_deref());
    // Commands are plain data: serialising them to memory cannot fail.
    let bytes = serde_json::to_vec(&(&request.command, actor)).unwrap_or_default();
    Fingerprint(*blake3::hash(&bytes).as_bytes())
}
