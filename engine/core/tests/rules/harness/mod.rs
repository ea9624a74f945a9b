//! A store in memory with an injected clock and counted ids, that checks after every command what
//! must hold whatever the command was.

mod dreams;
mod log;
mod words;

use std::collections::HashSet;
use std::sync::Arc;

use bilinc_core::{
    Actor, Command, Context, Decision, Entry, Event, IdempotencyKey, Json, Key, OperationId, Outcome, RecordedEvent,
    Refusal, Rejection, Seq, State, Timestamp, Version, chain_of, recorded_time, replay, slot_at,
};

pub(crate) use self::dreams::{Act, applied, sorted, undo_dream};
pub(crate) use self::log::Log;
pub(crate) use self::words::{commit, confirm, flag, forget, on_existing, revise, undo_of, unflag};

/// Microseconds.
pub(crate) const SECOND: i64 = 1_000_000;
pub(crate) const HOUR: i64 = 3600 * SECOND;
pub(crate) const DAY: i64 = 24 * HOUR;

const SEED: u64 = 7;

pub(crate) fn key(text: &str) -> Key {
    Key::new(text).unwrap()
}

/// The value that the tests write for a word.
pub(crate) fn json(text: &str) -> Json {
    Json::string(text)
}

/// An accepted command.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    pub(crate) outcome: Outcome,
    pub(crate) replayed: bool,
    /// What was appended.
    pub(crate) events: Vec<Arc<RecordedEvent>>,
}

#[derive(Debug, Clone)]
pub(crate) struct Store {
    pub(crate) log: Log,
    pub(crate) state: State,
    pub(crate) now: Timestamp,
    pub(crate) actor: Actor,
    operations: u128,
    versions: HashSet<Version>,
}

impl Store {
    pub(crate) fn new() -> Self {
        Self {
            log: Log::default(),
            state: State::new(SEED),
            now: Timestamp::from_micros(1_800_000_000 * SECOND),
            actor: Actor { source: "ada".into(), session_id: None },
            operations: 0,
            versions: HashSet::new(),
        }
    }

    /// From now on this writer acts.
    pub(crate) fn by(&mut self, source: &str) -> &mut Self {
        self.actor.source = source.into();
        self
    }

    /// From now on it acts in this session.
    pub(crate) fn in_session(&mut self, session: &str) -> &mut Self {
        self.actor.session_id = Some(session.into());
        self
    }

    /// The clock moves on.
    pub(crate) fn step(&mut self, micros: i64) -> &mut Self {
        self.now = self.now.plus(micros);
        self
    }

    /// The time that the next operation is recorded with.
    pub(crate) fn at(&self) -> Timestamp {
        recorded_time(self.now, self.state.last_time()).0
    }

    #[track_caller]
    pub(crate) fn decide(
        &self,
        command: &Command,
        idempotency: Option<&IdempotencyKey>,
    ) -> Result<Decision, Rejection> {
        self.decide_on(&self.state, command, idempotency)
    }

    /// Decides on another state, for the next place in this log.
    #[track_caller]
    pub(crate) fn decide_on(
        &self,
        state: &State,
        command: &Command,
        idempotency: Option<&IdempotencyKey>,
    ) -> Result<Decision, Rejection> {
        let (at, clock_back) = recorded_time(self.now, self.state.last_time());
        let context = Context {
            now: self.now,
            at,
            clock_back,
            operation: OperationId::from_u128(self.operations + 1),
            first: self.state.head().plus(1),
            actor: &self.actor,
            idempotency,
            history: &self.log,
        };
        let decided = state.decide(command, &context);
        assert_eq!(decided, state.decide(command, &context), "a decision is a function of its inputs");
        decided.map_err(|refusal| match refusal {
            Refusal::Rejected(rejection) => rejection,
            Refusal::History(never) => match never {},
        })
    }

    #[track_caller]
    pub(crate) fn ask(&mut self, command: &Command, idempotency: Option<&IdempotencyKey>) -> Result<Answer, Rejection> {
        let decision = self.decide(command, idempotency)?;
        self.operations += 1;
        let dry_run = match command {
            Command::DreamApply(apply) => apply.dry_run,
            Command::DreamUndo(undo) => undo.dry_run,
            Command::Undo(undo) => undo.dry_run,
            _ => false,
        };
        assert!(!dry_run || matches!(decision, Decision::Nothing(_)), "a dry run writes nothing: {decision:?}");
        Ok(match decision {
            Decision::Append(events) => self.append(events),
            Decision::Replay(record) => {
                let events = self.log.operation(record.first, record.count);
                Answer { outcome: Outcome::of(&events).unwrap(), replayed: true, events: Vec::new() }
            }
            Decision::Nothing(outcome) => Answer { outcome, replayed: false, events: Vec::new() },
        })
    }

    /// The command is accepted.
    #[track_caller]
    pub(crate) fn ok(&mut self, command: Command) -> Answer {
        match self.ask(&command, None) {
            Ok(answer) => answer,
            Err(rejection) => panic!("refused: {rejection}"),
        }
    }

