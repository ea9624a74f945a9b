//! Every operation of the catalogue that has a route.

use std::collections::BTreeMap;

use bilinc_surface::catalogue;
use serde_json::{Value, json};

use crate::client::{Client, memory};
use crate::server::Server;

/// Runs each operation at least once; the answers by the operation's name.
fn run_all(client: &Client) -> BTreeMap<&'static str, Vec<Value>> {
    let mut answers = BTreeMap::<_, Vec<_>>::new();
    let mut answer = |name: &'static str, value: Value| answers.entry(name).or_default().push(value);
    client.commit("p", json!("v"));
    let dream = write(client, &mut answer);
    go_back(client, &mut answer);
    read(client, &dream, &mut answer);
    client.write("revise", &json!({"key": "a", "value": "newer", "source": "somebody else"}));
    answer("dream undo", client.write(&format!("dreams/{dream}/undo"), &json!({})));
    answer("dream show", client.get(&memory(&format!("dreams/{dream}"))).ok());
    answers
}

/// Everything that writes; the id of the dream.
fn write(client: &Client, answer: &mut impl FnMut(&'static str, Value)) -> String {
    let commit = |key: &str| {
        client.write("commit", &json!({"key": key, "value": "v", "sessionId": "s", "ttl": 9e9, "metadata": {"m": 1}}))
    };
    answer("commit", commit("a"));
    for key in ["b", "c", "d"] {
        commit(key);
    }
    answer("revise", client.write("revise", &json!({"key": "a", "value": "w", "reason": "r"})));
    answer("confirm", client.write("confirm", &json!({"key": "a"})));
    let flag = json!({"key": "a", "reason": "look", "evidenceKeys": ["b"]});
    answer("flag", client.write("flag", &flag));
    answer("unflag", client.write("unflag", &json!({"key": "a", "reason": "seen"})));
    client.write("flag", &flag);
    let started = client.write("dreams", &json!({}));
    let dream = started["dreamId"].as_str().unwrap().to_owned();
    let version = |key: &str| {
        let candidates = started["candidates"].as_array().unwrap();
        candidates.iter().find(|candidate| candidate["key"] == key).unwrap()["entryVersion"].clone()
    };
    client.write("revise", &json!({"key": "d", "value": "by somebody else"}));
    let page = json!({"report": {"done": "tidied"}, "final": true, "actions": [
        {"op": "revise", "key": "a", "expected_version": version("a"), "new_value": "x", "merged_from": ["b"],
         "reason": "one thing", "evidence_keys": ["c"]},
        {"op": "forget", "key": "b", "expectedVersion": version("b"), "reason": "folded in"},
        {"op": "flag", "key": "c", "reason": "odd", "evidenceKeys": ["a"]},
        {"op": "confirm", "key": "d", "expected_version": version("d"), "reason": "right"},
        {"op": "confirm", "key": "none", "expected_version": version("d"), "reason": "right"}]});
    answer("dream start", started.clone());
    let mut trial = page.clone();
    trial["dryRun"] = json!(true);
    answer("dream apply", client.write(&format!("dreams/{dream}/apply"), &trial));
    answer("dream apply", client.write(&format!("dreams/{dream}/apply"), &page));
    commit("erased");
    answer("forget", client.write("forget", &json!({"key": "erased", "reason": "r", "purge": true})));
    answer("forget", client.write("forget", &json!({"key": "d", "reason": "r"})));
    let undone = client.write("undo", &json!({"seqs": [client.position()]}));
    answer("undo", client.write("undo", &json!({"sessionId": "s", "dryRun": true})));
    answer("undo", undone);
    dream
}

/// Snapshots, differences and rollbacks.
fn go_back(client: &Client, answer: &mut impl FnMut(&'static str, Value)) {
    let taken = client.write("snapshots", &json!({"label": "l", "metadata": {"m": 1}}));
    let id = taken["snapshot"]["id"].clone();
    answer("snapshot create", taken);
    client.commit("new", json!("v"));
    client.write("revise", &json!({"key": "p", "value": "changed"}));
    client.write("forget", &json!({"key": "c", "reason": "r"}));
    answer("snapshot list", client.get(&memory("snapshots?limit=5")).ok());
    let diff = client.write("diff", &json!({"fromSnapshotId": id, "includeValues": true}));
    assert_eq!(diff["counts"], json!({"added": 1, "modified": 1, "removed": 1}));
    assert_eq!(diff["target"], "current");
    answer("diff", diff);
    let preview = client.write("rollback/preview", &json!({"snapshotId": id, "reason": "r"}));
    let confirmed = json!({"snapshotId": id, "reason": "r", "confirmationToken": preview["confirmationToken"]});
    answer("rollback preview", preview);
    answer("rollback execute", client.write("rollback", &confirmed));
    client.post(&memory("rollback"), &confirmed).refused(409, "state_changed_since_preview");
}

/// Everything that only reads, and transfers.
fn read(client: &Client, dream: &str, answer: &mut impl FnMut(&'static str, Value)) {
    answer("get", client.entry("a").ok());
    answer("list", client.write("list", &json!({"sources": ["bilinc_cloud"], "values": "full"})));
    answer("flags", client.write("list", &json!({"flagged": true, "values": "none"})));
    answer("recall", client.write("recall", &json!({"query": "a x", "explain": true})));
    for key in ["a", "b", "c"] {
        answer("history", client.write("history", &json!({"key": key})));
    }
    answer("log", client.get(&memory("log?limit=1000&includeValues=true")).ok());
    answer("status", client.get("/api/cloud/status").ok());
    let verified = client.get(&memory("verify")).ok();
    let head = verified["head"].as_str().unwrap();
    answer("verify", client.get(&memory(&format!("verify?sinceHead={head}"))).ok());
    answer("verify", verified);
    answer("dream show", client.get(&memory(&format!("dreams/{dream}"))).ok());
    answer("dream list", client.get(&memory("dreams")).ok());
    let exported = client.get(&memory("export"));
    assert_eq!((exported.status, exported.header("content-type")), (200, Some("application/x-ndjson")));
    assert_eq!(exported.text().lines().count(), 4, "{}", exported.text());
    answer("export", json!([]));
    answer("import", client.send("POST", &memory("import"), &[], &exported.body).ok());
}

#[test]
fn every_operation_with_a_route_answers_with_the_fields_that_were_promised() {
    let server = Server::new();
    let answers = run_all(&server.client);
    let routed = catalogue::ALL.iter().filter(|operation| !operation.is_local());
    let missing: Vec<_> = routed.map(|operation| operation.name).filter(|name| !answers.contains_key(name)).collect();
    assert!(missing.is_empty(), "no test runs {missing:?}");
    crate::fields::check(&answers);
}
