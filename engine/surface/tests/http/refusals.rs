//! Every refusal that a client can cause, by its status and code.

use serde_json::{Value, json};

use crate::client::memory;
use crate::server::Server;

#[test]
fn each_code_comes_with_its_status() {
    let server = Server::new();
    let client = &server.client;
    let refused = |status, code: &str, path: &str, body: Value| client.post(&memory(path), &body).refused(status, code);
    let first = client.commit("a", json!("v"));
    let second = client.commit("a", json!("w"));
    let conflict =
        refused(409, "version_conflict", "revise", json!({"key": "a", "value": 1, "expectedVersion": first}));
    assert_eq!((&conflict["currentVersion"], &conflict["change"]["op"]), (&json!(second), &json!("update")));
    refused(404, "memory_not_found", "revise", json!({"key": "none", "value": 1}));
    refused(404, "memory_not_found", "forget", json!({"key": "none", "reason": "r"}));
    refused(409, "memory_exists", "commit", json!({"key": "a", "value": 1, "ifAbsent": true}));
    client.write("commit", &json!({"key": "true", "value": 1, "canonical": true}));
    refused(409, "revision_rejected", "revise", json!({"key": "true", "value": 2, "importance": 0.5}));
    let missing = "01920000-0000-7000-8000-000000000001";
    refused(404, "snapshot_not_found", "diff", json!({"fromSnapshotId": missing}));
    refused(404, "dream_not_found", &format!("dreams/{missing}/undo"), json!({}));
    client.get(&memory(&format!("dreams/{missing}"))).refused(404, "dream_not_found");
    let dream = client.write("dreams", &json!({}));
    let id = dream["dreamId"].as_str().unwrap();
    let forget = |key: &str| {
        let version = client.entry(key).ok()["entryVersion"].clone();
        json!({"op": "forget", "key": key, "expected_version": version, "reason": "r"})
    };
    let cap = refused(422, "forget_cap_exceeded", &format!("dreams/{id}/apply"), json!({"actions": [forget("a")]}));
    assert_eq!((&cap["cap"], &cap["asked"]), (&json!(0), &json!(1)));
    client.write(&format!("dreams/{id}/undo"), &json!({}));
    let closed = refused(409, "dream_closed", &format!("dreams/{id}/apply"), json!({"report": "late"}));
    assert_eq!(closed["reason"], "undone");
    refused(400, "invalid_request", "commit", json!({"key": "bilinc:dream:x", "value": 1}));
    let expired = json!({"snapshotId": missing, "reason": "r", "confirmationToken": "no token"});
    assert!(client.post(&memory("rollback"), &expired).status >= 400);
}

