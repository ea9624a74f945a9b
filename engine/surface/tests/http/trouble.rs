//! Stores that are damaged, gone or read-only are said to be.

use std::fs;

use std::sync::Arc;

use bilinc::storage::{Fault, FaultKind, FaultStorage, FileStorage};
use bilinc::{Commit, Json, Key, Memory};
use serde_json::json;

use crate::client::memory;
use crate::server::Server;

/// Flips a byte in the middle of the log's first segment.
fn damage(server: &Server) {
    let mut segments: Vec<_> =
        fs::read_dir(server.store().join("log")).unwrap().map(|entry| entry.unwrap().path()).collect();
    segments.sort();
    let path = segments.iter().find(|path| path.extension().is_some_and(|kind| kind == "seg")).unwrap_or(&segments[0]);
    let mut bytes = fs::read(path).unwrap();
    let at = bytes.windows(6).position(|six| six == b"middle").unwrap();
    bytes[at] ^= 1;
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_damaged_store_answers_from_before_the_damage_and_is_degraded() {
    let mut server = Server::new();
    for key in ["first", "middle", "last"] {
        server.client.commit(key, json!("v"));
    }
    server.stop();
    // Without what a checkpoint knows.
    let _ = fs::remove_dir_all(server.store().join("checkpoints"));
    damage(&server);
    server.restart(&[]);
    let client = &server.client;
    let refused = client.post(&memory("commit"), &json!({"key": "new", "value": 1}));
    assert_eq!(refused.status, 500, "{}", refused.text());
    refused.refused(500, "store_corrupt");
    let health = client.nobody().get("/api/cloud/health");
    let health: serde_json::Value = serde_json::from_slice(&health.body).unwrap();
    assert_eq!(health["status"], "degraded");
    assert!(health["reason"].as_str().unwrap().contains("damaged"), "{health}");
    let verify = client.get(&memory("verify")).refused(500, "store_corrupt");
    assert!(verify["position"].is_u64() && verify["segment"].is_string(), "{verify}");
    assert!(client.get("/api/cloud/status").ok()["store"]["readOnly"].is_string());
}

#[test]
fn a_store_that_is_gone_is_never_healthy_and_empty() {
    let mut server = Server::new();
    server.client.commit("a", json!(1));
    server.stop();
    let away = server.data().join("away");
    fs::rename(server.store(), &away).unwrap();
    server.restart(&[]);
    let health = |server: &Server| server.client.nobody().get("/api/cloud/health").text().to_owned();
    assert!(health(&server).contains("degraded"), "{}", health(&server));
    let details = server.client.entry("a").refused(503, "cloud_runtime_unavailable");
    assert_eq!(details["reason"], "store_not_open");
    server.client.post(&memory("commit"), &json!({"key": "b", "value": 1})).refused(503, "cloud_runtime_unavailable");
    assert!(!server.store().exists());
    fs::rename(&away, server.store()).unwrap();
    assert_eq!(server.client.entry("a").ok()["value"], 1);
    assert!(health(&server).contains(r#""ok""#));
}

/// Has another process's sync fail, which stops all writers of the store.
pub(crate) fn fail_a_sync(server: &Server) {
    let files = Arc::new(FileStorage::new(server.store()));
    let faults = FaultStorage::new(files).unwrap();
    let memory = Memory::builder().open_in(Arc::new(faults.clone())).unwrap();
    let kind = FaultKind::Error(std::io::ErrorKind::Other);
    faults.set_fault(Some(Fault { at: faults.calls() + 1, kind, sticky: false, only: Some("sync") }));
    let commit = Commit::new(Key::new("lost").unwrap(), Json::string("v"));
    assert_eq!(memory.commit(commit).unwrap_err().code(), "cloud_runtime_unavailable");
}

#[test]
fn a_writer_that_stopped_is_replaced_once_and_then_the_service_is_degraded() {
    let server = Server::new();
    let client = &server.client;
    client.commit("a", json!(1));
    let stopped = || {
        let reply = client.post(&memory("commit"), &json!({"key": "b", "value": 1}));
        assert_eq!(reply.refused(503, "cloud_runtime_unavailable")["outcome"], "unknown", "{}", reply.text());
    };
    let health = || client.nobody().get("/api/cloud/health").text().to_owned();
    fail_a_sync(&server);
    stopped();
    // The next one meets a writer that was opened anew, and what it writes earns the next chance.
    client.commit("b", json!(2));
    assert!(health().contains(r#""ok""#), "{}", health());
    fail_a_sync(&server);
    stopped();
    client.commit("b", json!(3));
    // Failed again before anything was written.
    fail_a_sync(&server);
    stopped();
    fail_a_sync(&server);
    stopped();
    assert!(health().contains("degraded") && health().contains("writer stopped"), "{}", health());
    stopped();
    assert_eq!(client.entry("b").ok()["value"], 3);
}
