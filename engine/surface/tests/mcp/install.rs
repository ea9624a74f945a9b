//! The set-up that is printed starts the server.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::client::{Client, Folder, program};

fn install(options: &[&str]) -> String {
    let output = program().args(["mcp", "install"]).args(options).stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn what_is_printed_as_json_starts_a_server() {
    let folder = Folder::new();
    let store = folder.store();
    let printed = install(&["--client", "json", "--store", store.to_str().unwrap()]);
    let set_up: Value = serde_json::from_str(&printed).unwrap();
    let server = &set_up["mcpServers"]["bilinc"];
    let mut command = std::process::Command::new(server["command"].as_str().unwrap());
    command.args(server["args"].as_array().unwrap().iter().filter_map(Value::as_str));
    let mut client = Client::of(command);
    client.shake_hands("2025-06-18");
    client.commit("a", 1);
    assert!(folder.memory().get("a").unwrap().is_some());
}

#[test]
fn each_client_gets_its_set_up_with_the_options_that_were_given() {
    for client in ["claude-code", "claude-desktop", "codex", "cursor", "json"] {
        let printed = install(&["--client", client, "--store", "relative/store", "--read-only"]);
        assert!(printed.contains("--read-only") && printed.contains("mcp"), "{client}: {printed}");
        let absolute = std::env::current_dir().unwrap().join("relative/store");
        assert!(printed.contains(absolute.to_str().unwrap()), "{client}: {printed}");
        let as_json: Value = serde_json::from_str(&install(&["--client", client, "--json"])).unwrap();
        assert_eq!(as_json["mcpServers"]["bilinc"]["args"], json!(["mcp"]));
    }
}

#[test]
fn a_server_over_http_is_named_by_its_address_and_the_key_by_its_variable() {
    for (client, shown) in [
        ("claude-code", "claude mcp add --transport http --scope user bilinc https://memory.example/mcp --header"),
        ("claude-code", r#""Authorization": "Bearer ${BILINC_API_KEY}""#),
        ("claude-desktop", r#""BILINC_API_KEY""#),
        ("codex", "codex mcp add bilinc --url https://memory.example/mcp --bearer-token-env-var BILINC_API_KEY"),
        ("codex", r#"bearer_token_env_var = "BILINC_API_KEY""#),
        ("cursor", r#""Authorization": "Bearer ${env:BILINC_API_KEY}""#),
    ] {
        let printed = install(&["--client", client, "--base-url", "https://memory.example/"]);
        assert!(printed.contains(shown), "{client}: {printed}");
    }
    let tools = ["--base-url", "http://127.0.0.1:8787", "--tools", "knowledge-graph"];
    let printed = install(&[&["--client", "json"], &tools[..]].concat());
    let set_up: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(set_up["mcpServers"]["bilinc"]["url"], "http://127.0.0.1:8787/mcp/knowledge-graph");
    for wrong in [&["--base-url", "memory.example"][..], &["--base-url", "http://m", "--read-only"]] {
        let output = program().args(["mcp", "install", "--client", "json"]).args(wrong).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
    }
}
