//! The MCP server whose memories are on a server.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::place::{Ran, Server, make_key};

/// A client of `bilinc mcp` with the handshake done.
struct Adapter {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    id: i64,
}

impl Adapter {
    fn of(server: &Server, key: &str, words: &[&str]) -> Self {
        let mut command = server.command(&[&["mcp"], words].concat());
        command.env("BILINC_API_KEY", key);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut adapter = Self { child, input, output, id: 0 };
        let about = json!({"name": "test", "version": "0"});
        adapter.ask("initialize", json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about}));
        adapter.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        adapter
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.id += 1;
        let id = self.id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["id"], id, "{answer}");
        answer["result"].clone()
    }

    #[track_caller]
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        assert_eq!(result["isError"], false, "{tool}: {result}");
        result["structuredContent"].clone()
    }

    #[track_caller]
    fn fail(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        assert_eq!(result["isError"], true, "{tool}: {result}");
        serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap()
    }

    fn tools(&mut self) -> Vec<String> {
        let listed = self.ask("tools/list", json!({}));
        let names = listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned());
        names.collect()
    }
}

impl Drop for Adapter {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn every_tool_acts_on_the_server() {
    let server = Server::new();
    let mut adapter = Adapter::of(&server, &server.key, &[]);
    assert_eq!(adapter.tools().len(), 18);
    let version = adapter.call("commit_mem", json!({"key": "a", "value": {"n": 1.10}}))["entryVersion"].clone();
    assert_eq!(server.run(&["get", "a", "--json"]).json()["source"], "bilinc_mcp");
    let found = adapter.call("get", json!({"key": "a"}));
    assert_eq!((&found["entryVersion"], found["stateVersion"].as_str().unwrap().len()), (&version, 64));
    adapter.call("revise", json!({"key": "a", "value": "two", "session_id": "run"}));
    assert_eq!(
        adapter.fail("revise", json!({"key": "a", "value": "x", "expected_version": version}))["error"],
        "version_conflict"
    );
    assert_eq!(adapter.fail("get", json!({"key": "none"}))["error"], "memory_not_found");
    assert_eq!(adapter.call("recall", json!({"query": "two"}))["results"][0]["key"], "a");
    assert_eq!(adapter.call("list_memories", json!({}))["total"], 1);
    assert_eq!(adapter.call("history", json!({"key": "a"}))["entries"].as_array().unwrap().len(), 2);
    adapter.call("confirm", json!({"key": "a"}));
    assert_eq!(adapter.call("status", json!({}))["workspace"]["project"], "p");
    let snapshot = adapter.call("snapshot", json!({"label": "l"}))["snapshot"]["id"].clone();
    assert_eq!(adapter.call("diff", json!({"from_snapshot_id": snapshot}))["counts"]["added"], 0);
    for index in 0..60 {
        adapter.call("commit_mem", json!({"key": format!("k{index:02}"), "value": index}));
    }
    let dream = adapter.call("dream_start", json!({"limit": 60}));
    let action = |found: &Value| json!({"op": "confirm", "key": found["key"], "expected_version": found["entryVersion"], "reason": "r"});
    let actions: Vec<_> = dream["candidates"].as_array().unwrap().iter().map(action).collect();
    let applied =
        adapter.call("dream_apply", json!({"dream_id": dream["dreamId"], "actions": actions, "report": "done"}));
    assert_eq!((&applied["pages"], &applied["results"][59]["status"]), (&3.into(), &"applied".into()));
    assert_eq!(adapter.call("dream_show", json!({"dream_id": dream["dreamId"]}))["state"], "finished");
    assert_eq!(adapter.call("dream_list", json!({}))["dreams"].as_array().unwrap().len(), 1);
    assert_eq!(adapter.call("dream_undo", json!({"dream_id": dream["dreamId"]}))["state"], "undone");
    adapter.call("undo", json!({"session_id": "run", "dry_run": true}));
    let rollback = json!({"snapshot_id": snapshot, "reason": "r"});
    let token = adapter.call("rollback", rollback)["confirmationToken"].clone();
    adapter.call(
        "rollback",
        json!({"snapshot_id": snapshot, "reason": "r", "mode": "execute", "confirmation_token": token}),
    );
    adapter.call("forget", json!({"key": "a", "reason": "r", "idempotency_key": "once"}));
    assert_eq!(adapter.call("forget", json!({"key": "a", "reason": "r", "idempotency_key": "once"}))["replayed"], true);
}

#[test]
fn a_key_that_may_only_read_has_only_the_tools_that_read() {
    let server = Server::new();
    let reader = make_key(server.home.path(), &["--read-only"]);
    let names = Adapter::of(&server, &reader, &[]).tools();
    assert!(names.contains(&"recall".to_owned()) && !names.contains(&"commit_mem".to_owned()), "{names:?}");
    let url = server.url.clone();
    let named = Adapter::of(&server, &server.key, &["--read-only", "--base-url", &url]).tools();
    assert_eq!(named, names);
}

#[test]
fn a_server_that_ends_is_an_error_of_the_tool_and_one_that_comes_back_goes_on() {
    let mut server = Server::new();
    let mut adapter = Adapter::of(&server, &server.key, &[]);
    adapter.call("commit_mem", json!({"key": "a", "value": 1}));
    server.end();
    let error = adapter.fail("get", json!({"key": "a"}));
    assert_eq!((&error["error"], &error["retryable"]), (&"cloud_runtime_unavailable".into(), &true.into()));
    // One that is started meanwhile has all its tools.
    assert_eq!(Adapter::of(&server, &server.key, &[]).tools().len(), 18);
    server.again();
    assert_eq!(adapter.call("get", json!({"key": "a"}))["value"], 1);
}

#[test]
fn a_key_that_opens_nothing_is_told_at_once() {
    let server = Server::new();
    let ran: Ran = server.command(&["mcp"]).env("BILINC_API_KEY", "bil_live_wrong").output().unwrap().into();
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{ran:?}");
    assert!(ran.err.contains("API key"), "{ran:?}");
}
