//! Golden schemas, and answers held to them.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::client::{Client, Folder};

/// With this variable set, the golden files are written anew.
const REGENERATE: &str = "BILINC_REGENERATE";

const ORDER: [&str; 18] = [
    "commit_mem",
    "recall",
    "get",
    "revise",
    "forget",
    "status",
    "snapshot",
    "diff",
    "rollback",
    "list_memories",
    "history",
    "confirm",
    "dream_start",
    "dream_apply",
    "dream_undo",
    "dream_show",
    "dream_list",
    "undo",
];
const READS: [&str; 8] = ["recall", "get", "status", "diff", "list_memories", "history", "dream_show", "dream_list"];
const DESTRUCTIVE: [&str; 5] = ["forget", "rollback", "dream_apply", "dream_undo", "undo"];

pub(crate) fn listed(client: &mut Client) -> Vec<Value> {
    client.ask("tools/list", json!({}))["result"]["tools"].as_array().unwrap().clone()
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

/// Holds the tools that a server with these options lists to a golden file.
fn hold_to_golden(options: &[&str], file: &str, golden: &str) {
    let tools = listed(&mut Folder::new().client_with(options));
    let found = format!("{:#}\n", Value::from(tools));
    if std::env::var_os(REGENERATE).is_some() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp").join(file);
        std::fs::write(path, found).unwrap();
        return;
    }
    assert!(found == golden, "{file}: look at the difference with {REGENERATE}=1, and keep it knowingly");
}

#[test]
fn tools_are_as_the_golden_files_say() {
    hold_to_golden(&[], "tools.json", include_str!("tools.json"));
    hold_to_golden(&["--tools", "knowledge-graph"], "graph_tools.json", include_str!("graph_tools.json"));
}

#[test]
fn each_tool_says_what_it_may_do() {
    let tools = listed(&mut Folder::new().client());
    assert_eq!(names(&tools), ORDER);
    for tool in &tools {
        let name = tool["name"].as_str().unwrap();
        let hints = &tool["annotations"];
        assert_eq!(hints["readOnlyHint"], READS.contains(&name), "{name}");
        assert_eq!(hints["destructiveHint"], DESTRUCTIVE.contains(&name), "{name}");
        assert_eq!(hints["openWorldHint"], false, "{name}");
        assert!(hints["idempotentHint"].is_boolean(), "{name}");
        assert!(tool["title"].as_str().is_some_and(|title| !title.is_empty()), "{name}");
        assert!(tool["description"].as_str().is_some_and(|text| text.len() < 1_024), "{name}");
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[schema]["type"], "object", "{name}");
        }
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{name}");
    }
}

#[test]
fn a_connection_that_reads_lists_the_reads_and_knows_no_others() {
    let folder = Folder::new();
    folder.client().commit("a", "b");
    let mut client = folder.client_with(&["--read-only"]);
    assert_eq!(names(&listed(&mut client)), READS);
    for tool in ORDER.iter().filter(|tool| !READS.contains(tool)) {
        let answer = client.ask("tools/call", json!({"name": tool, "arguments": {}}));
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        assert_eq!(answer["error"]["message"], format!("unknown tool: {tool}"));
    }
    assert_eq!(client.call("get", json!({"key": "a"}))["value"], "b");
    assert_eq!(client.ask("prompts/list", json!({}))["result"]["prompts"], json!([]));
}

/// Holds an answer to a schema as our schemas are: what is there must be known, too.
pub(crate) fn hold(schema: &Value, found: &Value, at: &str) {
    let kinds: Vec<_> = match &schema["type"] {
        Value::String(kind) => vec![kind.as_str()],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        // Any JSON.
        _ => return,
    };
    let is = |kind: &str| match kind {
        "object" => found.is_object(),
        "array" => found.is_array(),
        "string" => found.is_string(),
        "integer" => found.is_i64() || found.is_u64(),
        "number" => found.is_number(),
        "boolean" => found.is_boolean(),
        "null" => found.is_null(),
        other => panic!("{at}: {other} is no kind"),
    };
    assert!(kinds.into_iter().any(is), "{at}: {found} is not {}", schema["type"]);
    if let Some(words) = schema["enum"].as_array() {
        assert!(words.contains(found), "{at}: {found} is none of {words:?}");
    }
    for item in found.as_array().into_iter().flatten() {
        hold(&schema["items"], item, &format!("{at}[]"));
    }
    let (Some(properties), Some(members)) = (schema["properties"].as_object(), found.as_object()) else { return };
    for (name, member) in members {
        let property = properties.get(name).unwrap_or_else(|| panic!("{at}.{name} is in no schema"));
        hold(property, member, &format!("{at}.{name}"));
    }
    let required: BTreeSet<_> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for name in required {
        assert!(members.contains_key(name), "{at}.{name} is missing");
    }
}

#[test]
fn the_documents_name_every_tool_with_what_it_may_do() {
    let document = include_str!("../../../../docs/mcp.md");
    for name in ORDER {
        let row = document
            .lines()
            .find(|line| line.starts_with(&format!("| `{name}` |")))
            .unwrap_or_else(|| panic!("{name}"));
        let effect = match name {
            name if READS.contains(&name) => "reads",
            name if DESTRUCTIVE.contains(&name) => "destroys",
            _ => "writes",
        };
        assert!(row.ends_with(&format!("| {effect} |")), "{row}");
    }
}
