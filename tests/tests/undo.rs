//! Taking back any set of events, and what is not to be taken back.

use bilinc::{
    Actor, ChangeOp, DreamStart, LogQuery, Selection, Seq, Snapshot, Undo, UndoAnswer, UndoConflictReason, limits,
};

use crate::support::*;

fn undo(bench: &Bench, selection: Selection) -> UndoAnswer {
    bench.tick();
    let dry_run = Undo { selection: selection.clone(), dry_run: true };
    let head = bench.head();
    let would = bench.memory.undo(dry_run).unwrap().answer;
    assert_eq!(bench.head(), head, "a dry run wrote");
    assert_eq!(would.seq, None);
    let did = bench.memory.undo(Undo { selection, dry_run: false }).unwrap().answer;
    let keys = |answer: &UndoAnswer| answer.undone.restored.iter().map(|item| item.key.clone()).collect::<Vec<_>>();
    assert_eq!(keys(&would), keys(&did));
    bench.assert_sound();
    did
}

fn restored(answer: &UndoAnswer) -> Vec<&str> {
    answer.undone.restored.iter().map(|item| item.key.as_str()).collect()
}

/// Two writers on three keys, one after the other.
fn two_writers() -> Bench {
    let bench = Bench::new();
    let agent = bench.memory.acting_as(Actor { source: "agent".into(), session_id: Some("s".into()) });
    let person = bench.memory.acting_as(actor("person"));
    for (memory, name, value) in [
        (&person, "a", "by hand"),
        (&agent, "a", "by the agent"),
        (&agent, "b", "by the agent"),
        (&person, "b", "corrected"),
        (&agent, "c", "by the agent"),
    ] {
        bench.tick();
        memory.commit(commit(name, value)).unwrap();
    }
    bench
}

#[test]
fn a_writer_or_a_session_is_taken_back_where_nobody_came_after() {
    for selection in [Selection::Source("agent".into()), Selection::Session("s".into())] {
        let bench = two_writers();
        let answer = undo(&bench, selection.clone());
        assert_eq!(restored(&answer), ["a", "c"]);
        let conflict = &answer.undone.conflicts[0];
        assert_eq!((conflict.key.as_str(), conflict.reason), ("b", UndoConflictReason::Changed));
        let change = conflict.change.as_ref().unwrap();
        assert_eq!((&*change.source, change.op, change.seq), ("person", ChangeOp::Update, Seq::new(4)));
        assert_eq!(bench.value("a").as_deref(), Some("by hand"));
        assert_eq!(bench.value("b").as_deref(), Some("corrected"));
        assert_eq!(bench.value("c"), None);
        // The undo is one operation of its own, and its own undo is the redo.
        let redo = undo(&bench, Selection::Seqs(vec![answer.seq.unwrap()]));
        assert_eq!(restored(&redo), ["a", "c"]);
        assert_eq!(bench.value("a").as_deref(), Some("by the agent"));
        assert_eq!(bench.value("c").as_deref(), Some("by the agent"));
        assert_eq!(restored(&undo(&bench, selection)), ["a", "c"]);
        assert_eq!(bench.value("c"), None);
    }
}

#[test]
fn ranges_of_positions_and_times_take_back_the_same() {
    let by_position = two_writers();
    let answer = undo(&by_position, Selection::Range(Seq::new(2), Seq::new(4)));
    assert_eq!(restored(&answer), ["a", "b"]);
    let by_time = two_writers();
    let (after, before) = (Some(START.plus(SECOND)), Some(START.plus(5 * SECOND)));
    assert_eq!(restored(&undo(&by_time, Selection::Time { after, before })), ["a", "b"]);
    for bench in [by_position, by_time] {
        assert_eq!(bench.value("a").as_deref(), Some("by hand"));
        assert_eq!((bench.value("b"), bench.value("c").as_deref()), (None, Some("by the agent")));
    }
    let all = two_writers();
    undo(&all, Selection::Range(Seq::new(1), Seq::MAX));
    assert_eq!(all.memory.status().unwrap().counts.entries(), 0);
}

