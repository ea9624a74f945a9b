//! Snapshots, and going back to them.

use bilinc::{
    ChangeOp, Commit, Forget, ListQuery, MemoryEntry, Rejection, RollbackAnswer, RolledBack, Snapshot, SnapshotId,
    limits,
};

use crate::support::*;

fn snapshot(bench: &Bench) -> SnapshotId {
    bench.tick();
    bench.memory.snapshot(Snapshot::default()).unwrap().answer.id
}

fn token(bench: &Bench, snapshot: SnapshotId, reason: &str) -> String {
    bench.memory.rollback_preview(snapshot, reason, 100).unwrap().confirmation_token
}

fn roll_back(bench: &Bench, snapshot: SnapshotId) -> RolledBack {
    roll_back_at(bench, snapshot).done
}

fn roll_back_at(bench: &Bench, snapshot: SnapshotId) -> RollbackAnswer {
    bench.tick();
    let token = token(bench, snapshot, "went wrong");
    bench.memory.rollback(snapshot, "went wrong", &token).unwrap().answer
}

/// All that a rollback brings back.
fn told(entry: MemoryEntry) -> String {
    let inner = entry.entry;
    let times = (inner.created_at, inner.confirmed_at);
    format!("{} {:?} {times:?} {:?} {:?}", entry.key, inner.facts, entry.value, entry.metadata)
}

fn everything(bench: &Bench) -> Vec<String> {
    let page = bench.memory.list(&ListQuery::default()).unwrap();
    page.entries.iter().map(|entry| told(bench.entry(entry.key.as_str()))).collect()
}

