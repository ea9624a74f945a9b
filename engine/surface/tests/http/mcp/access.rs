//! Who is let in, from where, and to what.

use serde_json::json;

use super::{BOTH, JSON, NEWEST_HANDSHAKE, hello, request};
use crate::client::Client;
use crate::server::Server;

#[test]
fn a_key_that_may_only_read_has_only_the_tools_that_read() {
    let server = Server::new();
    server.client.commit("a", json!("v"));
    let reader = server.client_of("p", &["--read-only"]);
    let before = server.client.position();
    let tools = reader.ask("tools/list", json!({}))["result"]["tools"].clone();
    let names: Vec<_> = tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let reads = ["recall", "get", "status", "diff", "list_memories", "history", "dream_show", "dream_list"];
    assert_eq!(names, reads);
    assert_eq!(reader.call("get", json!({"key": "a"}))["value"], "v");
    for tool in ["commit_mem", "forget", "undo"] {
        let answer = reader.ask("tools/call", json!({"name": tool, "arguments": {"key": "b", "value": 1}}));
        assert!(answer["error"]["message"].as_str().unwrap().contains("unknown tool"), "{answer}");
    }
    assert_eq!(server.client.position(), before);
}

#[test]
fn without_a_key_or_over_its_share_nobody_is_served() {
    let server = Server::with(&["--rate-limit", "1"]);
    for client in [server.client.nobody(), server.client.with_key("bil_live_wrong")] {
        let code = if client.key.is_none() { "missing_api_key" } else { "invalid_api_key" };
        let reply = client.mcp(&[], &hello(NEWEST_HANDSHAKE));
        reply.refused(401, code);
        assert_eq!(reply.header("www-authenticate"), Some("Bearer"));
    }
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let reply = (0..1000).map(|_| server.client.mcp(&[], &ping)).find(|reply| reply.status != 200).unwrap();
    reply.refused(429, "rate_limited");
    // The messages of a batch are asked for one by one.
    let other = server.client_of("p", &[]);
    other.mcp(&[], &json!([ping, ping, ping])).refused(429, "rate_limited");
}

#[test]
fn pages_of_others_and_other_names_of_the_server_are_refused() {
    let server = Server::new();
    let message = request(1, "commit_mem", json!({"key": "a", "value": 1}));
    for origin in ["https://evil.example", "null", "http://localhost.evil.example"] {
        let reply = server.client.mcp(&[("origin", origin)], &message);
        assert_eq!(reply.refused(403, "invalid_request")["field"], "origin", "{origin}");
    }
    let renamed = Client { host: "evil.example".to_owned(), ..server.client.clone() };
    let reply = renamed.send("POST", "/mcp", &[BOTH, JSON], message.to_string().as_bytes());
    assert_eq!(reply.refused(403, "invalid_request")["field"], "host");
    assert_eq!(server.client.position(), 0);
    for origin in ["http://localhost:6274", "http://127.0.0.1:1", "https://[::1]"] {
        assert_eq!(server.client.mcp(&[("origin", origin)], &message).status, 200, "{origin}");
    }
    let named = Server::with(&["--allowed-host", "memory.example"]);
    let client = Client { host: "memory.example:443".to_owned(), ..named.client.clone() };
    let headers = [BOTH, JSON, ("origin", "https://memory.example")];
    assert_eq!(client.send("POST", "/mcp", &headers, message.to_string().as_bytes()).status, 200);
}

#[test]
fn a_key_never_reaches_another_project() {
    let server = Server::new();
    let (one, other) = (&server.client, server.client_of("other", &[]));
    let version = one.call("commit_mem", json!({"key": "a", "value": "of one"}))["entryVersion"].clone();
    let snapshot = one.call("snapshot", json!({}))["snapshot"]["id"].clone();
    let dream = one.call("dream_start", json!({}))["dreamId"].clone();
    one.call("commit_mem", json!({"key": "b", "value": "of one"}));
    let cursor = one.call("list_memories", json!({"limit": 1}))["nextCursor"].clone();
    let preview = one.call("rollback", json!({"snapshot_id": snapshot, "reason": "r"}));
    let token = preview["confirmationToken"].clone();
    let before = one.position();

    assert_eq!(other.fail("get", json!({"key": "a"}))["error"], "memory_not_found");
    let revise = json!({"key": "a", "value": 1, "expected_version": version});
    assert_eq!(other.fail("revise", revise)["error"], "memory_not_found");
    assert_eq!(other.fail("diff", json!({"from_snapshot_id": snapshot}))["error"], "snapshot_not_found");
    for mode in ["preview", "execute"] {
        let rollback = json!({"snapshot_id": snapshot, "reason": "r", "mode": mode, "confirmation_token": token});
        let rollback = if mode == "preview" { json!({"snapshot_id": snapshot, "reason": "r"}) } else { rollback };
        assert!(other.fail("rollback", rollback)["error"].as_str().unwrap() != "internal_error");
    }
    assert_eq!(other.fail("dream_show", json!({"dream_id": dream}))["error"], "dream_not_found");
    assert_eq!(other.fail("dream_undo", json!({"dream_id": dream}))["error"], "dream_not_found");
    assert_eq!(other.fail("list_memories", json!({"cursor": cursor}))["error"], "invalid_request");
    for (tool, arguments) in
        [("recall", json!({"query": "of one"})), ("list_memories", json!({})), ("status", json!({}))]
    {
        let said = other.call(tool, arguments).to_string();
        assert!(!said.contains("of one") && !said.contains("projects/"), "{said}");
    }
    assert!(other.ask("resources/read", json!({"uri": "memory://a"}))["error"].is_object());
    assert_eq!((one.position(), other.position()), (before, 0));
}

#[test]
fn other_methods_are_refused_since_there_is_no_session() {
    let server = Server::new();
    for path in ["/mcp", "/mcp/knowledge-graph"] {
        for method in ["GET", "DELETE", "PUT", "OPTIONS"] {
            let reply = server.client.send(method, path, &[("accept", "text/event-stream")], b"");
            reply.refused(405, "method_not_allowed");
            assert_eq!(reply.header("allow"), Some("POST"), "{method} {path}");
        }
    }
}
