//! Stores that are damaged, gone or read-only are said to be.

use std::fs;

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
