//! One run: each step is done to the store and to the model.

use std::sync::Arc;

use bilinc::storage::Storage;
use bilinc::{
    Actor, Commit, Confirm, EntryChange, Error, Forget, Json, Memory, MemoryType, Revise, Seq, Snapshot, Timestamp,
    Version, Written,
};

use super::step::{Expected, KEYS, SHORT, Step};
use crate::model::{Mem, Model, Standing, Verdict, What, facts};
use crate::support::*;

/// A commit that went under a name, and its first answer.
pub(super) struct Named {
    pub(super) name: String,
    pub(super) commit: Commit,
    pub(super) answer: EntryChange,
    pub(super) writer: usize,
}

pub(super) struct Run {
    pub(super) bench: Bench,
    pub(super) model: Model,
    /// Two handles on the store that share nothing in memory, one writer each.
    pub(super) handles: Vec<Memory>,
    pub(super) writer: usize,
    pub(super) named: Vec<Named>,
    counter: u32,
}

fn writer(index: usize) -> Actor {
    let session_id = (index == 1).then(|| "night".into());
    Actor { source: ["agent", "person"][index].into(), session_id }
}

impl Run {
    pub(super) fn new(storage: Arc<dyn Storage>) -> Self {
        let bench = Bench::on(storage);
        let handles = (0..2).map(|index| bench.open_again().acting_as(writer(index))).collect();
        Self { bench, model: Model::default(), handles, writer: 0, named: Vec::new(), counter: 0 }
    }

    pub(super) fn memory(&self) -> &Memory {
        &self.handles[self.writer]
    }

    pub(super) fn now(&self) -> Timestamp {
        self.bench.now()
    }

    pub(super) fn head(&self) -> Seq {
        self.memory().head().unwrap().seq
    }

    /// A value that never came before.
    pub(super) fn value(&mut self) -> Json {
        self.counter += 1;
        Json::string(&format!("value {}", self.counter))
    }

    fn expect(&self, key: usize, expected: Expected) -> Option<Version> {
        let current = self.model.entries.get(KEYS[key]).map(|mem| mem.version);
        match expected {
            Expected::None => None,
            Expected::Current => current.or(Some(Version::from_u128(1))),
            Expected::Stale => self
                .model
                .versions
                .iter()
                .copied()
                .find(|version| Some(*version) != current)
                .or(Some(Version::from_u128(1))),
        }
    }

    pub(super) fn step(&mut self, step: &Step) {
        match step {
            Step::Commit { key, rich, if_absent, expected, named } => {
                self.commit(*key, *rich, *if_absent, *expected, *named);
            }
            Step::Revise { key, importance, strategy, expected } => {
                let revise = Revise {
                    value: self.value(),
                    importance: *importance,
                    strategy: *strategy,
                    expected_version: self.expect(*key, *expected),
                    ..revise(KEYS[*key], "")
                };
                self.revise(*key, &revise);
            }
            Step::Forget { key, expected } => {
                let forget = Forget { expected_version: self.expect(*key, *expected), ..forget(KEYS[*key]) };
                let verdict = self.model.judge_other(KEYS[*key], forget.expected_version, self.now());
                let done = self.memory().forget(forget);
                self.changed(*key, &verdict, done, What::Forget, |_, _| None);
            }
            Step::Confirm { key, expected } => {
                let confirm = Confirm { expected_version: self.expect(*key, *expected), ..confirm(KEYS[*key]) };
                let verdict = self.model.judge_other(KEYS[*key], confirm.expected_version, self.now());
                let done = self.memory().confirm(confirm);
                self.changed(*key, &verdict, done, What::Confirm, |mem, now| {
                    mem.map(|mem| Mem { updated_at: now, confirmed_at: Some(now), ..mem })
                });
            }
            Step::Flag { key } => self.flag(*key),
            Step::Unflag { key } => self.unflag(*key),
            Step::Snapshot => {
                let taken = self.memory().snapshot(Snapshot::default()).unwrap().answer;
                self.model.keep(taken.seq, taken.created_at, Some(taken.id));
            }
            Step::Rollback { pick } => self.roll_back(*pick),
            Step::Import { keys, if_absent } => self.import(keys, *if_absent),
            Step::Undo { key, dry_run } => self.undo(*key, *dry_run),
            Step::Dream { actions, finish, dry_run } => self.dream(actions, *finish, *dry_run),
            Step::DreamUndo { pick, restore_metadata, dry_run } => {
                self.dream_undo(*pick, *restore_metadata, *dry_run);
            }
            Step::Repeat { pick, other_payload } => self.repeat(*pick, *other_payload),
            Step::Pass { seconds } => self.bench.clock.advance(seconds * SECOND),
            Step::Switch => self.writer = 1 - self.writer,
            Step::Reopen => self.handles[self.writer] = self.bench.open_again().acting_as(writer(self.writer)),
            Step::Diff { from, to } => self.diff(*from, *to),
            Step::AsOf { pick } => self.as_of(*pick),
            Step::List { limit } => self.list(*limit),
            Step::Recall => self.check_recall(),
        }
    }

