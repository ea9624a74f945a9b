//! A client that speaks raw lines, so that it can also speak them wrongly.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Where the protocol is at home before 2026-07-28.
pub(crate) const NEWEST_HANDSHAKE: &str = "2025-11-25";

/// A server with its client's end.
pub(crate) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next_id: i64,
}

/// A folder for a store.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.0.path().join("store")
    }

    /// A client of a server on this store, with the handshake done.
    pub(crate) fn client(&self) -> Client {
        self.client_with(&[])
    }

    pub(crate) fn client_with(&self, options: &[&str]) -> Client {
        let mut client = self.silent(options);
        client.shake_hands(NEWEST_HANDSHAKE);
        client
    }

    /// A client that has said nothing yet.
    pub(crate) fn silent(&self, options: &[&str]) -> Client {
        Client::start(&self.store(), options)
    }

    /// The library's handle of this store.
    pub(crate) fn memory(&self) -> bilinc::Memory {
        bilinc::Memory::open(self.store()).unwrap()
    }
}

pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bilinc"));
    command.env_remove("BILINC_STORE");
    command
}

impl Client {
    pub(crate) fn start(store: &Path, options: &[&str]) -> Self {
        let mut command = program();
        command.arg("mcp").arg("--store").arg(store).args(options);
        Self::of(command)
    }

    pub(crate) fn of(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, output, next_id: 0 }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.input.as_mut().unwrap().write_all(bytes).unwrap();
    }

    pub(crate) fn line(&mut self, line: &str) {
        self.bytes(format!("{line}\n").as_bytes());
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.line(&message.to_string());
    }

    /// The next message; none at the end of the output.
    pub(crate) fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        // Whatever is written there is the protocol.
        (!line.is_empty()).then(|| serde_json::from_str(&line).unwrap_or_else(|_| panic!("no message: {line}")))
    }

    /// The answer to a request, when nothing else comes before it.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let answer = self.next().expect("an answer");
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    pub(crate) fn shake_hands(&mut self, version: &str) -> Value {
        let client = json!({"name": "test", "version": "0"});
        let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client});
        let answer = self.ask("initialize", params);
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        answer["result"].clone()
    }

    pub(crate) fn request(id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        json!({"jsonrpc": "2.0", "id": id.into(), "method": "tools/call", "params": params})
    }

    /// What a tool answers, whatever it is.
    pub(crate) fn result(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        answer["result"].clone()
    }

    /// What a tool answers that succeeds; its text holds the same.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.result(tool, arguments);
        assert_eq!(result["isError"], false, "{tool}: {result}");
        let text = text(&result);
        assert!(text.chars().count() < 50_000, "{tool}: {} characters", text.chars().count());
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), result["structuredContent"], "{tool}");
        result["structuredContent"].clone()
    }

    /// The error of a tool that fails.
    pub(crate) fn fail(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.result(tool, arguments);
        assert_eq!(result["isError"], true, "{tool}: {result}");
        assert!(result.get("structuredContent").is_none());
        assert!(text(&result).chars().count() < 50_000);
        serde_json::from_str(text(&result)).unwrap()
    }

    pub(crate) fn commit(&mut self, key: &str, value: impl Into<Value>) -> Value {
        self.call("commit_mem", json!({"key": key, "value": value.into()}))
    }

    pub(crate) fn close_input(&mut self) {
        self.input = None;
    }

    /// All that comes until the output ends, and whether the program ended well.
    pub(crate) fn rest(mut self) -> (Vec<Value>, bool) {
        self.close_input();
        let rest = std::iter::from_fn(|| self.next()).collect();
        (rest, self.child.wait().unwrap().success())
    }

    /// Nobody takes the output any more.
    pub(crate) fn close_output(self) -> (Child, Option<ChildStdin>) {
        let Self { child, input, .. } = self;
        (child, input)
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

pub(crate) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {result}"))
}
