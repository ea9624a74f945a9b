//! Which entries a dream gets.

use bilinc_core::{Command, Commit, DreamStart, Selection};

use crate::harness::{Act, DAY, HOUR, SECOND, Store, commit};

fn all() -> DreamStart {
    DreamStart::default()
}

fn limit(limit: u32) -> DreamStart {
    DreamStart { limit, ..all() }
}

/// A finished dream over what is new, without an action.
#[track_caller]
fn look(store: &mut Store, start: DreamStart) {
    let dream = store.start_with(start).unwrap().dream;
    store.finish(dream, &[]);
}

#[test]
fn without_a_candidate_there_is_no_dream_and_nothing_is_written() {
    let mut store = Store::new();
    assert_eq!(store.start_with(all()), None);
    assert_eq!(store.state.head(), bilinc_core::Seq::ZERO);
}

#[test]
fn the_answer_names_versions_newest_change_first_and_the_cap() {
    let mut store = Store::new();
    for name in ["a", "b", "c"] {
        store.commit(name, "v");
    }
    store.revise("a", "w");
    let started = store.start_with(limit(2)).unwrap();
    let given: Vec<_> =
        started.candidates.iter().map(|candidate| (candidate.key.as_str(), candidate.version)).collect();
    assert_eq!(given, [("a", store.version("a")), ("c", store.version("c"))]);
    assert_eq!((started.more, started.complete, started.forget_cap), (1, false, 0));
    assert_eq!(store.state.dream(started.dream).unwrap().started, store.state.head());
}

#[test]
fn the_first_dream_looks_back_seven_days_to_the_microsecond() {
    let mut store = Store::new();
    store.commit("k", "v");
    store.step(7 * DAY);
    assert_eq!(store.candidates(all()), ["k"]);
    store.step(1);
    assert_eq!(store.candidates(all()), [""; 0]);
    let far = DreamStart { since: Some(store.now.plus(-30 * DAY)), ..all() };
    assert_eq!(store.candidates(far), ["k"]);
}

#[test]
fn every_kind_of_change_counts_but_flags_do_not() {
    let mut store = Store::new();
    for name in ["replaced", "revised", "confirmed", "restored", "rolled back", "flagged", "unflagged"] {
        store.commit(name, "v");
    }
    store.flag("unflagged", "look");
    let snapshot = store.snapshot();
    store.revise("rolled back", "w");
    store.forget("restored");
    let forgot = store.state.head();
    store.step(8 * DAY).commit("replaced", "w");
    store.revise("revised", "w");
    store.confirm("confirmed");
    store.flag("flagged", "look");
    store.unflag("unflagged");
    store.undo_at(forgot);
    assert_eq!(store.candidates(all()), ["restored", "confirmed", "revised", "replaced"]);
    store.rollback(snapshot);
    assert!(store.candidates(all()).contains(&"rolled back".into()));
}

#[test]
fn a_dreams_own_changes_count_until_it_is_finished() {
    let mut store = Store::new();
    store.commit("k", "v");
    store.commit("other", "v");
    let dream = store.start();
    store.page(dream, &[Act::Revise("k", "w")]);
    look(&mut store, all());
    store.page(dream, &[Act::Revise("k", "x")]);
    assert_eq!(store.candidates(all()), ["k"], "the dream is open");
    store.finish(dream, &[]);
    assert_eq!(store.candidates(all()), [""; 0]);
    store.page(dream, &[Act::Confirm("k")]);
    assert_eq!(store.candidates(all()), [""; 0], "it stays finished while it goes on");
}

#[test]
fn what_others_change_while_a_dream_runs_is_a_candidate_of_the_next() {
    let mut store = Store::new();
    store.commit("a", "v");
    store.commit("b", "v");
    let dream = store.start();
    store.by("bob").revise("b", "w");
    store.commit("c", "v");
    store.by("ada").finish(dream, &[Act::Confirm("a")]);
    assert_eq!(store.candidates(all()), ["c", "b"]);
}

#[test]
fn what_a_limit_left_out_is_not_passed_over() {
    let mut store = Store::new();
    for index in 0..5 {
        store.commit(&format!("k{index}"), "v");
    }
    look(&mut store, limit(2));
    assert_eq!(store.state.dream_mark(), None);
    assert_eq!(store.candidates(all()), ["k2", "k1", "k0"]);
    look(&mut store, limit(2));
    look(&mut store, limit(2));
    assert!(store.state.dream_mark().is_some());
    assert_eq!(store.candidates(all()), [""; 0]);
}

#[test]
fn what_a_prefix_left_out_is_not_passed_over_and_an_empty_one_leaves_out_nothing() {
    let mut store = Store::new();
    store.commit("a/1", "v");
    store.commit("b/1", "v");
    look(&mut store, DreamStart { prefix: Some("a/".into()), ..all() });
    assert_eq!(store.state.dream_mark(), None);
    assert_eq!(store.candidates(all()), ["b/1"]);
    look(&mut store, DreamStart { prefix: Some(String::new()), ..all() });
    assert!(store.state.dream_mark().is_some());
}

#[test]
fn a_since_later_than_the_mark_sets_no_mark_and_an_earlier_one_does() {
    let mut store = Store::new();
    store.commit("a", "v");
    store.step(HOUR).commit("b", "v");
    let now = store.now;
    look(&mut store, DreamStart { since: Some(now), ..all() });
    assert_eq!((store.state.dream_mark(), store.candidates(all())), (None, vec!["a".into()]));
    look(&mut store, DreamStart { since: Some(now.plus(-30 * DAY)), ..all() });
    assert!(store.state.dream_mark().is_some());
}

