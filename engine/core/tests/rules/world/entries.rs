//! Commands about single entries, and rollbacks.

use super::*;

impl World {
    #[track_caller]
    pub(super) fn commit(&mut self, key: usize, ttl: Option<u8>, rich: bool, if_absent: bool) {
        let mut command = commit(KEYS[key], &self.fresh());
        command.ttl = ttl.map(f64::from);
        command.if_absent = if_absent;
        if rich {
            command.metadata = Json::parse(&format!("{{\"n\":{}}}", self.values), 100).ok();
            command.memory_type = Some(MemoryType::Procedural);
            command.importance = Some(0.5);
            command.canonical = Some(true);
            command.priority = Some(0.25);
            command.session_id = Some("s".into());
        }
        let there = self.naive.live(KEYS[key]).is_some();
        match self.store.ask(&Command::Commit(command.clone()), None) {
            Ok(answer) => {
                assert!(!(there && if_absent));
                let actor = self.store.actor.source.clone();
                self.naive.commit(&command, &actor, &answer);
            }
            Err(rejection) => assert!(there && if_absent, "{rejection}"),
        }
    }

    #[track_caller]
    pub(super) fn revise(&mut self, key: usize, importance: Option<u8>, stale: bool) {
        let mut command = revise(KEYS[key], &self.fresh());
        command.importance = importance.map(|tenths| f64::from(tenths) / 10.0);
        command.expected_version = stale.then(|| Version::from_u128(1));
        let guarded = self
            .naive
            .live(KEYS[key])
            .map(|mem| mem.canonical == Some(true) && command.importance.is_some_and(|new| new < mem.importance));
        let answer = self.store.ask(&Command::Revise(command.clone()), None);
        match (guarded, stale, answer) {
            (None, _, answer) => assert!(matches!(answer, Err(Rejection::MemoryNotFound { .. }))),
            (Some(_), true, answer) => assert!(matches!(answer, Err(Rejection::VersionConflict { .. }))),
            (Some(true), false, answer) => assert!(matches!(answer, Err(Rejection::RevisionRejected { .. }))),
            (Some(false), false, answer) => {
                let (seq, version) = event(&answer.unwrap(), KEYS[key], Op::Revise);
                let value = command.value.as_plain_string().unwrap();
                self.naive.revise(KEYS[key], &value, command.importance, seq, version.unwrap());
            }
        }
    }

    #[track_caller]
    pub(super) fn on_one(&mut self, index: usize, op: Op) {
        let name = KEYS[index];
        let command = match op {
            Op::End => Command::Forget(forget(name)),
            Op::Confirm => Command::Confirm(confirm(name)),
            Op::Flag => Command::Flag(flag(name, "look")),
            _ => Command::Unflag(unflag(name)),
        };
        let answer = self.store.ask(&command, None);
        let Some(mem) = self.naive.live(name) else {
            assert!(matches!(answer, Err(Rejection::MemoryNotFound { .. })));
            return;
        };
        if op == Op::Unflag && mem.flags.is_empty() {
            assert!(matches!(answer, Err(Rejection::Invalid { .. })));
            return;
        }
        let (seq, version) = event(&answer.unwrap(), name, op);
        match op {
            Op::End => self.naive.forget(name, seq),
            Op::Confirm => self.naive.confirm(name, seq, version.unwrap()),
            Op::Flag => self.naive.flag(name, seq),
            _ => self.naive.unflag(name, seq),
        }
    }

    #[track_caller]
    pub(super) fn purge(&mut self, index: usize) {
        let name = KEYS[index];
        let command = Command::Forget(Forget { purge: true, ..forget(name) });
        match self.store.ask(&command, None) {
            Ok(answer) => {
                assert!(self.naive.can_purge(name));
                let (seq, _) = event(&answer, name, Op::Purge);
                self.naive.purge(name, seq);
            }
            Err(rejection) => {
                assert!(matches!(rejection, Rejection::MemoryNotFound { .. }), "{rejection}");
                assert!(!self.naive.can_purge(name));
            }
        }
    }

    #[track_caller]
    pub(super) fn rollback(&mut self, back: usize) {
        let snapshots = &self.naive.snapshots;
        let Some(index) = snapshots.len().checked_sub(back + 1) else { return };
        let (snapshot, at, _) = snapshots[index];
        // Whether an entry was there at a moment that is yet to come is no question to ask.
        if at > self.store.now {
            return;
        }
        let confirmation = Confirmation::Valid { head: self.store.state.head() };
        let answer = self.store.ok(Command::Rollback(Rollback { snapshot, reason: "back".into(), confirmation }));
        self.naive.rollback(index, &answer);
    }
}
