//! The naive model: a map of entries, per key a stack of the changes that stand, and a copy of every
//! past state. It shares no code and no idea with the engine: an undo pops the stack.

mod dreams;
mod time;

use std::collections::{BTreeMap, BTreeSet};

use bilinc::{Commit, DreamId, MemoryEntry, Revise, Seq, SnapshotId, Strategy, Timestamp, Version};

pub(crate) use self::dreams::Pass;

/// One memory, whole.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mem {
    pub(crate) value: String,
    pub(crate) metadata: String,
    pub(crate) facts: String,
    pub(crate) importance: f64,
    pub(crate) canonical: bool,
    pub(crate) ttl: Option<f64>,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    pub(crate) confirmed_at: Option<Timestamp>,
    pub(crate) version: Version,
    /// The dreams that set its open flags, oldest first.
    pub(crate) flags: Vec<Option<DreamId>>,
    /// Where its value and its metadata were written, or later in the same operation.
    pub(crate) value_at: Seq,
    pub(crate) metadata_at: Option<Seq>,
}

impl Mem {
    pub(crate) fn is_live(&self, now: Timestamp) -> bool {
        self.ttl.is_none_or(|ttl| now <= self.updated_at.plus((ttl * 1e6) as i64))
    }

    /// Everything but version, time of update, flags and positions.
    pub(crate) fn content(&self) -> String {
        let (created, confirmed) = (self.created_at, self.confirmed_at);
        format!("{} {} {} {created:?} {confirmed:?}", self.value, self.metadata, self.facts)
    }
}

/// The same words about an entry that the engine gives.
pub(crate) fn content_of(entry: &MemoryEntry) -> String {
    let inner = &entry.entry;
    let text = |json: &Option<bilinc::Json>| json.as_ref().map_or("hidden".into(), ToString::to_string);
    let (created, confirmed) = (inner.created_at, inner.confirmed_at);
    let facts = facts(&inner.facts);
    format!("{} {} {facts} {created:?} {confirmed:?}", text(&entry.value), text(&entry.metadata))
}

pub(crate) fn facts(facts: &bilinc::Facts) -> String {
    format!("{facts:?}")
}

/// A change that no undo took back.
#[derive(Debug, Clone)]
pub(crate) struct Standing {
    /// Where it is, if it can be named singly.
    pub(crate) seq: Option<Seq>,
    pub(crate) through: Seq,
    pub(crate) dream: Option<DreamId>,
    pub(crate) what: What,
    pub(crate) before: Option<Mem>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    Forget,
    Confirm,
    Other,
}

/// A state that was.
#[derive(Debug, Clone)]
pub(crate) struct Past {
    pub(crate) seq: Seq,
    pub(crate) at: Timestamp,
    pub(crate) entries: BTreeMap<String, Mem>,
    pub(crate) snapshot: Option<SnapshotId>,
}

#[derive(Debug, Default)]
pub(crate) struct Model {
    /// Expired ones included.
    pub(crate) entries: BTreeMap<String, Mem>,
    pub(crate) standing: BTreeMap<String, Vec<Standing>>,
    pub(crate) past: Vec<Past>,
    pub(crate) versions: BTreeSet<Version>,
    pub(crate) passes: Vec<Pass>,
}

/// What a command is expected to come to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Verdict {
    Write,
    Refuse(&'static str),
}

impl Model {
    pub(crate) fn live(&self, name: &str, now: Timestamp) -> Option<&Mem> {
        self.entries.get(name).filter(|mem| mem.is_live(now))
    }

    /// Whether value or metadata of a key as it stood are hidden now: written before a forget that
    /// stands, and not those of the present entry, which a rollback may have brought back.
    pub(crate) fn is_hidden(&self, name: &str, mem: &Mem) -> bool {
        let standing = self.standing.get(name).map_or(&[][..], Vec::as_slice);
        let forgets = || standing.iter().filter(|change| change.what == What::Forget);
        let forgotten = |at: Seq| forgets().any(|change| change.through > at);
        let present = self.entries.get(name);
        let (value_at, metadata_at) = (present.map(|mem| mem.value_at), present.and_then(|mem| mem.metadata_at));
        let value = forgotten(mem.value_at) && value_at != Some(mem.value_at);
        let metadata = mem.metadata_at.filter(|at| forgotten(*at) && metadata_at != Some(*at));
        value || metadata.is_some()
    }

