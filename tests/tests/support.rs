//! A store with its own clock and ids, and short words for commands.

use std::sync::Arc;

use bilinc::storage::{MemoryStorage, Storage};
use bilinc::{
    Action, ActionOp, Actor, Commit, Confirm, CountingIds, DreamId, DreamStart, Error, Flag, Forget, Json, Key,
    ManualClock, Memory, MemoryBuilder, MemoryEntry, Rejection, Revise, Selection, Seq, Strategy, Timestamp, Undo,
    Version, limits,
};

pub(crate) const SECOND: i64 = 1_000_000;
pub(crate) const MINUTE: i64 = 60 * SECOND;
pub(crate) const DAY: i64 = 24 * Timestamp::HOUR;

/// 2026-01-01T00:00:00Z.
pub(crate) const START: Timestamp = Timestamp::from_micros(1_767_225_600_000_000);

/// A store whose time and ids the test decides. Opening it again is opening the same log.
pub(crate) struct Bench {
    pub(crate) memory: Memory,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) ids: Arc<CountingIds>,
    pub(crate) storage: Arc<dyn Storage>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::on(Arc::new(MemoryStorage::new()))
    }

    pub(crate) fn on(storage: Arc<dyn Storage>) -> Self {
        let clock = Arc::new(ManualClock::at(START));
        let ids = Arc::new(CountingIds::new(7));
        let memory = builder(&clock, &ids).open_in(Arc::clone(&storage)).unwrap();
        Self { memory, clock, ids, storage }
    }

    /// For storages that may not open.
    pub(crate) fn on_maybe(storage: Arc<dyn Storage>) -> Result<Memory, Error> {
        let (clock, ids) = (Arc::new(ManualClock::at(START)), Arc::new(CountingIds::new(7)));
        builder(&clock, &ids).open_in(storage)
    }

    pub(crate) fn builder(&self) -> MemoryBuilder {
        builder(&self.clock, &self.ids)
    }

    /// Another handle with its own state, as another process has it.
    pub(crate) fn open_again(&self) -> Memory {
        self.builder().open_in(Arc::clone(&self.storage)).unwrap()
    }

    pub(crate) fn put(&self, name: &str, value: &str) -> Version {
        self.tick();
        self.memory.commit(commit(name, value)).unwrap().answer.version.unwrap()
    }

    pub(crate) fn revise(&self, name: &str, value: &str) -> Version {
        self.tick();
        self.memory.revise(revise(name, value)).unwrap().answer.version.unwrap()
    }

    pub(crate) fn forget(&self, name: &str) -> Seq {
        self.tick();
        self.memory.forget(forget(name)).unwrap().answer.seq
    }

    pub(crate) fn undo(&self, seq: Seq) -> bilinc::UndoAnswer {
        self.tick();
        self.memory.undo(undo_seq(seq)).unwrap().answer
    }

    pub(crate) fn value(&self, name: &str) -> Option<String> {
        value_of(&self.memory, name)
    }

    pub(crate) fn entry(&self, name: &str) -> MemoryEntry {
        self.memory.get(name).unwrap().unwrap()
    }

    pub(crate) fn version(&self, name: &str) -> Version {
        self.entry(name).entry.version
    }

    pub(crate) fn head(&self) -> Seq {
        self.memory.head().unwrap().seq
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.memory.now()
    }

    pub(crate) fn tick(&self) {
        self.clock.advance(SECOND);
    }

    /// Starts a dream over everything; panics when there is no candidate.
    pub(crate) fn dream(&self) -> DreamId {
        self.tick();
        self.memory.dream_start(DreamStart::default()).unwrap().answer.dream.unwrap()
    }

    /// The same history in the same log, and the same state from it.
    pub(crate) fn assert_sound(&self) {
        assert_sound(&self.memory);
        assert!(self.open_again().is_same_state(&self.memory).unwrap(), "a reopened store stands elsewhere");
    }
}

/// Verifies the log, and that what was recorded feeds into the same state.
pub(crate) fn assert_sound(memory: &Memory) {
    let verified = memory.verify(&mut |_, _| {}).unwrap();
    assert!(verified.state_equal);
    assert_eq!(verified.head, memory.head().unwrap());
    let replayed = Memory::in_memory().unwrap();
    replayed.feed(memory.recorded(Seq::ZERO).unwrap()).unwrap();
    assert!(replayed.is_same_state(memory).unwrap(), "the recorded events add up to another state");
}

pub(crate) fn builder(clock: &Arc<ManualClock>, ids: &Arc<CountingIds>) -> MemoryBuilder {
    let (clock, ids) = (Arc::clone(clock), Arc::clone(ids));
    Memory::builder().clock(clock).ids(ids)
}

pub(crate) fn key(name: &str) -> Key {
    Key::new(name).unwrap()
}

pub(crate) fn json(text: &str) -> Json {
    Json::parse(text, limits::VALUE_BYTES).unwrap()
}

pub(crate) fn actor(source: &str) -> Actor {
    Actor { source: source.into(), session_id: None }
}

pub(crate) fn commit(name: &str, value: &str) -> Commit {
    Commit::new(key(name), Json::string(value))
}

pub(crate) fn revise(name: &str, value: &str) -> Revise {
    Revise {
        key: key(name),
        value: Json::string(value),
        importance: None,
        strategy: Strategy::default(),
        reason: None,
        expected_version: None,
    }
}

pub(crate) fn forget(name: &str) -> Forget {
    Forget { key: key(name), reason: "no longer true".into(), expected_version: None, purge: false }
}

pub(crate) fn confirm(name: &str) -> Confirm {
    Confirm { key: key(name), reason: None, expected_version: None }
}

pub(crate) fn flag(name: &str) -> Flag {
    Flag { key: key(name), reason: "look at it".into(), evidence_keys: Vec::new(), expected_version: None }
}

pub(crate) fn undo_seq(seq: Seq) -> Undo {
    Undo { selection: Selection::Seqs(vec![seq]), dry_run: false }
}

pub(crate) fn action(op: ActionOp, name: &str, version: Option<Version>) -> Action {
    Action {
        op,
        key: key(name),
        expected_version: version,
        new_value: (op == ActionOp::Revise).then(|| Json::string("tidied")),
        merged_from: Vec::new(),
        reason: "tidying".into(),
        evidence_keys: Vec::new(),
        refused: None,
    }
}

pub(crate) fn value_of(memory: &Memory, name: &str) -> Option<String> {
    let value = memory.get(name).unwrap()?.value.unwrap();
    Some(value.as_plain_string().unwrap_or_else(|| value.as_str().to_owned()))
}

pub(crate) fn rejection(error: impl Into<Box<Error>>) -> Rejection {
    match *error.into() {
        Error::Rejected(rejection) => rejection,
        other => panic!("not a refusal: {other}"),
    }
}

/// Field and reason of what must be malformed.
pub(crate) fn invalid(error: impl Into<Box<Error>>) -> (String, &'static str) {
    match rejection(error) {
        Rejection::Invalid { field, reason, .. } => (field, reason),
        other => panic!("not about form: {other}"),
    }
}
