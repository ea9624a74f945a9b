//! The past: entries as they stood, and what lies between two points.

use bilinc::{At, Commit, Diff, DiffItem, DiffQuery, Json, Seq, Snapshot, SnapshotId};

use crate::support::*;

fn diff(bench: &Bench, from: At, to: At) -> Diff {
    bench.memory.diff(&DiffQuery { from, to, include_values: true, limit: 100 }).unwrap()
}

fn keys(items: &[DiffItem]) -> Vec<&str> {
    items.iter().map(|item| item.key.as_str()).collect()
}

fn short_lived(name: &str, ttl: f64) -> Commit {
    Commit { ttl: Some(ttl), ..commit(name, "soon gone") }
}

fn at(seconds: i64) -> At {
    At::Time(START.plus(seconds * SECOND))
}

/// The same three lists with their roles turned round.
fn assert_mirrors(there: &Diff, back: &Diff) {
    assert_eq!(keys(&there.added), keys(&back.removed));
    assert_eq!(keys(&there.removed), keys(&back.added));
    assert_eq!(keys(&there.modified), keys(&back.modified));
    assert_eq!(there.counts, [back.counts[2], back.counts[1], back.counts[0]]);
}

#[test]
fn a_diff_tells_what_was_added_modified_and_removed_in_both_directions() {
    let bench = Bench::new();
    for name in ["kept", "changed", "gone", "back"] {
        bench.put(name, "one");
    }
    let snapshot = bench.memory.snapshot(Snapshot::default()).unwrap().answer;
    bench.revise("changed", "two");
    bench.forget("gone");
    let forgotten = bench.forget("back");
    bench.undo(forgotten);
    bench.put("new", "one");
    bench.put("brief", "one");
    bench.forget("brief");
    bench.memory.flag(flag("kept")).unwrap();
    let there = diff(&bench, At::Snapshot(snapshot.id), At::Now);
    assert_eq!(keys(&there.added), ["new"]);
    assert_eq!(keys(&there.modified), ["changed"], "what came back as it was is not modified");
    assert_eq!(keys(&there.removed), ["gone"]);
    let changed = &there.modified[0];
    let sides = [&changed.before, &changed.after].map(|side| side.as_ref().unwrap().value.clone());
    assert_eq!(sides, [Some(Json::string("one")), Some(Json::string("two"))]);
    let gone = &there.removed[0];
    assert!(gone.values_redacted && gone.before.as_ref().unwrap().value.is_none() && gone.after.is_none());
    assert_mirrors(&there, &diff(&bench, At::Now, At::Snapshot(snapshot.id)));
    assert_eq!(diff(&bench, At::Position(snapshot.seq), At::Now).counts, there.counts);
    assert_eq!(diff(&bench, At::Now, At::Now).counts, [0, 0, 0]);
}

#[test]
fn a_diff_cut_at_its_limit_still_counts_all() {
    let bench = Bench::new();
    for index in 0..5 {
        bench.put(&format!("k{index}"), "v");
    }
    let query = DiffQuery { from: At::Position(Seq::ZERO), to: At::Now, include_values: false, limit: 2 };
    let cut = bench.memory.diff(&query).unwrap();
    assert_eq!((cut.counts, cut.added.len(), cut.truncated), ([5, 0, 0], 2, true));
    assert!(cut.added.iter().all(|item| item.after.as_ref().unwrap().value.is_none()));
}

#[test]
fn what_expired_between_two_points_is_removed_although_no_event_says_so() {
    let bench = Bench::new();
    bench.memory.commit(short_lived("brief", 10.0)).unwrap();
    assert_eq!(keys(&diff(&bench, at(5), at(20)).removed), ["brief"]);
    let snapshot = bench.memory.snapshot(Snapshot::default()).unwrap().answer.id;
    bench.clock.advance(20 * SECOND);
    let there = diff(&bench, At::Snapshot(snapshot), At::Now);
    assert_eq!(keys(&there.removed), ["brief"]);
    assert_mirrors(&there, &diff(&bench, At::Now, At::Snapshot(snapshot)));
    assert_mirrors(&diff(&bench, at(5), at(20)), &diff(&bench, at(20), at(5)));
    // The same question about the past has the same answer once the key has a new life.
    bench.clock.advance(20 * SECOND);
    bench.memory.commit(commit("brief", "made anew")).unwrap();
    assert_eq!(keys(&diff(&bench, at(5), at(20)).removed), ["brief"]);
    assert_mirrors(&diff(&bench, at(5), at(20)), &diff(&bench, at(20), at(5)));
    assert_eq!(keys(&diff(&bench, at(20), At::Now).added), ["brief"]);
}

