//! Everything that can be asked of a store, whatever is in it: an answer or a typed error.

use std::sync::Arc;

use arbitrary::Arbitrary;
use bilinc::storage::MemoryStorage;
use bilinc::{
    Actor, At, Commit, DiffQuery, DreamStart, DreamUndo, Flag, Forget, Json, Key, ListQuery, LogQuery, Memory, Order,
    RecallQuery, Selection, Seq, Snapshot, Undo,
};

use crate::stores::builder;

/// What is asked in one run: less of it makes more runs.
#[derive(Debug, Clone, Copy, Arbitrary)]
pub enum Ask {
    Nothing,
    Keys,
    Lists,
    Proof,
    Writes,
    Undos,
    Purges,
    All,
}

impl Ask {
    fn is(self, one: Self) -> bool {
        matches!(self, Self::All) || std::mem::discriminant(&self) == std::mem::discriminant(&one)
    }
}

/// Asks that much.
pub fn poke(memory: &Memory, storage: &MemoryStorage, ask: Ask) {
    let parts: [(Ask, fn(&Memory)); 6] = [
        (Ask::Keys, keys_one_by_one),
        (Ask::Lists, lists),
        (Ask::Proof, proof),
        (Ask::Writes, writes),
        (Ask::Undos, undos),
        (Ask::Purges, purges),
    ];
    for (_, part) in parts.into_iter().filter(|(one, _)| ask.is(*one)) {
        part(memory);
    }
    same_again(memory, storage);
}

/// Most of what is asked one by one.
const MOST: usize = 40;

fn keys_one_by_one(memory: &Memory) {
    let head = memory.head().map_or(Seq::ZERO, |head| head.seq);
    for key in keys(memory) {
        let _ = memory.get(key.as_str());
        let _ = memory.history(key.as_str(), 100, true);
        let _ = memory.get_at(key.as_str(), At::Position(Seq::new(head.get() / 2)));
        let _ = memory.log(&LogQuery { key: Some(key), include_values: true, ..LogQuery::default() });
    }
    for dream in memory.dreams(100).into_iter().flatten().take(MOST) {
        let _ = memory.dream(dream.dream);
    }
}

fn lists(memory: &Memory) {
    let head = memory.head().map_or(Seq::ZERO, |head| head.seq);
    for order in [Order::Newest, Order::Oldest] {
        let _ = memory.list(&ListQuery { order, limit: Some(7), ..ListQuery::default() });
    }
    let _ = memory.log(&LogQuery { include_values: true, oldest_first: true, ..LogQuery::default() });
    for from in [At::Position(Seq::ZERO), At::Time(memory.now()), At::Position(Seq::new(head.get() / 3))] {
        let _ = memory.diff(&DiffQuery { from, to: At::Now, include_values: true, limit: 100 });
    }
    let _ = memory.recall(&RecallQuery::new("every field value numbers"));
    let _ = memory.export(&mut std::io::sink(), &mut |_, _| {});
}

fn proof(memory: &Memory) {
    let _ = memory.status();
    let _ = memory.verify(&mut |_, _| {});
}

fn acting(memory: &Memory) -> Memory {
    memory.acting_as(Actor { source: "agent".into(), session_id: Some("s".into()) })
}

fn writes(memory: &Memory) {
    let actor = acting(memory);
    for key in keys(memory) {
        let flag = Flag { key: key.clone(), reason: "odd".into(), evidence_keys: vec![], expected_version: None };
        let _ = actor.flag(flag);
        let _ = actor.commit(Commit::new(key, Json::string("over it")));
    }
    let _ = actor.snapshot(Snapshot::default());
    let _ = actor.dream_start(DreamStart { include_reviewed: true, ..DreamStart::default() });
}

fn undos(memory: &Memory) {
    let actor = acting(memory);
    for dream in memory.dreams(100).into_iter().flatten().take(MOST) {
        let _ = actor.dream_undo(DreamUndo { dream: dream.dream, dry_run: false, restore_metadata: true });
    }
    for snapshot in memory.snapshots(100).into_iter().flatten().take(MOST) {
        if let Ok(preview) = actor.rollback_preview(snapshot.id, "odd", 100) {
            let _ = actor.rollback(snapshot.id, "odd", &preview.confirmation_token);
        }
    }
    for selection in [
        Selection::Source("agent".into()),
        Selection::Session("morning".into()),
        Selection::Range(Seq::new(1), Seq::new(u64::MAX)),
        Selection::Time { after: None, before: None },
    ] {
        let _ = actor.undo(Undo { selection, dry_run: false });
    }
}

fn purges(memory: &Memory) {
    for key in keys(memory).into_iter().take(3) {
        let _ = memory.forget(Forget { key, reason: "odd".into(), expected_version: None, purge: true });
    }
}

/// What is there is folded in the same way when it is opened again.
fn same_again(memory: &Memory, storage: &MemoryStorage) {
    if memory.damage().is_none()
        && let Ok(again) = builder(8).read_only(true).open_in(Arc::new(storage.clone()))
        && again.damage().is_none()
    {
        assert!(again.is_same_state(memory).expect("both read"), "an open folds to another state");
    }
}

/// Keys that are there or were.
fn keys(memory: &Memory) -> Vec<Key> {
    let mut keys: Vec<Key> = ["full", "numbers", "ölçü", "erased", "imported.1", "imported.3"]
        .into_iter()
        .map(|key| Key::new(key).expect("a key"))
        .collect();
    let page = memory.list(&ListQuery { limit: Some(100), ..ListQuery::default() });
    keys.extend(page.into_iter().flat_map(|page| page.entries).map(|entry| entry.key));
    keys.sort();
    keys.dedup();
    keys.truncate(MOST);
    keys
}
