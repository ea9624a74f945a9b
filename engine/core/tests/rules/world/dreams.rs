//! Starts, pages and undos of dreams.

use super::*;

impl World {
    #[track_caller]
    pub(super) fn start(&mut self, command: DreamStart) {
        let (candidates, more, complete) = self.naive.candidates(&command, &self.store);
        let Some(started) = self.store.start_with(command) else {
            assert!(candidates.is_empty(), "{candidates:?}");
            return;
        };
        let given: Vec<&str> = started.candidates.iter().map(|candidate| candidate.key.as_str()).collect();
        assert_eq!(given, candidates);
        assert_eq!((started.more, started.complete), (more as u64, complete));
        let (id, seq) = (started.dream, self.store.state.head());
        let started_at = self.store.state.last_time().unwrap();
        let dream = Dream { id, started: seq, started_at, candidates, complete, finished: None, forgets: 0 };
        assert_eq!(started.forget_cap as usize, dream.cap());
        self.naive.dreams.push(dream);
    }

    pub(super) fn pick_dream(&self, back: usize) -> Option<usize> {
        self.naive.dreams.len().checked_sub(back + 1)
    }

    #[track_caller]
    pub(super) fn page(&mut self, back: usize, acts: &[(usize, u8, u8)], finish: bool) {
        let Some(index) = self.pick_dream(back).filter(|_| finish || !acts.is_empty()) else { return };
        let dream = self.naive.dreams[index].clone();
        let actions: Vec<Action> = acts.iter().map(|(name, op, version)| self.action(*name, *op, *version)).collect();
        let forgets = actions.iter().filter(|action| action.op == bilinc_core::ActionOp::Forget).count();
        let command = DreamApply { dream: dream.id, actions: actions.clone(), report: None, finish, dry_run: false };
        let dry = self.store.ask(&Command::DreamApply(DreamApply { dry_run: true, ..command.clone() }), None);
        let head = self.store.state.head();
        let answer = match self.store.ask(&Command::DreamApply(command), None) {
            Ok(answer) => answer,
            Err(rejection) => {
                assert_eq!(dry, Err(rejection.clone()));
                match rejection {
                    Rejection::ForgetCapExceeded { .. } => assert!(dream.forgets + forgets > dream.cap()),
                    Rejection::DreamClosed { .. } => {
                        let undone = self.store.state.dream(dream.id).unwrap().undo.is_some();
                        assert!(undone || self.store.now > dream.started_at.plus(7 * DAY));
                    }
                    other => panic!("{other}"),
                }
                return;
            }
        };
        assert!(forgets == 0 || dream.forgets + forgets <= dream.cap());
        let (Outcome::Page { actions: records, .. }, Outcome::Page { actions: dry, .. }) =
            (&answer.outcome, &dry.unwrap().outcome)
        else {
            panic!("{answer:?}")
        };
        assert_eq!(dry.len(), records.len());
        self.naive.page(index, &actions, records, &answer);
        if finish && dream.finished.is_none() {
            let finished = answer.events.iter().find(|event| matches!(event.event, Event::DreamFinished(_)));
            self.naive.dreams[index].finished = Some(finished.unwrap().seq);
        }
        assert!(self.store.state.head() > head);
    }

    pub(super) fn action(&mut self, name: usize, op: u8, version: u8) -> Action {
        let value = self.fresh();
        let name = KEYS[name];
        let act = [Act::Revise(name, &value), Act::Forget(name), Act::Confirm(name), Act::Flag(name)][op as usize];
        let mut action = act.of(&self.store);
        match version {
            0 => action.expected_version = None,
            1 => action.expected_version = Some(Version::from_u128(1)),
            _ => {}
        }
        action
    }

    pub(super) fn own(&self, dream: usize) -> BTreeSet<Seq> {
        let id = self.naive.dreams[dream].id;
        self.naive.steps.iter().filter(|step| step.dream == Some(id)).map(|step| step.seq).collect()
    }

    #[track_caller]
    pub(super) fn dream_undo(&mut self, back: usize, restore_metadata: bool, dry_run: bool) {
        let Some(index) = self.pick_dream(back) else { return };
        let id = self.naive.dreams[index].id;
        let record = self.store.state.dream(id).unwrap().clone();
        let command = DreamUndo { restore_metadata, dry_run, ..undo_dream(id) };
        let answer = self.store.ask(&Command::DreamUndo(command), None);
        if record.undo.is_some() {
            let Outcome::Undo { already_undone, .. } = answer.unwrap().outcome else { panic!() };
            assert!(already_undone);
            return;
        }
        let last = record.finished_at.max(record.last_page_at).unwrap_or(record.started_at);
        if self.store.now > last.plus(7 * DAY) {
            assert!(matches!(answer, Err(Rejection::UndoWindowExpired { .. })));
            return;
        }
        let answer = answer.unwrap();
        let undone = undone_of(&answer);
        if dry_run {
            assert!(answer.events.is_empty());
            return;
        }
        let selected = self.own(index);
        self.naive.undo(&selected, !restore_metadata, &answer, &undone);
        let phase = self.store.phase(id);
        let whole = if undone.conflicts.is_empty() { "undone" } else { "partly_undone" };
        assert_eq!(phase.name(), whole);
    }
}
