//! One rule for every read: a value is hidden when a forget that stands comes after it.

use bilinc::{At, DiffQuery, LogQuery, Memory, RecallQuery, Seq};

use crate::support::*;

const SECRET: &str = "zebra-crossing";

/// Everything that any read says of the key, in one text.
fn all_reads(memory: &Memory, name: &str, at: Seq) -> String {
    let head = memory.head().unwrap().seq;
    let diff = DiffQuery { from: At::Position(Seq::ZERO), to: At::Position(at), include_values: true, limit: 10 };
    let mut query = RecallQuery::new("zebra crossing");
    query.query_timestamp = Some(memory.now());
    let then = memory.get_at(name, At::Position(at)).unwrap();
    format!(
        "{then:?} {:?} {:?} {:?} {:?} {:?}",
        memory.get(name).unwrap().filter(|_| head == at),
        memory.history(name, 100, true).unwrap(),
        memory.diff(&diff).unwrap(),
        memory.log(&LogQuery { include_values: true, ..LogQuery::default() }).unwrap(),
        memory.recall(&query).unwrap(),
    )
}

#[test]
fn a_forgotten_value_is_in_no_read_until_the_forget_is_undone() {
    let bench = Bench::new();
    bench.put("a", SECRET);
    let then = bench.head();
    bench.revise("a", "harmless");
    let forgotten = bench.forget("a");
    bench.tick();
    assert!(!all_reads(&bench.memory, "a", then).contains(SECRET));
    let entry = bench.memory.get_at("a", At::Position(then)).unwrap().unwrap();
    assert_eq!((entry.value, entry.metadata, entry.values_redacted), (None, None, true));
    let history = bench.memory.history("a", 10, true).unwrap();
    assert!(!history.exists && history.items.iter().all(|item| item.values_redacted), "{history:?}");
    let page = bench.memory.log(&LogQuery { include_values: true, ..LogQuery::default() }).unwrap();
    assert_eq!(page.events.iter().map(|event| event.values_redacted).collect::<Vec<_>>(), [false, true, true]);

    bench.undo(forgotten);
    let shown = all_reads(&bench.memory, "a", then);
    assert!(shown.contains(SECRET));
    let entry = bench.memory.get_at("a", At::Position(then)).unwrap().unwrap();
    assert!(!entry.values_redacted && entry.value.is_some());
    bench.assert_sound();
}

#[test]
fn a_new_entry_under_a_forgotten_key_shows_only_its_own_value() {
    let bench = Bench::new();
    bench.put("a", SECRET);
    let then = bench.head();
    bench.forget("a");
    bench.put("a", "fresh");
    bench.tick();
    let shown = all_reads(&bench.memory, "a", then);
    assert!(!shown.contains(SECRET) && shown.contains("fresh"), "{shown}");
    let history = bench.memory.history("a", 10, true).unwrap();
    assert_eq!(history.items.iter().map(|item| item.values_redacted).collect::<Vec<_>>(), [false, true, true]);
}

#[test]
fn a_past_recall_leaves_out_what_a_later_forget_hides() {
    let bench = Bench::new();
    bench.put("kept", "zebra stripes");
    bench.put("gone", "zebra crossing");
    let time = bench.now();
    let forgotten = bench.forget("gone");
    let mut query = RecallQuery::new("zebra");
    query.query_timestamp = Some(time);
    let keys = |bench: &Bench| -> Vec<String> {
        bench.memory.recall(&query).unwrap().iter().map(|hit| hit.memory.key.to_string()).collect()
    };
    assert_eq!(keys(&bench), ["kept"]);
    bench.undo(forgotten);
    let mut both = keys(&bench);
    both.sort();
    assert_eq!(both, ["gone", "kept"]);
}

#[test]
fn two_forgets_hide_until_both_are_undone() {
    let bench = Bench::new();
    bench.put("a", SECRET);
    let then = bench.head();
    let first = bench.forget("a");
    bench.put("a", "second life");
    let second = bench.forget("a");
    let redacted = |bench: &Bench| bench.memory.get_at("a", At::Position(then)).unwrap().unwrap().values_redacted;
    bench.undo(second);
    assert_eq!(bench.value("a").as_deref(), Some("second life"));
    assert!(redacted(&bench));
    // The commit over the first forget goes first, then the forget itself.
    let commit = Seq::new(first.get() + 1);
    bench.undo(commit);
    bench.undo(first);
    assert_eq!(bench.value("a").as_deref(), Some(SECRET));
    assert!(!redacted(&bench));
    bench.assert_sound();
}

#[test]
fn refusals_about_a_forgotten_entry_say_nothing_of_its_value() {
    let bench = Bench::new();
    let version = bench.put("a", SECRET);
    bench.forget("a");
    let mut late = revise("a", "later");
    late.expected_version = Some(version);
    let refusals = [
        bench.memory.revise(late).unwrap_err(),
        bench.memory.forget(forget("a")).unwrap_err(),
        bench.memory.confirm(confirm("a")).unwrap_err(),
        bench.memory.flag(flag("a")).unwrap_err(),
    ];
    for refusal in refusals {
        assert_eq!(refusal.code(), "memory_not_found");
        assert!(!format!("{refusal} {refusal:?}").contains(SECRET));
    }
}

#[test]
fn a_replayed_answer_of_a_dream_start_shows_no_value_forgotten_since() {
    let bench = Bench::new();
    bench.put("a", SECRET);
    bench.put("b", "harmless");
    let keyed = bench.memory.with_idempotency_key("start");
    let first = keyed.dream_start(bilinc::DreamStart::default()).unwrap().answer;
    assert_eq!(first.candidates.len(), 2);
    bench.forget("a");
    let again = keyed.dream_start(bilinc::DreamStart::default()).unwrap();
    assert!(again.replayed);
    assert_eq!(again.answer.dream, first.dream);
    assert!(!format!("{again:?}").contains(SECRET));
    assert!(!format!("{:?}", bench.memory.dream(first.dream.unwrap()).unwrap()).contains(SECRET));
}

#[test]
fn a_redone_forget_hides_again() {
    let bench = Bench::new();
    bench.put("a", SECRET);
    let then = bench.head();
    let forgotten = bench.forget("a");
    let undone = bench.undo(forgotten);
    let back = bench.head();
    assert!(all_reads(&bench.memory, "a", then).contains(SECRET));
    bench.undo(undone.seq.unwrap());
    bench.tick();
    for at in [then, back] {
        assert!(!all_reads(&bench.memory, "a", at).contains(SECRET), "as of {at}");
    }
    bench.assert_sound();
}

#[test]
fn an_entry_that_a_rollback_brought_back_shows_only_what_it_names() {
    let bench = Bench::new();
    let with_metadata = bilinc::Commit { metadata: Some(json(r#"{"kept":true}"#)), ..commit("a", SECRET) };
    bench.memory.commit(with_metadata).unwrap();
    let then = bench.head();
    bench.revise("a", "harmless");
    let snapshot = bench.memory.snapshot(bilinc::Snapshot::default()).unwrap().answer.id;
    bench.forget("a");
    let preview = bench.memory.rollback_preview(snapshot, "back", 10).unwrap();
    bench.memory.rollback(snapshot, "back", &preview.confirmation_token).unwrap();
    bench.tick();
    assert_eq!(bench.value("a").as_deref(), Some("harmless"));
    // The metadata lies in the body that also holds the forgotten value.
    assert_eq!(bench.entry("a").metadata, Some(json(r#"{"kept":true}"#)));
    assert!(!all_reads(&bench.memory, "a", then).contains(SECRET));
}
