//! The naive model: a map of entries, and of every change the whole entry before and after it.
//! Nothing here shares an idea with the core: no links, no indexes, no fold.

mod dreams;
mod undo;

use std::collections::{BTreeMap, BTreeSet};

use bilinc_core::{Commit, DreamId, MemoryType, Seq, SnapshotId, Timestamp, Version};

use crate::harness::{Answer, Store};

pub(crate) use self::dreams::Dream;

/// One memory, whole.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mem {
    pub(crate) value: String,
    pub(crate) metadata: String,
    pub(crate) kind: MemoryType,
    pub(crate) importance: f64,
    pub(crate) source: String,
    pub(crate) session: Option<String>,
    pub(crate) canonical: Option<bool>,
    pub(crate) priority: Option<f64>,
    pub(crate) ttl: Option<f64>,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    pub(crate) confirmed_at: Option<Timestamp>,
    pub(crate) version: Version,
    pub(crate) flags: BTreeSet<Seq>,
}

impl Mem {
    fn expired(&self, now: Timestamp) -> bool {
        self.ttl.is_some_and(|ttl| now > self.updated_at.plus((ttl * 1e6) as i64))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    Commit,
    Revise,
    Confirm,
    /// Forget or remove.
    End,
    Purge,
    Restore,
    Flag,
    Unflag,
    Reflag,
}

impl Op {
    fn is_change(self) -> bool {
        !matches!(self, Self::Flag | Self::Unflag | Self::Reflag)
    }
}

/// Something that happened to one key.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) seq: Seq,
    pub(crate) key: String,
    pub(crate) op: Op,
    pub(crate) dream: Option<DreamId>,
    pub(crate) before: Option<Mem>,
    /// Flags that were set, cleared or opened again.
    pub(crate) flags: BTreeSet<Seq>,
    pub(crate) undoes: BTreeSet<Seq>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Naive {
    pub(crate) entries: BTreeMap<String, Mem>,
    pub(crate) steps: Vec<Step>,
    pub(crate) dreams: Vec<Dream>,
    pub(crate) snapshots: Vec<(SnapshotId, Timestamp, BTreeMap<String, Mem>)>,
    /// Values that no command may bring back; every value is written once.
    pub(crate) erased: BTreeSet<String>,
    now: Timestamp,
    at: Timestamp,
    dream: Option<DreamId>,
    undone: Vec<DreamId>,
}

impl Naive {
    /// The times of the command that follows.
    pub(crate) fn clock(&mut self, store: &Store) {
        (self.now, self.at) = (store.now, store.at());
        let undone = |dream: &&Dream| store.state.dream(dream.id).unwrap().undo.is_some();
        self.undone = self.dreams.iter().filter(undone).map(|dream| dream.id).collect();
    }

    pub(crate) fn live(&self, key: &str) -> Option<&Mem> {
        self.entries.get(key).filter(|mem| !mem.expired(self.now))
    }

    /// Records that a key is so now, at the position that the store gave that.
    fn put(&mut self, key: &str, op: Op, seq: Seq, after: Option<Mem>) -> &mut Step {
        let before = self.live(key).cloned();
        self.entries.remove(key);
        self.entries.extend(after.map(|mem| (key.to_owned(), mem)));
        let (flags, undoes) = (BTreeSet::new(), BTreeSet::new());
        self.steps.push(Step { seq, key: key.to_owned(), op, dream: self.dream, before, flags, undoes });
        self.steps.last_mut().unwrap()
    }

    pub(crate) fn commit(&mut self, command: &Commit, actor: &str, answer: &Answer) {
        let key = command.key.as_str();
        let (seq, version) = event(answer, key, Op::Commit);
        let old = self.live(key);
        let mem = Mem {
            value: command.value.as_plain_string().unwrap(),
            metadata: command.metadata.as_ref().map_or("{}".into(), ToString::to_string),
            kind: command.memory_type.unwrap_or_default(),
            importance: command.importance.unwrap_or(1.0),
            source: command.source.as_ref().map_or(actor.into(), ToString::to_string),
            session: command.session_id.as_ref().map(ToString::to_string),
            canonical: command.canonical,
            priority: command.priority,
            ttl: command.ttl,
            created_at: old.map_or(self.at, |old| old.created_at),
            updated_at: self.at,
            confirmed_at: None,
            version: version.unwrap(),
            flags: old.map_or_else(BTreeSet::new, |old| old.flags.clone()),
        };
        self.put(key, Op::Commit, seq, Some(mem));
    }

    pub(crate) fn revise(&mut self, key: &str, value: &str, importance: Option<f64>, seq: Seq, version: Version) {
        let mut mem = self.live(key).unwrap().clone();
        mem.value = value.into();
        mem.importance = importance.unwrap_or(mem.importance);
        (mem.updated_at, mem.confirmed_at, mem.version) = (self.at, None, version);
        self.put(key, Op::Revise, seq, Some(mem));
    }

    pub(crate) fn confirm(&mut self, key: &str, seq: Seq, version: Version) {
        let mut mem = self.live(key).unwrap().clone();
        (mem.updated_at, mem.confirmed_at, mem.version) = (self.at, Some(self.at), version);
        self.put(key, Op::Confirm, seq, Some(mem));
    }

    pub(crate) fn forget(&mut self, key: &str, seq: Seq) {
        self.put(key, Op::End, seq, None);
    }