#[test]
fn what_is_malformed_is_refused_by_its_field() {
    let server = Server::new();
    let client = &server.client;
    client.commit("a", json!("v"));
    let before = client.position();
    for (path, body, field, reason) in [
        ("commit", r#"{"key":"a","value":1,"memory_type":"semantic"}"#, "memoryType", "unknown_field"),
        ("commit", r#"{"key":"a","value":1,"nonsense":1}"#, "nonsense", "unknown_field"),
        ("commit", r#"{"ky":"a","value":1}"#, "ky", "unknown_field"),
        ("commit", r#"{"value":1}"#, "key", "required"),
        ("commit", r#"{"key":"a"}"#, "value", "required"),
        ("commit", r#"{"key":7,"value":1}"#, "key", "wrong_type"),
        ("commit", r#"{"key":null,"value":1}"#, "key", "wrong_type"),
        ("commit", r#"{"key":" ","value":1}"#, "key", "invalid_key"),
        ("commit", r#"{"key":"a","key":"b","value":1}"#, "key", "duplicate_member"),
        ("commit", r#"{"key":"a","value":{"m":1,"m":2}}"#, "value", "duplicate_member"),
        ("commit", r#"{"key":"a","value":"\ud800"}"#, "value", "invalid_json"),
        ("commit", r#"{"key":"a","value":1,"metadata":[]}"#, "metadata", "not_an_object"),
        ("commit", r#"{"key":"a","value":1,"importance":"0.5"}"#, "importance", "wrong_type"),
        ("commit", r#"{"key":"a","value":1,"importance":1.5}"#, "importance", "out_of_range"),
        ("commit", r#"{"key":"a","value":1,"ttl":0}"#, "ttl", "out_of_range"),
        ("commit", r#"{"key":"a","value":1,"memoryType":"odd"}"#, "memoryType", "unknown_value"),
        ("commit", r#"{"key":"a","value":1,"expectedVersion":"7"}"#, "expectedVersion", "invalid_id"),
        ("commit", r#"{"key":"a","value":1"#, "body", "invalid_json"),
        ("commit", r#"[1]"#, "body", "wrong_type"),
        ("commit", r#""text""#, "body", "wrong_type"),
        ("revise", r#"{"key":"a","value":1,"strategy":"odd"}"#, "strategy", "unknown_value"),
        ("forget", r#"{"key":"a"}"#, "reason", "required"),
        ("forget", r#"{"key":"a","reason":" "}"#, "reason", "required"),
        ("forget", r#"{"key":"a","reason":"r","purge":"yes"}"#, "purge", "wrong_type"),
        ("flag", r#"{"key":"a","reason":"r","evidenceKeys":"b"}"#, "evidenceKeys", "wrong_type"),
        ("recall", r#"{"query":""}"#, "query", "out_of_range"),
        ("recall", r#"{"query":"a","limit":0}"#, "limit", "out_of_range"),
        ("recall", r#"{"query":"a","profile":"odd"}"#, "profile", "unknown_value"),
        ("recall", r#"{"query":"a","memoryTypes":["odd"]}"#, "memoryTypes", "unknown_value"),
        ("recall", r#"{"query":"a","queryTimestamp":"yesterday"}"#, "queryTimestamp", "invalid_time"),
        ("list", r#"{"limit":-1}"#, "limit", "wrong_type"),
        ("list", r#"{"limit":1001}"#, "limit", "out_of_range"),
        ("list", r#"{"order":"odd"}"#, "order", "unknown_value"),
        ("list", r#"{"values":"odd"}"#, "values", "unknown_value"),
        ("list", r#"{"cursor":"odd"}"#, "cursor", "invalid_cursor"),
        ("list", r#"{"updatedAfter":"odd"}"#, "updatedAfter", "invalid_time"),
        ("history", r#"{"key":"a","limit":0}"#, "limit", "out_of_range"),
        ("diff", r#"{"fromSnapshotId":"odd"}"#, "fromSnapshotId", "invalid_point"),
        ("diff", r#"{}"#, "fromSnapshotId", "required"),
        ("rollback", r#"{"snapshotId":"odd","reason":"r","confirmationToken":"t"}"#, "snapshotId", "invalid_id"),
        ("dreams", r#"{"limit":201}"#, "limit", "out_of_range"),
        ("dreams", r#"{"since":"odd"}"#, "since", "invalid_time"),
        ("dreams/odd/apply", r#"{"report":"r"}"#, "dreamId", "invalid_id"),
        ("dreams/odd/undo", r#"{"id":"other"}"#, "id", "duplicate_member"),
        ("undo", r#"{}"#, "selection", "required"),
        ("undo", r#"{"source":"a","sessionId":"b"}"#, "selection", "ambiguous"),
        ("undo", r#"{"fromSeq":1}"#, "toSeq", "required"),
        ("undo", r#"{"seqs":["1"]}"#, "seqs", "wrong_type"),
    ] {
        client.post_text(&memory(path), body).invalid(field, reason);
    }
    assert_eq!(client.position(), before);
}

#[test]
fn a_page_of_a_dream_is_refused_by_the_action_that_cannot_be_read() {
    let server = Server::new();
    let client = &server.client;
    client.commit("a", json!("v"));
    let id = client.write("dreams", &json!({}))["dreamId"].as_str().unwrap().to_owned();
    let apply = memory(&format!("dreams/{id}/apply"));
    let flag = json!({"op": "flag", "key": "a", "reason": "r"});
    client
        .post(&apply, &json!({"actions": [flag, {"op": "odd", "key": "a", "reason": "r"}]}))
        .invalid("actions[1].op", "unknown_op");
    client.post(&apply, &json!({"actions": [{"op": "flag", "key": "a"}]})).invalid("actions[0].reason", "required");
    client.post(&apply, &json!({"actions": vec![flag.clone(); 26]})).invalid("actions", "too_many");
    client.post(&apply, &json!({"actions": [], "final": false})).invalid("actions", "required");
    client.post(&apply, &json!({"actions": [flag], "report": "r", "final": false})).invalid("report", "unexpected");
}

#[test]
fn query_strings_are_held_to_the_same_rules() {
    let server = Server::new();
    let client = &server.client;
    client.commit("a b&c", json!(1));
    for (path, field, reason) in [
        ("entry", "key", "required"),
        ("entry?key=a&nonsense=1", "nonsense", "unknown_field"),
        ("entry?key=a&key=b", "key", "duplicate_member"),
        ("entry?key=a&asOf=odd", "asOf", "invalid_point"),
        ("snapshots?limit=odd", "limit", "wrong_type"),
        ("snapshots?limit=0", "limit", "out_of_range"),
        ("log?order=odd", "order", "unknown_value"),
        ("log?includeValues=maybe", "includeValues", "wrong_type"),
        ("log?dreamId=odd", "dreamId", "invalid_id"),
        ("log?follow=true&cursor=x", "cursor", "unexpected"),
        ("export?prefix=a", "prefix", "unknown_field"),
        ("verify?sinceHead=odd", "sinceHead", "invalid_head"),
    ] {
        client.get(&memory(path)).invalid(field, reason);
    }
    assert_eq!(client.get(&memory("entry?key=a%20b%26c")).ok()["value"], 1);
    assert_eq!(client.get(&memory("entry?key=a+b%26c")).ok()["value"], 1);
    let in_both = client.post(&memory("commit?key=x"), &json!({"key": "a", "value": 1}));
    in_both.invalid("key", "unknown_field");
    let import = client.send("POST", &memory("import?nonsense=1"), &[], b"");
    import.invalid("nonsense", "unknown_field");
}

#[test]
fn limits_hold_also_where_nothing_would_come_of_what_is_over_them() {
    let server = Server::new();
    let client = &server.client;
    let long = "x".repeat(257);
    for (name, field) in [("source", "source"), ("sessionId", "sessionId")] {
        client.get(&memory(&format!("log?{name}={long}"))).invalid(field, "out_of_range");
        client.send("POST", &memory(&format!("import?{name}={long}")), &[], b"").invalid(field, "out_of_range");
    }
    let import = client.send("POST", &memory("import"), &[("idempotency-key", &long)], b"");
    import.invalid("idempotencyKey", "out_of_range");
    client.get(&memory(&format!("log?toSeq={}", u64::MAX))).ok();
}

#[test]
fn what_the_server_repeats_of_a_request_is_short_and_no_value() {
    let server = Server::new();
    let long = "x".repeat(10_000);
    let reply = server.client.post(&memory("commit"), &json!({"key": "a", "value": "hidden words", &long: 1}));
    let text = reply.text().to_owned();
    assert!(text.len() < 1_000 && !text.contains("hidden words"), "{text}");
}

#[test]
fn credentials_are_refused_by_kind_and_place_unless_the_switch_is_set() {
    let server = Server::new();
    let secret = ["ghp", "_", &"a1B2".repeat(9)].concat();
    let body = json!({"key": "a", "value": {"deep": [secret]}});
    let reply = server.client.post(&memory("commit"), &body);
    let details = reply.refused(422, "secret_detected");
    assert!(details["kind"].is_string() && details["path"].as_str().unwrap().starts_with("value.deep"), "{details}");
    assert!(!reply.text().contains(&secret));
    let key = server.client.key.clone().unwrap();
    for (path, body) in [
        ("commit", json!({"key": "a", "value": key})),
        ("commit", json!({"key": "a", "value": 1, "metadata": {"m": key}})),
        ("forget", json!({"key": "a", "reason": key})),
        ("snapshots", json!({"label": key})),
    ] {
        server.client.post(&memory(path), &body).refused(422, "secret_detected");
    }
    let line = json!({"key": "a", "value": key}).to_string();
    let details = server.client.send("POST", &memory("import"), &[], line.as_bytes()).refused(422, "secret_detected");
    assert_eq!(details["line"], 1);
    let open = Server::with(&["--allow-secrets"]);
    open.client.write("commit", &body);
}
