//! The same request twice, and another one under its name.

use bilinc::{Actor, Commit, ImportOptions, Memory, Rejection, Revise, limits};

use crate::support::*;

#[test]
fn a_repeated_request_gets_the_first_answer_and_writes_nothing() {
    let bench = Bench::new();
    let keyed = bench.memory.with_idempotency_key("once");
    let first = keyed.commit(commit("a", "v")).unwrap();
    bench.revise("a", "changed since");
    let head = bench.head();
    for memory in [keyed.clone(), bench.open_again().with_idempotency_key("once")] {
        let again = memory.commit(commit("a", "v")).unwrap();
        assert!(again.replayed && !first.replayed);
        assert_eq!(again.answer, first.answer);
    }
    assert_eq!(bench.head(), head);
    assert_eq!(bench.value("a").as_deref(), Some("changed since"));
}

#[test]
fn another_payload_under_a_name_is_refused_whatever_its_kind() {
    let bench = Bench::new();
    let keyed = bench.memory.with_idempotency_key("once");
    keyed.commit(commit("a", "v")).unwrap();
    let head = bench.head();
    let conflict = |result: Result<(), bilinc::Error>| {
        assert_eq!(rejection(result.unwrap_err()), Rejection::IdempotencyConflict);
    };
    conflict(keyed.commit(commit("a", "w")).map(|_| ()));
    conflict(keyed.commit(Commit { if_absent: true, ..commit("a", "v") }).map(|_| ()));
    conflict(keyed.revise(revise("a", "v")).map(|_| ()));
    conflict(keyed.forget(forget("missing")).map(|_| ()));
    conflict(keyed.snapshot(bilinc::Snapshot::default()).map(|_| ()));
    let line = br#"{"key":"a","value":"v"}"#;
    conflict(keyed.import(&line[..], ImportOptions::default(), &mut |_, _| {}).map(|_| ()));
    assert_eq!(bench.head(), head);
}

#[test]
fn refusals_and_dry_runs_are_not_remembered() {
    let bench = Bench::new();
    let keyed = bench.memory.with_idempotency_key("once");
    assert!(keyed.revise(revise("a", "v")).is_err());
    let seq = bench.memory.commit(commit("a", "v")).unwrap().answer.seq;
    let undo = bilinc::Undo { dry_run: true, ..undo_seq(seq) };
    keyed.undo(undo).unwrap();
    assert!(!keyed.revise(revise("a", "v")).unwrap().replayed);
}

#[test]
fn a_name_is_free_again_after_a_day() {
    let bench = Bench::new();
    let keyed = bench.memory.with_idempotency_key("once");
    keyed.commit(commit("a", "v")).unwrap();
    bench.clock.advance(limits::IDEMPOTENCY_MICROS);
    assert!(keyed.commit(commit("a", "v")).unwrap().replayed);
    bench.clock.advance(1);
    assert!(!keyed.commit(commit("a", "w")).unwrap().replayed);
    assert!(keyed.commit(commit("a", "w")).unwrap().replayed);
    bench.assert_sound();
}

#[test]
fn a_malformed_name_is_refused() {
    let bench = Bench::new();
    for name in ["", &"x".repeat(limits::IDEMPOTENCY_KEY_CHARS + 1)] {
        let refused = bench.memory.with_idempotency_key(name).commit(commit("a", "v")).unwrap_err();
        assert_eq!(invalid(refused), ("idempotency_key".to_owned(), "out_of_range"));
    }
}

#[test]
fn the_longest_name_works_for_requests_of_several_operations() {
    let bench = Bench::new();
    let name = "ğ".repeat(limits::IDEMPOTENCY_KEY_CHARS);
    let lines: String = (0..2_500).map(|index| format!("{{\"key\":\"k{index}\",\"value\":1}}\n")).collect();
    let import = |memory: &Memory| {
        let keyed = memory.with_idempotency_key(&name);
        keyed.import(lines.as_bytes(), ImportOptions::default(), &mut |_, _| {}).unwrap()
    };
    let first = import(&bench.memory);
    let again = import(&bench.memory);
    assert!(again.replayed && !first.replayed);
    assert_eq!(again.answer, first.answer);
    assert_eq!(bench.head().get(), 2_503);
}

#[test]
fn a_refused_write_leaves_the_log_as_it_was() {
    let bench = Bench::new();
    let version = bench.put("a", "v");
    let other = bench.revise("a", "w");
    bench.memory.confirm(confirm("a")).unwrap();
    let head = bench.memory.head().unwrap();
    let stale = Revise { expected_version: Some(version), ..revise("a", "x") };
    let Rejection::VersionConflict { expected, current, change, .. } =
        rejection(bench.memory.revise(stale).unwrap_err())
    else {
        panic!()
    };
    assert_eq!((expected, current), (version, bench.version("a")));
    assert_ne!(current, other);
    assert_eq!(change.unwrap().op, bilinc::ChangeOp::Confirm);
    let absent = Commit { expected_version: Some(version), ..commit("missing", "v") };
    assert_eq!(bench.memory.commit(absent).unwrap_err().code(), "memory_not_found");
    let exists = Commit { if_absent: true, ..commit("a", "v") };
    assert_eq!(bench.memory.commit(exists).unwrap_err().code(), "memory_exists");
    let reserved = bench.memory.commit(commit(" bilinc:dream:x", "v")).unwrap_err();
    assert_eq!(invalid(reserved), ("key".to_owned(), "reserved_key"));
    bench.memory.commit(commit("Bilinc:Dream:x", "an ordinary key")).unwrap();
    assert_eq!(
        bench.memory.unflag(bilinc::Unflag { key: key("a"), reason: None, expected_version: None }).unwrap_err().code(),
        "invalid_request"
    );
    let loud = Actor { source: "x".repeat(257).into(), session_id: None };
    let refused = bench.memory.acting_as(loud).commit(commit("a", "v")).unwrap_err();
    assert_eq!(invalid(refused), ("source".to_owned(), "out_of_range"));
    assert_eq!(bench.head(), head.seq.plus(1));
    bench.assert_sound();
}

#[test]
fn a_read_only_handle_refuses_writes_and_reads_on() {
    let bench = Bench::new();
    bench.put("a", "v");
    let reader = bench.builder().read_only(true).open_in(std::sync::Arc::clone(&bench.storage)).unwrap();
    assert_eq!(reader.commit(commit("a", "w")).unwrap_err().code(), "read_only");
    assert!(reader.status().unwrap().read_only.is_some());
    bench.revise("a", "w");
    assert_eq!(value_of(&reader, "a").as_deref(), Some("w"));
    assert!(reader.verify(&mut |_, _| {}).unwrap().state_equal);
}

#[test]
fn a_store_that_must_exist_is_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nothing");
    let missing = Memory::builder().create(false).open(&path).unwrap_err();
    assert_eq!(missing.code(), "not_found");
    assert!(!path.exists());
}
