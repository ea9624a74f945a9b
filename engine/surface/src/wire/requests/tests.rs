#![allow(clippy::unwrap_used, clippy::panic)]
use bilinc::Json;

use super::*;

const SURFACE: Surface = Surface { source: "test", answer_bytes: None };

fn read<R: Read>(text: &str) -> Result<R, Rejection> {
    R::read_all(Members::of_body(text)?)
}

fn query(pairs: &[(&str, &str)]) -> Members<'static> {
    Members::of_query(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
}

#[track_caller]
fn refused<R: std::fmt::Debug>(read: Result<R, Rejection>, field: &str, reason: &str) {
    match read.unwrap_err() {
        Rejection::Invalid { field: found, reason: why, .. } => assert_eq!((found.as_str(), why), (field, reason)),
        other => panic!("{other}"),
    }
}

#[test]
fn what_one_surface_sends_another_reads_as_the_same() {
    let text = r#"{"key":"k","value":{"n":1.10},"memoryType":"working","importance":0.5,"metadata":{"m":1e400},"source":"s","sessionId":"i","canonical":true,"priority":0.25,"ttl":60.0,"ifAbsent":true,"expectedVersion":"v"}"#;
    let commit: CommitRequest = read(text).unwrap();
    assert_eq!(serde_json::to_string(&commit).unwrap(), text);
    let text = r#"{"id":"d","actions":[{"newValue":1.50}],"report":{"r":1.0},"final":true,"dryRun":false,"source":null,"sessionId":null}"#;
    let apply: DreamApplyRequest = read(text).unwrap();
    assert_eq!(serde_json::to_string(&apply).unwrap(), text);
}

#[test]
fn null_is_what_is_not_there_but_for_a_value() {
    let commit: CommitRequest = read(r#"{"key":"k","value":null,"metadata":null,"ttl":null}"#).unwrap();
    assert_eq!((commit.value.as_str(), commit.metadata, commit.ttl), ("null", None, None));
    refused(read::<CommitRequest>(r#"{"key":null,"value":1}"#), "key", "wrong_type");
}

#[test]
fn a_name_that_nobody_knows_is_told_before_one_that_is_missing() {
    refused(read::<CommitRequest>(r#"{"ky":"k","value":1}"#), "ky", "unknown_field");
    refused(read::<CommitRequest>(r#"{"value":1}"#), "key", "required");
    refused(read::<CommitRequest>(r#"{"key":7,"ky":1,"value":1}"#), "key", "wrong_type");
}

#[test]
fn lists_are_repeated_in_a_query_and_nothing_else_is() {
    let undo = UndoRequest::read_all(query(&[("seqs", "1"), ("dryRun", "true"), ("seqs", "2")])).unwrap();
    assert_eq!((undo.seqs, undo.dry_run), (Some(vec![1, 2]), Some(true)));
    refused(UndoRequest::read_all(query(&[("source", "a"), ("source", "b")])), "source", "duplicate_member");
    refused(UndoRequest::read_all(query(&[("fromSeq", "-1")])), "from_seq", "wrong_type");
}

#[test]
fn a_part_of_the_path_is_not_said_again() {
    let members = || Members::of_body(r#"{"id":"other"}"#).unwrap().with("id", "path");
    refused(DreamUndoRequest::read_all(members()), "id", "duplicate_member");
    let twice = query(&[("id", "other")]).with("id", "path");
    refused(DreamShowRequest::read_all(twice), "id", "duplicate_member");
}

#[test]
fn the_last_page_is_the_one_with_a_report_or_without_actions() {
    let memory = Memory::in_memory().unwrap();
    memory.commit(bilinc::Commit::new(Key::new("a").unwrap(), Json::string("v"))).unwrap();
    let dream = memory.dream_start(bilinc::DreamStart::default()).unwrap().answer.dream.unwrap();
    let state = |body: &str| {
        let request = DreamApplyRequest::read_all(Members::of_body(body).unwrap().with("id", &dream.to_string()));
        request.unwrap().prepare(&SURFACE).unwrap()(&memory).unwrap().answer.state
    };
    let flag = r#"[{"op":"flag","key":"a","reason":"r"}]"#;
    assert_eq!(state(&format!(r#"{{"actions":{flag}}}"#)), "open");
    assert_eq!(state(&format!(r#"{{"actions":{flag},"report":"done"}}"#)), "finished");
    assert_eq!(state("{}"), "finished");
}

#[test]
fn a_whole_number_may_be_written_with_a_point() {
    let limit = |text: &str| read::<ListRequest>(&format!(r#"{{"limit":{text}}}"#)).map(|list| list.limit);
    for (text, wanted) in [("30", 30), ("30.0", 30), ("3e1", 30), ("18446744073709551615", u64::MAX)] {
        assert_eq!(limit(text).unwrap(), Some(wanted), "{text}");
    }
    for text in ["30.5", "-1", "-1.0", "1e300", "\"30\"", "true"] {
        refused(limit(text), "limit", "wrong_type");
    }
}
