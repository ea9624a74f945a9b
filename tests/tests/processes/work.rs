//! One operation of any kind, as chance decides, and what was acknowledged of it.

use bilinc::{
    ActionOp, Actor, Commit, DreamApply, DreamId, DreamStart, DreamUndo, Error, ListQuery, Memory, RecallQuery, Seq,
    Snapshot, Unflag, Version, Written,
};
use bilinc_core::RecordedEvent;

use super::chance::Chance;
use super::said::{Acknowledged, Said, digest};
use crate::purge::purge;
use crate::support::*;

/// Keys that all write, and as many again of each worker's own.
const KEYS: u64 = 16;

/// A worker at its work.
pub(super) struct Work {
    pub(super) memory: Memory,
    pub(super) worker: u64,
    pub(super) chance: Chance,
    /// What it may take back later.
    done: Vec<Seq>,
    dreams: Vec<DreamId>,
}

/// What an operation wrote, if it wrote anything: where, and whether it had been done before.
type Wrote = Option<Seq>;

/// The value that goes with a name: the same again for one that is repeated.
fn value(name: &str, size: u64) -> String {
    format!("{name} {}", "otter ".repeat(usize::try_from(size).unwrap()))
}

pub(super) fn commit_of(name: &str, key: &str, size: u64) -> Commit {
    commit(key, &value(name, size))
}

impl Work {
    pub(super) fn new(memory: Memory, worker: u64, seed: u64) -> Self {
        let actor = Actor { source: format!("worker.{worker}").into(), session_id: None };
        let memory = memory.acting_as(actor);
        Self { memory, worker, chance: Chance::new(seed), done: Vec::new(), dreams: Vec::new() }
    }

    fn key(&mut self) -> String {
        let number = self.chance.below(KEYS);
        match self.chance.below(2) {
            0 => format!("shared.{number}"),
            _ => format!("own.{}.{number}", self.worker),
        }
    }

    fn size(&mut self) -> u64 {
        let most = if self.chance.below(20) == 0 { 600 } else { 30 };
        self.chance.below(most)
    }

    /// One operation under a name; says what becomes of it.
    pub(super) fn one(&mut self, name: &str, say: &mut dyn FnMut(Said)) {
        let memory = self.memory.with_idempotency_key(name);
        let kind = self.chance.below(100);
        let (key, size) = (self.key(), self.size());
        let plain = kind < 30;
        say(Said::Begins { name: name.to_owned(), again: plain.then(|| (key.clone(), size)) });
        let tried = match kind {
            0..30 => memory.commit(commit_of(name, &key, size)).map(changed),
            30..36 => memory.commit(Commit { if_absent: true, ..commit_of(name, &key, size) }).map(changed),
            36..52 => self.seen(&key).and_then(|expected_version| {
                memory.revise(bilinc::Revise { expected_version, ..revise(&key, &value(name, size)) }).map(changed)
            }),
            52..62 => self.seen(&key).and_then(|expected_version| {
                memory.confirm(bilinc::Confirm { expected_version, ..confirm(&key) }).map(changed)
            }),
            62..68 => memory.flag(flag(&key)).map(changed),
            68..72 => memory
                .unflag(Unflag { key: crate::support::key(&key), reason: None, expected_version: None })
                .map(changed),
            72..80 => memory.forget(forget(&key)).map(changed),
            80..84 => memory.snapshot(Snapshot::default()).map(|_| Some(self.first_of(name))),
            84..92 => self.dream(&memory, name),
            92..97 => self.undo(&memory),
            97..99 => self.undo_dream(&memory),
            _ => memory.forget(purge(&key)).map(changed),
        };
        match tried {
            Ok(Some(seq)) => {
                let done = acknowledged(&self.memory, name, seq);
                say(Said::Acknowledged(done.clone()));
                assert_seen(&self.memory, &done);
                self.done.push(seq);
            }
            Ok(None) => say(Said::Refused { name: name.to_owned() }),
            Err(Error::Rejected(_)) => say(Said::Refused { name: name.to_owned() }),
            Err(error) => panic!("{name}: {error}"),
        }
        self.look();
    }

    fn seen(&self, key: &str) -> Result<Option<Version>, Error> {
        Ok(self.memory.get(key)?.map(|entry| entry.entry.version))
    }

    /// The first position of the operation of that name, for answers that do not give it.
    fn first_of(&self, name: &str) -> Seq {
        let before = self.done.last().copied().unwrap_or_default();
        let events = self.memory.recorded(before).unwrap();
        events.iter().find(|event| event.operation.idempotency.as_deref() == Some(name)).unwrap().seq
    }

