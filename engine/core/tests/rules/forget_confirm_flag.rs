//! Forget, confirm, flag and unflag.

use bilinc_core::{ChangeOp, Command, Flag, Forget, Outcome, Rejection, Unflag};

use crate::harness::{HOUR, Store, flag, forget, key, unflag};

#[test]
fn a_forgotten_entry_is_gone_with_its_flags_and_a_new_one_starts_anew() {
    let mut store = Store::new();
    store.commit("k", "v");
    store.flag("k", "look");
    store.step(HOUR).forget("k");
    assert_eq!(store.hidden_through("k"), store.state.head());
    assert_eq!(store.state.flagged().count(), 0);
    store.step(HOUR).commit("k", "again");
    assert_eq!((store.there("k").created_at, store.flags("k")), (store.now, vec![]));
}

#[test]
fn forgetting_what_is_not_there_is_no_success() {
    let mut store = Store::new();
    assert_eq!(store.refused(Command::Forget(forget("k"))), Rejection::MemoryNotFound { key: key("k") });
    store.commit("k", "v");
    store.forget("k");
    assert_eq!(store.refused(Command::Forget(forget("k"))), Rejection::MemoryNotFound { key: key("k") });
}

#[test]
fn a_forget_needs_a_reason_and_never_says_the_value() {
    let mut store = Store::new();
    store.commit("k", "the secret value");
    for reason in [String::new(), "  ".into(), "x".repeat(513)] {
        let rejection = store.refused(Command::Forget(Forget { reason, ..forget("k") }));
        assert!(matches!(rejection, Rejection::Invalid { ref field, .. } if field == "reason"));
    }
    let answer = store.ok(Command::Forget(Forget { reason: "x".repeat(512), ..forget("k") }));
    assert!(matches!(answer.outcome, Outcome::Entry { op: ChangeOp::Forget, version: None, .. }));
    assert!(!format!("{answer:?}").contains("secret value"));
}

#[test]
fn a_confirm_moves_both_times_and_the_version_and_keeps_the_value() {
    let mut store = Store::new();
    let first = store.commit("k", "v");
    let (created, head) = (store.now, store.state.head());
    let second = store.step(HOUR).confirm("k");
    let entry = store.there("k");
    assert_eq!((entry.created_at, entry.updated_at, entry.confirmed_at), (created, store.now, Some(store.now)));
    assert_eq!((store.value("k").unwrap(), store.state.head()), ("v".into(), head.plus(1)));
    assert_ne!(first, second);
}

#[test]
fn flags_add_up_and_leave_version_and_times_alone() {
    let mut store = Store::new();
    let version = store.commit("k", "v");
    let before = store.there("k").clone();
    store.step(HOUR);
    let evidence = vec![key("other")];
    store.ok(Command::Flag(Flag { evidence_keys: evidence.clone(), ..flag("k", "one") }));
    store.flag("k", "two");
    let entry = store.there("k");
    assert_eq!((entry.version, entry.updated_at), (version, before.updated_at));
    assert_eq!((entry.flags[0].at, &entry.flags[0].evidence_keys, entry.flags[0].dream), (store.now, &evidence, None));
    store.revise("k", "w");
    store.confirm("k");
    assert_eq!(store.flags("k"), ["one", "two"]);
    let version = store.version("k");
    store.unflag("k");
    assert_eq!((store.flags("k"), store.version("k")), (vec![], version));
}

#[test]
fn clearing_no_flag_is_no_success() {
    let mut store = Store::new();
    store.commit("k", "v");
    let rejection = store.refused(Command::Unflag(unflag("k")));
    assert!(matches!(rejection, Rejection::Invalid { reason: "not_flagged", .. }));
}

#[test]
fn flags_have_limits_too() {
    let mut store = Store::new();
    store.commit("k", "v");
    let many = Flag { evidence_keys: vec![key("e"); 51], ..flag("k", "look") };
    assert!(matches!(store.refused(Command::Flag(many)), Rejection::Invalid { reason: "too_many", .. }));
    assert!(matches!(store.refused(Command::Flag(flag("k", ""))), Rejection::Invalid { .. }));
    store.flag("k", "look");
    let long = Unflag { reason: Some("x".repeat(513)), ..unflag("k") };
    assert!(matches!(store.refused(Command::Unflag(long)), Rejection::Invalid { .. }));
}
