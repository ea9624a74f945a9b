//! Taking dreams back, and taking that back.

use bilinc::{ActionOp, ChangeOp, DreamId, DreamPhase, DreamStart, DreamUndo, Rejection, Selection, Undo, UndoAnswer};

use crate::support::*;

fn undo_of(dream: DreamId) -> DreamUndo {
    DreamUndo { dream, dry_run: false, restore_metadata: false }
}

fn undo_dream(bench: &Bench, dream: DreamId) -> UndoAnswer {
    bench.tick();
    bench.memory.dream_undo(undo_of(dream)).unwrap().answer
}

/// A dream that does one thing to one key.
fn dream_on(bench: &Bench, op: ActionOp, name: &str) -> DreamId {
    let dream = bench.dream();
    let one = action(op, name, Some(bench.version(name)));
    bench.tick();
    bench.memory.dream_apply(dream, vec![one], None, false).unwrap();
    dream
}

fn restored(answer: &UndoAnswer) -> Vec<&str> {
    answer.undone.restored.iter().map(|item| item.key.as_str()).collect()
}

#[test]
fn every_kind_of_action_is_taken_back_in_one_step() {
    let bench = Bench::new();
    for name in ["revised", "forgotten", "confirmed", "flagged", "f1", "f2"] {
        bench.put(name, "before");
    }
    let (was_confirmed, was) = (bench.entry("confirmed").entry, bench.entry("forgotten").entry);
    let dream = bench.dream();
    let with = |op, name: &str| action(op, name, Some(bench.version(name)));
    let actions = vec![
        with(ActionOp::Revise, "revised"),
        with(ActionOp::Forget, "forgotten"),
        with(ActionOp::Confirm, "confirmed"),
        with(ActionOp::Flag, "flagged"),
    ];
    bench.memory.dream_apply(dream, actions, None, false).unwrap();
    assert_eq!(bench.entry("flagged").entry.flags[0].dream, Some(dream));

    let head = bench.head();
    let would = bench.memory.dream_undo(DreamUndo { dry_run: true, ..undo_of(dream) }).unwrap().answer;
    assert_eq!(bench.head(), head);
    let did = undo_dream(&bench, dream);
    assert_eq!(restored(&did), restored(&would));
    assert_eq!(restored(&did), ["confirmed", "flagged", "forgotten", "revised"]);
    assert_eq!(did.dream, Some((dream, DreamPhase::Undone)));
    assert_eq!(bench.value("revised").as_deref(), Some("before"));
    assert_eq!(bench.value("forgotten").as_deref(), Some("before"));
    assert_eq!(bench.entry("forgotten").entry.created_at, was.created_at);
    assert_ne!(bench.version("forgotten"), was.version);
    let confirmed = bench.entry("confirmed").entry;
    assert_eq!((confirmed.updated_at, confirmed.confirmed_at), (was_confirmed.updated_at, None));
    assert!(bench.entry("flagged").entry.flags.is_empty());
    let report = bench.entry(&format!("bilinc:dream:{dream}")).value.unwrap();
    assert!(report.as_str().contains(r#""undo":{"#), "the report tells the outcome: {report}");
    assert_eq!(bench.memory.dream(dream).unwrap().undo.unwrap().undone, did.undone);
    bench.assert_sound();
}

#[test]
fn two_dreams_on_one_key_are_undone_newest_first_back_to_the_start() {
    let bench = Bench::new();
    bench.put("a", "start");
    let first = dream_on(&bench, ActionOp::Revise, "a");
    bench.clock.advance(8 * DAY);
    bench.put("a", "start of the second");
    let second = dream_on(&bench, ActionOp::Confirm, "a");
    let early = bench.memory.undo(Undo { selection: Selection::Dream(first), dry_run: true }).unwrap().answer;
    assert_eq!(early.undone.conflicts.len(), 1, "changes of others stand behind it");
    assert_eq!(restored(&undo_dream(&bench, second)), ["a"]);
    let still = bench.memory.undo(Undo { selection: Selection::Dream(first), dry_run: true }).unwrap().answer;
    assert_eq!(still.undone.conflicts[0].change.as_ref().unwrap().op, ChangeOp::Update, "the commit between");
    bench.assert_sound();

    let bench = Bench::new();
    bench.put("a", "start");
    let first = dream_on(&bench, ActionOp::Revise, "a");
    bench.tick();
    let again = DreamStart { since: Some(START), include_reviewed: true, ..DreamStart::default() };
    let second = bench.memory.dream_start(again).unwrap().answer.dream.unwrap();
    let actions = vec![action(ActionOp::Confirm, "a", Some(bench.version("a")))];
    bench.memory.dream_apply(second, actions, None, false).unwrap();
    undo_dream(&bench, second);
    assert_eq!(restored(&undo_dream(&bench, first)), ["a"]);
    assert_eq!(bench.value("a").as_deref(), Some("start"));
    bench.assert_sound();
}

#[test]
fn what_somebody_changed_after_the_dream_is_kept_and_can_be_tried_again() {
    let bench = Bench::new();
    bench.put("a", "start");
    bench.put("b", "start");
    let dream = bench.dream();
    let both = ["a", "b"].map(|name| action(ActionOp::Revise, name, Some(bench.version(name))));
    bench.memory.dream_apply(dream, both.to_vec(), None, false).unwrap();
    bench.tick();
    let between = bench.memory.acting_as(actor("editor")).revise(revise("a", "by hand")).unwrap().answer;
    let answer = undo_dream(&bench, dream);
    assert_eq!(restored(&answer), ["b"]);
    let conflict = &answer.undone.conflicts[0];
    assert_eq!((conflict.key.as_str(), conflict.change.as_ref().unwrap().seq), ("a", between.seq));
    assert_eq!(&*conflict.change.as_ref().unwrap().source, "editor");
    assert_eq!(answer.dream, Some((dream, DreamPhase::PartlyUndone)));
    assert_eq!(bench.value("a").as_deref(), Some("by hand"));

    bench.undo(between.seq);
    let again = bench.memory.undo(Undo { selection: Selection::Dream(dream), dry_run: false }).unwrap().answer;
    assert_eq!(restored(&again), ["a"]);
    assert_eq!(bench.value("a").as_deref(), Some("start"));
    assert_eq!(bench.memory.dream(dream).unwrap().phase, DreamPhase::Undone);
    bench.assert_sound();
}

#[test]
fn a_second_undo_changes_nothing_and_gives_the_first_answer_also_after_the_window() {
    let bench = Bench::new();
    bench.put("a", "start");
    let dream = dream_on(&bench, ActionOp::Revise, "a");
    let first = undo_dream(&bench, dream);
    let head = bench.head();
    bench.clock.advance(30 * DAY);
    let again = bench.memory.dream_undo(undo_of(dream)).unwrap().answer;
    assert!(again.already_undone && !first.already_undone);
    assert_eq!((again.undone, again.seq), (first.undone, first.seq));
    assert_eq!(bench.head(), head);
    let late = bench.memory.dream_apply(dream, Vec::new(), None, false).unwrap_err();
    assert_eq!(late.error.code(), "dream_closed");
}

#[test]
fn the_last_moment_of_the_window_counts_and_after_it_only_undo_takes_a_dream_back() {
    let bench = Bench::new();
    bench.put("a", "start");
    let dream = dream_on(&bench, ActionOp::Revise, "a");
    let until = bench.memory.dream(dream).unwrap().undo_until;
    bench.clock.set(until.plus(1));
    let refused = rejection(bench.memory.dream_undo(undo_of(dream)).unwrap_err());
    assert_eq!(refused, Rejection::UndoWindowExpired { dream, until });
    bench.clock.set(until);
    assert!(bench.memory.dream_undo(DreamUndo { dry_run: true, ..undo_of(dream) }).is_ok());
    bench.clock.set(until.plus(1));
    let answer = bench.memory.undo(Undo { selection: Selection::Dream(dream), dry_run: false }).unwrap().answer;
    assert_eq!(answer.dream, Some((dream, DreamPhase::Undone)));
    assert_eq!(bench.value("a").as_deref(), Some("start"));
}

#[test]
fn a_redo_finishes_the_dream_again_and_it_can_be_undone_again() {
    let bench = Bench::new();
    bench.put("a", "start");
    let dream = dream_on(&bench, ActionOp::Revise, "a");
    let undone = bench.memory.with_idempotency_key("undo").dream_undo(undo_of(dream)).unwrap().answer;
    let redo = bench.undo(undone.seq.unwrap());
    assert_eq!(restored(&redo), ["a"]);
    assert_eq!(bench.value("a").as_deref(), Some("tidied"));
    assert_eq!(bench.memory.dream(dream).unwrap().phase, DreamPhase::Finished);
    let replayed = bench.memory.with_idempotency_key("undo").dream_undo(undo_of(dream)).unwrap();
    assert!(replayed.replayed);
    assert_eq!(replayed.answer, undone, "the first answer, although the dream stands again");
    let again = undo_dream(&bench, dream);
    assert!(!again.already_undone);
    assert_eq!(bench.value("a").as_deref(), Some("start"));
    bench.assert_sound();
}

#[test]
fn metadata_of_a_removed_entry_comes_back_only_when_asked_for() {
    for whole in [false, true] {
        let bench = Bench::new();
        for name in ["b", "c", "d"] {
            bench.put(name, "filler");
        }
        bench.tick();
        let mut rich = commit("a", "start");
        rich.metadata = Some(json(r#"{"project":"x"}"#));
        (rich.canonical, rich.priority, rich.ttl) = (Some(true), Some(0.5), Some(1e6));
        bench.memory.commit(rich).unwrap();
        let before = bench.entry("a");
        let dream = dream_on(&bench, ActionOp::Forget, "a");
        let undo = DreamUndo { restore_metadata: whole, ..undo_of(dream) };
        let answer = bench.memory.dream_undo(undo).unwrap().answer;
        assert_eq!(answer.undone.metadata_restored, whole);
        let after = bench.entry("a");
        assert_eq!((&after.value, after.entry.created_at), (&before.value, before.entry.created_at));
        if whole {
            assert_eq!((&after.entry.facts, &after.metadata), (&before.entry.facts, &before.metadata));
        } else {
            assert_eq!(after.metadata, Some(json("{}")));
            assert_eq!((after.entry.facts.canonical, after.entry.facts.ttl), (None, None));
        }
        bench.assert_sound();
    }
}

#[test]
fn candidates_of_an_undone_dream_come_back() {
    let bench = Bench::new();
    bench.put("a", "start");
    let dream = dream_on(&bench, ActionOp::Revise, "a");
    bench.tick();
    assert_eq!(bench.memory.dream_start(DreamStart::default()).unwrap().answer.dream, None);
    undo_dream(&bench, dream);
    bench.tick();
    assert_eq!(bench.memory.dream_start(DreamStart::default()).unwrap().answer.candidates.len(), 1);
}

#[test]
fn an_abandoned_dream_can_be_undone_and_is_closed_then() {
    let bench = Bench::new();
    for name in ["a", "b"] {
        bench.put(name, "start");
    }
    let dream = bench.dream();
    let open = bench.memory.status().unwrap().dreams;
    assert_eq!((open[0].dream, open[0].phase, open[0].days_left), (dream, DreamPhase::Open, 7));
    let answer = undo_dream(&bench, dream);
    assert!(answer.undone.restored.is_empty());
    assert_eq!(bench.memory.dream(dream).unwrap().phase, DreamPhase::Undone);
    assert!(bench.memory.status().unwrap().dreams.is_empty());
    assert_eq!(bench.memory.dream_apply(dream, Vec::new(), None, false).unwrap_err().error.code(), "dream_closed");
    bench.assert_sound();
}
