//! What is no message, callers that go away, and stores and servers that do.

use std::io::Write;
use std::process::Stdio;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{BOTH, INLINE, JSON, NEWEST_HANDSHAKE, hello, refused, request, said};
use crate::client::{Client, memory};
use crate::server::{Server, program};
use crate::trouble::fail_a_sync;

#[test]
fn what_is_no_message_is_refused_as_the_protocol_says_it() {
    let server = Server::new();
    let client = &server.client;
    for text in ["", "garbage", "{", "{\"jsonrpc\":\"2.0\"} x", &"[".repeat(5_000)] {
        refused(&client.mcp_text(&[], text), 400, -32700);
    }
    for text in ["7", "\"text\"", "null", "{}", r#"{"jsonrpc":"2.0"}"#, r#"{"id":1,"method":"ping"}"#] {
        refused(&client.mcp_text(&[], text), 400, -32600);
    }
    for id in ["null", "1.5", "[1]", "true"] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        refused(&client.mcp_text(&[], &text), 400, -32600);
    }
    // There is nothing that a client could be asked, so there is nothing that it could answer.
    refused(&client.mcp(&[], &json!({"jsonrpc": "2.0", "id": 1, "result": {}})), 400, -32600);
    let unread =
        client.mcp_text(&[], r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"get-quiet"}}"#);
    assert!(said(&unread)["error"]["message"].as_str().unwrap().contains("unknown tool"));
    let near = Client { host: "localhost".to_owned(), ..client.clone() };
    near.send("POST", "/mcp", &[JSON], b"{\"a\":\"\xff\"}").invalid("body", "invalid_utf8");
    near.send("POST", "/mcp", &[BOTH, ("content-type", "text/plain")], b"{}")
        .invalid("contentType", "wrong_content_type");
    refused(&near.send("POST", "/mcp", &[JSON, ("accept", "text/event-stream")], b"{}"), 406, -32600);
    let ping = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    for headers in [&[][..], &[("accept", "*/*")], &[("accept", "application/json")]] {
        assert_eq!(near.send("POST", "/mcp", headers, ping).status, 200);
    }
}

#[test]
fn a_body_over_the_limit_is_too_large_and_one_below_is_not() {
    let server = Server::new();
    let huge = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","x":"{}"}}"#, "x".repeat(33 * 1024 * 1024));
    assert_eq!(server.client.mcp_text(&[], &huge).refused(413, "payload_too_large")["limit"], 32 * 1024 * 1024);
    let large = json!({"key": "a", "value": "x".repeat(900_000)});
    server.client.call("commit_mem", large);
    let padded = format!("{}{}", " ".repeat(5 * 1024 * 1024), request(1, "status", json!({})));
    assert_eq!(said(&server.client.mcp_text(&[], &padded))["result"]["isError"], false);
}

#[test]
fn many_at_once_lose_nothing() {
    // Nobody reads its log here.
    let server = Server::with(&["--log", "warn"]);
    std::thread::scope(|scope| {
        for who in 0..16 {
            let client = &server.client;
            scope.spawn(move || {
                for n in 0..25 {
                    client.call("commit_mem", json!({"key": format!("{who}.{n}"), "value": n}));
                    assert_eq!(client.call("get", json!({"key": format!("{who}.{n}")}))["value"], n);
                }
            });
        }
    });
    assert_eq!(server.client.call("list_memories", json!({"limit": 1}))["total"], 400);
    assert_eq!(server.client.position(), 400);
}

