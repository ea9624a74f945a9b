#![allow(clippy::unwrap_used, clippy::indexing_slicing)]
use bilinc::Version;

use super::*;

const VERSION: &str = "v1_00000000000000000000000000000007";

fn refusal(text: &str) -> (String, &'static str) {
    match parse(text).unwrap_err() {
        Rejection::Invalid { field, reason, .. } => (field, reason),
        other => (String::new(), other.code()),
    }
}

fn refused(text: &str, field: &str, reason: &'static str) {
    assert_eq!(refusal(text), (field.to_owned(), reason), "{text}");
}

#[test]
fn an_array_and_an_object_and_both_spellings_are_read() {
    let snake = format!(
        r#"[{{"op":"revise","key":" a ","expected_version":"{VERSION}","new_value":{{"n":1.10}},
            "merged_from":["b"],"reason":"one","evidence_keys":["c"]}}]"#
    );
    let camel = format!(
        r#"{{"report":"tidied","actions":[{{"op":"revise","key":"a","expectedVersion":"{VERSION}","newValue":{{"n":1.10}},
            "mergedFrom":["b"],"reason":"one","evidenceKeys":["c"]}}]}}"#
    );
    let (snake, camel) = (parse(&snake).unwrap(), parse(&camel).unwrap());
    assert_eq!(snake.actions, camel.actions);
    assert_eq!(snake.report, None);
    assert_eq!(camel.report, Some(Json::string("tidied")));
    let action = &snake.actions[0];
    assert_eq!(action.op, ActionOp::Revise);
    assert_eq!(action.expected_version, Some(VERSION.parse::<Version>().unwrap()));
    assert_eq!(action.new_value.as_ref().unwrap().as_str(), r#"{"n":1.10}"#);
}

#[test]
fn what_cannot_be_read_as_an_action_is_refused_by_its_field() {
    refused("nonsense", "actions", "invalid_json");
    refused("7", "body", "wrong_type");
    refused(r#"{"actions":{}}"#, "actions", "wrong_type");
    refused(r#"{"actions":[],"final":true}"#, "final", "unknown_field");
    refused(r#"[7]"#, "actions[0]", "wrong_type");
    refused(r#"[{"op":"erase","key":"a","reason":"r"}]"#, "actions[0].op", "unknown_op");
    refused(
        r#"[{"op":"flag","key":"a","reason":"r"},{"op":"flag","key":7,"reason":"r"}]"#,
        "actions[1].key",
        "wrong_type",
    );
    refused(r#"[{"op":"flag","key":"a"}]"#, "actions[0].reason", "required");
    refused(r#"[{"key":"a","reason":"r"}]"#, "actions[0].op", "required");
    refused(r#"[{"op":"flag","key":"a","reason":"r","why":1}]"#, "actions[0].why", "unknown_field");
    refused(r#"[{"op":"flag","key":"a","reason":"r","evidence_keys":"b"}]"#, "actions[0].evidence_keys", "wrong_type");
    refused(
        r#"[{"op":"flag","key":"a","reason":"r","expectedVersion":"7"}]"#,
        "actions[0].expected_version",
        "invalid_id",
    );
    let twice = r#"[{"op":"flag","key":"a","reason":"r","evidence_keys":[],"evidenceKeys":[]}]"#;
    refused(twice, "actions[0].evidence_keys", "duplicate_member");
}

#[test]
fn absent_parts_may_be_null_but_null_is_a_value_for_a_revise() {
    let list = parse(
        r#"[{"op":"forget","key":"a","reason":"r","new_value":null,"merged_from":null,"expected_version":null},
            {"op":"revise","key":"a","reason":"r","new_value":null}]"#,
    )
    .unwrap();
    assert_eq!(list.actions[0].new_value, None);
    assert_eq!(list.actions[1].new_value.as_ref().unwrap().as_str(), "null");
}

#[test]
fn a_value_that_cannot_be_kept_is_the_error_of_its_action_alone() {
    let large = "x".repeat(limits::VALUE_BYTES);
    let list = parse(&format!(
        r#"[{{"op":"revise","key":"a","reason":"r","new_value":"{large}"}},
                {{"op":"revise","key":"b","reason":"r","new_value":{{"m":1,"m":2}}}},
                {{"op":"confirm","key":"c","reason":"r"}}]"#
    ))
    .unwrap();
    let codes: Vec<_> = list.actions.iter().map(|action| action.refused.as_ref().map(|r| r.code.as_str())).collect();
    assert_eq!(codes, [Some("invalid_request"), Some("invalid_request"), None]);
    assert!(list.actions.iter().all(|action| action.new_value.is_none()));
}

#[test]
fn a_name_that_nobody_knows_is_repeated_only_in_its_beginning() {
    let name = "x".repeat(1000);
    refused(
        &format!(r#"[{{"op":"flag","key":"a","reason":"r","{name}":1}}]"#),
        &format!("actions[0].{}…", "x".repeat(40)),
        "unknown_field",
    );
    refused(&format!(r#"{{"{name}":1}}"#), &format!("{}…", "x".repeat(40)), "unknown_field");
}
