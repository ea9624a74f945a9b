//! Sizes at the limits.

use bilinc::{Commit, DreamStart, ImportOptions, Json, Selection, Undo, limits};

use crate::support::*;

fn import(bench: &Bench, lines: &str) -> bilinc::ImportSummary {
    bench.tick();
    bench.memory.import(lines.as_bytes(), ImportOptions::default(), &mut |_, _| {}).unwrap().answer
}

#[test]
fn an_import_longer_than_an_operation_may_be_is_split_and_undone_as_one() {
    let bench = Bench::new();
    let value = "x".repeat(limits::VALUE_BYTES - 2);
    let lines: String = (0..36).map(|index| format!("{{\"key\":\"k{index}\",\"value\":\"{value}\"}}\n")).collect();
    let summary = import(&bench, &lines);
    assert_eq!((summary.created, bench.head().get()), (36, 38), "two operations");
    let undo = Undo { selection: Selection::Import(summary.import), dry_run: false };
    assert_eq!(bench.memory.undo(undo).unwrap().answer.undone.restored.len(), 36);
    assert_eq!(bench.memory.status().unwrap().counts.entries(), 0);
}

#[test]
fn the_last_of_many_imports_of_the_same_keys_is_undone() {
    // Each key's chain goes through every one of these operations.
    let bench = Bench::new();
    let lines = |round: usize| -> String {
        (0..300).map(|index| format!("{{\"key\":\"k{index}\",\"value\":{round}}}\n")).collect()
    };
    let mut last = None;
    for round in 0..40 {
        last = Some(import(&bench, &lines(round)).import);
    }
    let undo = Undo { selection: Selection::Import(last.unwrap()), dry_run: false };
    assert_eq!(bench.memory.undo(undo).unwrap().answer.undone.restored.len(), 300);
    assert_eq!(bench.value("k299").as_deref(), Some("38"));
}

#[test]
fn values_metadata_and_keys_at_their_limits_are_kept_and_above_them_refused() {
    let bench = Bench::new();
    let value = |bytes: usize| Json::string(&"x".repeat(bytes - 2));
    let metadata = |bytes: usize| Json::from_recorded(&format!(r#"{{"m":"{}"}}"#, "x".repeat(bytes - 8)));
    let longest = "ğ".repeat(limits::KEY_CHARS);
    let whole = Commit {
        metadata: Some(metadata(limits::METADATA_BYTES)),
        ..Commit::new(key(&longest), value(limits::VALUE_BYTES))
    };
    bench.memory.commit(whole.clone()).unwrap();
    assert_eq!(bench.entry(&longest).value, Some(value(limits::VALUE_BYTES)));
    assert_eq!(bench.entry(&longest).metadata, whole.metadata);
    let large = Commit { value: value(limits::VALUE_BYTES + 1), ..whole.clone() };
    assert_eq!(invalid(bench.memory.commit(large).unwrap_err()), ("value".to_owned(), "too_large"));
    let large = Commit { metadata: Some(metadata(limits::METADATA_BYTES + 1)), ..whole };
    assert_eq!(invalid(bench.memory.commit(large).unwrap_err()), ("metadata".to_owned(), "too_large"));
    let nested = format!("{}1{}", "[".repeat(limits::JSON_DEPTH), "]".repeat(limits::JSON_DEPTH));
    bench.memory.commit(Commit::new(key("deep"), json(&nested))).unwrap();
    assert_eq!(bench.entry("deep").value.unwrap().as_str(), nested);
    bench.assert_sound();
}

#[test]
fn a_dream_takes_two_hundred_candidates_and_counts_the_rest() {
    let bench = Bench::new();
    let lines: String = (0..450).map(|index| format!("{{\"key\":\"k{index}\",\"value\":1}}\n")).collect();
    import(&bench, &lines);
    // With `since` set far back, dreams walk through the whole store.
    let start = DreamStart { since: Some(START), ..DreamStart::default() };
    let mut seen = std::collections::BTreeSet::new();
    for (given, more) in [(200, 250), (200, 50), (50, 0)] {
        bench.tick();
        let started = bench.memory.dream_start(start.clone()).unwrap().answer;
        assert_eq!((started.candidates.len(), started.more_candidates), (given, more));
        assert!(started.candidates.iter().all(|one| seen.insert(one.memory.key.clone())), "given twice");
        bench.memory.dream_apply(started.dream.unwrap(), Vec::new(), None, false).unwrap();
    }
    assert_eq!(bench.memory.dream_start(start).unwrap().answer.dream, None);
}
