//! Revise and its strategies.

use bilinc_core::{Command, Commit, Json, Rejection, Revise, Strategy};

use crate::harness::{HOUR, Store, commit, confirm, key, revise};

fn store_with(canonical: bool, confirmed: bool) -> Store {
    let mut store = Store::new();
    let command = Commit { importance: Some(0.5), canonical: Some(canonical), ..commit("k", "v") };
    store.ok(Command::Commit(command));
    if confirmed {
        store.ok(Command::Confirm(confirm("k")));
    }
    store
}

fn with(strategy: Strategy, importance: Option<f64>) -> Command {
    Command::Revise(Revise { strategy, importance, ..revise("k", "new") })
}

/// Whether each strategy accepts the new importance.
fn accepted(store: &Store, importance: Option<f64>) -> [bool; 4] {
    Strategy::ALL.map(|strategy| match store.clone().ask(&with(strategy, importance), None) {
        Ok(_) => true,
        Err(Rejection::RevisionRejected { strategy: named, .. }) => {
            assert_eq!(named, strategy);
            false
        }
        Err(other) => panic!("{other}"),
    })
}

#[test]
fn a_revise_changes_value_and_importance_and_nothing_else() {
    let mut store = Store::new();
    let first = Commit { metadata: Json::parse("{\"a\":1}", 9).ok(), source: Some("web".into()), ..commit("k", "v") };
    store.ok(Command::Commit(first));
    store.flag("k", "look");
    store.confirm("k");
    let before = store.there("k").clone();
    store.step(HOUR).by("bob").revise("k", "new");
    let after = store.there("k").clone();
    assert_eq!((after.facts.clone(), &after.flags), (before.facts.clone(), &before.flags));
    assert_eq!((after.created_at, after.updated_at, after.confirmed_at), (before.created_at, store.now, None));
    assert_eq!((store.value("k").unwrap(), store.metadata("k")), ("new".into(), "{\"a\":1}".into()));
    store.ok(with(Strategy::Recency, Some(0.25)));
    assert_eq!(store.there("k").facts.importance, 0.25);
}

#[test]
fn what_does_not_exist_cannot_be_revised() {
    let mut store = Store::new();
    assert_eq!(store.refused(with(Strategy::Recency, None)), Rejection::MemoryNotFound { key: key("k") });
}

#[test]
fn strategies_give_way_only_below_the_stored_importance() {
    for (canonical, confirmed) in [(false, false), (true, false), (false, true), (true, true)] {
        let store = store_with(canonical, confirmed);
        for fine in [None, Some(0.5), Some(0.9)] {
            assert_eq!(accepted(&store, fine), [true; 4], "{canonical} {confirmed} {fine:?}");
        }
        // Recency, importance, entrenchment, verification.
        assert_eq!(accepted(&store, Some(0.49)), [true, false, !canonical, !confirmed]);
    }
}

#[test]
fn a_confirmation_guards_only_until_the_next_change() {
    let mut store = store_with(false, true);
    store.revise("k", "changed");
    assert_eq!(accepted(&store, Some(0.1)), [true, false, true, true]);
}

#[test]
fn the_version_is_judged_before_the_strategy() {
    let mut store = store_with(true, true);
    let stale = store.version("k");
    store.confirm("k");
    let command = Revise { expected_version: Some(stale), importance: Some(0.1), ..revise("k", "new") };
    assert!(matches!(store.refused(Command::Revise(command)), Rejection::VersionConflict { .. }));
}

#[test]
fn an_empty_reason_is_refused_and_none_is_fine() {
    let mut store = store_with(false, false);
    for reason in [String::new(), "x".repeat(513)] {
        let command = Revise { reason: Some(reason), ..revise("k", "new") };
        assert!(matches!(store.refused(Command::Revise(command)), Rejection::Invalid { .. }));
    }
    store.ok(Command::Revise(Revise { reason: Some("x".repeat(512)), ..revise("k", "new") }));
}
