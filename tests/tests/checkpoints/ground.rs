//! A store in a folder, with a history in it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bilinc::storage::FileStorage;
use bilinc::{ActionOp, Commit, DreamApply, ImportOptions, Memory, RecallQuery, Seq, Snapshot};

use crate::support::*;

pub(super) const SEGMENT: &str = "log/00000000000000000001.seg";
pub(super) const STATE: &str = "checkpoints/state";
pub(super) const RECALL: &str = "checkpoints/recall";

pub(super) struct Ground {
    folder: tempfile::TempDir,
    pub(super) bench: Bench,
}

impl Ground {
    /// Something of every kind that a state holds.
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bench = Bench::on(Arc::new(FileStorage::new(folder.path())));
        let ground = Self { folder, bench };
        ground.live("first");
        ground
    }

    pub(super) fn live(&self, part: &str) {
        let Bench { memory, .. } = &self.bench;
        let name = |index: usize| format!("{part}.{index}");
        for index in 0..12 {
            self.bench.put(&name(index), &format!("{part} value {index}"));
        }
        let rich = Commit { ttl: Some(9e6), metadata: Some(json(r#"{"a":[1.10]}"#)), ..commit(&name(1), "rich") };
        memory.with_idempotency_key(&format!("{part} once")).commit(rich).unwrap();
        self.bench.forget(&name(2));
        memory.flag(flag(&name(3))).unwrap();
        let label = Snapshot { label: Some("here".into()), metadata: Some(json(r#"{"why":"test"}"#)) };
        memory.snapshot(label).unwrap();
        let lines = format!("{{\"key\":\"{part}.imported\",\"value\":1e400}}\n");
        memory.import(lines.as_bytes(), ImportOptions::default(), &mut |_, _| {}).unwrap();
        let dream = self.bench.dream();
        let act = |op, index: usize| action(op, &name(index), Some(self.bench.version(&name(index))));
        let actions = vec![act(ActionOp::Revise, 4), act(ActionOp::Forget, 5), act(ActionOp::Flag, 6)];
        memory.dream_apply_page(DreamApply { dream, actions, report: None, finish: true, dry_run: false }).unwrap();
        // Another one stays open.
        self.bench.put(&name(7), "changed");
        let dream = self.bench.dream();
        let actions = vec![act(ActionOp::Confirm, 7)];
        memory.dream_apply_page(DreamApply { dream, actions, report: None, finish: false, dry_run: false }).unwrap();
        memory.forget(crate::purge::purge(&name(8))).unwrap();
        let forgotten = self.bench.forget(&name(9));
        self.bench.undo(forgotten);
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Keeps a checkpoint of the state, and with it one of the recall index.
    pub(super) fn keep(&self) -> Seq {
        self.bench.memory.recall(&RecallQuery::new("value")).unwrap();
        self.bench.memory.checkpoint().unwrap().unwrap()
    }

    pub(super) fn open(&self) -> Memory {
        self.bench.open_again()
    }

    pub(super) fn replayed(&self) -> Memory {
        self.bench.builder().checkpoints(false).open_in(Arc::clone(&self.bench.storage)).unwrap()
    }

    /// What opens is what the log gives, in state and in search, and proves.
    pub(super) fn assert_opens(&self, what: &str) -> Memory {
        let (memory, replayed) = (self.open(), self.replayed());
        assert_eq!(memory.damage(), None, "{what}");
        assert!(memory.is_same_state(&replayed).unwrap(), "{what}: another state");
        let query = RecallQuery::new("value rich imported");
        assert_eq!(memory.recall(&query).unwrap(), replayed.recall(&query).unwrap(), "{what}");
        let verified = memory.verify(&mut |_, _| {}).unwrap();
        assert!(verified.state_equal, "{what}");
        assert!(verified.checkpoint.is_none_or(|proof| proof.equal), "{what}");
        assert!(verified.recall_checkpoint.is_none_or(|proof| proof.equal), "{what}");
        memory
    }

    /// Breaks a frame near the begin of the log, which only a replay meets.
    pub(super) fn break_history(&self) {
        let path = self.path(SEGMENT);
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[150] ^= 0x40;
        std::fs::write(&path, bytes).unwrap();
    }
}

/// All files below a folder.
pub(super) fn files_in(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files_in(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}
