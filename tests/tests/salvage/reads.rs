//! What reads and writes make of what was lost.

use bilinc::{
    At, ChangeOp, DiffQuery, ImportOptions, ListQuery, LogQuery, RecallQuery, Selection, Snapshot, Undo,
    UndoConflictReason,
};

use super::*;

/// A store written by `write`, closed; then what is spoiled of it is salvaged.
struct Salvaged {
    memory: Memory,
    storage: MemoryStorage,
}

fn after(write: impl FnOnce(&Bench), spoil: impl FnOnce(&MemoryStorage, &[Place]) -> MemoryStorage) -> Salvaged {
    let storage = MemoryStorage::new();
    let bench = Bench::on(Arc::new(storage.clone()));
    write(&bench);
    drop(bench);
    let storage = spoil(&storage, &places(&storage));
    assert!(salvage(&storage).unwrap().is_needed());
    Salvaged { memory: open(&storage), storage }
}

/// Spoils the body of a position.
fn without_body(storage: &MemoryStorage, places: &[Place], seq: u64) -> MemoryStorage {
    let found = places.iter().find_map(|place| {
        let body = place.bodies.iter().find(|(_, _, at)| *at == seq)?;
        Some((place.path.clone(), body.0))
    });
    let (path, offset) = found.unwrap();
    damaged(storage, &path, |bytes| bytes[usize::try_from(offset).unwrap() + 21] ^= 1)
}

fn conflict(memory: &Memory, seq: u64) -> UndoConflictReason {
    let answer = memory.undo(undo_seq(Seq::new(seq))).unwrap().answer;
    assert!(answer.undone.restored.is_empty(), "{answer:?}");
    answer.undone.conflicts[0].reason
}

#[test]
fn a_lost_value_is_said_to_be_lost_by_every_read() {
    let Salvaged { memory, .. } = after(
        |bench| {
            bench.put("k", "lost words");
            bench.put("other", "kept words");
        },
        |storage, places| without_body(storage, places, 1),
    );
    let entry = memory.get("k").unwrap().unwrap();
    assert_eq!((entry.value, entry.lost, entry.values_redacted), (None, true, false));
    let page = memory.list(&ListQuery { values: bilinc::Values::Full, ..ListQuery::default() }).unwrap();
    let told: Vec<_> =
        page.entries.iter().map(|entry| (entry.key.as_str(), entry.value.is_some(), entry.lost)).collect();
    assert_eq!(told, [("k", false, true), ("other", true, false)]);
    let hits = memory.recall(&RecallQuery::new("words")).unwrap();
    assert_eq!(hits.iter().map(|hit| hit.memory.key.as_str()).collect::<Vec<_>>(), ["other"]);
    let hits = memory.recall(&RecallQuery::new("k")).unwrap();
    assert!(hits[0].memory.lost && hits[0].memory.value.is_none());
    let history = memory.history("k", 10, true).unwrap();
    let after = history.items[0].after.as_ref().unwrap();
    assert_eq!((after.value.is_none(), after.lost, history.items[0].values_redacted), (true, true, false));
    let log = memory.log(&LogQuery { include_values: true, ..LogQuery::default() }).unwrap();
    let first = log.events.iter().find(|event| event.seq.get() == 1).unwrap();
    assert_eq!((first.value.is_none(), first.lost), (true, true));
    assert_eq!(log.events[0].op, "salvage");
    let mut exported = Vec::new();
    assert_eq!(memory.export(&mut exported, &mut |_, _| {}).unwrap(), 1);
    assert!(!String::from_utf8(exported).unwrap().contains("\"k\""));
    assert_eq!(memory.keys_with_losses().unwrap(), [key("k")]);
    assert_eq!(memory.status().unwrap().lost, (0, 1));
    let then = memory.get_at("k", At::Position(Seq::new(1))).unwrap().unwrap();
    assert!(then.lost && then.value.is_none());
    assert_sound(&memory);
}

#[test]
fn a_lost_value_is_never_brought_back_and_a_new_one_takes_its_place() {
    let Salvaged { memory, .. } = after(
        |bench| {
            bench.put("k", "lost");
            bench.revise("k", "later");
            bench.put("f", "lost, too");
            bench.forget("f");
            bench.put("c", "and this");
            bench.tick();
            bench.memory.confirm(confirm("c")).unwrap();
        },
        |storage, places| {
            let storage = without_body(storage, places, 1);
            let storage = without_body(&storage, places, 3);
            without_body(&storage, places, 5)
        },
    );
    assert_eq!(value_of(&memory, "k").as_deref(), Some("later"));
    assert_eq!(conflict(&memory, 2), UndoConflictReason::Lost);
    assert_eq!(conflict(&memory, 4), UndoConflictReason::Lost);
    assert_eq!(value_of(&memory, "k").as_deref(), Some("later"));
    assert!(memory.get("f").unwrap().is_none());
    // Nothing has to be brought back to take a confirm back.
    let undone = memory.undo(undo_seq(Seq::new(6))).unwrap().answer.undone;
    assert_eq!(undone.restored.len(), 1, "{undone:?}");
    assert!(memory.get("c").unwrap().unwrap().lost);
    memory.commit(commit("c", "new")).unwrap();
    assert_eq!(value_of(&memory, "c").as_deref(), Some("new"));
    // What created it can be taken back: nothing stood there before.
    memory.undo(undo_seq(Seq::new(1))).unwrap();
    assert_sound(&memory);
}

