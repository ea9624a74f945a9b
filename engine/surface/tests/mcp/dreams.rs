//! A dream as a model does it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::client::{Client, Folder};

fn start(client: &mut Client, arguments: Value) -> (Value, BTreeMap<String, Value>) {
    let started = client.call("dream_start", arguments);
    let candidates = started["candidates"].as_array().unwrap().iter();
    let versions = candidates.map(|it| (it["key"].as_str().unwrap().to_owned(), it["entryVersion"].clone())).collect();
    (started, versions)
}

fn confirm(key: &str, version: &Value) -> Value {
    json!({"op": "confirm", "key": key, "expected_version": version, "reason": "still right"})
}

#[test]
fn fifty_candidates_unless_more_are_asked_for() {
    let mut client = Folder::new().client();
    for number in 0..60 {
        client.commit(&format!("k{number:03}"), number);
    }
    let (started, versions) = start(&mut client, json!({}));
    assert_eq!((versions.len(), &started["moreCandidates"]), (50, &10.into()));
    let (_, versions) = start(&mut client, json!({"limit": 200}));
    assert_eq!(versions.len(), 60);
}

#[test]
fn a_long_list_of_actions_goes_in_pages_by_itself() {
    let mut client = Folder::new().client();
    for number in 0..60 {
        client.commit(&format!("k{number:03}"), number);
    }
    let (started, versions) = start(&mut client, json!({"limit": 200}));
    let actions: Vec<_> = versions.iter().map(|(key, version)| confirm(key, version)).collect();
    let applied = client
        .call("dream_apply", json!({"dream_id": started["dreamId"], "actions": actions, "report": "looked at all"}));
    assert_eq!((&applied["pages"], &applied["state"]), (&3.into(), &"finished".into()));
    let results = applied["results"].as_array().unwrap();
    assert!(
        results.iter().enumerate().all(|(index, result)| result["index"] == index && result["status"] == "applied")
    );
    let undone = client.call("dream_undo", json!({"dream_id": started["dreamId"]}));
    assert_eq!(undone["restored"].as_array().unwrap().len(), 60);
}

#[test]
fn a_page_that_fails_leaves_the_pages_before_it_applied_and_says_what_was_not_tried() {
    let mut client = Folder::new().client();
    for number in 0..40 {
        client.commit(&format!("k{number:03}"), number);
    }
    let (started, versions) = start(&mut client, json!({"limit": 200}));
    let mut actions: Vec<_> = versions.iter().take(25).map(|(key, version)| confirm(key, version)).collect();
    // The cap is 12: the second page goes past it.
    actions.extend(
        versions
            .iter()
            .skip(25)
            .take(13)
            .map(|(key, version)| json!({"op": "forget", "key": key, "expectedVersion": version, "reason": "old"})),
    );
    let error = client.fail("dream_apply", json!({"dream_id": started["dreamId"], "actions": actions}));
    assert_eq!(error["error"], "forget_cap_exceeded");
    let details = &error["details"];
    assert_eq!((&details["page"], &details["cap"], &details["asked"]), (&2.into(), &12.into(), &13.into()));
    assert_eq!(details["results"].as_array().unwrap().len(), 25);
    assert_eq!(details["notTried"], json!((25..38).collect::<Vec<_>>()));
    assert_eq!(client.call("list_memories", json!({}))["total"], 40);
    // What cannot be read refuses the call before anything is applied.
    let bad = json!([confirm("k000", &versions["k000"]), {"op": "confirm", "key": "k001"}]);
    let error = client.fail("dream_apply", json!({"dream_id": started["dreamId"], "actions": bad}));
    assert_eq!(error["details"]["field"], "actions[1].reason");
}

#[test]
fn actions_that_come_as_a_string_are_read_like_others() {
    let mut client = Folder::new().client();
    client.commit("a", 1);
    let (started, versions) = start(&mut client, json!({}));
    let actions = json!([confirm("a", &versions["a"])]).to_string();
    let applied = client.call("dream_apply", json!({"dreamId": started["dreamId"], "actions": actions}));
    assert_eq!(applied["results"][0]["status"], "applied");
}

#[test]
fn an_undo_lists_what_somebody_else_changed() {
    let folder = Folder::new();
    let (mut client, mut other) = (folder.client(), folder.client());
    for key in ["a", "b", "c"] {
        client.commit(key, key);
    }
    let (started, versions) = start(&mut client, json!({}));
    let revise = |key: &str| json!({"op": "revise", "key": key, "expected_version": versions[key], "new_value": "dreamt", "reason": "r"});
    let dream =
        json!({"dream_id": started["dreamId"], "actions": [revise("a"), revise("b"), revise("c")], "report": "r"});
    client.call("dream_apply", dream);
    other.commit("b", "theirs");
    let undone = other.call("dream_undo", json!({"dream_id": started["dreamId"]}));
    let keys = |list: &Value| list.as_array().unwrap().iter().map(|it| it["key"].clone()).collect::<Vec<_>>();
    assert_eq!(keys(&undone["restored"]), ["a", "c"]);
    assert_eq!(keys(&undone["conflicts"]), ["b"]);
    assert_eq!(undone["state"], "partly_undone");
    assert_eq!(client.call("get", json!({"key": "b"}))["value"], "theirs");
}
