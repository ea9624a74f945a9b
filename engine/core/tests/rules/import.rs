//! Imports.

use bilinc_core::{Command, Commit, ImportEntry, ImportId, ImportPage, Imported, Outcome, Rejection, Selection};

use crate::harness::{DAY, HOUR, Store, commit};

fn line(name: &str, value: &str) -> ImportEntry {
    ImportEntry { commit: commit(name, value), created_at: None, updated_at: None, confirmed_at: None }
}

fn page(import: u128, if_absent: bool, entries: Vec<ImportEntry>) -> Command {
    Command::Import(ImportPage { import: ImportId::from_u128(import), if_absent, entries })
}

#[track_caller]
fn tally(outcome: Outcome) -> [u64; 4] {
    let Outcome::Imported(Imported { created, replaced, skipped_existing, skipped_reserved, .. }) = outcome else {
        panic!("{outcome:?}")
    };
    [created, replaced, skipped_existing, skipped_reserved]
}

#[test]
fn an_imported_entry_is_equal_in_every_field() {
    let mut store = Store::new();
    let at = |days: i64| Some(store.now.plus(-days * DAY));
    let (created_at, updated_at, confirmed_at) = (at(3), at(2), at(1));
    let commit = Commit { source: Some("".into()), importance: Some(0.5), ttl: Some(1e6), ..commit("k", "v") };
    store.ok(page(1, false, vec![ImportEntry { commit, created_at, updated_at, confirmed_at }]));
    let entry = store.there("k");
    assert_eq!((Some(entry.created_at), Some(entry.updated_at)), (created_at, updated_at));
    assert_eq!((entry.confirmed_at, entry.facts.source.as_ref(), entry.facts.ttl), (confirmed_at, "", Some(1e6)));
}

#[test]
fn times_in_the_future_are_not_kept() {
    let mut store = Store::new();
    let later = Some(store.now.plus(1));
    let entry = ImportEntry { created_at: later, updated_at: later, confirmed_at: later, ..line("k", "v") };
    store.ok(page(1, false, vec![entry]));
    let entry = store.there("k");
    assert_eq!((entry.created_at, entry.updated_at, entry.confirmed_at), (store.now, store.now, None));
}

#[test]
fn the_present_moment_is_not_the_future() {
    let mut store = Store::new();
    let now = Some(store.now);
    store.ok(page(1, false, vec![ImportEntry { confirmed_at: now, ..line("k", "v") }]));
    assert_eq!(store.there("k").confirmed_at, now);
}

#[test]
fn entries_that_exist_are_replaced_or_left_alone_and_reserved_ones_are_counted() {
    let mut store = Store::new();
    store.commit("old", "v");
    let lines = || vec![line("old", "new"), line("fresh", "1"), line("fresh", "2"), line("bilinc:dream:x", "r")];
    let answer = store.clone().ok(page(1, false, lines()));
    assert_eq!(tally(answer.outcome), [1, 2, 0, 1]);
    let answer = store.ok(page(1, true, lines()));
    assert_eq!(tally(answer.outcome), [1, 0, 2, 1]);
    assert_eq!((store.value("old").unwrap(), store.value("fresh").unwrap()), ("v".into(), "1".into()));
    assert!(store.entry("bilinc:dream:x").is_none());
}

#[test]
fn a_replaced_entry_keeps_its_creation_time_unless_the_line_names_one() {
    let mut store = Store::new();
    store.commit("k", "v");
    let created = store.now;
    store.step(HOUR);
    let updated_at = Some(store.now.plus(-1));
    store.ok(page(1, false, vec![ImportEntry { updated_at, ..line("k", "w") }]));
    assert_eq!((store.there("k").created_at, Some(store.there("k").updated_at)), (created, updated_at));
    let earlier = created.plus(-DAY);
    store.ok(page(2, false, vec![ImportEntry { created_at: Some(earlier), ..line("k", "x") }]));
    assert_eq!(store.there("k").created_at, earlier);
}

#[test]
fn an_import_with_nothing_to_write_writes_nothing() {
    let mut store = Store::new();
    let head = store.state.head();
    let answer = store.ok(page(1, true, vec![line("bilinc:dream:x", "r")]));
    assert_eq!((tally(answer.outcome), store.state.head()), ([0, 0, 0, 1], head));
}

#[test]
fn one_bad_line_refuses_the_whole_page() {
    let mut store = Store::new();
    let mut bad = line("b", "v");
    bad.commit.importance = Some(2.0);
    assert!(matches!(store.refused(page(1, false, vec![line("a", "v"), bad])), Rejection::Invalid { .. }));
    let many = (0..1001).map(|index| line(&format!("k{index}"), "v")).collect();
    assert!(matches!(store.refused(page(1, false, many)), Rejection::Invalid { reason: "too_many", .. }));
}

#[test]
fn an_import_of_several_operations_is_undone_by_its_id() {
    let mut store = Store::new();
    store.commit("old", "v");
    store.ok(page(1, false, vec![line("a", "1"), line("old", "new")]));
    store.ok(page(2, false, vec![line("other", "1")]));
    store.ok(page(1, false, vec![line("b", "1")]));
    store.by("bob").revise("b", "changed since");
    let (undone, _) = store.undo(Selection::Import(ImportId::from_u128(1)));
    assert_eq!(crate::harness::sorted(&undone), (vec!["a", "old"], vec!["b"], vec![]));
    assert_eq!((store.value("a"), store.value("old").as_deref()), (None, Some("v")));
    assert!(store.entry("other").is_some());
}