#[test]
fn a_revise_of_a_lost_commit_keeps_its_value_and_says_that_the_rest_is_not_known() {
    let Salvaged { memory, .. } = after(
        |bench| {
            bench.put("k", "lost");
            bench.revise("k", "whole");
        },
        |storage, places| without_frame(storage, &places[0]),
    );
    let entry = memory.get("k").unwrap().unwrap();
    assert_eq!((entry.value, entry.lost, entry.entry.incomplete), (Some(json("\"whole\"")), false, true));
    assert_eq!(memory.keys_with_losses().unwrap(), [key("k")]);
    let ops: Vec<_> = memory.history("k", 10, true).unwrap().items.iter().map(|item| item.op).collect();
    assert_eq!(ops, [ChangeOp::Update, ChangeOp::Lost]);
    assert_eq!(conflict(&memory, 2), UndoConflictReason::Lost);
    let refused = invalid(memory.undo(undo_seq(Seq::new(1))).unwrap_err());
    assert_eq!(refused, ("seqs".to_owned(), "not_undoable"));
    // Said anew, everything is known.
    memory.forget(forget("k")).unwrap();
    memory.commit(commit("k", "new")).unwrap();
    assert!(!memory.get("k").unwrap().unwrap().entry.incomplete);
    assert!(memory.keys_with_losses().unwrap().is_empty());
    assert_sound(&memory);
}

#[test]
fn an_older_value_is_never_taken_for_the_one_that_was_lost() {
    let Salvaged { memory, .. } = after(
        |bench| {
            bench.put("k", "old");
            bench.revise("k", "lost");
            bench.tick();
            bench.memory.confirm(confirm("k")).unwrap();
        },
        |storage, places| without_frame(storage, &places[1]),
    );
    let entry = memory.get("k").unwrap().unwrap();
    assert_eq!((entry.value, entry.lost, entry.entry.incomplete), (None, true, true));
    assert!(entry.entry.confirmed_at.is_some(), "what is known of it stands");
    let then = memory.get_at("k", At::Position(Seq::new(1))).unwrap().unwrap();
    // What was lost may have been a forget: it hides what stood before it.
    assert!(then.value.is_none() && then.values_redacted);
    assert_sound(&memory);
}

#[test]
fn a_flag_or_a_confirm_shows_that_there_was_an_entry() {
    let Salvaged { memory, .. } = after(
        |bench| {
            bench.put("flagged", "lost");
            bench.put("confirmed", "lost");
            bench.tick();
            bench.memory.flag(flag("flagged")).unwrap();
            bench.tick();
            bench.memory.confirm(confirm("confirmed")).unwrap();
        },
        |storage, places| without_frame(&without_frame(storage, &places[0]), &places[1]),
    );
    for name in ["flagged", "confirmed"] {
        let entry = memory.get(name).unwrap().unwrap();
        assert!(entry.value.is_none() && entry.lost && entry.entry.incomplete, "{name}");
    }
    assert_eq!(memory.get("flagged").unwrap().unwrap().entry.flags.len(), 1);
    memory.unflag(bilinc::Unflag { key: key("flagged"), reason: None, expected_version: None }).unwrap();
    memory.revise(revise("flagged", "new")).unwrap();
    assert_eq!(value_of(&memory, "flagged").as_deref(), Some("new"));
    assert_sound(&memory);
}

#[test]
fn a_lost_forget_hides_what_it_may_have_hidden() {
    let Salvaged { memory, .. } = after(
        |bench| {
            bench.put("k", "a secret");
            bench.forget("k");
            bench.put("k", "new");
        },
        |storage, places| without_frame(storage, &places[1]),
    );
    assert_eq!(value_of(&memory, "k").as_deref(), Some("new"));
    let history = memory.history("k", 10, true).unwrap();
    let told = format!("{history:?}");
    assert!(!told.contains("a secret"), "{told}");
    assert!(!memory.get("k").unwrap().unwrap().entry.incomplete, "it was made anew");
    let undone = memory.undo(undo_seq(Seq::new(3))).unwrap().answer.undone;
    assert_eq!(undone.restored.len(), 1, "{undone:?}");
    assert!(!format!("{:?}", memory.history("k", 10, true).unwrap()).contains("a secret"));
    assert_sound(&memory);
}