#[test]
fn since_is_a_moment_that_counts_in() {
    let mut store = Store::new();
    store.commit("k", "v");
    let since = |micros: i64| DreamStart { since: Some(store.now.plus(micros)), ..all() };
    assert_eq!(store.candidates(since(0)), ["k"]);
    assert_eq!(store.candidates(since(1)), [""; 0]);
}

#[test]
fn reviewed_entries_are_left_out_unless_they_changed_or_are_asked_for() {
    let mut store = Store::new();
    store.commit("a", "v");
    store.commit("b", "v");
    look(&mut store, all());
    store.step(HOUR).revise("a", "w");
    let far = |include_reviewed| DreamStart { since: Some(store.now.plus(-30 * DAY)), include_reviewed, ..all() };
    assert_eq!(store.candidates(far(false)), ["a"]);
    assert_eq!(store.candidates(far(true)), ["a", "b"]);
}

#[test]
fn with_since_far_back_dreams_walk_through_a_whole_store() {
    let mut store = Store::new();
    for index in 0..7 {
        store.commit(&format!("k{index}"), "v");
    }
    store.step(90 * DAY);
    let mut seen = Vec::new();
    loop {
        let start = DreamStart { since: Some(store.now.plus(-365 * DAY)), ..limit(3) };
        let Some(started) = store.start_with(start) else { break };
        seen.extend(started.candidates.iter().map(|candidate| candidate.key.to_string()));
        store.finish(started.dream, &[]);
    }
    assert_eq!(seen, ["k6", "k5", "k4", "k3", "k2", "k1", "k0"]);
}

#[test]
fn an_open_dream_reviews_nothing_and_sets_no_mark() {
    let mut store = Store::new();
    store.commit("k", "v");
    store.start();
    assert_eq!((store.candidates(all()), store.state.dream_mark()), (vec!["k".into()], None));
}

#[test]
fn the_candidates_of_an_undone_dream_come_back() {
    let mut store = Store::new();
    for name in ["looked at", "changed"] {
        store.commit(name, "v");
    }
    let dream = store.dream(&[Act::Revise("changed", "w")]);
    assert_eq!(store.candidates(all()), [""; 0]);
    store.undo_dream(dream);
    assert_eq!(store.candidates(all()), ["changed", "looked at"]);
}

#[test]
fn the_candidates_of_an_undone_dream_come_back_from_behind_a_later_mark() {
    let mut store = Store::new();
    store.commit("looked at", "v");
    store.commit("changed", "v");
    let first = store.start();
    store.finish(first, &[Act::Revise("changed", "w")]);
    store.step(HOUR).commit("later", "v");
    look(&mut store, all());
    store.undo_dream(first);
    assert_eq!(store.candidates(all()), ["changed", "looked at"]);
    let (_, summary) = (store.state.head(), store.state.dream(first).unwrap().undo.unwrap().summary);
    store.undo_at(summary);
    assert_eq!(store.candidates(all()), ["changed"], "restored by the redo; the other is reviewed again");
}

#[test]
fn expired_entries_and_reports_are_never_candidates() {
    let mut store = Store::new();
    store.ok(Command::Commit(Commit { ttl: Some(1.0), ..commit("short", "v") }));
    store.commit("k", "v");
    store.dream(&[]);
    store.step(2 * SECOND);
    let everything = DreamStart { include_reviewed: true, since: Some(store.now.plus(-DAY)), ..all() };
    assert_eq!(store.candidates(everything), ["k"]);
}

#[test]
fn a_forgotten_entry_is_no_candidate_and_its_successor_is() {
    let mut store = Store::new();
    store.commit("k", "v");
    store.forget("k");
    assert_eq!(store.candidates(all()), [""; 0]);
    store.commit("k", "w");
    assert_eq!(store.candidates(all()), ["k"]);
}

#[test]
fn a_change_undone_by_itself_counts_for_the_next_dream() {
    let mut store = Store::new();
    store.commit("k", "v");
    let dream = store.dream(&[Act::Revise("k", "w")]);
    let page = store.state.dream(dream).unwrap().own[0];
    store.undo(Selection::Seqs(vec![page]));
    assert_eq!(store.candidates(all()), ["k"]);
}

#[test]
fn a_mark_that_is_lost_by_an_undo_passes_nothing_over() {
    let mut store = Store::new();
    store.commit("k", "v");
    let first = store.dream(&[Act::Revise("k", "w")]);
    store.commit("seen", "v");
    look(&mut store, all());
    store.commit("waiting", "v");
    store.step(20 * DAY).undo(Selection::Dream(first));
    assert_eq!(store.candidates(all()), ["k", "waiting"], "waiting is older than seven days and not forgotten");
}

#[test]
fn the_prefix_is_literal_and_any_spelling_of_it_will_do() {
    let mut store = Store::new();
    store.commit("caf\u{e9}/1", "v");
    store.commit("caf\u{e9} 2", "v");
    let prefix = |text: &str| DreamStart { prefix: Some(text.into()), ..all() };
    assert_eq!(store.candidates(prefix("cafe\u{301}/")), ["caf\u{e9}/1"]);
    assert_eq!(store.candidates(prefix("caf\u{e9} ")), ["caf\u{e9} 2"], "white space counts");
    assert_eq!(store.candidates(prefix("*")), [""; 0]);
}
