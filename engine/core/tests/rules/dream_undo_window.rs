//! When a dream can be undone, and what undoing it twice, dry or unused answers.

use bilinc_core::{Command, DreamId, DreamPhase, DreamUndo, Rejection, Selection};

use crate::harness::{Act, DAY, Store, sorted, undo_dream};

fn store_of(names: &[&str]) -> Store {
    let mut store = Store::new();
    for name in names {
        store.commit(name, "v");
    }
    // Enough candidates to forget some.
    for index in 0..8 {
        store.commit(&format!("filler {index}"), "v");
    }
    store
}

#[test]
fn the_window_closes_one_microsecond_after_its_last_moment() {
    let mut store = store_of(&["k"]);
    let dream = store.start();
    store.page(dream, &[Act::Revise("k", "w")]);
    let mut finished = store.clone();
    finished.step(DAY).finish(dream, &[]);
    for store in [store, finished] {
        let until = store.now.plus(7 * DAY);
        let mut inside = store.clone();
        inside.now = until;
        inside.undo_dream(dream);
        let mut outside = store.clone();
        outside.now = until.plus(1);
        let rejection = outside.refused(Command::DreamUndo(undo_dream(dream)));
        assert_eq!(rejection, Rejection::UndoWindowExpired { dream, until });
        outside.undo(Selection::Dream(dream));
        assert_eq!(outside.value("k").unwrap(), "v", "undo of anything has no limit");
    }
}

#[test]
fn a_second_undo_changes_nothing_and_answers_as_the_first_also_after_the_window() {
    let mut store = store_of(&["k"]);
    let dream = store.dream(&[Act::Revise("k", "w")]);
    let first = store.undo_dream(dream);
    let head = store.state.head();
    store.step(30 * DAY);
    assert_eq!(store.undo_dream_with(undo_dream(dream)), (first.clone(), true));
    assert_eq!(store.undo_dream_with(DreamUndo { restore_metadata: true, ..undo_dream(dream) }), (first.clone(), true));
    assert_eq!((store.undo(Selection::Dream(dream)).0, store.state.head()), (first, head));
}

#[test]
fn a_dry_run_shows_the_answer_and_writes_nothing() {
    let mut store = store_of(&["a", "b"]);
    let dream = store.dream(&[Act::Revise("a", "w"), Act::Forget("b")]);
    store.by("bob").commit("b", "bob's");
    let head = store.state.head();
    let (dry, already) = store.undo_dream_with(DreamUndo { dry_run: true, ..undo_dream(dream) });
    assert_eq!((already, store.state.head(), store.phase(dream)), (false, head, DreamPhase::Finished));
    assert_eq!(sorted(&store.undo_dream(dream)), sorted(&dry));
}

#[test]
fn an_open_dream_or_one_without_changes_is_closed_by_its_undo() {
    let mut store = store_of(&["k"]);
    let (open, empty) = (store.start(), store.start());
    store.finish(empty, &[]);
    for dream in [open, empty] {
        let undone = store.undo_dream(dream);
        assert_eq!((sorted(&undone), store.phase(dream)), ((vec![], vec![], vec![]), DreamPhase::Undone));
        let rejection = store.refused(Command::DreamApply(store.page_of(dream, &[Act::Confirm("k")])));
        assert!(matches!(rejection, Rejection::DreamClosed { .. }));
    }
}

#[test]
fn an_unknown_dream_is_not_found_by_either_undo() {
    let mut store = Store::new();
    let dream = DreamId::from_u128(9);
    assert_eq!(store.refused(Command::DreamUndo(undo_dream(dream))), Rejection::DreamNotFound(dream));
    let command = crate::harness::undo_of(Selection::Dream(dream));
    assert_eq!(store.refused(command), Rejection::DreamNotFound(dream));
}
