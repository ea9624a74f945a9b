//! Failures that a model can act on.

use serde_json::{Value, json};

use crate::client::Folder;
use crate::schema::listed;

#[test]
fn a_failure_names_the_code_the_field_and_the_rule() {
    let mut client = Folder::new().client();
    client.commit("a", 1);
    for (tool, arguments, code, field, reason) in [
        ("get", json!({}), "invalid_request", "key", "required"),
        ("get", json!({"key": 1}), "invalid_request", "key", "wrong_type"),
        ("get", json!({"key": ""}), "invalid_request", "key", "invalid_key"),
        ("get", json!({"key": "a", "as_of": "yesterday"}), "invalid_request", "asOf", "invalid_point"),
        ("get", json!({"key": "a", "value_offset": 2}), "invalid_request", "valueOffset", "out_of_range"),
        ("commit_mem", json!({"key": "bilinc:dream:x", "value": 1}), "invalid_request", "key", "reserved_key"),
        (
            "commit_mem",
            json!({"key": "a", "value": 1, "memory_type": "x"}),
            "invalid_request",
            "memoryType",
            "unknown_value",
        ),
        (
            "commit_mem",
            json!({"key": "a", "value": 1, "importance": 2}),
            "invalid_request",
            "importance",
            "out_of_range",
        ),
        (
            "revise",
            json!({"key": "a", "value": 1, "expected_version": "x"}),
            "invalid_request",
            "expectedVersion",
            "invalid_id",
        ),
        ("list_memories", json!({"cursor": "x"}), "invalid_request", "cursor", "invalid_cursor"),
        ("dream_apply", json!({"dream_id": "x"}), "invalid_request", "actions", "required"),
        ("dream_apply", json!({"dream_id": "x", "report": "r"}), "invalid_request", "dreamId", "invalid_id"),
        ("rollback", json!({"snapshot_id": "x", "reason": "r"}), "invalid_request", "snapshotId", "invalid_id"),
        ("snapshot", json!({"action": "list", "label": "x"}), "invalid_request", "label", "unexpected"),
        ("undo", json!({}), "invalid_request", "selection", "required"),
        ("undo", json!({"source": "x", "seqs": [1]}), "invalid_request", "selection", "ambiguous"),
    ] {
        let error = client.fail(tool, arguments.clone());
        let details = &error["details"];
        assert_eq!(
            (&error["error"], &details["field"], &details["reason"]),
            (&code.into(), &field.into(), &reason.into()),
            "{tool} {arguments}"
        );
        assert!(!error["message"].as_str().unwrap().is_empty() && !error["requestId"].as_str().unwrap().is_empty());
    }
    for (tool, arguments, code) in [
        ("get", json!({"key": "none"}), "memory_not_found"),
        ("confirm", json!({"key": "none"}), "memory_not_found"),
        ("commit_mem", json!({"key": "a", "value": 2, "if_absent": true}), "memory_exists"),
        ("dream_show", json!({"dream_id": "01920000-0000-7000-8000-000000000001"}), "dream_not_found"),
        ("diff", json!({"from_snapshot_id": "01920000-0000-7000-8000-000000000001"}), "snapshot_not_found"),
    ] {
        assert_eq!(client.fail(tool, arguments)["error"], code);
    }
}

#[test]
fn an_unknown_argument_of_any_tool_is_refused_by_its_name() {
    let mut client = Folder::new().client();
    for tool in listed(&mut client) {
        let error = client.fail(tool["name"].as_str().unwrap(), json!({"nonsense": 1}));
        assert_eq!(error["details"]["field"], "nonsense", "{}", tool["name"]);
        assert_eq!(error["details"]["reason"], "unknown_field");
    }
    let long = "x".repeat(100_000);
    assert!(client.fail("status", json!({long: 1}))["details"]["field"].as_str().unwrap().chars().count() < 100);
    assert_eq!(client.fail("status", json!([]))["details"]["field"], "arguments");
}

#[test]
fn only_an_unknown_tool_is_an_error_of_the_protocol() {
    let mut client = Folder::new().client();
    for name in ["", "commit", "COMMIT_MEM", "commit_mem "] {
        let answer = client.ask("tools/call", json!({"name": name, "arguments": {}}));
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
}

#[test]
fn a_secret_is_refused_unless_that_was_allowed_and_never_repeated() {
    let secret = format!("ghp_{}", "a1B2c3D4e5".repeat(4).split_at(36).0);
    let folder = Folder::new();
    let mut client = folder.client();
    let error = client.fail("commit_mem", json!({"key": "k", "value": {"token": secret}}));
    assert_eq!(error["error"], "secret_detected");
    assert!(!error.to_string().contains(&secret));
    drop(client);
    folder.client_with(&["--allow-secrets"]).commit("k", secret);
}

#[test]
fn a_repeated_call_with_its_idempotency_key_writes_nothing_more() {
    let mut client = Folder::new().client();
    let call = json!({"key": "k", "value": 1, "idempotency_key": "once"});
    let first = client.call("commit_mem", call.clone());
    let again = client.call("commit_mem", call);
    assert_eq!((&again["entryVersion"], &again["replayed"]), (&first["entryVersion"], &true.into()));
    assert_eq!(first.get("replayed"), None);
    let other = json!({"key": "k", "value": 2, "idempotency_key": "once"});
    assert_eq!(client.fail("commit_mem", other)["error"], "idempotency_conflict");
}

#[test]
fn what_a_model_can_do_next_is_said_beside_the_error() {
    let mut client = Folder::new().client();
    let result = client.result("get", json!({"key": "none"}));
    assert!(result["content"][1]["text"].as_str().is_some_and(|hint| hint.contains("recall")), "{result}");
    let version = client.commit("a", 1)["entryVersion"].clone();
    client.commit("a", 2);
    let error = client.fail("forget", json!({"key": "a", "reason": "r", "expected_version": version}));
    assert_eq!(error["error"], "version_conflict");
    assert_eq!(error["details"]["change"]["source"], "bilinc_mcp");
    assert_ne!(error["details"]["currentVersion"], Value::Null);
}
