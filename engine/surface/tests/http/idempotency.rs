//! A request sent again under its name acts once.

use serde_json::json;

use crate::client::memory;
use crate::server::Server;

#[test]
fn a_repeated_write_gives_the_first_answer_and_writes_nothing() {
    let mut server = Server::new();
    let body = json!({"key": "a", "value": 1});
    let first = server.client.post_as("name", &memory("commit"), &body).ok();
    let position = server.client.position();
    let again = server.client.post_as("name", &memory("commit"), &body).ok();
    assert_eq!((&again["entryVersion"], &again["replayed"]), (&first["entryVersion"], &json!(true)));
    let other = json!({"key": "a", "value": 2});
    server.client.post_as("name", &memory("commit"), &other).refused(409, "idempotency_conflict");
    server.client.post_as("name", &memory("confirm"), &json!({"key": "a"})).refused(409, "idempotency_conflict");
    assert_eq!(server.client.position(), position);
    server.stop();
    server.restart(&[]);
    assert_eq!(server.client.post_as("name", &memory("commit"), &body).ok()["replayed"], true);
}

#[test]
fn every_write_takes_a_name() {
    let server = Server::new();
    let client = &server.client;
    client.commit("a", json!(1));
    let twice = |name: &str, path: &str, body| {
        let first = client.post_as(name, &memory(path), &body).ok();
        let again = client.post_as(name, &memory(path), &body).ok();
        assert_eq!(again["replayed"], true, "{path}");
        let mut again = again;
        again.as_object_mut().unwrap().remove("replayed");
        assert_eq!(first, again, "{path}");
        first
    };
    twice("revise", "revise", json!({"key": "a", "value": 2}));
    twice("confirm", "confirm", json!({"key": "a"}));
    twice("flag", "flag", json!({"key": "a", "reason": "r"}));
    twice("unflag", "unflag", json!({"key": "a"}));
    let snapshot = twice("snapshot", "snapshots", json!({"label": "l"}))["snapshot"]["id"].clone();
    let dream = twice("dream", "dreams", json!({}))["dreamId"].as_str().unwrap().to_owned();
    let version = client.entry("a").ok()["entryVersion"].clone();
    let page =
        json!({"actions": [{"op": "confirm", "key": "a", "expectedVersion": version, "reason": "r"}], "final": false});
    twice("pages", &format!("dreams/{dream}/apply"), page);
    twice("pages#2", &format!("dreams/{dream}/apply"), json!({"report": "done"}));
    twice("undo", &format!("dreams/{dream}/undo"), json!({}));
    client.commit("z", json!(1));
    twice("any", "undo", json!({"seqs": [client.position()]}));
    let preview = client.write("rollback/preview", &json!({"snapshotId": snapshot, "reason": "r"}));
    let token = preview["confirmationToken"].clone();
    twice("rollback", "rollback", json!({"snapshotId": snapshot, "reason": "r", "confirmationToken": token}));
    twice("forget", "forget", json!({"key": "a", "reason": "r", "purge": true}));
    let line = br#"{"key":"i","value":1}"#;
    let import = || client.send("POST", &memory("import"), &[("idempotency-key", "import")], line).ok();
    assert_eq!((&import()["replayed"], &import()["replayed"]), (&json!(null), &json!(true)));
}

#[test]
fn a_name_has_a_form() {
    let server = Server::new();
    let body = json!({"key": "a", "value": 1});
    let client = &server.client;
    client.post_as(&"n".repeat(257), &memory("commit"), &body).invalid("idempotencyKey", "out_of_range");
    client.post_as("", &memory("commit"), &body).invalid("idempotencyKey", "out_of_range");
    let twice = [("content-type", "application/json"), ("idempotency-key", "a"), ("idempotency-key", "b")];
    let reply = client.send("POST", &memory("commit"), &twice, body.to_string().as_bytes());
    reply.invalid("idempotencyKey", "duplicate_member");
    client.post_as("ğ", &memory("commit"), &body).ok();
}
