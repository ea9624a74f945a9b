//! Purges among any other commands, through two handles: what was erased once is in no file and in no
//! read, whatever is undone, rolled back, repeated or opened again.

use bilinc::{At, ImportOptions, LogQuery, Memory, RecallQuery, Selection, Seq, Snapshot, SnapshotId, Undo};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::purge::{files, purge};
use crate::support::*;

const KEYS: [&str; 3] = ["a", "b", "c"];

#[derive(Debug, Clone, Copy)]
enum Step {
    Commit { key: usize, named: bool, rich: bool },
    Revise { key: usize },
    Forget { key: usize },
    Purge { key: usize },
    Import { named: bool },
    Undo { back: u64 },
    UndoAll,
    Snapshot,
    Rollback { pick: usize },
    Dream { forget: usize, revise: usize, named: bool },
    DreamUndo { pick: usize },
    Recall,
    Switch,
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let key = || 0..KEYS.len();
    prop_oneof![
        5 => (key(), any::<bool>(), any::<bool>()).prop_map(|(key, named, rich)| Step::Commit { key, named, rich }),
        3 => key().prop_map(|key| Step::Revise { key }),
        1 => key().prop_map(|key| Step::Forget { key }),
        3 => key().prop_map(|key| Step::Purge { key }),
        1 => any::<bool>().prop_map(|named| Step::Import { named }),
        3 => (0..8_u64).prop_map(|back| Step::Undo { back }),
        1 => Just(Step::UndoAll),
        1 => Just(Step::Snapshot),
        2 => (0..4_usize).prop_map(|pick| Step::Rollback { pick }),
        2 => (key(), key(), any::<bool>()).prop_map(|(forget, revise, named)| Step::Dream { forget, revise, named }),
        2 => (0..4_usize).prop_map(|pick| Step::DreamUndo { pick }),
        1 => Just(Step::Recall),
        2 => Just(Step::Switch),
        1 => Just(Step::Reopen),
    ]
}

struct Run {
    bench: Bench,
    handles: [Memory; 2],
    writer: usize,
    /// What was written to each key since its last purge.
    written: [Vec<String>; 3],
    erased: Vec<String>,
    snapshots: Vec<SnapshotId>,
    dreams: Vec<bilinc::DreamId>,
    number: u64,
}

impl Run {
    fn new() -> Self {
        let bench = Bench::new();
        let handles = [bench.open_again(), bench.open_again()];
        let (written, erased, snapshots, dreams) = Default::default();
        Self { bench, handles, writer: 0, written, erased, snapshots, dreams, number: 0 }
    }