#[test]
fn everything_that_belonged_to_an_entry_comes_back() {
    let bench = Bench::new();
    let mut rich = commit("a", "v");
    rich.metadata = Some(json(r#"{"m":1}"#));
    (rich.canonical, rich.priority, rich.session_id) = (Some(true), Some(0.5), Some("s".into()));
    bench.memory.commit(rich).unwrap();
    bench.tick();
    bench.memory.confirm(confirm("a")).unwrap();
    bench.memory.flag(flag("a")).unwrap();
    let before = bench.entry("a");
    let forgotten = bench.forget("a");
    bench.clock.advance(30 * DAY);
    assert!(undo(&bench, Selection::Seqs(vec![forgotten])).undone.metadata_restored);
    let after = bench.entry("a");
    assert_eq!((&after.value, &after.metadata), (&before.value, &before.metadata));
    assert_eq!((&after.entry.facts, &after.entry.flags), (&before.entry.facts, &before.entry.flags));
    assert_eq!(after.entry.confirmed_at, before.entry.confirmed_at);
    assert_eq!((after.entry.created_at, after.entry.updated_at), (before.entry.created_at, bench.now()));
    assert_ne!(after.entry.version, before.entry.version);
}

#[test]
fn flags_are_taken_back_and_set_again() {
    let bench = Bench::new();
    bench.put("a", "v");
    let flagged = bench.memory.flag(flag("a")).unwrap().answer.seq;
    let version = bench.version("a");
    let undone = undo(&bench, Selection::Seqs(vec![flagged]));
    assert!(bench.entry("a").entry.flags.is_empty());
    undo(&bench, Selection::Seqs(vec![undone.seq.unwrap()]));
    let flags = bench.entry("a").entry.flags;
    assert_eq!((flags.len(), flags[0].seq), (1, flagged));
    assert_eq!(bench.version("a"), version, "flags change no version");
}

#[test]
fn what_is_no_change_of_an_entry_is_never_taken_back() {
    let bench = Bench::new();
    bench.put("a", "v");
    let snapshot = bench.memory.snapshot(Snapshot::default()).unwrap().answer.seq;
    bench.memory.dream_start(DreamStart::default()).unwrap();
    for seq in [snapshot, bench.head()] {
        let refused = bench.memory.undo(undo_seq(seq)).unwrap_err();
        assert_eq!(invalid(refused), ("seqs".to_owned(), "not_undoable"));
    }
    undo(&bench, Selection::Range(Seq::new(1), bench.head()));
    assert_eq!(bench.memory.snapshots(10).unwrap().len(), 1);
    assert_eq!(bench.memory.dreams(10).unwrap().len(), 1);
}

#[test]
fn selections_that_name_nothing_are_refused_or_empty() {
    let bench = two_writers();
    let head = bench.head();
    let refuse = |selection| {
        let refused = bench.memory.undo(Undo { selection, dry_run: false }).unwrap_err();
        invalid(refused)
    };
    assert_eq!(refuse(Selection::Seqs(vec![Seq::ZERO])).0, "seqs");
    assert_eq!(refuse(Selection::Seqs(vec![head.plus(1)])).0, "seqs");
    assert_eq!(refuse(Selection::Seqs(vec![Seq::new(1); limits::UNDO_SEQS + 1])).1, "too_many");
    assert_eq!(refuse(Selection::Range(Seq::new(3), Seq::new(2))).0, "from_seq");
    assert_eq!(refuse(Selection::Time { after: None, before: None }).1, "required");
    let nobody = Undo { selection: Selection::Source("nobody".into()), dry_run: false };
    let answer = bench.memory.undo(nobody).unwrap().answer;
    assert!(answer.undone.restored.is_empty() && answer.seq.is_none());
    let missing = Undo { selection: Selection::Dream(bilinc::DreamId::from_u128(5)), dry_run: false };
    assert_eq!(bench.memory.undo(missing).unwrap_err().code(), "dream_not_found");
    assert_eq!(bench.head(), head);
}

#[test]
fn history_and_log_tell_what_an_undo_took_back() {
    let bench = Bench::new();
    bench.put("a", "one");
    let revised = Seq::new(2);
    bench.revise("a", "two");
    bench.undo(revised);
    let item = &bench.memory.history("a", 1, true).unwrap().items[0];
    assert_eq!((item.op, &item.undoes[..]), (ChangeOp::Restore, &[revised][..]));
    let page = bench.memory.log(&LogQuery::default()).unwrap();
    assert_eq!(page.events.iter().map(|event| event.op).collect::<Vec<_>>(), ["undo", "restore", "revise", "create"]);
    assert_eq!(page.events[1].event.undoes(), [revised]);
}
