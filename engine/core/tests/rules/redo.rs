//! An undo undone, to any depth, and what that means for dreams.

use bilinc_core::{Command, DreamId, DreamPhase, Seq};

use crate::harness::{Act, DAY, HOUR, Store, sorted};

#[track_caller]
fn summary(store: &Store, dream: DreamId) -> Seq {
    store.state.dream(dream).unwrap().undo.expect("it is undone").summary
}

fn store() -> Store {
    let mut store = Store::new();
    for name in ["a", "b", "c", "d"] {
        store.commit(name, "v");
    }
    store.step(HOUR);
    store
}

#[test]
fn a_redone_dream_is_finished_again_acts_and_can_be_undone_again() {
    let mut store = store();
    let dream = store.dream(&[Act::Revise("a", "w"), Act::Forget("b"), Act::Flag("c"), Act::Confirm("d")]);
    let confirmed = store.there("d").confirmed_at;
    for _ in 0..3 {
        store.undo_dream(dream);
        assert_eq!((store.phase(dream), store.value("b").unwrap()), (DreamPhase::Undone, "v".into()));
        store.step(HOUR);
        let (redone, _) = store.undo_at(summary(&store, dream));
        assert_eq!(sorted(&redone), (vec!["a", "b", "c", "d"], vec![], vec![]));
        assert_eq!((store.phase(dream), store.value("a").unwrap()), (DreamPhase::Finished, "w".into()));
        assert_eq!((store.entry("b"), store.flags("c")), (None, vec!["flag c".into()]));
        assert_eq!(store.there("d").confirmed_at, confirmed);
    }
    store.page(dream, &[Act::Revise("a", "x")]);
    store.undo_dream(dream);
    assert_eq!(store.value("a").unwrap(), "v");
}

#[test]
fn undo_and_redo_alternate_to_any_depth() {
    let mut store = store();
    store.revise("a", "w");
    let mut last = store.state.head();
    for depth in 0..12 {
        last = store.undo_at(last).1.unwrap();
        assert_eq!(store.value("a").unwrap(), if depth % 2 == 0 { "v" } else { "w" });
    }
}

#[test]
fn an_undone_redo_of_a_dream_leaves_it_undone() {
    let mut store = store();
    let dream = store.dream(&[Act::Revise("a", "w")]);
    store.undo_dream(dream);
    let (_, redo) = store.undo_at(summary(&store, dream));
    store.undo_at(redo.unwrap());
    assert_eq!((store.phase(dream), store.value("a").unwrap()), (DreamPhase::Undone, "v".into()));
}

#[test]
fn a_dream_without_changes_is_redone_and_undone_like_any_other() {
    let mut store = store();
    let dream = store.dream(&[]);
    store.undo_dream(dream);
    let (_, redo) = store.undo_at(summary(&store, dream));
    assert_eq!(store.phase(dream), DreamPhase::Finished);
    store.undo_at(redo.unwrap());
    assert_eq!(store.phase(dream), DreamPhase::Undone);
}

#[test]
fn a_redone_open_dream_is_open_again() {
    let mut store = store();
    let dream = store.start();
    store.page(dream, &[Act::Revise("a", "w")]);
    store.undo_dream(dream);
    store.undo_at(summary(&store, dream));
    assert_eq!(store.phase(dream), DreamPhase::Open);
    store.page(dream, &[Act::Confirm("a")]);
}

#[test]
fn the_window_still_counts_from_the_finish() {
    let mut store = store();
    let dream = store.dream(&[Act::Revise("a", "w")]);
    store.step(6 * DAY).undo_dream(dream);
    store.undo_at(summary(&store, dream));
    store.step(DAY + 1);
    let command = Command::DreamUndo(crate::harness::undo_dream(dream));
    assert!(matches!(store.refused(command), bilinc_core::Rejection::UndoWindowExpired { .. }));
}

