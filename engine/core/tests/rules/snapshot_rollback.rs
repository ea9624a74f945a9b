//! Snapshots and rollbacks.

use bilinc_core::{
    ChangeOp, Command, Commit, Confirmation, Outcome, Rejection, Rollback, Snapshot, SnapshotId, rollback_plan,
};

use crate::harness::{Act, DAY, HOUR, SECOND, Store, commit};
use crate::naive::{Mem, read};

/// What a rollback brings back.
fn lasting(mem: Mem) -> Mem {
    let version = bilinc_core::Version::from_u128(0);
    Mem { version, updated_at: mem.created_at, flags: Default::default(), ..mem }
}

#[test]
fn a_snapshot_names_its_own_position_and_counts_what_is_there() {
    let mut store = Store::new();
    store.commit("a", "v");
    store.ok(Command::Commit(Commit { ttl: Some(1.0), ..commit("b", "v") }));
    store.step(2 * SECOND);
    let command = Snapshot { label: Some("before".into()), metadata: None };
    let Outcome::Snapshot { taken, seq, .. } = store.ok(Command::Snapshot(command)).outcome else { panic!() };
    assert_eq!((seq, taken.by_type), (store.state.head(), [1, 0, 0, 0, 0]));
    let record = store.state.snapshot(taken.snapshot).unwrap();
    assert_eq!((record.seq, record.label.as_deref()), (seq, Some("before")));
    let long = Snapshot { label: Some("x".repeat(257)), metadata: None };
    assert!(matches!(store.refused(Command::Snapshot(long)), Rejection::Invalid { .. }));
}

#[test]
fn a_rollback_gives_the_snapshots_state_back() {
    let mut store = Store::new();
    for name in ["kept", "revised", "forgotten", "confirmed", "recreated"] {
        store.ok(Command::Commit(Commit { importance: Some(0.5), ttl: Some(1e6), ..commit(name, "v") }));
    }
    store.confirm("forgotten");
    store.flag("forgotten", "lost with the forget");
    let names = ["kept", "revised", "forgotten", "confirmed", "recreated"];
    let before: Vec<Mem> = names.iter().map(|name| lasting(read(&store, name))).collect();
    let version = store.version("kept");
    let snapshot = store.snapshot();
    store.step(HOUR).revise("revised", "w");
    store.forget("forgotten");
    store.confirm("confirmed");
    store.forget("recreated");
    store.commit("recreated", "w");
    store.commit("new", "v");
    store.flag("revised", "stays");
    let answer = store.step(HOUR).rollback(snapshot);
    let Outcome::RolledBack { done: summary, .. } = answer.outcome else { panic!() };
    assert_eq!((summary.created, summary.updated, summary.deleted), (1, 3, 1));
    let after: Vec<Mem> = names.iter().map(|name| lasting(read(&store, name))).collect();
    assert_eq!(after, before);
    assert_eq!((store.version("kept"), store.entry("new")), (version, None));
    assert_eq!((store.there("revised").updated_at, store.flags("revised")), (store.now, vec!["stays".into()]));
    let ops: Vec<_> = answer.events.iter().filter_map(|event| event.change_op()).collect();
    assert_eq!(ops, [ChangeOp::Create, ChangeOp::Update, ChangeOp::Update, ChangeOp::Update, ChangeOp::Delete]);
}

#[test]
fn what_expired_since_comes_back_and_what_had_expired_does_not() {
    let mut store = Store::new();
    store.ok(Command::Commit(Commit { ttl: Some(1.0), ..commit("gone", "v") }));
    store.ok(Command::Commit(Commit { ttl: Some(60.0), ..commit("later", "v") }));
    store.step(2 * SECOND);
    let snapshot = store.snapshot();
    store.step(HOUR).commit("gone", "anew");
    store.rollback(snapshot);
    assert_eq!((store.entry("gone"), store.there("later").updated_at), (None, store.now));
}

