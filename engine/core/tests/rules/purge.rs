//! Purges: what is named to be erased, and what no command brings back.

use std::sync::Arc;

use bilinc_core::{
    Action, ActionOp, ChangeOp, Command, Commit, Event, Fingerprint, Footprint, Forget, IdempotencyKey, Json,
    OperationId, Outcome, Purged, RecordedEvent, Rejection, Selection, Seq, UndoConflictReason, Version,
    complete_purges, replay, rollback_plan,
};

use crate::harness::{Act, Answer, DAY, Store, commit, forget, key, sorted, undo_of};

fn purge(name: &str) -> Command {
    Command::Forget(Forget { purge: true, ..forget(name) })
}

fn named(name: &str, payload: u8) -> IdempotencyKey {
    IdempotencyKey { name: Arc::from(name), fingerprint: Fingerprint([payload; 32]) }
}

#[track_caller]
fn purged(answer: &Answer) -> &Purged {
    match &answer.outcome {
        Outcome::Purged { purged, .. } => purged,
        other => panic!("{other:?}"),
    }
}

fn seqs(numbers: &[u64]) -> Vec<Seq> {
    numbers.iter().copied().map(Seq::new).collect()
}

impl Store {
    #[track_caller]
    fn purge(&mut self, name: &str) -> Purged {
        purged(&self.ok(purge(name))).clone()
    }

    /// Records that every purge is complete, as the engine does.
    fn complete(&mut self) {
        let purges = self.state.unfinished_purges().keys().copied().collect();
        let event = complete_purges(purges, OperationId::from_u128(999), (self.at(), false), self.state.head().plus(1));
        self.state.evolve(&event);
        self.log.push(&Arc::new(event));
    }
}

