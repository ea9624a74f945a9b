//! Commands as small numbers, and what is asked of a store because of them.

use arbitrary::Arbitrary;
use bilinc::{
    Action, ActionOp, Commit, Confirm, DreamId, DreamStart, DreamUndo, Error, Flag, Forget, ImportOptions, Json, Key,
    Memory, Revise, Selection, Seq, Snapshot, SnapshotId, Strategy, Undo, Unflag, Version,
};

/// A command about one of a few keys, values being numbered.
#[derive(Debug, Clone, Arbitrary)]
pub enum Step {
    Commit { key: u8, ttl: Option<u8>, if_absent: bool, rich: bool, expected: Expected },
    Revise { key: u8, expected: Expected },
    Forget { key: u8, expected: Expected },
    Purge { key: u8 },
    Confirm { key: u8 },
    Flag { key: u8 },
    Unflag { key: u8 },
    Snapshot,
    Rollback { pick: u8 },
    Import { keys: Vec<u8>, if_absent: bool },
    DreamStart { limit: u8, include_reviewed: bool },
    DreamApply { pick: u8, ops: Vec<(u8, u8)>, report: bool },
    DreamUndo { pick: u8, restore_metadata: bool },
    UndoSeq { back: u8 },
    UndoRange { from: u8, to: u8 },
    UndoSource { by: bool },
}

#[derive(Debug, Clone, Copy, Arbitrary)]
pub enum Expected {
    Nothing,
    Current,
    Wrong,
}

/// A request, whole: it can be sent again.
#[derive(Debug, Clone)]
pub enum Asked {
    Commit(Commit),
    Revise(Revise),
    Forget(Forget),
    Confirm(Confirm),
    Flag(Flag),
    Unflag(Unflag),
    Snapshot(Snapshot),
    Rollback { id: SnapshotId, snapshot: Seq, token: String },
    Import(Vec<(String, String)>, ImportOptions),
    DreamStart(DreamStart),
    DreamApply { dream: DreamId, actions: Vec<Action>, report: Option<Json> },
    DreamUndo(DreamUndo),
    Undo(Undo),
}

fn key(number: u8) -> Key {
    Key::new(&format!("k{}", number % 5)).expect("a key")
}

fn pick<T: Clone>(items: &[T], number: u8) -> Option<T> {
    items.get(usize::from(number) % items.len().max(1)).cloned()
}

impl Expected {
    fn of(self, key: &Key, memory: &Memory) -> Option<Version> {
        match self {
            Self::Nothing => None,
            Self::Current => memory.get(key.as_str()).expect("a read").map(|entry| entry.entry.version),
            Self::Wrong => Some(Version::from_u128(1)),
        }
    }
}

impl Step {
    /// What is asked; none where there is nothing to ask it about. `value` never came before.
    pub fn ask(&self, memory: &Memory, value: &str) -> Option<Asked> {
        let (json, reason) = (Json::string(value), || "a reason".to_owned());
        Some(match self {
            Self::Commit { key: k, ttl, if_absent, rich, expected } => Asked::Commit(Commit {
                ttl: ttl.map(|minutes| f64::from(minutes) * 60.0 + 1.0),
                if_absent: *if_absent,
                metadata: rich.then(|| Json::parse("{\"a\":[1.10]}", 100).expect("an object")),
                expected_version: expected.of(&key(*k), memory),
                ..Commit::new(key(*k), json)
            }),
            Self::Revise { key: k, expected } => Asked::Revise(Revise {
                key: key(*k),
                value: json,
                importance: None,
                strategy: Strategy::default(),
                reason: None,
                expected_version: expected.of(&key(*k), memory),
            }),
            Self::Forget { key: k, expected } => Asked::Forget(Forget {
                key: key(*k),
                reason: reason(),
                expected_version: expected.of(&key(*k), memory),
                purge: false,
            }),
            Self::Purge { key: k } => {
                Asked::Forget(Forget { key: key(*k), reason: reason(), expected_version: None, purge: true })
            }
            Self::Confirm { key: k } => {
                Asked::Confirm(Confirm { key: key(*k), reason: None, expected_version: None })
            }
            Self::Flag { key: k } => {
                let evidence_keys = vec![key(k.wrapping_add(1))];
                Asked::Flag(Flag { key: key(*k), reason: reason(), evidence_keys, expected_version: None })
            }
            Self::Unflag { key: k } => Asked::Unflag(Unflag { key: key(*k), reason: None, expected_version: None }),
            Self::Snapshot => Asked::Snapshot(Snapshot::default()),
            Self::Rollback { pick: number } => {
                let chosen = pick(&memory.snapshots(100).expect("snapshots"), *number)?;
                let preview = memory.rollback_preview(chosen.id, "a reason", 100).expect("a preview");
                Asked::Rollback { id: chosen.id, snapshot: chosen.seq, token: preview.confirmation_token }
            }
            Self::Import { keys, if_absent } => {
                let line = |(index, k): (usize, &u8)| (key(*k).to_string(), format!("{value}-{index}"));
                let lines = keys.iter().take(6).enumerate().map(line).collect();
                Asked::Import(lines, ImportOptions { if_absent: *if_absent })
            }
            Self::DreamStart { limit, include_reviewed } => Asked::DreamStart(DreamStart {
                limit: u32::from(limit % 10) + 1,
                include_reviewed: *include_reviewed,
                ..DreamStart::default()
            }),
            Self::DreamApply { pick: number, ops, report } => {
                let dream = pick(&memory.dreams(100).expect("dreams"), *number)?.dream;
                let actions = ops.iter().take(30).map(|(op, k)| action(*op, key(*k), memory, value)).collect();
                Asked::DreamApply { dream, actions, report: report.then(|| Json::string("tidied")) }
            }
            Self::DreamUndo { pick: number, restore_metadata } => {
                let dream = pick(&memory.dreams(100).expect("dreams"), *number)?.dream;
                Asked::DreamUndo(DreamUndo { dream, dry_run: false, restore_metadata: *restore_metadata })
            }
            Self::UndoSeq { back } => {
                let head = memory.head().expect("a head").seq.get();
                undo(Selection::Seqs(vec![Seq::new(head.saturating_sub(u64::from(back % 16)))]))
            }
            Self::UndoRange { from, to } => {
                undo(Selection::Range(Seq::new(u64::from(*from)), Seq::new(u64::from(*to))))
            }
            Self::UndoSource { by } => undo(Selection::Source(writer(usize::from(*by)).into())),
        })
    }
}

