//! Both eras of the protocol, and what comes before either.

use serde_json::{Value, json};

use crate::client::{Client, Folder, NEWEST_HANDSHAKE};

const HANDSHAKES: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", NEWEST_HANDSHAKE];
const INLINE: &str = "2026-07-28";

fn meta(version: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
    })
}

#[test]
fn each_version_with_a_handshake_is_served() {
    for version in HANDSHAKES {
        let folder = Folder::new();
        let mut client = folder.silent(&[]);
        let result = client.shake_hands(version);
        assert_eq!(result["protocolVersion"], version);
        assert_eq!(result["serverInfo"]["name"], "bilinc");
        for part in ["tools", "prompts", "resources"] {
            assert!(result["capabilities"][part].is_object(), "{version} {part}");
        }
        assert!(result["instructions"].as_str().unwrap().chars().count() < 2_048);
        client.commit("a.b", version);
        assert_eq!(client.call("get", json!({"key": "a.b"}))["value"], version);
        assert!(client.ask("ping", json!({}))["result"].is_object());
    }
}

#[test]
fn a_version_that_nobody_knows_gets_the_newest_with_a_handshake() {
    for version in ["1999-01-01", "2099-01-01", "latest", INLINE] {
        assert_eq!(Folder::new().silent(&[]).shake_hands(version)["protocolVersion"], NEWEST_HANDSHAKE, "{version}");
    }
}

#[test]
fn the_era_without_a_handshake_is_served_with_the_same_instructions() {
    let folder = Folder::new();
    let mut client = folder.silent(&[]);
    let found = client.ask("server/discover", json!({"_meta": meta(INLINE)}))["result"].clone();
    let versions = found["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&INLINE.into()) && versions.contains(&NEWEST_HANDSHAKE.into()), "{found}");
    assert_eq!(found["instructions"], Folder::new().silent(&[]).shake_hands(NEWEST_HANDSHAKE)["instructions"]);
    let listed = client.ask("tools/list", json!({"_meta": meta(INLINE)}))["result"].clone();
    assert_eq!(listed["tools"].as_array().unwrap().len(), 18);
    let call = |arguments: Value, name: &str| json!({"name": name, "arguments": arguments, "_meta": meta(INLINE)});
    let saved = client.ask("tools/call", call(json!({"key": "a", "value": 1}), "commit_mem"))["result"].clone();
    assert_eq!((&saved["isError"], &saved["resultType"]), (&false.into(), &"complete".into()), "{saved}");
    let answer = client.ask("tools/call", call(json!({}), "nothing"));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let answer = client.ask("tools/list", json!({"_meta": meta("2098-01-01")}));
    assert!(answer["error"]["message"].as_str().is_some(), "{answer}");
    // The session goes on.
    let got = client.ask("tools/call", call(json!({"key": "a"}), "get"))["result"].clone();
    assert_eq!(got["structuredContent"]["value"], 1);
}

#[test]
fn a_client_may_look_first_and_then_shake_hands() {
    let mut client = Folder::new().silent(&[]);
    client.ask("server/discover", json!({"_meta": meta(INLINE)}));
    assert_eq!(client.shake_hands("2025-06-18")["protocolVersion"], "2025-06-18");
}

#[test]
fn what_comes_before_the_handshake_is_answered_or_passed_over_and_ends_nothing() {
    let mut client = Folder::new().silent(&[]);
    client.line("garbage");
    client.line(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    client.line(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    client.line(r#"{"jsonrpc":"2.0","id":77,"result":{}}"#);
    assert!(client.ask("tools/list", json!({}))["error"]["code"].is_i64());
    assert!(client.ask("tools/call", json!({"name": "status", "arguments": {}}))["error"]["code"].is_i64());
    assert!(client.ask("initialize", json!({}))["error"]["code"].is_i64());
    assert!(client.ask("ping", json!({}))["result"].is_object());
    assert_eq!(client.shake_hands("2025-06-18")["protocolVersion"], "2025-06-18");
    client.commit("a", 1);
    // A second handshake is no reason to end either.
    assert_eq!(client.shake_hands("2025-06-18")["protocolVersion"], "2025-06-18");
    client.commit("b", 1);
}

#[test]
fn an_input_that_ends_before_the_handshake_ends_the_program_well() {
    let folder = Folder::new();
    let (rest, well) = folder.silent(&[]).rest();
    assert!(rest.is_empty() && well);
    assert!(!folder.store().exists());
    let mut client: Client = folder.silent(&[]);
    client.bytes(br#"{"jsonrpc":"2.0","id":1,"#);
    let (rest, well) = client.rest();
    assert!(rest.is_empty() && well);
}
