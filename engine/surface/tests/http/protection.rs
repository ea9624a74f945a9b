//! Limits on each key, and what the log of requests holds.

use serde_json::json;

use crate::client::memory;
use crate::server::Server;

#[test]
fn a_key_over_its_rate_is_told_when_to_come_back_and_others_go_on() {
    let server = Server::with(&["--rate-limit", "1"]);
    let refused = (0..1000).map(|_| server.client.entry("a")).find(|reply| reply.status != 404).unwrap();
    refused.refused(429, "rate_limited");
    let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!(wait >= 1);
    let other = server.client_of("p", &[]);
    other.entry("a").refused(404, "memory_not_found");
    // How the service is can be asked at any time.
    assert_eq!(server.client.get("/api/cloud/health").status, 200);
}

#[test]
fn the_log_of_requests_holds_no_value_key_or_body() {
    let mut server = Server::with(&["--log", "debug"]);
    let client = &server.client;
    client.write("commit", &json!({"key": "quiet-key", "value": "quiet-value", "metadata": {"m": "quiet-metadata"}}));
    client.entry("quiet-key").ok();
    client.post_as("quiet-name", &memory("forget"), &json!({"key": "quiet-key", "reason": "quiet-reason"})).ok();
    client
        .post_text(&memory("commit"), r#"{"key":"quiet-key","quiet-field":"quiet-value"}"#)
        .refused(400, "invalid_request");
    client.get("/quiet-path").refused(404, "not_found");
    client.with_key("bil_live_quiet").entry("quiet-key").refused(401, "invalid_api_key");
    let key = client.key.clone().unwrap();
    let said = server.stop();
    assert!(said.contains("/api/cloud/memory/forget") && said.contains("status=400"), "{said}");
    assert!(said.contains("code=\"invalid_request\"") && said.contains("project=\"p\""), "{said}");
    assert!(!said.contains("quiet") && !said.contains(&key), "{said}");
}
