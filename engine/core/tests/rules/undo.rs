//! Undo of anything: which events a selection names, and what their undo does.

use bilinc_core::{ChangeOp, Command, DreamPhase, Rejection, Selection, Seq, Undo};

use crate::harness::{Act, HOUR, Store, flag, sorted, undo_of};

fn seqs(numbers: &[Seq]) -> Selection {
    Selection::Seqs(numbers.to_vec())
}

/// The value of each of these keys.
fn values(store: &Store, names: &[&str]) -> Vec<Option<String>> {
    names.iter().map(|name| store.value(name)).collect()
}

fn some(values: &[&str]) -> Vec<Option<String>> {
    values.iter().map(|value| Some((*value).to_owned())).collect()
}

#[test]
fn an_undone_create_is_removed_and_an_undone_replace_goes_back_whole() {
    let mut store = Store::new();
    store.commit("k", "v");
    let create = store.state.head();
    store.flag("k", "look");
    store.confirm("k");
    let before = store.there("k").clone();
    store.step(HOUR).commit("k", "w");
    let replace = store.state.head();
    let (undone, _) = store.undo_at(replace);
    let after = store.there("k").clone();
    assert_eq!(
        (after.value_at, after.confirmed_at, &after.flags),
        (before.value_at, before.confirmed_at, &before.flags)
    );
    assert_eq!((undone.restored[0].op.as_ref(), undone.restored[0].undone), ("update", replace));
    let last = store.log.facts(store.state.slot("k").unwrap().head).clone();
    assert_eq!((last.change_op(), last.event.undoes()), (Some(ChangeOp::Restore), [replace].as_slice()));
    // The confirm came after the create and was not asked for.
    let (undone, summary) = store.undo_at(create);
    assert_eq!((sorted(&undone).1, summary), (vec!["k"], None));
    store.undo(Selection::Range(create, store.state.head()));
    assert_eq!(store.entry("k"), None);
}

#[test]
fn an_undone_forget_comes_back_with_metadata_and_flags() {
    let mut store = Store::new();
    store.commit("k", "v");
    store.flag("k", "look");
    let before = store.there("k").clone();
    store.step(HOUR).forget("k");
    let forget = store.state.head();
    let (undone, _) = store.undo_at(forget);
    let after = store.there("k");
    assert_eq!((&after.facts, &after.flags, after.created_at), (&before.facts, &before.flags, before.created_at));
    assert_eq!((after.updated_at, undone.metadata_restored), (store.now, true));
}

#[test]
fn flags_and_their_clearing_are_undone_without_a_new_version() {
    let mut store = Store::new();
    let version = store.commit("k", "v");
    let one = store.flag("k", "one");
    store.flag("k", "two");
    store.unflag("k");
    let clearing = store.state.head();
    store.undo_at(clearing);
    assert_eq!(store.flags("k"), ["one", "two"]);
    store.undo_at(one);
    assert_eq!((store.flags("k"), store.version("k")), (vec!["two".into()], version));
    let (undone, summary) = store.undo_at(one);
    assert_eq!((sorted(&undone).2, summary), (vec!["k"], None), "it is undone already");
    store.undo_at(clearing);
    assert_eq!(store.flags("k"), ["two"], "and so it is no flag to bring back");
}

#[test]
fn a_cleared_flag_does_not_return_on_another_entry_of_that_key() {
    let mut store = Store::new();
    store.commit("k", "v");
    store.flag("k", "look");
    store.unflag("k");
    let clearing = store.state.head();
    store.forget("k");
    store.commit("k", "another");
    assert_eq!(sorted(&store.undo_at(clearing).0).2, ["k"]);
    assert!(store.flags("k").is_empty());
}

#[test]
fn a_session_with_a_clearing_and_a_forget_gives_the_flags_back() {
    let mut store = Store::new();
    store.commit("k", "v");
    store.flag("k", "look");
    store.in_session("s").unflag("k");
    store.forget("k");
    store.undo(Selection::Session("s".into()));
    assert_eq!(store.flags("k"), ["look"]);
}

