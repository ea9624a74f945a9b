//! The undo of a dream.

use bilinc_core::{
    ChangeOp, Command, Commit, DreamId, DreamPhase, DreamUndo, Json, MemoryType, Selection, UndoConflictReason,
};

use crate::harness::{Act, HOUR, SECOND, Store, commit, sorted, undo_dream};

/// An entry with every field set.
fn rich(name: &str) -> Commit {
    Commit {
        metadata: Json::parse("{\"a\":1}", 100).ok(),
        memory_type: Some(MemoryType::Procedural),
        importance: Some(0.5),
        source: Some("web".into()),
        session_id: Some("s".into()),
        canonical: Some(true),
        priority: Some(0.25),
        ttl: Some(1e6),
        ..commit(name, "v")
    }
}

fn store_of(names: &[&str]) -> Store {
    let mut store = Store::new();
    for name in names {
        store.ok(Command::Commit(rich(name)));
        store.confirm(name);
    }
    // Enough candidates to forget some.
    for index in 0..8 {
        store.commit(&format!("filler {index}"), "v");
    }
    store.step(HOUR);
    store
}

fn whole(dream: DreamId) -> DreamUndo {
    DreamUndo { restore_metadata: true, ..undo_dream(dream) }
}

#[test]
fn a_revised_entry_gets_everything_back_under_a_new_version() {
    let mut store = store_of(&["k"]);
    let before = store.there("k").clone();
    let dream = store.dream(&[Act::Revise("k", "w")]);
    store.step(HOUR);
    let undone = store.undo_dream(dream);
    let after = store.there("k").clone();
    assert_eq!(
        (&after.facts, after.created_at, after.confirmed_at),
        (&before.facts, before.created_at, before.confirmed_at)
    );
    assert_eq!((after.value_at, after.metadata_at, after.updated_at), (before.value_at, before.metadata_at, store.now));
    assert_ne!(after.version, before.version);
    let item = &undone.restored[0];
    assert_eq!((item.op.as_ref(), item.version), ("revise", Some(after.version)));
    assert_eq!(store.phase(dream), DreamPhase::Undone);
}

#[test]
fn an_undone_confirm_gets_both_times_back() {
    let mut store = store_of(&["k"]);
    let before = store.there("k").clone();
    let dream = store.dream(&[Act::Confirm("k")]);
    let undone = store.step(HOUR).undo_dream(dream);
    let after = store.there("k");
    assert_eq!((after.updated_at, after.confirmed_at), (before.updated_at, before.confirmed_at));
    assert_ne!(after.version, before.version);
    assert_eq!(undone.restored[0].op.as_ref(), "confirm");
}

#[test]
fn a_removed_entry_comes_back_with_the_essentials_only() {
    let mut store = store_of(&["k"]);
    store.flag("k", "by a person");
    let before = store.there("k").clone();
    let dream = store.dream(&[Act::Forget("k")]);
    let undone = store.step(HOUR).undo_dream(dream);
    let after = store.there("k");
    assert_eq!(
        (store.value("k").unwrap(), after.facts.memory_type, after.facts.importance),
        ("v".into(), MemoryType::Procedural, 0.5)
    );
    assert_eq!(
        (after.facts.source.as_ref(), after.created_at, after.updated_at),
        ("web", before.created_at, store.now)
    );
    assert_eq!((&after.facts.session_id, after.facts.canonical, after.facts.priority), (&None, None, None));
    assert_eq!((after.facts.ttl, after.confirmed_at, after.flags.len()), (None, None, 0));
    assert_eq!((store.metadata("k"), undone.metadata_restored), ("{}".into(), false));
}

#[test]
fn with_restore_metadata_everything_comes_back_and_the_time_to_live_counts_anew() {
    let mut store = store_of(&["k"]);
    store.flag("k", "by a person");
    let before = store.there("k").clone();
    let dream = store.dream(&[Act::Forget("k")]);
    let (undone, _) = store.step(HOUR).undo_dream_with(whole(dream));
    let after = store.there("k").clone();
    assert_eq!(
        (&after.facts, after.created_at, after.confirmed_at),
        (&before.facts, before.created_at, before.confirmed_at)
    );
    assert_eq!((after.flags, store.metadata("k"), undone.metadata_restored), (before.flags, "{\"a\":1}".into(), true));
    store.step(1_000_000 * SECOND);
    assert!(store.entry("k").is_some());
    store.step(1);
    assert!(store.entry("k").is_none());
}

#[test]
fn several_changes_of_one_key_go_back_to_before_the_first() {
    let mut store = store_of(&["k"]);
    let dream = store.start();
    for act in [Act::Confirm("k"), Act::Revise("k", "w"), Act::Revise("k", "x"), Act::Forget("k")] {
        store.page(dream, &[act]);
    }
    let undone = store.undo_dream(dream);
    assert_eq!((store.value("k").unwrap(), undone.restored[0].op.as_ref()), ("v".into(), "forget"));
}

#[test]
fn a_later_change_by_somebody_else_is_kept_and_named() {
    let mut store = store_of(&["a", "b", "c"]);
    let dream = store.dream(&[Act::Revise("a", "w"), Act::Revise("b", "w"), Act::Forget("c")]);
    store.by("bob").step(HOUR).revise("a", "bob's");
    store.confirm("a");
    let newest = store.state.head();
    store.commit("c", "bob's");
    let undone = store.by("ada").undo_dream(dream);
    assert_eq!(sorted(&undone), (vec!["b"], vec!["a", "c"], vec![]));
    let conflict = &undone.conflicts[0];
    let change = conflict.change.as_ref().unwrap();
    assert_eq!((conflict.reason, change.op, change.seq), (UndoConflictReason::Changed, ChangeOp::Confirm, newest));
    assert_eq!((change.source.as_ref(), change.at), ("bob", store.now));
    assert_eq!((store.value("a").unwrap(), store.value("c").unwrap()), ("bob's".into(), "bob's".into()));
    assert_eq!(store.phase(dream), DreamPhase::PartlyUndone);
}