fn undo(selection: Selection) -> Asked {
    Asked::Undo(Undo { selection, dry_run: false })
}

/// Who writes through a handle.
#[must_use]
pub fn writer(handle: usize) -> &'static str {
    if handle == 0 { "agent" } else { "person" }
}

fn action(op: u8, key: Key, memory: &Memory, value: &str) -> Action {
    let op = ActionOp::ALL[usize::from(op) % 4];
    Action {
        op,
        expected_version: Expected::Current.of(&key, memory),
        new_value: (op == ActionOp::Revise).then(|| Json::string(&format!("{value}-{key}"))),
        key,
        merged_from: vec![],
        reason: "tidy".into(),
        evidence_keys: vec![],
        refused: None,
    }
}

impl Asked {
    /// Asks it.
    pub fn carry(&self, memory: &Memory) -> Result<(), Error> {
        match self.clone() {
            Self::Commit(commit) => memory.commit(commit).map(drop),
            Self::Revise(revise) => memory.revise(revise).map(drop),
            Self::Forget(forget) => memory.forget(forget).map(drop),
            Self::Confirm(confirm) => memory.confirm(confirm).map(drop),
            Self::Flag(flag) => memory.flag(flag).map(drop),
            Self::Unflag(unflag) => memory.unflag(unflag).map(drop),
            Self::Snapshot(snapshot) => memory.snapshot(snapshot).map(drop),
            Self::Rollback { id, token, .. } => memory.rollback(id, "a reason", &token).map(drop),
            Self::Import(lines, options) => {
                let line = |(key, value): &(String, String)| format!("{{\"key\":\"{key}\",\"value\":\"{value}\"}}\n");
                let lines: String = lines.iter().map(line).collect();
                memory.import(lines.as_bytes(), options, &mut |_, _| {}).map(drop)
            }
            Self::DreamStart(start) => memory.dream_start(start).map(drop),
            Self::DreamApply { dream, actions, report } => {
                match memory.dream_apply(dream, actions, report, false) {
                    Ok(written) => {
                        assert!(written.answer.forgets <= written.answer.forget_cap, "more was forgotten than may be");
                        Ok(())
                    }
                    Err(failed) => Err(*failed.error),
                }
            }
            Self::DreamUndo(undo) => memory.dream_undo(undo).map(drop),
            Self::Undo(undo) => memory.undo(undo).map(drop),
        }
    }

    /// Whether it may record several operations, the first of which stay when a later one fails.
    #[must_use]
    pub fn is_of_pages(&self) -> bool {
        matches!(self, Self::DreamApply { .. } | Self::Import(..))
    }

    /// The values that it may write, by their keys.
    #[must_use]
    pub fn values(&self) -> Vec<(String, String)> {
        let plain = |value: &Json| value.as_plain_string().unwrap_or_default();
        match self {
            Self::Commit(commit) => vec![(commit.key.to_string(), plain(&commit.value))],
            Self::Revise(revise) => vec![(revise.key.to_string(), plain(&revise.value))],
            Self::Import(lines, _) => lines.clone(),
            Self::DreamApply { actions, .. } => {
                let value = |action: &Action| Some((action.key.to_string(), plain(action.new_value.as_ref()?)));
                actions.iter().filter_map(value).collect()
            }
            _ => Vec::new(),
        }
    }
}
