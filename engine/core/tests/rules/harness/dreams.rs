//! Short words for the dream pass.

use bilinc_core::{
    Action, ActionOp, ActionRecord, ActionStatus, Command, DreamApply, DreamId, DreamPhase, DreamStart, DreamStarted,
    DreamUndo, Json, Outcome, Undone, Version,
};

use super::{Store, json, key};

/// Actions as the tests write them: on the version that the store has now.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Act<'a> {
    Revise(&'a str, &'a str),
    Forget(&'a str),
    Confirm(&'a str),
    Flag(&'a str),
}

impl Act<'_> {
    pub(crate) fn of(self, store: &Store) -> Action {
        let (op, name, value) = match self {
            Self::Revise(name, value) => (ActionOp::Revise, name, Some(value)),
            Self::Forget(name) => (ActionOp::Forget, name, None),
            Self::Confirm(name) => (ActionOp::Confirm, name, None),
            Self::Flag(name) => (ActionOp::Flag, name, None),
        };
        Action {
            op,
            key: key(name),
            expected_version: store.entry(name).map(|entry| entry.version),
            new_value: value.map(json),
            merged_from: Vec::new(),
            reason: format!("{} {name}", op.name()),
            evidence_keys: Vec::new(),
            refused: None,
        }
    }
}

#[track_caller]
fn page(outcome: Outcome) -> Vec<ActionRecord> {
    match outcome {
        Outcome::Page { actions, .. } => actions,
        other => panic!("{other:?}"),
    }
}

impl Store {
    #[track_caller]
    pub(crate) fn start_with(&mut self, start: DreamStart) -> Option<DreamStarted> {
        match self.ok(Command::DreamStart(start)).outcome {
            Outcome::DreamStarted(started) => started,
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    pub(crate) fn start(&mut self) -> DreamId {
        self.start_with(DreamStart::default()).expect("there is a candidate").dream
    }

    /// Keys that a dream started now would get, newest first; nothing is written.
    #[track_caller]
    pub(crate) fn candidates(&self, start: DreamStart) -> Vec<String> {
        match self.clone().start_with(start) {
            Some(started) => started.candidates.iter().map(|candidate| candidate.key.to_string()).collect(),
            None => Vec::new(),
        }
    }

    /// A page of a dream.
    pub(crate) fn page_of(&self, dream: DreamId, acts: &[Act<'_>]) -> DreamApply {
        let actions = acts.iter().map(|act| act.of(self)).collect();
        DreamApply { dream, actions, report: None, finish: false, dry_run: false }
    }

    /// Applies a page that does not finish the dream.
    #[track_caller]
    pub(crate) fn page(&mut self, dream: DreamId, acts: &[Act<'_>]) -> Vec<ActionRecord> {
        let command = self.page_of(dream, acts);
        page(self.ok(Command::DreamApply(command)).outcome)
    }

    /// Applies the last page of a dream.
    #[track_caller]
    pub(crate) fn finish(&mut self, dream: DreamId, acts: &[Act<'_>]) -> Vec<ActionRecord> {
        let command = DreamApply { finish: true, ..self.page_of(dream, acts) };
        page(self.ok(Command::DreamApply(command)).outcome)
    }

    /// Applies actions as they are.
    #[track_caller]
    pub(crate) fn actions(&mut self, dream: DreamId, actions: Vec<Action>) -> Vec<ActionRecord> {
        let command = DreamApply { dream, actions, report: None, finish: false, dry_run: false };
        page(self.ok(Command::DreamApply(command)).outcome)
    }

    /// Starts a dream over everything, acts and finishes it.
    #[track_caller]
    pub(crate) fn dream(&mut self, acts: &[Act<'_>]) -> DreamId {
        let since = Some(self.now.plus(-365 * super::DAY));
        let start = DreamStart { include_reviewed: true, since, ..DreamStart::default() };
        let dream = self.start_with(start).expect("there is a candidate").dream;
        for record in self.finish(dream, acts) {
            assert!(matches!(record.status, ActionStatus::Applied { .. }), "{record:?}");
        }
        dream
    }

    #[track_caller]
    pub(crate) fn undo_dream_with(&mut self, command: DreamUndo) -> (Undone, bool) {
        match self.ok(Command::DreamUndo(command)).outcome {
            Outcome::Undo { undone, already_undone, .. } => (undone, already_undone),
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    pub(crate) fn undo_dream(&mut self, dream: DreamId) -> Undone {
        self.undo_dream_with(undo_dream(dream)).0
    }

    #[track_caller]
    pub(crate) fn phase(&self, dream: DreamId) -> DreamPhase {
        self.state.dream(dream).expect("the dream is there").phase()
    }

    pub(crate) fn report(&self, dream: DreamId) -> Option<Json> {
        self.log.value(self.entry(&format!("bilinc:dream:{dream}"))?.value_at)
    }
}

pub(crate) fn undo_dream(dream: DreamId) -> DreamUndo {
    DreamUndo { dream, dry_run: false, restore_metadata: false }
}

/// The version of an applied action.
#[track_caller]
pub(crate) fn applied(record: &ActionRecord) -> Option<Version> {
    match &record.status {
        ActionStatus::Applied { version } => *version,
        other => panic!("{other:?}"),
    }
}

/// Keys of an undo's answer: restored, conflicts, unchanged.
pub(crate) fn sorted(undone: &Undone) -> (Vec<&str>, Vec<&str>, Vec<&str>) {
    (
        undone.restored.iter().map(|item| item.key.as_str()).collect(),
        undone.conflicts.iter().map(|conflict| conflict.key.as_str()).collect(),
        undone.unchanged.iter().map(bilinc_core::Key::as_str).collect(),
    )
}
