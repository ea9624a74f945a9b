//! A key never reaches another project's data.

use serde_json::json;

use crate::client::memory;
use crate::server::Server;

#[test]
fn nothing_of_another_project_is_reached_by_any_id_cursor_or_token() {
    let server = Server::new();
    let (one, other) = (&server.client, server.client_of("other", &[]));
    for key in ["a", "b", "c"] {
        one.commit(key, json!("of one"));
    }
    other.commit("mine", json!("of the other"));
    let version = one.entry("a").ok()["entryVersion"].clone();
    let snapshot = one.write("snapshots", &json!({}))["snapshot"]["id"].clone();
    let dream = one.write("dreams", &json!({}))["dreamId"].as_str().unwrap().to_owned();
    let preview = one.write("rollback/preview", &json!({"snapshotId": snapshot, "reason": "r"}));
    let cursor = one.write("list", &json!({"limit": 1}))["nextCursor"].clone();
    let events = one.get(&memory("log?limit=1")).ok();
    let before = (one.position(), other.position());

    other.entry("a").refused(404, "memory_not_found");
    other
        .post(&memory("revise"), &json!({"key": "a", "value": 1, "expectedVersion": version}))
        .refused(404, "memory_not_found");
    other.post(&memory("diff"), &json!({"fromSnapshotId": snapshot})).refused(404, "snapshot_not_found");
    other.get(&memory(&format!("entry?key=a&asOf={}", snapshot.as_str().unwrap()))).refused(404, "snapshot_not_found");
    let rollback = json!({"snapshotId": snapshot, "reason": "r", "confirmationToken": preview["confirmationToken"]});
    let refused = other.post(&memory("rollback"), &rollback);
    assert!(refused.status == 404 || refused.status == 400, "{}", refused.text());
    other
        .post(&memory("rollback/preview"), &json!({"snapshotId": snapshot, "reason": "r"}))
        .refused(404, "snapshot_not_found");
    other.get(&memory(&format!("dreams/{dream}"))).refused(404, "dream_not_found");
    other.post(&memory(&format!("dreams/{dream}/undo")), &json!({})).refused(404, "dream_not_found");
    let page = json!({"actions": [{"op": "forget", "key": "a", "expectedVersion": version, "reason": "r"}]});
    other.post(&memory(&format!("dreams/{dream}/apply")), &page).refused(404, "dream_not_found");
    other.post(&memory("undo"), &json!({"dreamId": dream})).refused(404, "dream_not_found");
    other.post(&memory("list"), &json!({"cursor": cursor})).invalid("cursor", "invalid_cursor");
    let log_cursor = events["nextCursor"].as_str().unwrap();
    other.get(&memory(&format!("log?cursor={log_cursor}"))).invalid("cursor", "invalid_cursor");

    // A token of one's own does nothing with another's snapshot, either.
    let mine = other.write("snapshots", &json!({}))["snapshot"]["id"].clone();
    let token =
        other.write("rollback/preview", &json!({"snapshotId": mine, "reason": "r"}))["confirmationToken"].clone();
    let crossed = json!({"snapshotId": snapshot, "reason": "r", "confirmationToken": token});
    assert_ne!(one.post(&memory("rollback"), &crossed).status, 200);

    // What one project's key used as an idempotency key says nothing about another's.
    let body = json!({"key": "k", "value": 1});
    assert_eq!(one.post_as("same", &memory("commit"), &body).ok()["replayed"], json!(null));
    assert_eq!(other.post_as("same", &memory("commit"), &body).ok()["replayed"], json!(null));
    assert_eq!((one.position(), other.position()), (before.0 + 1, before.1 + 2));
    let listed = other.write("list", &json!({})).to_string();
    assert!(!listed.contains("of one"), "{listed}");
}

#[test]
fn a_project_is_a_store_that_the_command_line_opens() {
    let mut server = Server::new();
    server.client.commit("a", json!({"n": 1}));
    // While the server runs, too: a store takes several processes.
    let read = crate::server::program(server.data(), &["get", "a", "--json", "--store"]).arg(server.store()).output();
    let read = String::from_utf8(read.unwrap().stdout).unwrap();
    assert!(read.contains(r#""value":{"n":1}"#), "{read}");
    let words = ["commit", "--key", "b", "--value", "2", "--json", "--store"];
    assert!(crate::server::program(server.data(), &words).arg(server.store()).output().unwrap().status.success());
    assert_eq!(server.client.entry("b").ok()["value"], 2);
    server.stop();
}
