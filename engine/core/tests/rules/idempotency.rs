//! Idempotency keys.

use std::sync::Arc;

use bilinc_core::{Command, Fingerprint, IdempotencyKey, Outcome, Rejection};

use crate::harness::{Act, DAY, HOUR, Store, commit, forget, revise, undo_dream};

fn named(name: &str, payload: u8) -> IdempotencyKey {
    IdempotencyKey { name: Arc::from(name), fingerprint: Fingerprint([payload; 32]) }
}

fn put(value: &str) -> Command {
    Command::Commit(commit("k", value))
}

#[test]
fn a_repeated_request_gets_the_first_answer_and_writes_nothing() {
    let mut store = Store::new();
    let first = store.ask(&put("v"), Some(&named("i", 1))).unwrap();
    store.step(HOUR).forget("k");
    let head = store.state.head();
    let again = store.ask(&put("v"), Some(&named("i", 1))).unwrap();
    assert!(again.replayed && !first.replayed);
    assert_eq!((again.outcome, store.state.head()), (first.outcome, head));
}

#[test]
fn another_payload_under_the_same_key_is_a_conflict() {
    let mut store = Store::new();
    store.ask(&put("v"), Some(&named("i", 1))).unwrap();
    assert_eq!(store.ask(&put("w"), Some(&named("i", 2))), Err(Rejection::IdempotencyConflict));
}

#[test]
fn a_key_is_remembered_for_24_hours_to_the_microsecond() {
    let mut store = Store::new();
    store.ask(&put("v"), Some(&named("i", 1))).unwrap();
    store.step(DAY);
    assert!(store.clone().ask(&put("v"), Some(&named("i", 1))).unwrap().replayed);
    store.step(1);
    assert!(!store.clone().ask(&put("v"), Some(&named("i", 1))).unwrap().replayed);
    assert!(!store.ask(&put("w"), Some(&named("i", 2))).unwrap().replayed);
    assert!(store.ask(&put("w"), Some(&named("i", 2))).unwrap().replayed);
}

#[test]
fn a_clock_that_ran_ahead_for_once_makes_nothing_forgotten() {
    let mut store = Store::new();
    store.ask(&put("v"), Some(&named("i", 1))).unwrap();
    let (true_time, far) = (store.now, 400 * DAY);
    for (ahead, name) in [(20 * HOUR, "near"), (far, "far")] {
        store.now = true_time.plus(ahead);
        store.ask(&put("w"), Some(&named(name, 2))).unwrap();
        store.now = true_time.plus(HOUR);
        assert!(store.ask(&put("v"), Some(&named("i", 1))).unwrap().replayed, "{name}");
    }
}

#[test]
fn refusals_are_not_remembered() {
    let mut store = Store::new();
    let revise = Command::Revise(revise("k", "v"));
    assert!(matches!(store.ask(&revise, Some(&named("i", 1))), Err(Rejection::MemoryNotFound { .. })));
    store.commit("k", "v");
    assert!(!store.ask(&revise, Some(&named("i", 1))).unwrap().replayed);
}

#[test]
fn dry_runs_are_neither_remembered_nor_answered_from_memory() {
    let mut store = Store::new();
    store.commit("k", "v");
    let dream = store.start();
    let mut page = store.page_of(dream, &[Act::Revise("k", "w")]);
    page.dry_run = true;
    store.ask(&Command::DreamApply(page.clone()), Some(&named("i", 1))).unwrap();
    page.dry_run = false;
    let applied = store.ask(&Command::DreamApply(page.clone()), Some(&named("i", 1))).unwrap();
    assert!(!applied.replayed);
    page.dry_run = true;
    let dry = store.ask(&Command::DreamApply(page), Some(&named("i", 1))).unwrap();
    assert!(!dry.replayed && dry.outcome != applied.outcome, "judged anew, it is a conflict now");
}

#[test]
fn the_replay_is_judged_before_existence_and_after_the_form() {
    let mut store = Store::new();
    store.commit("k", "v");
    let command = Command::Forget(forget("k"));
    store.ask(&command, Some(&named("i", 1))).unwrap();
    assert!(store.ask(&command, Some(&named("i", 1))).unwrap().replayed);
    let malformed = Command::Forget(bilinc_core::Forget { reason: String::new(), ..forget("k") });
    assert!(matches!(store.ask(&malformed, Some(&named("i", 1))), Err(Rejection::Invalid { .. })));
}

#[test]
fn pages_and_undos_of_a_dream_are_answered_again_whole() {
    let mut store = Store::new();
    store.commit("k", "v");
    let dream = store.start();
    let page = Command::DreamApply(store.page_of(dream, &[Act::Revise("k", "w"), Act::Flag("other")]));
    let first = store.ask(&page, Some(&named("page", 1))).unwrap();
    let undo = Command::DreamUndo(undo_dream(dream));
    let undone = store.ask(&undo, Some(&named("undo", 1))).unwrap();
    assert_eq!(store.ask(&page, Some(&named("page", 1))).unwrap().outcome, first.outcome);
    let again = store.ask(&undo, Some(&named("undo", 1))).unwrap();
    assert!(again.replayed && matches!(again.outcome, Outcome::Undo { already_undone: false, .. }));
    assert_eq!(again.outcome, undone.outcome);
}

#[test]
fn an_idempotency_key_has_1_to_256_characters() {
    let mut store = Store::new();
    for name in [String::new(), "x".repeat(257)] {
        let rejection = store.ask(&put("v"), Some(&named(&name, 1))).unwrap_err();
        assert!(matches!(rejection, Rejection::Invalid { ref field, .. } if field == "idempotency_key"));
    }
    store.ask(&put("v"), Some(&named(&"ğ".repeat(256), 1))).unwrap();
}