#[test]
fn a_rollback_leaves_alone_what_it_cannot_bring_back() {
    let Salvaged { memory, .. } = after(
        |bench| {
            bench.put("body", "lost");
            bench.put("commit", "lost");
            bench.put("fine", "old");
            bench.tick();
            bench.memory.snapshot(Snapshot { label: Some("s".into()), metadata: None }).unwrap();
            for name in ["body", "commit", "fine"] {
                bench.revise(name, "new");
            }
        },
        |storage, places| without_frame(&without_body(storage, places, 1), &places[1]),
    );
    let snapshot = memory.snapshots(10).unwrap()[0].id;
    let preview = memory.rollback_preview(snapshot, "back", 10).unwrap();
    assert_eq!(preview.skipped_keys, [key("body"), key("commit")]);
    memory.rollback(snapshot, "back", &preview.confirmation_token).unwrap();
    assert_eq!(value_of(&memory, "fine").as_deref(), Some("old"));
    assert_eq!(value_of(&memory, "body").as_deref(), Some("new"));
    assert_eq!(value_of(&memory, "commit").as_deref(), Some("new"));
    let query = DiffQuery { from: At::Snapshot(snapshot), to: At::Now, include_values: true, limit: 10 };
    memory.diff(&query).unwrap();
    assert_sound(&memory);
}

#[test]
fn dreams_undos_exports_and_imports_go_on_over_a_gap() {
    let Salvaged { memory, storage } = after(
        |bench| {
            for name in ["a", "b", "c", "d"] {
                bench.put(name, "value");
            }
            let dream = bench.dream();
            let version = bench.version("b");
            let actions = vec![action(bilinc::ActionOp::Revise, "b", Some(version))];
            bench.memory.dream_apply(dream, actions, None, false).unwrap();
            bench.revise("a", "later");
            bench.revise("c", "later");
        },
        |storage, places| {
            let storage = without_frame(storage, &places[0]);
            without_frame(&storage, &places[4])
        },
    );
    // The start of the dream was lost, and with it the dream; what it changed is there.
    assert!(memory.dreams(10).unwrap().is_empty());
    assert_eq!(value_of(&memory, "b").as_deref(), Some("tidied"));
    let dream = memory.dream_start(bilinc::DreamStart::default()).unwrap().answer;
    assert_eq!(dream.candidates.len(), 4);
    let all = Selection::Range(Seq::new(1), memory.head().unwrap().seq);
    let undone = memory.undo(Undo { selection: all, dry_run: false }).unwrap().answer.undone;
    let lost: Vec<_> = undone.conflicts.iter().map(|conflict| (conflict.key.as_str(), conflict.reason)).collect();
    assert_eq!(lost, [("a", UndoConflictReason::Lost)]);
    assert!(memory.get("d").unwrap().is_none());
    let mut exported = Vec::new();
    memory.export(&mut exported, &mut |_, _| {}).unwrap();
    memory.import(&exported[..], ImportOptions::default(), &mut |_, _| {}).unwrap();
    assert_sound(&memory);
    drop(memory);
    assert_sound(&open(&storage));
}

#[test]
fn times_mean_the_same_positions_as_before() {
    let mut times = Vec::new();
    let Salvaged { memory, .. } = after(
        |bench| {
            for name in ["a", "b", "c"] {
                bench.put(name, "value");
                times.push(bench.now());
            }
        },
        |storage, places| without_frame(storage, &places[1]),
    );
    for (time, there) in times.into_iter().zip([(true, false), (true, false), (true, true)]) {
        let at = |name: &str| memory.get_at(name, At::Time(time)).unwrap().is_some();
        assert_eq!((at("a"), at("c")), there);
    }
}

#[test]
fn a_request_whose_record_was_lost_is_carried_out_anew_and_one_whose_body_was_lost_is_refused() {
    let Salvaged { memory, .. } = after(
        |bench| {
            bench.memory.with_idempotency_key("one").commit(commit("a", "value")).unwrap();
            bench.memory.with_idempotency_key("two").commit(commit("b", "value")).unwrap();
            bench.memory.with_idempotency_key("three").commit(commit("c", "value")).unwrap();
        },
        |storage, places| without_body(&without_frame(storage, &places[0]), places, 2),
    );
    // An hour later; the salvage was made the day before the keys are forgotten.
    memory.with_idempotency_key("one").commit(commit("a", "value")).unwrap();
    let refused = memory.with_idempotency_key("two").commit(commit("b", "value")).unwrap_err();
    assert_eq!(refused.code(), "idempotency_conflict");
    assert!(memory.with_idempotency_key("three").commit(commit("c", "value")).unwrap().replayed);
}