#[test]
fn reports_stay_and_so_do_the_flags() {
    let mut store = Store::new();
    store.commit("k", "v");
    let snapshot = store.snapshot();
    let dream = store.dream(&[Act::Revise("k", "w")]);
    store.flag("k", "look");
    let report = store.report(dream);
    store.rollback(snapshot);
    assert_eq!((store.report(dream), report.is_some(), store.flags("k").len()), (report, true, 1));
}

#[test]
fn a_rollback_counts_as_a_change_that_an_undo_of_a_dream_leaves_alone() {
    let mut store = Store::new();
    store.commit("k", "v");
    let snapshot = store.snapshot();
    let dream = store.dream(&[Act::Revise("k", "w")]);
    store.rollback(snapshot);
    let undone = store.undo_dream(dream);
    assert_eq!(undone.conflicts[0].change.as_ref().unwrap().op, ChangeOp::Update);
}

#[test]
fn a_rollback_is_undone_by_its_one_position() {
    let mut store = Store::new();
    store.commit("k", "v");
    let snapshot = store.snapshot();
    store.revise("k", "w");
    store.commit("new", "v");
    store.flag("new", "look");
    store.rollback(snapshot);
    let head = store.state.head();
    store.undo_at(head);
    assert_eq!((store.value("k").unwrap(), store.flags("new")), ("w".into(), vec!["look".into()]));
}

#[test]
fn a_rollback_to_the_present_changes_no_entry() {
    let mut store = Store::new();
    store.commit("k", "v");
    let snapshot = store.snapshot();
    let version = store.version("k");
    let answer = store.rollback(snapshot);
    assert_eq!((answer.events.len(), store.version("k")), (1, version));
}

#[test]
fn the_preview_counts_what_the_rollback_does_and_writes_nothing() {
    let mut store = Store::new();
    store.commit("k", "v");
    let snapshot = store.snapshot();
    store.revise("k", "w");
    store.commit("new", "v");
    let record = store.state.snapshot(snapshot).unwrap();
    let plan = rollback_plan(&store.state, &store.log, record, store.now).unwrap();
    let Outcome::RolledBack { done: summary, .. } = store.rollback(snapshot).outcome else { panic!() };
    let counts = (plan.create.len() as u64, plan.update.len() as u64, plan.remove.len() as u64);
    assert_eq!(counts, (summary.created, summary.updated, summary.deleted));
}

#[test]
fn anything_written_since_the_preview_refuses_the_rollback() {
    let mut store = Store::new();
    store.commit("k", "v");
    let snapshot = store.snapshot();
    let command = store.rollback_to(snapshot);
    store.flag("k", "even a flag");
    assert_eq!(store.refused(Command::Rollback(command)), Rejection::StateChangedSincePreview);
}

#[test]
fn the_token_is_judged_before_the_snapshot_and_that_before_the_state() {
    let mut store = Store::new();
    store.commit("k", "v");
    let unknown = SnapshotId::from_u128(9);
    let with = |confirmation| Command::Rollback(Rollback { snapshot: unknown, reason: "r".into(), confirmation });
    assert_eq!(store.refused(with(Confirmation::Expired)), Rejection::ConfirmationExpired);
    let mismatch = store.refused(with(Confirmation::Mismatch));
    assert!(matches!(mismatch, Rejection::Invalid { reason: "confirmation_mismatch", .. }));
    let stale = Confirmation::Valid { head: bilinc_core::Seq::ZERO };
    assert_eq!(store.refused(with(stale)), Rejection::SnapshotNotFound(unknown));
    let command = Rollback { snapshot: unknown, reason: " ".into(), confirmation: Confirmation::Expired };
    assert!(matches!(store.refused(Command::Rollback(command)), Rejection::Invalid { .. }));
    store.step(DAY);
}

#[test]
fn values_before_a_forget_stay_hidden_after_a_rollback_that_brings_the_entry_back() {
    let mut store = Store::new();
    store.commit("k", "v");
    let snapshot = store.snapshot();
    store.forget("k");
    let forget = store.state.head();
    store.rollback(snapshot);
    assert_eq!((store.value("k").unwrap(), store.hidden_through("k")), ("v".into(), forget));
}