    fn fresh(&mut self, key: usize) -> String {
        self.number += 1;
        let value = format!("{:016x}", self.number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        self.written[key].push(value.clone());
        value
    }

    fn memory(&self, named: bool) -> Memory {
        let memory = &self.handles[self.writer];
        if named { memory.with_idempotency_key(&format!("n{}", self.number)) } else { memory.clone() }
    }

    fn step(&mut self, step: Step) {
        self.bench.tick();
        match step {
            Step::Commit { key, named, rich } => {
                let mut commit = commit(KEYS[key], &self.fresh(key));
                if rich {
                    commit.metadata = Some(json(&format!("{{\"m\":\"{}\"}}", self.fresh(key))));
                }
                self.memory(named).commit(commit).unwrap();
            }
            Step::Revise { key } => {
                let revise = revise(KEYS[key], &self.fresh(key));
                let _ = self.memory(true).revise(revise);
            }
            Step::Forget { key } => drop(self.memory(false).forget(forget(KEYS[key]))),
            Step::Purge { key } => {
                if self.memory(true).forget(purge(KEYS[key])).is_ok() {
                    self.erased.append(&mut self.written[key]);
                }
            }
            Step::Import { named } => {
                let line = |key: usize, value: String| format!("{{\"key\":\"{}\",\"value\":\"{value}\"}}\n", KEYS[key]);
                let lines: String = (0..3).map(|key| line(key, self.fresh(key))).collect();
                self.memory(named).import(lines.as_bytes(), ImportOptions::default(), &mut |_, _| {}).unwrap();
            }
            Step::Undo { back } => {
                let seq = self.bench.head().get().saturating_sub(back);
                drop(self.memory(false).undo(undo_seq(Seq::new(seq))));
            }
            Step::UndoAll => {
                let all = Selection::Range(Seq::new(1), self.bench.head().max(Seq::new(1)));
                self.memory(false).undo(Undo { selection: all, dry_run: false }).unwrap();
            }
            Step::Snapshot => {
                let taken = self.memory(false).snapshot(Snapshot::default()).unwrap().answer.id;
                self.snapshots.push(taken);
            }
            Step::Rollback { pick } => {
                let Some(id) = self.snapshots.iter().rev().nth(pick).copied() else { return };
                let token = self.memory(false).rollback_preview(id, "back", 10).unwrap().confirmation_token;
                self.memory(false).rollback(id, "back", &token).unwrap();
            }
            Step::Dream { forget, revise, named } => self.dream(forget, revise, named),
            Step::DreamUndo { pick } => {
                let Some(dream) = self.dreams.iter().rev().nth(pick).copied() else { return };
                let undo = bilinc::DreamUndo { dream, dry_run: false, restore_metadata: pick % 2 == 0 };
                self.memory(false).dream_undo(undo).unwrap();
            }
            Step::Recall => {
                for memory in &self.handles {
                    memory.recall(&RecallQuery::new("anything")).unwrap();
                }
            }
            Step::Switch => self.writer = 1 - self.writer,
            Step::Reopen => self.handles[self.writer] = self.bench.open_again(),
        }
    }

    fn dream(&mut self, forget: usize, revise: usize, named: bool) {
        let start = bilinc::DreamStart { include_reviewed: true, ..bilinc::DreamStart::default() };
        let Some(dream) = self.memory(false).dream_start(start).unwrap().answer.dream else { return };
        let version =
            |run: &Self, key: usize| run.memory(false).get(KEYS[key]).unwrap().map(|entry| entry.entry.version);
        let mut actions = vec![action(bilinc::ActionOp::Forget, KEYS[forget], version(self, forget))];
        let mut change = action(bilinc::ActionOp::Revise, KEYS[revise], version(self, revise));
        change.new_value = Some(bilinc::Json::string(&self.fresh(revise)));
        actions.push(change);
        let apply = bilinc::DreamApply { dream, actions, report: None, finish: true, dry_run: false };
        // The cap may refuse the forget.
        drop(self.memory(named).dream_apply_page(apply));
        self.dreams.push(dream);
    }

    /// Whatever a read can say, in one text.
    fn said(memory: &Memory) -> String {
        let mut said = String::new();
        let head = memory.head().unwrap().seq.get();
        for name in KEYS {
            said += &format!("{:?}", memory.get(name).unwrap());
            said += &format!("{:?}", memory.history(name, 100, true).unwrap());
            for seq in 1..=head {
                said += &format!("{:?}", memory.get_at(name, At::Position(Seq::new(seq))).unwrap());
            }
        }
        let log = LogQuery { include_values: true, limit: Some(1_000), ..LogQuery::default() };
        said + &format!("{:?}{:?}", memory.log(&log).unwrap(), memory.recorded(Seq::ZERO).unwrap())
    }

    fn check(&self) {
        for (path, bytes) in files(self.bench.storage.as_ref()) {
            let found = self.erased.iter().find(|value| bytes.windows(16).any(|window| window == value.as_bytes()));
            assert_eq!(found, None, "in {path}");
        }
        for memory in &self.handles {
            let said = Self::said(memory);
            assert_eq!(self.erased.iter().find(|value| said.contains(*value)), None);
        }
        let verified = self.handles[1 - self.writer].verify(&mut |_, _| {}).unwrap();
        assert!(verified.state_equal);
        assert_eq!(verified.erased_bodies == 0, self.erased.is_empty());
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(64),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn what_was_erased_once_is_nowhere_and_comes_back_by_nothing(steps in vec(step(), 1..30)) {
        let mut run = Run::new();
        for step in steps {
            run.step(step);
            run.check();
        }
        run.bench.assert_sound();
    }
}