#[test]
fn a_rollback_brings_back_everything_but_version_and_time_of_update() {
    let bench = Bench::new();
    let rich = Commit {
        metadata: Some(json(r#"{"a":1.10}"#)),
        importance: Some(0.25),
        session_id: Some("s".into()),
        canonical: Some(true),
        ..commit("rich", "start")
    };
    bench.memory.commit(rich).unwrap();
    for name in ["kept", "revised", "forgotten", "confirmed", "replaced"] {
        bench.put(name, "start");
    }
    bench.memory.confirm(confirm("kept")).unwrap();
    let taken = snapshot(&bench);
    let before = everything(&bench);
    bench.revise("rich", "changed");
    bench.revise("revised", "changed");
    bench.forget("forgotten");
    bench.memory.confirm(confirm("confirmed")).unwrap();
    bench.put("replaced", "changed");
    bench.put("new", "later");
    bench.memory.flag(flag("revised")).unwrap();

    let preview = bench.memory.rollback_preview(taken, "went wrong", 100).unwrap();
    assert_eq!(preview.counts, [1, 4, 1]);
    assert_eq!(preview.create_keys, [key("forgotten")]);
    assert_eq!(preview.update_keys, ["confirmed", "replaced", "revised", "rich"].map(key));
    assert_eq!(preview.remove_keys, [key("new")]);
    let changed = everything(&bench);
    let RollbackAnswer { done, seq } = roll_back_at(&bench, taken);
    assert_eq!((done.created, done.updated, done.deleted), (1, 4, 1));
    assert_eq!(everything(&bench), before);
    assert_eq!(bench.entry("revised").entry.flags.len(), 1, "flags stay");
    assert_eq!(bench.entry("revised").entry.updated_at, bench.now());
    let history = bench.memory.history("new", 10, false).unwrap();
    assert_eq!((history.items[0].op, history.items[0].rollback_snapshot), (ChangeOp::Delete, Some(taken)));
    let again = roll_back(&bench, taken);
    assert_eq!((again.created, again.updated, again.deleted), (0, 0, 0));
    bench.assert_sound();

    // A rollback is an operation like any other and is undone by the position that sums it up.
    bench.undo(seq);
    assert_eq!(everything(&bench), changed);
    bench.assert_sound();
}

#[test]
fn a_token_is_good_for_its_store_snapshot_reason_head_and_fifteen_minutes() {
    let bench = Bench::new();
    bench.put("a", "start");
    let (taken, other) = (snapshot(&bench), snapshot(&bench));
    let good = token(&bench, taken, "why");
    let mismatch = |snapshot, reason: &str, token: &str| {
        let refused = bench.memory.rollback(snapshot, reason, token).unwrap_err();
        assert_eq!(invalid(refused), ("confirmation_token".to_owned(), "confirmation_mismatch"));
    };
    mismatch(other, "why", &good);
    mismatch(taken, "why not", &good);
    for broken in ["", "rb1_", &good[1..], &format!("{good}0"), &good.replace("rb1_0", "rb1_1"), &good.to_uppercase()] {
        mismatch(taken, "why", broken);
    }
    let flipped = if good.ends_with('0') { '1' } else { '0' };
    mismatch(taken, "why", &format!("{}{flipped}", &good[..good.len() - 1]));

    // Another handle, and one that is opened later, know it too.
    let reopened = bench.open_again();
    bench.clock.advance(limits::CONFIRMATION_MICROS + 1);
    let late = rejection(reopened.rollback(taken, "why", &good).unwrap_err());
    assert_eq!(late, Rejection::ConfirmationExpired);
    bench.clock.advance(-1);
    assert!(reopened.rollback(taken, "why", &good).is_ok());
    let changed = rejection(bench.memory.rollback(taken, "why", &good).unwrap_err());
    assert_eq!(changed, Rejection::StateChangedSincePreview);
}

#[test]
fn a_preview_refuses_what_no_rollback_could_confirm() {
    let bench = Bench::new();
    let taken = snapshot(&bench);
    for reason in ["", " ", &"x".repeat(limits::REASON_CHARS + 1)] {
        assert_eq!(invalid(bench.memory.rollback_preview(taken, reason, 10).unwrap_err()).0, "reason");
    }
    let nowhere = SnapshotId::from_u128(1);
    assert_eq!(bench.memory.rollback_preview(nowhere, "why", 10).unwrap_err().code(), "snapshot_not_found");
    let token = token(&bench, taken, "why");
    let refused = bench.memory.rollback(nowhere, "why", &token).unwrap_err();
    assert_eq!(invalid(refused).1, "confirmation_mismatch");
}

#[test]
fn what_expired_since_the_snapshot_comes_back_and_dream_reports_stay() {
    let bench = Bench::new();
    bench.memory.commit(Commit { ttl: Some(60.0), ..commit("brief", "v") }).unwrap();
    let taken = snapshot(&bench);
    let dream = bench.dream();
    bench.memory.dream_apply(dream, Vec::new(), None, false).unwrap();
    bench.clock.advance(2 * MINUTE);
    let done = roll_back(&bench, taken);
    assert_eq!((done.created, done.updated, done.deleted), (1, 0, 0));
    assert_eq!(bench.entry("brief").entry.expires_at(), Some(bench.now().plus(MINUTE)));
    assert!(bench.memory.get(&format!("bilinc:dream:{dream}")).unwrap().is_some());
    bench.assert_sound();
}

#[test]
fn a_rollback_past_a_forget_shows_what_it_brought_back_and_nothing_else() {
    let bench = Bench::new();
    bench.put("a", "earlier");
    bench.revise("a", "start");
    let taken = snapshot(&bench);
    bench.revise("a", "later");
    bench.forget("a");
    roll_back(&bench, taken);
    assert_eq!(bench.value("a").as_deref(), Some("start"));
    let shown = format!("{:?}", bench.memory.history("a", 10, true).unwrap());
    assert!(shown.contains("start") && !shown.contains("earlier") && !shown.contains("later"), "{shown}");
    let again = Forget { expected_version: Some(bench.version("a")), ..forget("a") };
    bench.memory.forget(again).unwrap();
    assert!(!format!("{:?}", bench.memory.history("a", 10, true).unwrap()).contains("start"));
    bench.assert_sound();
}

#[test]
fn snapshots_are_listed_newest_first_with_what_was_there() {
    let bench = Bench::new();
    bench.put("a", "v");
    let labelled = Snapshot { label: Some("before the move".into()), metadata: Some(json(r#"{"ticket": 7}"#)) };
    let first = bench.memory.with_idempotency_key("s").snapshot(labelled.clone()).unwrap();
    bench.put("b", "v");
    let second = snapshot(&bench);
    let listed = bench.memory.snapshots(10).unwrap();
    assert_eq!([listed[0].id, listed[1].id], [second, first.answer.id]);
    assert_eq!(listed[1], first.answer);
    assert_eq!((listed[1].by_type[0], listed[0].by_type[0]), (1, 2));
    assert_eq!((listed[1].metadata.as_str(), listed[0].metadata.as_str()), (r#"{"ticket":7}"#, "{}"));
    assert_ne!(listed[0].root_hash, listed[1].root_hash);
    let again = bench.memory.with_idempotency_key("s").snapshot(labelled).unwrap();
    assert!(again.replayed);
    assert_eq!(again.answer, first.answer);
    assert_eq!(bench.memory.snapshots(1).unwrap().len(), 1);
}