#[test]
fn a_session_or_a_source_takes_back_its_own_and_nothing_else() {
    let mut store = Store::new();
    store.commit("a", "ada's");
    store.commit("b", "ada's");
    store.by("bob").in_session("s1").revise("a", "bob's");
    store.commit("c", "bob's");
    store.in_session("s2").revise("b", "bob's");
    store.flag("b", "bob's flag");
    let mut by_session = store.clone();
    let (undone, _) = by_session.undo(Selection::Session("s1".into()));
    assert_eq!(sorted(&undone), (vec!["a", "c"], vec![], vec![]));
    assert_eq!(values(&by_session, &["a", "b"]), some(&["ada's", "bob's"]));
    let (undone, _) = store.undo(Selection::Source("bob".into()));
    assert_eq!(sorted(&undone), (vec!["a", "b", "c"], vec![], vec![]));
    assert_eq!((values(&store, &["a", "b"]), store.entry("c")), (some(&["ada's", "ada's"]), None));
    assert!(store.flags("b").is_empty());
}

#[test]
fn a_range_includes_both_ends_and_a_time_range_neither() {
    let mut store = Store::new();
    let mut times = Vec::new();
    for name in ["a", "b", "c", "d"] {
        store.step(HOUR).commit(name, "v");
        times.push(store.now);
    }
    let gone = |mut store: Store, selection| {
        store.undo(selection);
        ["a", "b", "c", "d"].into_iter().filter(|name| store.entry(name).is_none()).collect::<String>()
    };
    assert_eq!(gone(store.clone(), Selection::Range(Seq::new(2), Seq::new(3))), "bc");
    assert_eq!(gone(store.clone(), Selection::Range(Seq::new(4), Seq::MAX)), "d");
    let between = Selection::Time { after: Some(times[0]), before: Some(times[3]) };
    assert_eq!(gone(store.clone(), between), "bc");
    assert_eq!(gone(store.clone(), Selection::Time { after: Some(times[2]), before: None }), "d");
    assert_eq!(gone(store.clone(), Selection::Time { after: None, before: Some(times[1]) }), "a");
    let malformed = [
        Selection::Range(Seq::new(3), Seq::new(2)),
        Selection::Time { after: None, before: None },
        seqs(&[Seq::new(99)]),
        seqs(&[Seq::ZERO]),
    ];
    for selection in malformed {
        assert!(matches!(store.refused(undo_of(selection)), Rejection::Invalid { .. }));
    }
}

#[test]
fn single_positions_of_one_key_are_undone_together() {
    let mut store = Store::new();
    store.commit("k", "v");
    let (first, second) = (Seq::new(2), Seq::new(3));
    store.revise("k", "w");
    store.revise("k", "x");
    assert_eq!(sorted(&store.undo_at(first).0).1, ["k"], "what came after it would be lost");
    store.undo(seqs(&[first, second]));
    assert_eq!(store.value("k").unwrap(), "v");
}

#[test]
fn an_undo_and_what_it_took_back_cancel_out_when_both_are_selected() {
    let mut store = Store::new();
    store.commit("k", "v");
    store.by("bob").commit("k", "bob's");
    let bobs = store.state.head();
    store.undo_at(bobs);
    let version = store.version("k");
    let (undone, summary) = store.undo(Selection::Source("bob".into()));
    assert_eq!((sorted(&undone).2, summary, store.version("k")), (vec!["k"], None, version));
}