#[test]
fn a_purge_ends_the_entry_and_names_every_value_of_the_key_and_no_other() {
    let mut store = Store::new();
    let metadata = Json::parse(r#"{"m":1}"#, 100).ok();
    store.ok(Command::Commit(Commit { metadata, ..commit("k", "one") }));
    store.commit("other", "one");
    store.revise("k", "two");
    store.confirm("k");
    store.flag("k", "look");
    let answer = store.ok(purge("k"));
    let expected = Purged {
        key: key("k"),
        reason: "out of date".into(),
        bodies: seqs(&[1, 3]),
        events: 2,
        bytes: r#""one"{"m":1}"two""#.len() as u64,
        also_in: Vec::new(),
    };
    assert_eq!(purged(&answer), &expected);
    assert_eq!(answer.events.len(), 1);
    assert_eq!(answer.events[0].change_op(), Some(ChangeOp::Purge));
    assert_eq!((store.entry("k"), store.value("other").as_deref()), (None, Some("one")));
    let slot = store.state.slot("k").unwrap();
    assert!(slot.hides_value(Seq::new(1)) && slot.hides_metadata(Seq::new(1)) && slot.hides_value(Seq::new(3)));
    assert!(!format!("{answer:?}").contains("two"), "an answer never holds content");
    assert_eq!(
        (store.state.counts(store.now).purged_bytes, store.state.counts(store.now).live_bytes),
        (expected.bytes, 5)
    );
}

#[test]
fn a_purge_works_on_a_key_forgotten_or_expired_earlier() {
    let mut store = Store::new();
    store.commit("k", "one");
    store.forget("k");
    assert_eq!(store.purge("k").bodies, seqs(&[1]));
    store.ok(Command::Commit(Commit { ttl: Some(1.0), ..commit("short", "two") }));
    store.step(DAY);
    assert_eq!(store.purge("short").bodies, seqs(&[4]));
    assert_eq!(store.state.entries(store.now.plus(-DAY)).count(), 0);
}

#[test]
fn purging_what_is_not_there_is_no_success() {
    let mut store = Store::new();
    let missing = Rejection::MemoryNotFound { key: key("k") };
    assert_eq!(store.refused(purge("k")), missing);
    store.commit("k", "v");
    store.purge("k");
    assert_eq!(store.refused(purge("k")), missing, "there is nothing left to erase");
    store.commit("k", "again");
    assert_eq!(store.purge("k").bodies, seqs(&[3]), "and what came since is erased by the next one");
}

#[test]
fn a_purge_needs_a_reason_and_honours_the_expected_version() {
    let mut store = Store::new();
    let version = store.commit("k", "v");
    let with = |expected, reason: &str| {
        let reason = reason.to_owned();
        Command::Forget(Forget { expected_version: Some(expected), purge: true, reason, ..forget("k") })
    };
    assert!(matches!(store.refused(with(version, " ")), Rejection::Invalid { ref field, .. } if field == "reason"));
    let other = Version::from_u128(1);
    assert!(matches!(store.refused(with(other, "r")), Rejection::VersionConflict { .. }));
    store.ok(with(version, "r"));
    store.commit("k", "v");
    store.forget("k");
    assert_eq!(store.refused(with(version, "r")), Rejection::MemoryNotFound { key: key("k") });
}

#[test]
fn keys_that_folded_it_in_are_named_unless_they_were_purged_themselves() {
    let mut store = Store::new();
    for name in ["dup", "a", "b", "c"] {
        store.commit(name, name);
    }
    let dream = store.start();
    let merge = |store: &Store, name: &str| Action {
        op: ActionOp::Revise,
        key: key(name),
        expected_version: Some(store.version(name)),
        new_value: Some(Json::string("merged")),
        merged_from: vec![key("dup")],
        reason: "same".into(),
        evidence_keys: Vec::new(),
        refused: None,
    };
    let actions = ["b", "a", "c"].map(|name| merge(&store, name)).to_vec();
    store.actions(dream, actions);
    store.purge("c");
    assert_eq!(store.purge("dup").also_in, [key("a"), key("b")]);
}

#[test]
fn an_undo_that_needs_an_erased_value_reports_the_key_as_purged() {
    let mut store = Store::new();
    store.commit("k", "one");
    store.revise("k", "two");
    store.commit("other", "one");
    let dream = store.dream(&[Act::Revise("k", "three"), Act::Revise("other", "two")]);
    store.purge("k");
    for selection in [Selection::Range(Seq::new(1), Seq::new(2)), Selection::Seqs(seqs(&[2])), Selection::Dream(dream)]
    {
        let (undone, _) = store.clone().undo(selection);
        let conflict = undone.conflicts.iter().find(|conflict| conflict.key == key("k")).unwrap();
        assert_eq!(conflict.reason, UndoConflictReason::Purged);
        assert_eq!(conflict.change.as_ref().unwrap().op, ChangeOp::Purge);
    }
    let undone = store.undo_dream(dream);
    assert_eq!(sorted(&undone).0, ["other"]);
    assert_eq!((store.entry("k"), store.value("other").as_deref()), (None, Some("one")));
}

#[test]
fn what_came_after_a_purge_is_undone_as_always_and_never_past_it() {
    let mut store = Store::new();
    store.commit("k", "one");
    store.purge("k");
    store.commit("k", "two");
    store.revise("k", "three");
    let (undone, redo) = store.undo(Selection::Range(Seq::new(3), Seq::new(4)));
    assert_eq!((sorted(&undone).0, store.entry("k")), (vec!["k"], None));
    assert!(store.state.slot("k").unwrap().hides_value(Seq::new(1)));
    store.undo_at(redo.unwrap());
    assert_eq!(store.value("k").as_deref(), Some("three"));
    // Whoever wants the first commit back meets the purge, whatever came later.
    let (undone, _) = store.undo_at(Seq::new(1));
    assert_eq!(undone.conflicts[0].reason, UndoConflictReason::Purged);
}

#[test]
fn a_redo_that_needs_an_erased_value_reports_the_key_as_purged() {
    let mut store = Store::new();
    store.commit("k", "one");
    store.revise("k", "two");
    let (_, redo) = store.undo_at(Seq::new(2));
    store.purge("k");
    let (undone, written) = store.undo_at(redo.unwrap());
    assert_eq!((undone.conflicts[0].reason, written), (UndoConflictReason::Purged, None));
    assert_eq!(store.entry("k"), None);
}

#[test]
fn a_purge_cannot_be_undone() {
    let mut store = Store::new();
    store.commit("k", "v");
    store.purge("k");
    store.complete();
    for seq in [2, 3] {
        let rejection = store.refused(undo_of(Selection::Seqs(seqs(&[seq]))));
        assert!(matches!(rejection, Rejection::Invalid { reason: "not_undoable", .. }));
    }
    let (undone, _) = store.undo(Selection::Range(Seq::new(2), Seq::new(3)));
    assert_eq!((undone.restored.len(), undone.conflicts.len(), undone.unchanged.len()), (0, 0, 0));
}

#[test]
fn a_rollback_skips_what_was_erased_and_brings_the_rest_back() {
    let mut store = Store::new();
    for name in ["gone", "anew", "other"] {
        store.commit(name, "one");
    }
    let snapshot = store.snapshot();
    store.purge("gone");
    store.purge("anew");
    store.commit("anew", "two");
    store.revise("other", "two");
    let record = store.state.snapshot(snapshot).unwrap().clone();
    let plan = rollback_plan(&store.state, &store.log, &record, store.now).unwrap();
    assert_eq!(plan.purged, [key("anew"), key("gone")]);
    let Outcome::RolledBack { done, .. } = store.rollback(snapshot).outcome else { panic!() };
    let skipped: Vec<_> = done.skipped.iter().map(|skipped| skipped.key.as_str()).collect();
    assert_eq!((skipped, done.created, done.updated), (vec!["anew", "gone"], 0, 1));
    assert_eq!((store.value("other").as_deref(), store.value("anew").as_deref()), (Some("one"), Some("two")));
    assert_eq!(store.entry("gone"), None);
}

#[test]
fn purges_are_unfinished_until_it_is_recorded_that_they_are_complete() {
    let mut store = Store::new();
    store.commit("a", "one");
    store.commit("b", "one");
    store.purge("a");
    store.purge("b");
    let unfinished: Vec<_> = store.state.unfinished_purges().iter().map(|(at, bodies)| (*at, bodies.clone())).collect();
    assert_eq!(unfinished, [(Seq::new(3), seqs(&[1])), (Seq::new(4), seqs(&[2]))]);
    store.complete();
    assert!(store.state.unfinished_purges().is_empty());
}

#[test]
fn a_fingerprint_goes_with_the_value_it_was_made_of_and_no_value_of_another_key_does() {
    let mut store = Store::new();
    store.commit("a", "v");
    store.commit("b", "v");
    let dream = store.start();
    let page = store.page_of(dream, &[Act::Revise("a", "one"), Act::Revise("b", "two")]);
    let written = store.ask(&Command::DreamApply(page.clone()), Some(&named("page", 1))).unwrap();
    let summary = written.events.last().unwrap();
    assert!(matches!(summary.event, Event::DreamPageApplied(_)));
    assert!(summary.body.as_ref().unwrap().fingerprint.is_some());
    assert_eq!(store.purge("b").bodies, [Seq::new(2), written.events[1].seq, summary.seq]);
    assert_eq!(store.value("a").as_deref(), Some("one"));
    assert_eq!(store.ask(&Command::DreamApply(page), Some(&named("page", 1))), Err(Rejection::IdempotencyConflict));
}

#[test]
fn a_request_whose_fingerprint_was_erased_is_a_conflict_and_writes_nothing_again() {
    let mut store = Store::new();
    let first = Command::Commit(commit("k", "v"));
    store.ask(&first, Some(&named("i", 1))).unwrap();
    let written = store.ask(&purge("k"), Some(&named("p", 2))).unwrap();
    assert_eq!(store.ask(&first, Some(&named("i", 1))), Err(Rejection::IdempotencyConflict));
    // The purge itself holds nothing of a value, so a retry gets its answer again, after another one too.
    store.commit("k", "w");
    store.purge("k");
    let again = store.ask(&purge("k"), Some(&named("p", 2))).unwrap();
    assert!(again.replayed);
    assert_eq!(again.outcome, written.outcome);
}

#[test]
fn a_log_whose_bodies_are_erased_folds_into_the_same_state() {
    let mut store = Store::new();
    store.ask(&Command::Commit(commit("k", "v")), Some(&named("i", 1))).unwrap();
    store.revise("k", "w");
    store.ask(&Command::Commit(commit("other", "v")), Some(&named("j", 1))).unwrap();
    let bodies = store.purge("k").bodies;
    store.complete();
    let erased: Vec<RecordedEvent> = (store.log.all().cloned())
        .map(|event| if bodies.contains(&event.seq) { RecordedEvent { body: None, ..event } } else { event })
        .collect();
    assert_eq!(replay(7, &erased), store.state);
}

#[test]
fn a_purge_looks_at_everything_and_a_forget_at_its_key() {
    assert_eq!(purge("k").footprint(), Footprint::Everything);
    assert_eq!(Command::Forget(forget("k")).footprint(), Footprint::Keys(vec![key("k")]));
}

#[test]
fn a_purged_report_is_not_written_again() {
    let mut store = Store::new();
    store.commit("k", "v");
    let dream = store.dream(&[Act::Revise("k", "w")]);
    let report = format!("bilinc:dream:{dream}");
    store.purge(&report);
    store.undo_dream(dream);
    assert_eq!(store.entry(&report), None);
}
