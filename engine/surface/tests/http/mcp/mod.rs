//! The Model Context Protocol over HTTP.

mod access;
mod eras;
mod trouble;

use serde_json::{Value, json};

use crate::client::{Client, Reply};

const NEWEST_HANDSHAKE: &str = "2025-11-25";
const INLINE: &str = "2026-07-28";
const BOTH: (&str, &str) = ("accept", "application/json, text/event-stream");
const JSON: (&str, &str) = ("content-type", "application/json");

impl Client {
    #[track_caller]
    fn mcp(&self, headers: &[(&str, &str)], message: &Value) -> Reply {
        self.mcp_text(headers, &message.to_string())
    }

    #[track_caller]
    fn mcp_text(&self, headers: &[(&str, &str)], text: &str) -> Reply {
        let near = Self { host: "localhost".to_owned(), ..self.clone() };
        near.send("POST", "/mcp", &[&[BOTH, JSON], headers].concat(), text.as_bytes())
    }

    /// What a method answers in the newest version with a handshake.
    #[track_caller]
    pub(crate) fn ask(&self, method: &str, params: Value) -> Value {
        let message = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
        let reply = self.mcp(&[("mcp-protocol-version", NEWEST_HANDSHAKE)], &message);
        let answer = said(&reply);
        assert_eq!((reply.status, &answer["id"]), (200, &json!(7)), "{answer}");
        assert!(reply.header("x-request-id").is_some() && reply.header("mcp-session-id").is_none());
        answer
    }

    /// What a tool answers that succeeds.
    #[track_caller]
    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Value {
        let result = self.ask("tools/call", json!({"name": tool, "arguments": arguments}))["result"].clone();
        assert_eq!(result["isError"], false, "{tool}: {result}");
        result["structuredContent"].clone()
    }

    /// The error of a tool that fails.
    #[track_caller]
    pub(crate) fn fail(&self, tool: &str, arguments: Value) -> Value {
        let result = self.ask("tools/call", json!({"name": tool, "arguments": arguments}))["result"].clone();
        assert_eq!(result["isError"], true, "{tool}: {result}");
        serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap()
    }
}

/// The JSON of an answer.
#[track_caller]
fn said(reply: &Reply) -> Value {
    assert_eq!(reply.header("content-type"), Some("application/json"), "{reply:?}");
    serde_json::from_slice(&reply.body).unwrap()
}

/// What is refused as no message, and how.
#[track_caller]
fn refused(reply: &Reply, status: u16, code: i64) -> Value {
    let answer = said(reply);
    assert_eq!((reply.status, &answer["error"]["code"]), (status, &json!(code)), "{answer}");
    answer
}

fn hello(version: &str) -> Value {
    let client = json!({"name": "test", "version": "0"});
    let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
}

fn request(id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": id.into(), "method": "tools/call", "params": params})
}

/// A request of the era without a handshake, with the headers that go with it.
#[track_caller]
fn inline(client: &Client, method: &str, mut params: Value) -> Reply {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": INLINE,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
    });
    let mut headers = vec![("mcp-protocol-version", INLINE), ("mcp-method", method)];
    let name = params["name"].as_str().map(str::to_owned);
    headers.extend(name.as_deref().map(|name| ("mcp-name", name)));
    client.mcp(&headers, &json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
}