#[test]
fn starts_snapshots_finishes_and_reports_are_never_undone() {
    let mut store = Store::new();
    store.commit("k", "v");
    store.snapshot();
    let snapshot = store.state.head();
    let dream = store.start();
    let start = store.state.head();
    store.finish(dream, &[]);
    let (finish, report) = (start.plus(1), start.plus(2));
    for seq in [snapshot, start, finish, report] {
        let rejection = store.refused(undo_of(seqs(&[seq])));
        assert!(matches!(rejection, Rejection::Invalid { reason: "not_undoable", .. }), "{seq}");
    }
    let (undone, summary) = store.undo(Selection::Range(snapshot, report));
    assert_eq!((sorted(&undone), summary), ((vec![], vec![], vec![]), None));
    assert_eq!(store.phase(dream), DreamPhase::Finished);
}

#[test]
fn a_page_is_undone_by_its_own_position_and_a_dream_with_nothing_left_is_undone() {
    let mut store = Store::new();
    store.commit("a", "v");
    store.commit("b", "v");
    let dream = store.start();
    store.page(dream, &[Act::Revise("a", "w")]);
    let first = store.state.head();
    store.finish(dream, &[Act::Revise("b", "w")]);
    store.undo_at(first);
    assert_eq!((values(&store, &["a", "b"]), store.phase(dream)), (some(&["v", "w"]), DreamPhase::Finished));
    store.undo_at(first.plus(1));
    assert_eq!((values(&store, &["a", "b"]), store.phase(dream)), (some(&["v", "v"]), DreamPhase::Undone));
}

#[test]
fn a_dry_run_writes_nothing() {
    let mut store = Store::new();
    store.commit("k", "v");
    let head = store.state.head();
    let answer = store.ok(Command::Undo(Undo { selection: seqs(&[head]), dry_run: true }));
    assert!(answer.events.is_empty() && store.entry("k").is_some());
}

#[test]
fn nothing_to_do_writes_nothing() {
    let mut store = Store::new();
    store.commit("k", "v");
    for selection in [Selection::Session("none".into()), Selection::Source("none".into()), seqs(&[])] {
        let (undone, summary) = store.undo(selection);
        assert_eq!((sorted(&undone), summary), ((vec![], vec![], vec![]), None));
    }
}

#[test]
fn what_is_hidden_follows_the_forgets_that_stand() {
    let mut store = Store::new();
    store.commit("k", "v");
    store.forget("k");
    let first = store.state.head();
    assert_eq!(store.hidden_through("k"), first);
    let (_, undo) = store.undo_at(first);
    assert_eq!(store.hidden_through("k"), Seq::ZERO);
    let (_, redo) = store.undo_at(undo.unwrap());
    assert_eq!((store.hidden_through("k"), store.entry("k")), (first, None));
    store.undo_at(redo.unwrap());
    assert_eq!(store.hidden_through("k"), Seq::ZERO);
    store.forget("k");
    let second = store.state.head();
    store.commit("k", "anew");
    let create = store.state.head();
    assert_eq!(store.hidden_through("k"), second);
    store.undo(seqs(&[create]));
    assert_eq!((store.hidden_through("k"), store.entry("k")), (second, None));
    store.undo(seqs(&[second]));
    assert_eq!((store.hidden_through("k"), store.value("k").unwrap()), (Seq::ZERO, "v".into()));
}

#[test]
fn an_undo_over_an_older_forget_leaves_that_one_standing() {
    let mut store = Store::new();
    store.commit("k", "v");
    store.forget("k");
    let first = store.state.head();
    store.commit("k", "anew");
    store.forget("k");
    let second = store.state.head();
    store.undo_at(second);
    assert_eq!((store.hidden_through("k"), store.value("k").unwrap()), (first, "anew".into()));
}

#[test]
fn a_flag_of_the_selection_is_cleared_though_the_entry_is_a_conflict() {
    let mut store = Store::new();
    store.commit("k", "v");
    store.in_session("s").revise("k", "w");
    store.ok(Command::Flag(flag("k", "look")));
    store.actor.session_id = None;
    store.by("bob").revise("k", "bob's");
    let (undone, summary) = store.undo(Selection::Session("s".into()));
    assert_eq!((sorted(&undone).1, summary.is_some()), (vec!["k"], true));
    assert!(store.flags("k").is_empty());
}
