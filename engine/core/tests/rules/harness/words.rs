//! Short words for the commands about one entry.

use bilinc_core::{
    Command, Commit, Confirm, Confirmation, Flag, Forget, Outcome, Revise, Rollback, Selection, Seq, Snapshot,
    SnapshotId, Strategy, Undo, Undone, Unflag, Version,
};

use super::{Store, json, key};

/// Commands as the tests write them; every field can then be set.
pub(crate) fn commit(name: &str, value: &str) -> Commit {
    Commit::new(key(name), json(value))
}

pub(crate) fn revise(name: &str, value: &str) -> Revise {
    Revise {
        key: key(name),
        value: json(value),
        importance: None,
        strategy: Strategy::default(),
        reason: None,
        expected_version: None,
    }
}

pub(crate) fn forget(name: &str) -> Forget {
    Forget { key: key(name), reason: "out of date".into(), expected_version: None, purge: false }
}

pub(crate) fn confirm(name: &str) -> Confirm {
    Confirm { key: key(name), reason: None, expected_version: None }
}

pub(crate) fn flag(name: &str, reason: &str) -> Flag {
    Flag { key: key(name), reason: reason.into(), evidence_keys: Vec::new(), expected_version: None }
}

pub(crate) fn unflag(name: &str) -> Unflag {
    Unflag { key: key(name), reason: None, expected_version: None }
}

/// The six commands about one entry that must be there, with an expected version.
pub(crate) fn on_existing(name: &str, expected: Option<Version>) -> Vec<Command> {
    vec![
        Command::Revise(Revise { expected_version: expected, ..revise(name, "x") }),
        Command::Forget(Forget { expected_version: expected, ..forget(name) }),
        Command::Confirm(Confirm { expected_version: expected, ..confirm(name) }),
        Command::Flag(Flag { expected_version: expected, ..flag(name, "look") }),
        Command::Unflag(Unflag { expected_version: expected, ..unflag(name) }),
    ]
}

pub(crate) fn undo_of(selection: Selection) -> Command {
    Command::Undo(Undo { selection, dry_run: false })
}

impl Store {
    #[track_caller]
    pub(crate) fn commit(&mut self, name: &str, value: &str) -> Version {
        self.ok(Command::Commit(commit(name, value)));
        self.version(name)
    }

    #[track_caller]
    pub(crate) fn revise(&mut self, name: &str, value: &str) -> Version {
        self.ok(Command::Revise(revise(name, value)));
        self.version(name)
    }

    #[track_caller]
    pub(crate) fn forget(&mut self, name: &str) {
        self.ok(Command::Forget(forget(name)));
        assert_eq!(self.entry(name), None);
    }

    #[track_caller]
    pub(crate) fn confirm(&mut self, name: &str) -> Version {
        self.ok(Command::Confirm(confirm(name)));
        self.version(name)
    }

    #[track_caller]
    pub(crate) fn flag(&mut self, name: &str, reason: &str) -> Seq {
        self.ok(Command::Flag(flag(name, reason)));
        self.state.head()
    }

    #[track_caller]
    pub(crate) fn unflag(&mut self, name: &str) {
        self.ok(Command::Unflag(unflag(name)));
    }

    /// Reasons of the open flags of an entry.
    #[track_caller]
    pub(crate) fn flags(&self, name: &str) -> Vec<String> {
        self.there(name).flags.iter().map(|flag| flag.reason.to_string()).collect()
    }

    #[track_caller]
    pub(crate) fn snapshot(&mut self) -> SnapshotId {
        match self.ok(Command::Snapshot(Snapshot::default())).outcome {
            Outcome::Snapshot { taken, .. } => taken.snapshot,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn rollback_to(&self, snapshot: SnapshotId) -> Rollback {
        let confirmation = Confirmation::Valid { head: self.state.head() };
        Rollback { snapshot, reason: "went wrong".into(), confirmation }
    }

    #[track_caller]
    pub(crate) fn rollback(&mut self, snapshot: SnapshotId) -> super::Answer {
        self.ok(Command::Rollback(self.rollback_to(snapshot)))
    }

    /// Undoes a selection; gives the answer and the position by which that can be undone.
    #[track_caller]
    pub(crate) fn undo(&mut self, selection: Selection) -> (Undone, Option<Seq>) {
        match self.ok(undo_of(selection)).outcome {
            Outcome::Undo { undone, seq, .. } => (undone, seq),
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    pub(crate) fn undo_at(&mut self, seq: Seq) -> (Undone, Option<Seq>) {
        self.undo(Selection::Seqs(vec![seq]))
    }
}