    /// The command is refused, and so writes nothing.
    #[track_caller]
    pub(crate) fn refused(&mut self, command: Command) -> Rejection {
        match self.ask(&command, None) {
            Ok(answer) => panic!("accepted: {answer:?}"),
            Err(rejection) => rejection,
        }
    }

    #[track_caller]
    fn append(&mut self, events: Vec<RecordedEvent>) -> Answer {
        self.check_operation(&events);
        let events: Vec<Arc<RecordedEvent>> = events.into_iter().map(Arc::new).collect();
        for event in &events {
            self.log.push(event);
            self.state.evolve(event);
        }
        self.check_state(&events);
        Answer { outcome: Outcome::of(&events).unwrap(), replayed: false, events }
    }

    /// What must hold of any operation before it is appended.
    #[track_caller]
    fn check_operation(&mut self, events: &[RecordedEvent]) {
        assert!(!events.is_empty(), "an operation has events");
        let operation = &events[0].operation;
        assert_eq!(operation.count as usize, events.len());
        assert_eq!(operation.first, self.state.head().plus(1));
        let mut heads = std::collections::HashMap::new();
        let mut unnamed = operation.idempotency.is_some();
        for (index, event) in events.iter().enumerate() {
            assert_eq!(event.seq, operation.first.plus(index as u64), "positions have no gap");
            assert!(Arc::ptr_eq(&event.operation, operation));
            let previous = event.event.key().map_or(Seq::ZERO, |key| {
                let head = self.state.slot(key.as_str()).map_or(Seq::ZERO, |slot| slot.head);
                heads.insert(key.clone(), event.seq).unwrap_or(head)
            });
            assert_eq!(event.prev, previous, "an event names the previous one of its key");
            if let Some(version) = event.event.version() {
                assert!(self.versions.insert(version), "the version {version} came before: {event:?}");
            }
            let length = |json: &Option<Json>| json.as_ref().map_or(0, |json| json.as_str().len() as u64);
            let body = event.body.clone().unwrap_or_default();
            assert_eq!(event.event.body_bytes(), length(&body.value) + length(&body.metadata));
            assert!(body.fingerprint.is_none() || std::mem::replace(&mut unnamed, false), "one fingerprint");
            // Where it lies beside a value, there was no other place.
            let beside = body.fingerprint.is_some() && body.value.is_some();
            assert!(!beside || events.iter().all(|event| event.body.is_some()));
            for undone in event.event.undoes() {
                let target = &self.log.facts(*undone).event;
                assert_eq!(target.key(), event.event.key(), "an undo names events of its own key");
            }
            if let Event::Restored(restored) = &event.event {
                let value = self.log.value(restored.value_at).expect("the restored value is there");
                assert_eq!(value.as_str().len(), restored.value_bytes as usize);
            }
        }
    }

    /// What must hold of any state after an operation.
    #[track_caller]
    fn check_state(&self, events: &[Arc<RecordedEvent>]) {
        assert_eq!(replay(SEED + 1, self.log.all()), self.state, "a replay gives the live state, whatever the seed");
        // In a very long log, a look at its first thousand events must do.
        let looked_at = events.iter().filter(|event| event.seq < Seq::new(1000));
        for key in looked_at.filter_map(|event| event.event.key()) {
            let slot = self.state.slot(key.as_str()).unwrap();
            let chain = chain_of(&self.log, slot.head).unwrap();
            assert_eq!(&slot_at(&chain, Seq::MAX), slot, "a key's own chain gives its state");
            let all = self.log.all().filter(|event| event.event.key() == Some(key)).count();
            assert_eq!(chain.len(), all, "a key's chain misses none of its events");
        }
        let live = self.state.entries(self.now).count() as u64;
        assert_eq!(self.state.counts(self.now).entries(), live, "the counts are those of the entries");
        let flagged: HashSet<_> = self.state.flagged().cloned().collect();
        let naive: HashSet<_> = (self.state.slots())
            .filter(|(_, slot)| slot.entry.as_ref().is_some_and(|entry| !entry.flags.is_empty()))
            .map(|(key, _)| key.clone())
            .collect();
        assert_eq!(flagged, naive, "the flagged keys are those with flags");
    }

    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        self.state.entry(key, self.now)
    }

    #[track_caller]
    pub(crate) fn there(&self, key: &str) -> &Entry {
        self.entry(key).unwrap_or_else(|| panic!("no entry `{key}`"))
    }

    #[track_caller]
    pub(crate) fn version(&self, key: &str) -> Version {
        self.there(key).version
    }

    /// The word that an entry's value is, if there is an entry.
    pub(crate) fn value(&self, key: &str) -> Option<String> {
        let entry = self.entry(key)?;
        self.log.value(entry.value_at).and_then(|value| value.as_plain_string())
    }

    /// The text of an entry's metadata object.
    #[track_caller]
    pub(crate) fn metadata(&self, key: &str) -> String {
        self.log.metadata(self.there(key).metadata_at)
    }

    pub(crate) fn hidden_through(&self, key: &str) -> Seq {
        self.state.slot(key).map_or(Seq::ZERO, |slot| slot.hidden_through)
    }
}