    /// A dream over a few entries: some merged, one retired. Its start goes without a name.
    fn dream(&mut self, memory: &Memory, name: &str) -> Result<Wrote, Error> {
        let start = DreamStart { limit: 4 + u32::try_from(self.chance.below(6)).unwrap(), ..DreamStart::default() };
        let started = self.memory.dream_start(DreamStart { include_reviewed: true, ..start })?.answer;
        let Some(dream) = started.dream else { return Ok(None) };
        let mut actions = Vec::new();
        for (index, candidate) in started.candidates.iter().enumerate() {
            let op = match index {
                0 => ActionOp::Forget,
                1 => ActionOp::Confirm,
                2 => ActionOp::Flag,
                _ => ActionOp::Revise,
            };
            let entry = &candidate.memory;
            actions.push(action(op, entry.key.as_str(), Some(entry.entry.version)));
        }
        let apply = DreamApply { dream, actions, report: None, finish: true, dry_run: false };
        memory.dream_apply_page(apply)?;
        self.dreams.push(dream);
        Ok(Some(self.first_of(name)))
    }

    fn undo(&mut self, memory: &Memory) -> Result<Wrote, Error> {
        if self.done.is_empty() {
            return Ok(None);
        }
        let at = self.chance.below(self.done.len() as u64);
        let seq = self.done[usize::try_from(at).unwrap()];
        let undone = memory.undo(undo_seq(seq))?.answer;
        Ok(undone.seq.filter(|_| !undone.already_undone))
    }

    fn undo_dream(&mut self, memory: &Memory) -> Result<Wrote, Error> {
        let Some(dream) = self.dreams.pop() else { return Ok(None) };
        let undone = memory.dream_undo(DreamUndo { dream, dry_run: false, restore_metadata: false })?.answer;
        Ok(undone.seq.filter(|_| !undone.already_undone))
    }

    /// Reads of other kinds, now and then.
    fn look(&mut self) {
        let key = self.key();
        match self.chance.below(8) {
            0 => drop(self.memory.get(&key).unwrap()),
            1 => drop(self.memory.list(&ListQuery { limit: Some(20), ..ListQuery::default() }).unwrap()),
            2 => drop(self.memory.recall(&RecallQuery::new("otter tidied")).unwrap()),
            3 => drop(self.memory.history(&key, 5, true).unwrap()),
            _ => {}
        }
    }
}

fn changed(written: Written<bilinc::EntryChange>) -> Wrote {
    Some(written.answer.seq)
}

/// What there is to say of an operation, from the event that its answer names.
pub(super) fn acknowledged(memory: &Memory, name: &str, seq: Seq) -> Acknowledged {
    let events = memory.recorded(seq.before()).unwrap();
    of_event(name, events.first().expect("what was answered is shown"))
}

fn of_event(name: &str, event: &RecordedEvent) -> Acknowledged {
    let value = event.body.as_ref().and_then(|body| body.value.as_ref());
    Acknowledged {
        name: name.to_owned(),
        seq: event.seq,
        event: event.event.name().to_owned(),
        key: event.event.key().map(|key| key.as_str().to_owned()),
        version: event.event.version(),
        digest: value.map(digest),
    }
}

/// The very operation is recorded there. Its value may have been erased since.
pub(super) fn assert_recorded(done: &Acknowledged, event: &RecordedEvent) {
    let found = of_event(&done.name, event);
    let found = Acknowledged { digest: found.digest.or(done.digest), ..found };
    assert_eq!((event.operation.idempotency.as_deref(), &found), (Some(done.name.as_str()), done));
}

/// What was acknowledged to anybody is shown to this process: in the log, and by its key.
pub(super) fn assert_seen(memory: &Memory, done: &Acknowledged) {
    assert!(memory.head().unwrap().seq >= done.seq, "{} is not shown", done.seq);
    let now = done.key.as_ref().map(|key| memory.get(key).unwrap());
    let events = memory.recorded(done.seq.before()).unwrap();
    assert_recorded(done, &events[0]);
    // Unless something was done to the key later, it stands as it was left.
    let later = events[1..].iter().any(|event| event.event.key().map(bilinc::Key::as_str) == done.key.as_deref());
    if let (Some(version), Some(now), false) = (done.version, now, later) {
        let now = now.unwrap();
        assert_eq!(
            (now.entry.version, now.value.as_ref().map(digest)),
            (version, done.digest.or(now.value.as_ref().map(digest)))
        );
    }
}