    /// Existence first, then the version.
    fn judge(&self, name: &str, expected: Option<Version>, now: Timestamp) -> Verdict {
        match (self.live(name, now), expected) {
            (None, _) => Verdict::Refuse("memory_not_found"),
            (Some(mem), Some(version)) if version != mem.version => Verdict::Refuse("version_conflict"),
            _ => Verdict::Write,
        }
    }

    pub(crate) fn judge_commit(&self, commit: &Commit, now: Timestamp) -> Verdict {
        let name = commit.key.as_str();
        if commit.if_absent && self.live(name, now).is_some() {
            return Verdict::Refuse("memory_exists");
        }
        commit.expected_version.map_or(Verdict::Write, |_| self.judge(name, commit.expected_version, now))
    }

    pub(crate) fn judge_revise(&self, revise: &Revise, now: Timestamp) -> Verdict {
        let name = revise.key.as_str();
        let verdict = self.judge(name, revise.expected_version, now);
        let Some(mem) = self.live(name, now).filter(|_| verdict == Verdict::Write) else { return verdict };
        let below = revise.importance.is_some_and(|new| new < mem.importance);
        let kept = match revise.strategy {
            Strategy::Recency => false,
            Strategy::Importance => below,
            Strategy::Entrenchment => below && mem.canonical,
            Strategy::Verification => below && mem.confirmed_at.is_some(),
        };
        if kept { Verdict::Refuse("revision_rejected") } else { Verdict::Write }
    }

    pub(crate) fn judge_other(&self, name: &str, expected: Option<Version>, now: Timestamp) -> Verdict {
        self.judge(name, expected, now)
    }

    /// A version is never used twice.
    pub(crate) fn fresh(&mut self, version: Version) -> Version {
        assert!(self.versions.insert(version), "{version} was used before");
        version
    }

    /// The key changes to what `after` makes of it; the change stands until it is undone.
    pub(crate) fn change(&mut self, name: &str, standing: Standing, after: impl FnOnce(Option<Mem>) -> Option<Mem>) {
        let before = standing.before.clone();
        self.standing.entry(name.to_owned()).or_default().push(standing);
        self.put(name, after(before));
    }

    pub(crate) fn put(&mut self, name: &str, mem: Option<Mem>) {
        match mem {
            Some(mem) => drop(self.entries.insert(name.to_owned(), mem)),
            None => drop(self.entries.remove(name)),
        }
    }

    /// Remembers the state behind an operation.
    pub(crate) fn keep(&mut self, seq: Seq, at: Timestamp, snapshot: Option<SnapshotId>) {
        self.past.push(Past { seq, at, entries: self.entries.clone(), snapshot });
    }

    /// The newest change of the key, if it is one that a single undo can name.
    pub(crate) fn undoable(&self, name: &str) -> Option<Seq> {
        self.standing.get(name)?.last().filter(|change| change.dream.is_none())?.seq
    }

    /// The flags of an entry that comes back: those of a dream that was undone since stay cleared.
    fn standing_flags(&self, mem: &Mem) -> Vec<Option<DreamId>> {
        let undone = |flag: &DreamId| self.passes.iter().any(|pass| pass.dream == *flag && pass.undone);
        mem.flags.iter().copied().filter(|flag| !flag.as_ref().is_some_and(undone)).collect()
    }

    /// Takes the newest change of a key back, with all that belongs to it.
    pub(crate) fn pop(&mut self, name: &str, now: Timestamp, version: Option<Version>) {
        let change = self.standing.get_mut(name).and_then(Vec::pop).unwrap();
        let flags = self.entries.get(name).map(|mem| mem.flags.clone());
        let back = change.before.map(|before| Mem {
            updated_at: if change.what == What::Confirm { before.updated_at } else { now },
            flags: flags.unwrap_or_else(|| self.standing_flags(&before)),
            version: self.fresh(version.unwrap()),
            ..before
        });
        self.put(name, back);
    }
}
