//! Undos and dreams of a run.

use std::collections::{BTreeMap, BTreeSet};

use bilinc::{
    Action, ActionOp, ActionRecord, ActionStatus, DreamApply, DreamStart, DreamUndo, Error, Json, Selection, Seq, Undo,
    UndoAnswer, Version, limits,
};

use super::run::{Run, key_of};
use super::step::{Expected, KEYS};
use crate::model::{Mem, Pass, Standing, What};

impl Run {
    pub(super) fn undo(&mut self, key: usize, dry_run: bool) {
        let (name, now) = (KEYS[key], self.now());
        let Some(seq) = self.model.undoable(name) else { return };
        let undo = Undo { selection: Selection::Seqs(vec![seq]), dry_run };
        let answer = self.memory().undo(undo).unwrap().answer;
        assert_eq!(answer.undone.restored.len(), 1, "{answer:?}");
        assert!(answer.undone.conflicts.is_empty() && answer.undone.unchanged.is_empty());
        if dry_run {
            return self.nothing_written();
        }
        let through = self.head();
        assert_eq!(answer.seq, Some(through));
        self.model.pop(name, now, answer.undone.restored[0].version);
        self.model.keep(through, now, None);
    }

    pub(super) fn dream(&mut self, actions: &[(usize, ActionOp, Expected)], finish: bool, dry_run: bool) {
        let start = DreamStart { since: Some(crate::support::START), include_reviewed: true, ..DreamStart::default() };
        let started = self.memory().dream_start(start).unwrap().answer;
        let now = self.now();
        let live: BTreeSet<&str> =
            self.model.entries.iter().filter(|(_, mem)| mem.is_live(now)).map(|(name, _)| name.as_str()).collect();
        let given: BTreeSet<_> = started.candidates.iter().map(|one| one.memory.key.to_string()).collect();
        assert_eq!(given.iter().map(String::as_str).collect::<BTreeSet<_>>(), live, "all that is there");
        let Some(dream) = started.dream else { return self.nothing_written() };
        self.model.keep(self.head(), now, None);
        let cap = (given.len() as u32 * 30 / 100).min(20);
        assert_eq!(started.forget_cap, cap);

        let mut seen = BTreeSet::new();
        let mut page = Vec::new();
        for (key, op, expected) in actions.iter().filter(|(key, _, _)| seen.insert(*key)) {
            let version = self.named_version(KEYS[*key], *expected);
            page.push(Action { new_value: None, ..crate::support::action(*op, KEYS[*key], version) });
            if *op == ActionOp::Revise {
                let value = Json::string(&format!("dreamt {dream} {key}"));
                page.last_mut().unwrap().new_value = Some(value);
            }
        }
        let forgets = page.iter().filter(|action| action.op == ActionOp::Forget).count() as u32;
        let apply = DreamApply { dream, actions: page.clone(), report: None, finish, dry_run };
        let head = self.head();
        let done = self.memory().dream_apply_page(apply);
        if forgets > cap {
            assert_eq!(done.unwrap_err().code(), "forget_cap_exceeded");
            self.nothing_written();
            return self.model.passes.push(Pass::new(dream, BTreeSet::new(), now));
        }
        let results = done.unwrap().answer.results;
        let touched = self.judge_page(&page, &results, head, (!dry_run).then_some(dream));
        if dry_run {
            self.nothing_written();
        } else {
            self.model.keep(self.head(), now, None);
        }
        self.model.passes.push(Pass::new(dream, touched, now));
    }

    fn named_version(&self, name: &str, expected: Expected) -> Option<Version> {
        let current = self.model.entries.get(name).map(|mem| mem.version);
        match expected {
            Expected::None => None,
            Expected::Current => current,
            Expected::Stale => self.model.versions.iter().copied().find(|version| Some(*version) != current),
        }
    }