#[test]
fn changes_before_the_dreams_first_and_flags_and_snapshots_are_no_conflict() {
    let mut store = store_of(&["k"]);
    let dream = store.start();
    store.by("bob").revise("k", "bob's");
    store.page(dream, &[Act::Revise("k", "w")]);
    store.flag("k", "by bob");
    store.snapshot();
    let undone = store.undo_dream(dream);
    assert_eq!(sorted(&undone), (vec!["k"], vec![], vec![]));
    assert_eq!((store.value("k").unwrap(), store.flags("k")), ("bob's".into(), vec!["by bob".into()]));
}

#[test]
fn a_change_that_was_itself_undone_is_no_conflict() {
    let mut store = store_of(&["k"]);
    let dream = store.dream(&[Act::Revise("k", "w")]);
    store.by("bob").revise("k", "bob's");
    let bobs = store.state.head();
    let (_, summary) = store.undo_at(bobs);
    let mut redone = store.clone();
    redone.undo_at(summary.unwrap());
    assert_eq!(sorted(&redone.undo_dream(dream)).1, ["k"], "an undo that was undone does not count");
    assert_eq!(sorted(&store.undo_dream(dream)).0, ["k"]);
    assert_eq!(store.value("k").unwrap(), "v");
}

#[test]
fn two_dreams_on_one_key_are_undone_newest_first_back_to_the_start() {
    let mut store = store_of(&["k"]);
    let first = store.dream(&[Act::Revise("k", "w")]);
    let second = store.dream(&[Act::Revise("k", "x")]);
    store.undo_dream(second);
    assert_eq!(store.value("k").unwrap(), "w");
    store.undo_dream(first);
    assert_eq!(store.value("k").unwrap(), "v");
}

#[test]
fn undone_oldest_first_the_key_is_a_conflict_until_it_is_tried_again() {
    let mut store = store_of(&["k"]);
    let first = store.dream(&[Act::Revise("k", "w")]);
    let second = store.dream(&[Act::Revise("k", "x")]);
    assert_eq!(sorted(&store.undo_dream(first)).1, ["k"]);
    assert_eq!(store.value("k").unwrap(), "x");
    let (again, _) = store.undo(Selection::Dream(first));
    assert_eq!(sorted(&again).1, ["k"], "nothing has changed");
    store.undo_dream(second);
    assert!(store.undo_dream_with(undo_dream(first)).1, "dream_undo answers as it did");
    let (again, _) = store.undo(Selection::Dream(first));
    assert_eq!(sorted(&again).0, ["k"]);
    assert_eq!((store.value("k").unwrap(), store.phase(first)), ("v".into(), DreamPhase::Undone));
}

#[test]
fn the_dreams_flags_are_cleared_whatever_else_happened() {
    let mut store = store_of(&["changed", "plain"]);
    let dream = store.dream(&[Act::Flag("plain"), Act::Flag("changed"), Act::Revise("changed", "w")]);
    store.flag("plain", "by a person");
    store.by("bob").revise("changed", "bob's");
    let undone = store.undo_dream(dream);
    assert_eq!(sorted(&undone), (vec!["plain"], vec!["changed"], vec![]));
    assert_eq!((store.flags("changed"), store.flags("plain")), (vec![], vec!["by a person".into()]));
}

#[test]
fn flags_cleared_already_or_gone_with_their_entry_are_nothing_to_do() {
    let mut store = store_of(&["cleared", "gone"]);
    let dream = store.dream(&[Act::Flag("cleared"), Act::Flag("gone")]);
    store.unflag("cleared");
    store.forget("gone");
    store.commit("gone", "anew");
    assert_eq!(sorted(&store.undo_dream(dream)), (vec![], vec![], vec!["cleared", "gone"]));
}

#[test]
fn a_flag_of_an_undone_dream_does_not_return_with_its_entry() {
    let mut store = store_of(&["k"]);
    let dream = store.dream(&[Act::Flag("k")]);
    store.flag("k", "by a person");
    store.forget("k");
    let forget = store.state.head();
    store.undo_dream(dream);
    store.undo_at(forget);
    assert_eq!(store.flags("k"), ["by a person"]);
}

#[test]
fn an_entry_expired_since_is_unchanged() {
    let mut store = store_of(&[]);
    store.ok(Command::Commit(Commit { ttl: Some(60.0), ..commit("k", "v") }));
    let dream = store.dream(&[Act::Revise("k", "w")]);
    store.step(HOUR);
    assert_eq!(sorted(&store.undo_dream(dream)), (vec![], vec![], vec!["k"]));
    assert_eq!((store.entry("k"), store.phase(dream)), (None, DreamPhase::Undone));
}

#[test]
fn the_undo_never_touches_what_the_dream_did_not_change() {
    let mut store = store_of(&["k", "kept"]);
    let dream = store.dream(&[Act::Revise("k", "w")]);
    store.by("bob").revise("kept", "bob's");
    let version = store.version("kept");
    store.undo_dream(dream);
    assert_eq!((store.value("kept").unwrap(), store.version("kept")), ("bob's".into(), version));
}
