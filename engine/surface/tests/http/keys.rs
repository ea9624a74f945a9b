//! Who is let in.

use serde_json::json;

use crate::client::memory;
use crate::server::{Server, json as program_json, make_key, program};

#[test]
fn without_a_key_nothing_of_a_store_is_reached() {
    let server = Server::new();
    server.client.commit("a", json!("v"));
    let nobody = server.client.nobody();
    let reply = nobody.entry("a");
    reply.refused(401, "missing_api_key");
    assert_eq!(reply.header("www-authenticate"), Some("Bearer"));
    nobody.post(&memory("commit"), &json!({"key": "a", "value": 1})).refused(401, "missing_api_key");
    let key = server.client.key.clone().unwrap();
    for wrong in ["", "x", "bil_live_", &key[..key.len() - 1], &format!("{key}0"), &key.to_uppercase()] {
        nobody.with_key(wrong).entry("a").refused(401, "invalid_api_key");
    }
    for scheme in [format!("Basic {key}"), key.clone(), format!("Bearer{key}")] {
        let reply = nobody.send("GET", &memory("entry?key=a"), &[("authorization", &scheme)], b"");
        reply.refused(401, "invalid_api_key");
    }
    let lower = [("authorization", &*format!("bearer {key}"))];
    assert_eq!(nobody.send("GET", &memory("entry?key=a"), &lower, b"").status, 200);
}

#[test]
fn a_key_works_as_soon_as_it_is_made_and_no_longer_than_it_lives() {
    let server = Server::new();
    let made = make_key(server.data(), "p", &["--name", "laptop"]);
    let client = server.client.with_key(made["key"].as_str().unwrap());
    client.commit("a", json!(1));
    program_json(server.data(), &["keys", "revoke", made["id"].as_str().unwrap()]);
    client.entry("a").refused(401, "invalid_api_key");
    client.post(&memory("commit"), &json!({"key": "a", "value": 2})).refused(401, "invalid_api_key");
    assert_eq!(server.client.entry("a").ok()["value"], 1);
    let listed = program_json(server.data(), &["keys", "list"]);
    let keys = listed["keys"].as_array().unwrap();
    assert_eq!((keys.len(), &keys[1]["name"], &keys[0]["revokedAt"]), (2, &json!("laptop"), &json!(null)));
    assert!(keys[1]["revokedAt"].is_string());
    assert!(!listed.to_string().contains("bil_live_"), "{listed}");
}

#[test]
fn a_key_that_may_only_read_writes_nothing() {
    let server = Server::new();
    let version = server.client.commit("a", json!("v"));
    let snapshot = server.client.write("snapshots", &json!({}))["snapshot"]["id"].clone();
    let reader = server.client_of("p", &["--read-only"]);
    let before = server.client.position();
    for (path, body) in [
        ("commit", json!({"key": "b", "value": 1})),
        ("revise", json!({"key": "a", "value": 1})),
        ("forget", json!({"key": "a", "reason": "r"})),
        ("confirm", json!({"key": "a"})),
        ("flag", json!({"key": "a", "reason": "r"})),
        ("unflag", json!({"key": "a"})),
        ("dreams", json!({})),
        ("dreams/01920000-0000-7000-8000-000000000001/apply", json!({})),
        ("dreams/01920000-0000-7000-8000-000000000001/undo", json!({})),
        ("undo", json!({"source": "bilinc_cloud"})),
        ("snapshots", json!({})),
        ("rollback", json!({"snapshotId": snapshot, "reason": "r", "confirmationToken": "t"})),
    ] {
        reader.post(&memory(path), &body).refused(403, "read_only");
    }
    reader.send("POST", &memory("import"), &[], br#"{"key":"b","value":1}"#).refused(403, "read_only");
    assert_eq!(server.client.position(), before);
    assert_eq!(reader.entry("a").ok()["entryVersion"], version);
    assert_eq!(reader.get("/api/cloud/status").ok()["capabilities"]["write"], false);
    assert_eq!(server.client.get("/api/cloud/status").ok()["capabilities"]["write"], true);
    for read in ["recall", "list", "history", "diff", "rollback/preview"] {
        let body = match read {
            "recall" => json!({"query": "a"}),
            "list" => json!({}),
            "history" => json!({"key": "a"}),
            "diff" => json!({"fromSnapshotId": snapshot}),
            _ => json!({"snapshotId": snapshot, "reason": "r"}),
        };
        reader.post(&memory(read), &body).ok();
    }
}

#[test]
fn an_address_that_others_reach_needs_a_key_to_exist() {
    let data = tempfile::tempdir().unwrap();
    let output = program(data.path(), &["serve", "--listen", "0.0.0.0:0"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("make one first, with `bilinc keys create --data") && !said.contains("\\n"), "{said}");
    // A key that was revoked is none.
    let made = make_key(data.path(), "p", &[]);
    program_json(data.path(), &["keys", "revoke", made["id"].as_str().unwrap()]);
    assert_eq!(program(data.path(), &["serve", "--listen", "0.0.0.0:0"]).output().unwrap().status.code(), Some(2));
}

#[test]
fn a_first_start_says_what_to_do_next_and_lets_nobody_in() {
    let mut server = Server::on(tempfile::tempdir().unwrap(), &[]);
    server.client.get("/api/cloud/status").refused(401, "missing_api_key");
    server.client.with_key("bil_live_x").get("/api/cloud/status").refused(401, "invalid_api_key");
    let client = server.client_of("first", &[]);
    client.commit("a", json!(1));
    let said = server.stop();
    assert!(said.contains("bilinc keys create --data"), "{said}");
}

#[test]
fn a_project_has_a_name_that_is_no_path() {
    let data = tempfile::tempdir().unwrap();
    for name in ["..", "../p", "a/b", "", ".hidden", "a b"] {
        let output = program(data.path(), &["keys", "create", "--project", name, "--json"]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(output.stdout.is_empty());
    }
    assert!(!data.path().join("keys.json").exists() && !data.path().join("projects").exists());
}

#[test]
fn keys_that_cannot_be_read_let_nobody_in() {
    let server = Server::new();
    server.client.commit("a", json!(1));
    std::fs::write(server.data().join("keys.json"), "{").unwrap();
    let details = server.client.entry("a").refused(503, "cloud_runtime_unavailable");
    assert_eq!(details["reason"], "keys");
    let health = server.client.nobody().get("/api/cloud/health");
    assert!(health.text().contains("degraded"), "{}", health.text());
}

#[test]
fn people_get_the_key_on_a_line_of_its_own_and_never_again() {
    let data = tempfile::tempdir().unwrap();
    let words = ["keys", "create", "--project", "p", "--name", "a\u{1b}[2J"];
    let output = program(data.path(), &words).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let key = said.lines().next().unwrap();
    assert!(key.starts_with("bil_live_") && key.len() == 73, "{said}");
    let listed = String::from_utf8(program(data.path(), &["keys", "list"]).output().unwrap().stdout).unwrap();
    assert!(listed.contains("read-write") && !listed.contains(key) && !listed.contains('\u{1b}'), "{listed}");
    let wrong = program(data.path(), &["keys", "revoke", "key_0", "--json"]).output().unwrap();
    assert!(!wrong.status.success());
}