    /// Whether anything of the key is left to erase.
    pub(crate) fn can_purge(&self, key: &str) -> bool {
        let mut own = self.steps.iter().rev().filter(|step| step.key == key);
        own.find(|step| matches!(step.op, Op::Commit | Op::Revise | Op::Purge)).is_some_and(|step| step.op != Op::Purge)
    }

    pub(crate) fn purge(&mut self, key: &str, seq: Seq) {
        let earlier = self.steps.iter().filter(|step| step.key == key).filter_map(|step| step.before.as_ref());
        let values = earlier.chain(self.entries.get(key)).map(|mem| mem.value.clone());
        self.erased.extend(values);
        self.put(key, Op::Purge, seq, None);
    }

    pub(crate) fn flag(&mut self, key: &str, seq: Seq) {
        let mut mem = self.live(key).unwrap().clone();
        mem.flags.insert(seq);
        self.put(key, Op::Flag, seq, Some(mem)).flags.insert(seq);
    }

    pub(crate) fn unflag(&mut self, key: &str, seq: Seq) {
        let mut mem = self.live(key).unwrap().clone();
        let flags = std::mem::take(&mut mem.flags);
        self.put(key, Op::Unflag, seq, Some(mem)).flags = flags;
    }

    pub(crate) fn snapshot(&mut self, id: SnapshotId) {
        let at = self.at;
        let entries = self.entries.iter().filter(|(_, mem)| !mem.expired(at));
        self.snapshots.push((id, at, entries.map(|(key, mem)| (key.clone(), mem.clone())).collect()));
    }

    /// Everything is as in the snapshot again, but for version, `updated_at` and flags.
    pub(crate) fn rollback(&mut self, index: usize, answer: &Answer) {
        let (_, _, then) = self.snapshots[index].clone();
        let keys: BTreeSet<String> = then.keys().chain(self.entries.keys()).cloned().collect();
        for key in keys {
            match (then.get(&key), self.live(&key).cloned()) {
                // What was erased is left as it is.
                (Some(then), _) if self.erased.contains(&then.value) => {}
                (Some(then), current) => {
                    let flags = current.as_ref().map_or_else(BTreeSet::new, |mem| mem.flags.clone());
                    let mut back = Mem { flags, updated_at: self.at, ..then.clone() };
                    let same = current.as_ref().is_some_and(|current| {
                        back.version = current.version;
                        back == Mem { updated_at: self.at, ..current.clone() }
                    });
                    if !same {
                        let (seq, version) = event(answer, &key, Op::Restore);
                        back.version = version.unwrap();
                        self.put(&key, Op::Restore, seq, Some(back));
                    }
                }
                (None, Some(_)) => {
                    let (seq, _) = event(answer, &key, Op::End);
                    self.put(&key, Op::End, seq, None);
                }
                (None, None) => {}
            }
        }
    }

    /// The store has these entries and no others, whole.
    #[track_caller]
    pub(crate) fn agrees(&self, store: &Store) {
        let live = |mem: &Mem| !mem.expired(store.now);
        let mine: BTreeMap<_, _> = self.entries.iter().filter(|(_, mem)| live(mem)).collect();
        let theirs: BTreeMap<String, Mem> = (store.state.entries(store.now))
            .filter(|(key, _)| !key.is_reserved())
            .map(|(key, _)| (key.to_string(), read(store, key.as_str())))
            .collect();
        assert_eq!(mine, theirs.iter().collect());
        assert!(theirs.values().all(|mem| !self.erased.contains(&mem.value)), "nothing erased is there");
    }
}

/// An entry of the store as the model has it.
#[track_caller]
pub(crate) fn read(store: &Store, key: &str) -> Mem {
    let entry = store.there(key);
    Mem {
        value: store.value(key).unwrap(),
        metadata: store.metadata(key),
        kind: entry.facts.memory_type,
        importance: entry.facts.importance,
        source: entry.facts.source.to_string(),
        session: entry.facts.session_id.as_ref().map(ToString::to_string),
        canonical: entry.facts.canonical,
        priority: entry.facts.priority,
        ttl: entry.facts.ttl,
        created_at: entry.created_at,
        updated_at: entry.updated_at,
        confirmed_at: entry.confirmed_at,
        version: entry.version,
        flags: entry.flags.iter().map(|flag| flag.seq).collect(),
    }
}

/// Position and version of what was recorded of a key.
#[track_caller]
pub(crate) fn event(answer: &Answer, key: &str, op: Op) -> (Seq, Option<Version>) {
    use bilinc_core::Event;
    let found = answer.events.iter().find(|recorded| {
        recorded.event.key().is_some_and(|other| other.as_str() == key)
            && match op {
                Op::Commit => matches!(recorded.event, Event::Committed(_)),
                Op::Revise => matches!(recorded.event, Event::Revised(_)),
                Op::Confirm => matches!(recorded.event, Event::Confirmed(_)),
                Op::End => matches!(recorded.event, Event::Forgotten(_) | Event::Removed(_)),
                Op::Purge => matches!(recorded.event, Event::Purged(_)),
                Op::Restore => matches!(recorded.event, Event::Restored(_)),
                Op::Flag => matches!(recorded.event, Event::Flagged(_)),
                Op::Unflag => matches!(recorded.event, Event::Unflagged(_)),
                Op::Reflag => matches!(recorded.event, Event::Reflagged(_)),
            }
    });
    let found = found.unwrap_or_else(|| panic!("no {op:?} of `{key}` in {:?}", answer.events));
    (found.seq, found.event.version())
}
