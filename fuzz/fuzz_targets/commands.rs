//! Any sequence of commands, with the store opened anew in between: after each, what was recorded
//! replays to the live state, and a refused command writes nothing.
#![no_main]

use std::sync::Arc;

use arbitrary::Arbitrary;
use bilinc::storage::MemoryStorage;
use bilinc::{
    Action, ActionOp, Actor, Commit, Confirm, DreamId, DreamStart, DreamUndo, Flag, Forget, Json, Key, ManualClock,
    Memory, Revise, Selection, Seq, Snapshot, Strategy, Timestamp, Undo, Unflag,
};
use libfuzzer_sys::fuzz_target;

#[derive(Debug, Arbitrary)]
enum Step {
    Commit { key: u8, value: u16, ttl: Option<u8>, if_absent: bool },
    Revise { key: u8, value: u16 },
    Forget { key: u8 },
    Purge { key: u8 },
    Confirm { key: u8 },
    Flag { key: u8 },
    Unflag { key: u8 },
    Snapshot,
    Rollback { snapshot: u8 },
    DreamStart { limit: u8, include_reviewed: bool },
    DreamApply { dream: u8, ops: Vec<(u8, u8)>, dry_run: bool },
    DreamUndo { dream: u8, restore_metadata: bool, dry_run: bool },
    UndoSeq { seq: u8 },
    UndoRange { from: u8, to: u8 },
    UndoSource { source: u8 },
    Wait { minutes: i16 },
    Reopen,
}

fn key(number: u8) -> Key {
    Key::new(&format!("k{}", number % 6)).expect("a key")
}

fn open(storage: &MemoryStorage, clock: &Arc<ManualClock>) -> Memory {
    Memory::builder().clock(Arc::clone(clock) as _).open_in(Arc::new(storage.clone())).expect("it opens")
}

fuzz_target!(|steps: Vec<(u8, Step)>| {
    let storage = MemoryStorage::new();
    let clock = Arc::new(ManualClock::at(Timestamp::from_micros(1_700_000_000_000_000)));
    let mut memory = open(&storage, &clock);
    let mut dreams: Vec<DreamId> = Vec::new();
    for (actor, step) in steps.into_iter().take(40) {
        let before = memory.head().expect("a head").seq;
        let acting = memory.acting_as(Actor { source: format!("w{}", actor % 3).into(), session_id: None });
        let refused = run(&acting, step, &mut dreams, &clock, &mut memory, &storage);
        let after = memory.head().expect("a head").seq;
        assert!(after >= before && !(refused && after != before), "a refused command wrote something");
    }
    let replayed = Memory::builder().clock(Arc::clone(&clock) as _).open_in(Arc::new(MemoryStorage::new())).expect("it opens");
    replayed.feed(memory.recorded(Seq::ZERO).expect("events")).expect("they follow");
    assert!(replayed.is_same_state(&memory).expect("both read"), "a replay gives another state");
    assert!(memory.verify(&mut |_, _| {}).expect("it proves").state_equal);
});

/// Carries a step out and says whether it was refused.
fn run(
    acting: &Memory,
    step: Step,
    dreams: &mut Vec<DreamId>,
    clock: &Arc<ManualClock>,
    memory: &mut Memory,
    storage: &MemoryStorage,
) -> bool {
    let dream_of = |number: u8, dreams: &[DreamId]| dreams.get(usize::from(number) % dreams.len().max(1)).copied();
    match step {
        Step::Commit { key: k, value, ttl, if_absent } => {
            let mut commit = Commit::new(key(k), Json::string(&value.to_string()));
            commit.ttl = ttl.map(|minutes| f64::from(minutes).mul_add(60.0, 1.0));
            commit.if_absent = if_absent;
            acting.commit(commit).is_err()
        }
        Step::Revise { key: k, value } => {
            let value = Json::string(&value.to_string());
            let strategy = Strategy::default();
            acting
                .revise(Revise { key: key(k), value, importance: None, strategy, reason: None, expected_version: None })
                .is_err()
        }
        Step::Forget { key: k } => {
            acting.forget(Forget { key: key(k), reason: "stale".into(), expected_version: None, purge: false }).is_err()
        }
        Step::Purge { key: k } => {
            let reason = "erase it".into();
            acting.forget(Forget { key: key(k), reason, expected_version: None, purge: true }).is_err()
        }
        Step::Confirm { key: k } => acting.confirm(Confirm { key: key(k), reason: None, expected_version: None }).is_err(),
        Step::Flag { key: k } => {
            let reason = "unclear".into();
            acting.flag(Flag { key: key(k), reason, evidence_keys: vec![], expected_version: None }).is_err()
        }
        Step::Unflag { key: k } => acting.unflag(Unflag { key: key(k), reason: None, expected_version: None }).is_err(),
        Step::Snapshot => acting.snapshot(Snapshot::default()).is_err(),
        Step::Rollback { snapshot } => {
            let snapshots = acting.snapshots(100).expect("snapshots");
            let Some(chosen) = snapshots.get(usize::from(snapshot) % snapshots.len().max(1)) else { return false };
            let preview = acting.rollback_preview(chosen.id, "fuzz", 100).expect("a preview");
            acting.rollback(chosen.id, "fuzz", &preview.confirmation_token).is_err()
        }
        Step::DreamStart { limit, include_reviewed } => {
            let limit = u32::from(limit % 10) + 1;
            let start = DreamStart { limit, include_reviewed, ..DreamStart::default() };
            match acting.dream_start(start) {
                Ok(started) => {
                    dreams.extend(started.answer.dream);
                    false
                }
                Err(_) => true,
            }
        }
        Step::DreamApply { dream, ops, dry_run } => {
            let Some(dream) = dream_of(dream, dreams) else { return false };
            let action = |(op, k): (u8, u8)| {
                let op = ActionOp::ALL[usize::from(op) % 4];
                let version = acting.get(key(k).as_str()).expect("a read").map(|entry| entry.entry.version);
                Action {
                    op,
                    key: key(k),
                    expected_version: version,
                    new_value: (op == ActionOp::Revise).then(|| Json::string("merged")),
                    merged_from: vec![],
                    reason: "tidy".into(),
                    evidence_keys: vec![],
                    refused: None,
                }
            };
            let actions = ops.into_iter().take(30).map(action).collect();
            // Earlier pages stay applied, so a failed call may have written.
            let _ = acting.dream_apply(dream, actions, None, dry_run);
            false
        }
        Step::DreamUndo { dream, restore_metadata, dry_run } => {
            let Some(dream) = dream_of(dream, dreams) else { return false };
            acting.dream_undo(DreamUndo { dream, dry_run, restore_metadata }).is_err()
        }
        Step::UndoSeq { seq } => {
            let selection = Selection::Seqs(vec![Seq::new(u64::from(seq))]);
            acting.undo(Undo { selection, dry_run: false }).is_err()
        }
        Step::UndoRange { from, to } => {
            let selection = Selection::Range(Seq::new(u64::from(from)), Seq::new(u64::from(to)));
            acting.undo(Undo { selection, dry_run: false }).is_err()
        }
        Step::UndoSource { source } => {
            let selection = Selection::Source(format!("w{}", source % 3).into());
            acting.undo(Undo { selection, dry_run: false }).is_err()
        }
        Step::Wait { minutes } => {
            clock.advance(i64::from(minutes) * 60_000_000);
            false
        }
        Step::Reopen => {
            *memory = open(storage, clock);
            false
        }
    }
}