    pub(super) fn facts_of(&self, commit: &Commit) -> String {
        let actor = writer(self.writer);
        facts(&bilinc::Facts {
            memory_type: commit.memory_type.unwrap_or_default(),
            importance: commit.importance.unwrap_or(1.0),
            source: commit.source.clone().unwrap_or(actor.source),
            session_id: commit.session_id.clone().or(actor.session_id),
            canonical: commit.canonical,
            priority: commit.priority,
            ttl: commit.ttl,
        })
    }

    fn commit(&mut self, key: usize, rich: bool, if_absent: bool, expected: Expected, named: bool) {
        let mut commit = Commit { if_absent, expected_version: self.expect(key, expected), ..commit(KEYS[key], "") };
        commit.value = self.value();
        commit.ttl = (key == SHORT).then_some(1_000.0);
        if rich {
            commit.metadata = Some(json(r#"{"team":"x"}"#));
            (commit.canonical, commit.importance) = (Some(true), Some(0.5));
            (commit.memory_type, commit.priority) = (Some(MemoryType::Working), Some(0.25));
        }
        let verdict = self.model.judge_commit(&commit, self.now());
        let name = format!("name {}", self.named.len());
        let memory = if named { self.memory().with_idempotency_key(&name) } else { self.memory().clone() };
        let done = memory.commit(commit.clone());
        let facts = self.facts_of(&commit);
        if let (true, Ok(written)) = (named, &done) {
            let (answer, writer) = (written.answer.clone(), self.writer);
            self.named.push(Named { name, commit: commit.clone(), answer, writer });
        }
        self.changed(key, &verdict, done, What::Other, |mem, now| Some(committed(&commit, facts, mem, now)));
    }

    fn revise(&mut self, key: usize, revise: &Revise) {
        let verdict = self.model.judge_revise(revise, self.now());
        let done = self.memory().revise(revise.clone());
        self.changed(key, &verdict, done, What::Other, |mem, now| {
            mem.map(|mem| {
                let importance = revise.importance.unwrap_or(mem.importance);
                let told = |importance: f64| format!("importance: {importance:?}");
                let facts = mem.facts.replacen(&told(mem.importance), &told(importance), 1);
                let value = revise.value.as_str().to_owned();
                Mem { value, value_at: Seq::MAX, importance, facts, updated_at: now, confirmed_at: None, ..mem }
            })
        });
    }

    /// Checks the answer of a command about one key and carries it over to the model.
    fn changed(
        &mut self,
        key: usize,
        verdict: &Verdict,
        done: Result<Written<EntryChange>, Error>,
        what: What,
        after: impl FnOnce(Option<Mem>, Timestamp) -> Option<Mem>,
    ) {
        let (name, now) = (KEYS[key], self.now());
        let change = match (verdict, done) {
            (Verdict::Write, Ok(written)) => written.answer,
            (Verdict::Refuse(code), Err(error)) if error.code() == *code => return self.nothing_written(),
            (verdict, done) => panic!("expected {verdict:?}, got {done:?}"),
        };
        assert_eq!((change.key.as_str(), change.at, change.seq), (name, now, self.head()));
        let before = self.model.live(name, now).cloned();
        let through = change.seq;
        let version = change.version.map(|version| self.model.fresh(version));
        let standing = Standing { seq: Some(through), through, dream: None, what, before };
        self.model.change(name, standing, |mem| {
            after(mem, now).map(|mem| Mem { version: version.unwrap(), ..placed(mem, through) })
        });
        self.model.keep(through, now, None);
    }

    pub(super) fn nothing_written(&self) {
        let last = self.model.past.last().map_or(Seq::ZERO, |past| past.seq);
        assert_eq!(self.head(), last, "something was written");
    }

    pub(super) fn version_at(&self, name: &str) -> Version {
        self.memory().get(name).unwrap().map_or(Version::from_u128(0), |entry| entry.entry.version)
    }
}

pub(super) fn key_of(index: usize) -> bilinc::Key {
    key(KEYS[index])
}

/// What was written in the operation that ends at `through` is said to lie there.
pub(super) fn placed(mem: Mem, through: Seq) -> Mem {
    let place = |at: Seq| if at == Seq::MAX { through } else { at };
    Mem { value_at: place(mem.value_at), metadata_at: mem.metadata_at.map(place), ..mem }
}

/// What a commit makes of an entry; its version and position come later.
pub(super) fn committed(commit: &Commit, facts: String, before: Option<Mem>, now: Timestamp) -> Mem {
    Mem {
        value: commit.value.as_str().to_owned(),
        metadata: commit.metadata.as_ref().map_or("{}".into(), ToString::to_string),
        facts,
        importance: commit.importance.unwrap_or(1.0),
        canonical: commit.canonical == Some(true),
        ttl: commit.ttl,
        created_at: before.as_ref().map_or(now, |mem| mem.created_at),
        updated_at: now,
        confirmed_at: None,
        version: Version::from_u128(0),
        flags: before.map_or_else(Vec::new, |mem| mem.flags),
        value_at: Seq::MAX,
        metadata_at: commit.metadata.as_ref().map(|_| Seq::MAX),
    }
}