#[test]
fn a_caller_that_goes_away_harms_nobody() {
    let mut server = Server::new();
    let near = Client { host: "localhost".to_owned(), ..server.client.clone() };
    for n in 0..100 {
        let body = request(n, "commit_mem", json!({"key": format!("k{n}"), "value": "v".repeat(10_000)})).to_string();
        let mut stream = near.connect();
        let head = near.head("POST", "/mcp", &[BOTH, JSON]);
        write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len()).unwrap();
        // One half leaves in the middle of the body, the other before the answer.
        if n % 2 == 0 {
            let _ = stream.shutdown(std::net::Shutdown::Both);
        }
    }
    let total = server.client.call("list_memories", json!({"limit": 1}))["total"].as_u64().unwrap();
    assert!(total <= 100);
    server.client.call("commit_mem", json!({"key": "after", "value": 1}));
    let metrics = server.client.nobody().get("/metrics");
    assert!(metrics.text().contains(r#"bilinc_requests_total{route="/mcp",method="POST",status="200"}"#));
    server.stop();
    let verified = crate::server::json(server.data(), &["verify", "--store", server.store().to_str().unwrap()]);
    assert_eq!(verified["success"], true, "{verified}");
}

#[test]
fn what_was_answered_survives_a_kill() {
    let mut server = Server::new();
    for n in 0..20 {
        server.client.call("commit_mem", json!({"key": format!("k{n}"), "value": n}));
    }
    server.signal(Signal::KILL);
    server.wait();
    server.restart(&[]);
    assert_eq!(server.client.call("list_memories", json!({"limit": 1}))["total"], 20);
}

#[test]
fn a_server_over_lines_works_on_the_same_store_at_the_same_time() {
    let server = Server::new();
    let mut lines = program(server.data(), &["mcp", "--store", server.store().to_str().unwrap()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = lines.stdin.take().unwrap();
    writeln!(input, "{}", hello(NEWEST_HANDSHAKE)).unwrap();
    writeln!(input, "{}", json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 0..50 {
                server.client.call("commit_mem", json!({"key": format!("http.{n}"), "value": n}));
            }
        });
        for n in 0..50 {
            let call = request(n + 10, "commit_mem", json!({"key": format!("lines.{n}"), "value": n}));
            writeln!(input, "{call}").unwrap();
        }
    });
    writeln!(input, "{}", request(1_000, "list_memories", json!({"limit": 1}))).unwrap();
    drop(input);
    let output = lines.wait_with_output().unwrap();
    let answers = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && !answers.contains(r#""isError":true"#), "{answers}");
    let last: Value = serde_json::from_str(answers.lines().last().unwrap()).unwrap();
    assert_eq!(last["result"]["structuredContent"]["total"], 100, "{last}");
    assert_eq!(server.client.call("list_memories", json!({"limit": 1}))["total"], 100);
}

#[test]
fn a_store_is_opened_when_needed_closed_when_idle_and_missed_in_words() {
    let server = Server::with(&["--idle-close", "1"]);
    let open = |server: &Server| server.client.nobody().get("/metrics").text().contains("bilinc_open_stores 1");
    server.client.ask("tools/list", json!({}));
    assert!(!open(&server));
    server.client.call("commit_mem", json!({"key": "a", "value": 1}));
    while open(&server) {
        std::thread::yield_now();
    }
    assert_eq!(server.client.call("get", json!({"key": "a"}))["value"], 1);
    while open(&server) {
        std::thread::yield_now();
    }
    // A tool says so, because that is what a model reads, and says no path.
    std::fs::remove_dir_all(server.store()).unwrap();
    let failed = server.client.fail("get", json!({"key": "a"}));
    assert_eq!(failed["error"], "cloud_runtime_unavailable");
    assert!(!failed.to_string().contains(server.data().to_str().unwrap()), "{failed}");
    assert!(!server.store().exists());
}

#[test]
fn the_log_of_requests_holds_nothing_of_a_message() {
    let mut server = Server::with(&["--log", "debug"]);
    let client = &server.client;
    client.call("commit_mem", json!({"key": "quiet-key", "value": "quiet-value", "source": "quiet-source"}));
    client.fail("get", json!({"key": "quiet-none"}));
    client.ask("tools/call", json!({"name": "quiet-tool"}));
    client.mcp_text(&[], "quiet-garbage");
    client.mcp(&[("mcp-protocol-version", "quiet-version")], &hello("quiet-version"));
    client.mcp(&[("origin", "http://quiet.example")], &hello(INLINE));
    client.mcp(&[], &json!({"jsonrpc": "2.0", "method": "notifications/quiet", "params": {"x": "quiet"}}));
    client.post(&memory("commit"), &json!({"key": "a", "value": 1})).ok();
    let key = client.key.clone().unwrap();
    let said = server.stop();
    assert!(said.contains("route=\"/mcp\"") && said.contains("project=\"p\""), "{said}");
    assert!(!said.contains("quiet") && !said.contains(&key), "{said}");
}

#[test]
fn a_writer_that_stopped_under_a_tool_is_replaced() {
    let server = Server::new();
    let client = &server.client;
    client.call("commit_mem", json!({"key": "a", "value": 1}));
    for value in [2, 3] {
        fail_a_sync(&server);
        let failed = client.fail("commit_mem", json!({"key": "b", "value": value}));
        assert_eq!(
            (&failed["error"], &failed["details"]["outcome"]),
            (&json!("cloud_runtime_unavailable"), &json!("unknown"))
        );
        // The next one meets a writer that was opened anew, and what it writes earns the next chance.
        client.call("commit_mem", json!({"key": "b", "value": value}));
    }
    assert!(client.nobody().get("/api/cloud/health").text().contains(r#""ok""#));
}