#[test]
fn a_redo_leaves_a_key_that_changed_since_alone() {
    let mut store = store();
    let dream = store.dream(&[Act::Revise("a", "w"), Act::Revise("b", "w")]);
    store.undo_dream(dream);
    store.by("bob").revise("b", "bob's");
    let (redone, _) = store.undo_at(summary(&store, dream));
    assert_eq!(sorted(&redone), (vec!["a"], vec!["b"], vec![]));
    assert_eq!((store.value("a").unwrap(), store.value("b").unwrap()), ("w".into(), "bob's".into()));
    assert_eq!(store.phase(dream), DreamPhase::PartlyUndone, "of b it is still undone");
}

#[test]
fn a_partly_undone_dream_is_finished_again_by_its_redo() {
    let mut store = store();
    let dream = store.dream(&[Act::Revise("a", "w"), Act::Revise("b", "w")]);
    store.by("bob").revise("b", "bob's");
    store.undo_dream(dream);
    assert_eq!(store.phase(dream), DreamPhase::PartlyUndone);
    store.undo_at(summary(&store, dream));
    assert_eq!((store.phase(dream), store.value("a").unwrap()), (DreamPhase::Finished, "w".into()));
}

#[test]
fn a_dream_whose_keys_are_all_conflicts_is_finished_again_by_its_redo() {
    let mut store = store();
    let dream = store.dream(&[Act::Revise("a", "w")]);
    store.by("bob").revise("a", "bob's");
    store.undo_dream(dream);
    store.undo_at(summary(&store, dream));
    assert_eq!((store.phase(dream), store.value("a").unwrap()), (DreamPhase::Finished, "bob's".into()));
}

#[test]
fn an_undo_redone_in_parts_makes_the_dream_partly_undone_on_the_way() {
    let mut store = store();
    let dream = store.dream(&[Act::Revise("a", "w"), Act::Revise("b", "w")]);
    store.undo_dream(dream);
    let undo = store.state.dream(dream).unwrap().undo.unwrap();
    store.undo_at(undo.first);
    assert_eq!((store.phase(dream), store.value("a").unwrap()), (DreamPhase::PartlyUndone, "w".into()));
    store.undo_at(undo.first.plus(1));
    assert_eq!((store.phase(dream), store.value("b").unwrap()), (DreamPhase::Finished, "w".into()));
}

#[test]
fn the_first_undo_is_redone_though_a_second_one_took_back_its_conflicts() {
    let mut store = store();
    let dream = store.dream(&[Act::Revise("a", "w"), Act::Revise("b", "w")]);
    store.by("bob").revise("b", "bob's");
    let bobs = store.state.head();
    store.undo_dream(dream);
    let first = summary(&store, dream);
    store.undo_at(bobs);
    store.undo(bilinc_core::Selection::Dream(dream));
    let second = summary(&store, dream);
    assert_eq!(store.phase(dream), DreamPhase::Undone);
    store.undo_at(first);
    assert_eq!((store.phase(dream), store.value("a").unwrap()), (DreamPhase::PartlyUndone, "w".into()));
    store.undo_at(second);
    assert_eq!((store.phase(dream), store.value("b").unwrap()), (DreamPhase::Finished, "w".into()));
}

#[test]
fn a_removed_entry_redone_is_forgotten_with_its_history_hidden_again() {
    let mut store = store();
    let dream = store.dream(&[Act::Forget("a")]);
    let forget = store.state.dream(dream).unwrap().own[0];
    store.undo_dream(dream);
    assert_eq!(store.hidden_through("a"), Seq::ZERO);
    store.undo_at(summary(&store, dream));
    assert_eq!((store.entry("a"), store.hidden_through("a")), (None, forget));
}

#[test]
fn a_dream_whose_flag_is_open_is_not_undone_piece_by_piece() {
    let mut store = Store::new();
    store.commit("a", "v");
    let dream = store.start();
    store.finish(dream, &[Act::Flag("a"), Act::Revise("a", "w")]);
    let (flagged, revised) = (Seq::new(3), Seq::new(4));
    store.undo_at(revised);
    assert_eq!(store.phase(dream), DreamPhase::Finished, "its flag is open");
    // The entry goes and comes back with that flag.
    let (_, summary) = store.undo_at(Seq::new(1));
    store.undo_at(summary.unwrap());
    let flags: Vec<Seq> = store.entry("a").unwrap().flags.iter().map(|flag| flag.seq).collect();
    assert_eq!(flags, [flagged]);
}