#[test]
fn an_entry_lives_through_the_last_moment_of_its_ttl() {
    let bench = Bench::new();
    bench.memory.commit(short_lived("brief", 10.0)).unwrap();
    bench.clock.set(START.plus(10 * SECOND));
    assert!(bench.memory.get("brief").unwrap().is_some());
    assert!(bench.memory.get_at("brief", at(10)).unwrap().is_some());
    bench.clock.advance(1);
    assert!(bench.memory.get("brief").unwrap().is_none());
    assert_eq!(bench.memory.revise(revise("brief", "late")).unwrap_err().code(), "memory_not_found");
    assert_eq!(bench.memory.forget(forget("brief")).unwrap_err().code(), "memory_not_found");
    assert!(bench.memory.get_at("brief", at(10)).unwrap().is_some());
    assert!(bench.memory.get_at("brief", at(11)).unwrap().is_none());
    assert_eq!(bench.memory.status().unwrap().counts.entries(), 0);
    let recreated = bench.memory.commit(Commit { if_absent: true, ..commit("brief", "anew") }).unwrap().answer;
    assert_eq!(recreated.op, bilinc::ChangeOp::Create);
    assert_eq!(bench.entry("brief").entry.created_at, bench.now());
    let history = bench.memory.history("brief", 10, true).unwrap();
    assert!(history.items[0].before.is_none(), "what had expired is not what it replaced");
    bench.assert_sound();
}

#[test]
fn a_time_means_the_last_position_recorded_at_or_before_it() {
    let bench = Bench::new();
    bench.put("a", "one");
    let first = bench.now();
    bench.clock.advance(MINUTE);
    bench.put("a", "two");
    let value = |at: At| {
        let entry = bench.memory.get_at("a", at).unwrap();
        entry.map(|entry| entry.value.unwrap().as_plain_string().unwrap())
    };
    assert_eq!(value(At::Time(first.plus(-1))), None);
    assert_eq!(value(At::Time(first)).as_deref(), Some("one"));
    assert_eq!(value(At::Time(first.plus(MINUTE))).as_deref(), Some("one"));
    assert_eq!(value(At::Time(bench.now())).as_deref(), Some("two"));
    assert_eq!(value(At::Position(Seq::new(1))).as_deref(), Some("one"));
    assert_eq!(value(At::Position(Seq::ZERO)), None);
}

#[test]
fn a_clock_that_steps_back_disorders_nothing() {
    let bench = Bench::new();
    bench.put("a", "one");
    let late = bench.now();
    bench.clock.advance(-MINUTE);
    bench.put("b", "two");
    assert_eq!(bench.entry("b").entry.created_at, late);
    bench.clock.advance(-30 * DAY);
    bench.memory.commit(commit("c", "three")).unwrap();
    assert_eq!(bench.entry("c").entry.created_at, bench.now(), "a far-future time drags nothing along");
    let events = bench.memory.recorded(Seq::ZERO).unwrap();
    assert_eq!(events.iter().map(|event| event.operation.clock_back).collect::<Vec<_>>(), [false, false, true]);
    bench.assert_sound();
}

#[test]
fn points_that_are_not_there_are_refused() {
    let bench = Bench::new();
    bench.put("a", "one");
    let ahead = bench.memory.get_at("a", At::Position(Seq::new(2))).unwrap_err();
    assert_eq!(invalid(ahead), ("as_of".to_owned(), "out_of_range"));
    let nowhere = SnapshotId::from_u128(9);
    assert_eq!(bench.memory.get_at("a", At::Snapshot(nowhere)).unwrap_err().code(), "snapshot_not_found");
    let query = DiffQuery { from: At::Snapshot(nowhere), to: At::Now, include_values: false, limit: 1 };
    assert_eq!(bench.memory.diff(&query).unwrap_err().code(), "snapshot_not_found");
    assert_eq!(invalid(bench.memory.get("\u{7}").unwrap_err()), ("key".to_owned(), "invalid_key"));
}

#[test]
fn history_names_each_change_with_what_was_before_and_after() {
    let bench = Bench::new();
    bench.put("a", "one");
    bench.revise("a", "two");
    bench.tick();
    bench.memory.acting_as(actor("person")).confirm(confirm("a")).unwrap();
    bench.memory.flag(flag("a")).unwrap();
    let history = bench.memory.history(" a ", 10, true).unwrap();
    let ops: Vec<_> = history.items.iter().map(|item| item.op.name()).collect();
    assert_eq!(ops, ["flag", "confirm", "update", "create"]);
    assert_eq!(&*history.items[1].source, "person");
    let update = &history.items[2];
    let sides = [&update.before, &update.after].map(|side| side.as_ref().unwrap().value.clone().unwrap());
    assert_eq!(sides, ["one", "two"].map(Json::string));
    assert!(history.items[3].before.is_none() && history.exists && !history.truncated);
    let short = bench.memory.history("a", 2, false).unwrap();
    assert_eq!((short.items.len(), short.truncated), (2, true));
    assert_eq!(short.items[0].seq, history.items[0].seq);
    assert!(short.items[0].after.as_ref().unwrap().value.is_none());
    let unknown = bench.memory.history("never used", 10, true).unwrap();
    assert!(unknown.items.is_empty() && !unknown.exists);
}