    /// Checks each result, and carries what was applied over to the model when it was written.
    fn judge_page(
        &mut self,
        page: &[Action],
        results: &[ActionRecord],
        head: Seq,
        dream: Option<bilinc::DreamId>,
    ) -> BTreeSet<String> {
        let now = self.now();
        let (mut touched, mut written) = (BTreeSet::new(), 0);
        assert_eq!(page.len(), results.len());
        for (action, result) in page.iter().zip(results) {
            let name = action.key.as_str();
            let mem = self.model.live(name, now).cloned();
            let expected = match &mem {
                None => "error",
                Some(_) if action.expected_version.is_none() && action.op != ActionOp::Flag => "error",
                Some(mem) if action.expected_version.is_some_and(|version| version != mem.version) => "conflict",
                Some(_) => "applied",
            };
            let (status, version) = match &result.status {
                ActionStatus::Applied { version } => ("applied", *version),
                ActionStatus::Conflict { current, .. } => ("conflict", *current),
                ActionStatus::Error { .. } => ("error", None),
            };
            assert_eq!(status, expected, "{action:?}");
            let (Some(mem), "applied", Some(_)) = (mem, status, dream) else { continue };
            written += 1;
            touched.insert(name.to_owned());
            self.acted(action, mem, head.plus(written), dream, version);
        }
        touched
    }

    fn acted(&mut self, action: &Action, mem: Mem, seq: Seq, dream: Option<bilinc::DreamId>, version: Option<Version>) {
        let (name, now) = (action.key.as_str(), self.now());
        if action.op == ActionOp::Flag {
            assert_eq!(version, Some(mem.version), "a flag leaves the version");
            return self.model.entries.get_mut(name).unwrap().flags.push(dream);
        }
        let what = match action.op {
            ActionOp::Forget => What::Forget,
            ActionOp::Confirm => What::Confirm,
            _ => What::Other,
        };
        let version = version.map(|version| self.model.fresh(version));
        let standing = Standing { seq: Some(seq), through: seq, dream, what, before: Some(mem) };
        self.model.change(name, standing, |mem| {
            let mem = Mem { version: version?, updated_at: now, ..mem? };
            Some(match &action.new_value {
                Some(value) => Mem { value: value.as_str().to_owned(), value_at: seq, confirmed_at: None, ..mem },
                None => Mem { confirmed_at: Some(now), ..mem },
            })
        });
    }

    pub(super) fn dream_undo(&mut self, pick: usize, restore_metadata: bool, dry_run: bool) {
        if self.model.passes.is_empty() {
            return;
        }
        let index = pick % self.model.passes.len();
        let (pass, now) = (self.model.passes[index].clone(), self.now());
        let done = self.memory().dream_undo(DreamUndo { dream: pass.dream, dry_run, restore_metadata });
        match self.answer_of(&pass, done.map(|written| written.answer)) {
            Some(answer) if !dry_run && !answer.already_undone => {
                let through = self.head();
                let versions: BTreeMap<String, Version> = answer
                    .undone
                    .restored
                    .iter()
                    .filter_map(|item| Some((item.key.to_string(), item.version?)))
                    .collect();
                let taken = self.model.undo_pass(&pass, restore_metadata, now, &versions);
                let keys = |keys: Vec<&bilinc::Key>| keys.iter().map(ToString::to_string).collect::<Vec<_>>();
                assert_eq!(keys(answer.undone.restored.iter().map(|item| &item.key).collect()), taken.restored);
                assert_eq!(keys(answer.undone.conflicts.iter().map(|item| &item.key).collect()), taken.conflicts);
                assert_eq!(keys(answer.undone.unchanged.iter().collect()), taken.unchanged);
                self.model.passes[index].undone = true;
                self.model.keep(through, now, None);
            }
            _ => self.nothing_written(),
        }
    }

    fn answer_of(&self, pass: &Pass, done: Result<UndoAnswer, Error>) -> Option<UndoAnswer> {
        if pass.undone {
            assert!(done.unwrap().already_undone);
            return None;
        }
        if self.now() > pass.until {
            assert_eq!(done.unwrap_err().code(), "undo_window_expired");
            return None;
        }
        assert!(pass.until <= self.now().plus(limits::DREAM_MICROS));
        let answer = done.unwrap();
        assert!(!answer.already_undone);
        Some(answer)
    }

    /// Keys of a run in the order of its list.
    pub(super) fn keys() -> impl Iterator<Item = (usize, &'static str)> {
        (0..KEYS.len()).map(|index| {
            assert_eq!(key_of(index).as_str(), KEYS[index]);
            (index, KEYS[index])
        })
    }
}
