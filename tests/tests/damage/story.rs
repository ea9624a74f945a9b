//! A small store over several segments in which every kind of operation has happened.

use std::sync::Arc;

use bilinc::storage::MemoryStorage;
use bilinc::{
    ActionOp, Commit, DreamId, DreamStart, DreamUndo, Forget, ImportOptions, Memory, MemoryBuilder, Snapshot,
};

use crate::support::*;

/// When everybody looks at it.
pub(super) const LOOKED_AT: bilinc::Timestamp = START.plus(2 * MINUTE);

pub(super) const KEYS: [&str; 9] = ["a", "b", "i1", "i2", "i3", "brief", "erased", "last", "never"];

pub(super) struct Story {
    pub(super) storage: MemoryStorage,
    pub(super) dream: DreamId,
    /// The store before its purge erased a body.
    pub(super) unpurged: MemoryStorage,
}

pub(super) fn small(bench: &Bench) -> MemoryBuilder {
    bench.builder().segment_bytes(1_150)
}

/// The closed store.
pub(super) fn story() -> Story {
    let storage = MemoryStorage::new();
    let bench = Bench::on(Arc::new(MemoryStorage::new()));
    let memory = small(&bench).open_in(Arc::new(storage.clone())).unwrap();
    let dream = tell(&memory, &bench);
    let unpurged = storage.fork();
    bench.tick();
    memory.forget(Forget { purge: true, ..forget("erased") }).unwrap();
    bench.tick();
    memory.with_idempotency_key("twice").commit(commit("last", "last value")).unwrap();
    memory.close();
    Story { storage, dream, unpurged }
}

fn tell(memory: &Memory, bench: &Bench) -> DreamId {
    let tick = || bench.tick();
    let full = Commit { metadata: Some(json(r#"{"n":1}"#)), ..commit("a", "first value") };
    memory.with_idempotency_key("once").commit(full).unwrap();
    tick();
    memory.commit(commit("b", "second value")).unwrap();
    memory.revise(revise("a", "third value")).unwrap();
    tick();
    memory.flag(flag("b")).unwrap();
    let lines = (1..=3).map(|i| format!("{{\"key\":\"i{i}\",\"value\":\"imported value {i}\"}}\n")).collect::<String>();
    memory.import(lines.as_bytes(), ImportOptions::default(), &mut |_, _| {}).unwrap();
    tick();
    let snapshot = memory.snapshot(Snapshot::default()).unwrap().answer.id;
    memory.confirm(confirm("b")).unwrap();
    tick();
    let dream = memory.dream_start(DreamStart::default()).unwrap().answer.dream.unwrap();
    let version = |name: &str| Some(memory.get(name).unwrap().unwrap().entry.version);
    let actions = vec![
        action(ActionOp::Revise, "i1", version("i1")),
        action(ActionOp::Forget, "i2", version("i2")),
        action(ActionOp::Flag, "i3", None),
    ];
    memory.dream_apply(dream, actions, None, false).unwrap();
    tick();
    memory.dream_undo(DreamUndo { dream, dry_run: false, restore_metadata: false }).unwrap();
    let forgotten = memory.forget(forget("b")).unwrap().answer.seq;
    tick();
    memory.undo(undo_seq(forgotten)).unwrap();
    memory.revise(revise("b", "fourth value")).unwrap();
    let token = memory.rollback_preview(snapshot, "back", 10).unwrap().confirmation_token;
    memory.rollback(snapshot, "back", &token).unwrap();
    tick();
    memory.commit(Commit { ttl: Some(3_600.0), ..commit("brief", "value of an hour") }).unwrap();
    memory.commit(commit("erased", "secret value")).unwrap();
    dream
}
