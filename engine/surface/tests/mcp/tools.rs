//! Every tool, its answers held to the schema that it lists.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::client::{Client, Folder};
use crate::schema::{hold, listed};

/// Calls tools, and holds each answer to its schema.
struct Held {
    client: Client,
    schemas: BTreeMap<String, Value>,
    called: BTreeSet<String>,
}

impl Held {
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.client.call(tool, arguments);
        hold(&self.schemas[tool], &answer, tool);
        self.called.insert(tool.to_owned());
        answer
    }
}

#[test]
fn every_tool_answers_as_its_schema_says() {
    let folder = Folder::new();
    let mut client = folder.client();
    let tools = listed(&mut client);
    let schemas = tools.iter().map(|tool| (tool["name"].as_str().unwrap().to_owned(), tool["outputSchema"].clone()));
    let mut held = Held { schemas: schemas.collect(), client, called: BTreeSet::new() };

    held.call("status", json!({}));
    let all = json!({
        "key": "a", "value": {"n": 1}, "memory_type": "procedural", "importance": 0.5, "metadata": {"m": [1]}, "source": "s",
        "session_id": "run", "canonical": true, "priority": 0.1, "ttl": 86400, "if_absent": true, "idempotency_key": "i",
    });
    let first = held.call("commit_mem", all);
    assert_eq!((&first["operation"], &first["affectedKeys"]), (&"create".into(), &json!(["a"])));
    for key in ["b", "c", "d", "e", "f", "g", "h"] {
        held.call("commit_mem", json!({"key": key, "value": format!("the value of {key}"), "session_id": "run"}));
    }
    let snapshot = held.call("snapshot", json!({"label": "before", "metadata": {"x": 1}}))["snapshot"]["id"].clone();
    assert_eq!(held.call("snapshot", json!({"action": "list"}))["snapshots"][0]["id"], snapshot);
    held.call("revise", json!({"key": "a", "value": "new", "strategy": "recency", "reason": "r"}));
    held.call("confirm", json!({"key": "b", "reason": "asked"}));
    held.call("forget", json!({"key": "c", "reason": "gone"}));
    held.call("forget", json!({"key": "c", "reason": "for good", "purge": true}));
    held.call("get", json!({"key": "a", "as_of": "@1"}));
    held.call("get", json!({"key": "a", "as_of": snapshot}));
    let found = held.call("recall", json!({"query": "value of d", "explain": true, "memory_types": ["semantic"]}));
    assert_eq!(found["results"][0]["key"], "d");
    let page = held.call("list_memories", json!({"limit": 3, "order": "newest", "values": "full", "flagged": false}));
    held.call(
        "list_memories",
        json!({"limit": 3, "order": "newest", "values": "full", "flagged": false, "cursor": page["nextCursor"]}),
    );
    assert_eq!(held.call("history", json!({"key": "a"}))["entries"].as_array().unwrap().len(), 2);
    assert_eq!(held.call("history", json!({"key": "nothing"}))["exists"], false);
    let changed = held.call("diff", json!({"from_snapshot_id": snapshot, "include_values": true}));
    assert_eq!(changed["counts"], json!({"added": 0, "modified": 2, "removed": 1}));

    let dream = held.call("dream_start", json!({"limit": 4}));
    let id = dream["dreamId"].clone();
    let [x, y, z, w] = [0, 1, 2, 3].map(|place| dream["candidates"][place].clone());
    let actions = json!([
        {"op": "revise", "key": x["key"], "expected_version": x["entryVersion"], "new_value": "merged", "merged_from": [y["key"]], "reason": "one thing"},
        {"op": "forget", "key": y["key"], "expected_version": y["entryVersion"], "reason": "folded in"},
        {"op": "confirm", "key": z["key"], "expected_version": x["entryVersion"], "reason": "right"},
        {"op": "flag", "key": w["key"], "reason": "unsure", "evidence_keys": [x["key"]]},
        {"op": "confirm", "key": "not a candidate", "expected_version": x["entryVersion"], "reason": "r"},
    ]);
    let arguments = json!({"dream_id": id, "actions": actions, "report": {"merged": 1}});
    held.call("dream_apply", json!({"dream_id": id, "actions": actions, "dry_run": true}));
    let applied = held.call("dream_apply", arguments);
    let status = |place: usize| applied["results"][place]["status"].clone();
    assert_eq!([0, 1, 2, 3, 4].map(status), ["applied", "applied", "conflict", "applied", "error"]);
    held.call("list_memories", json!({"flagged": true}));
    held.call("dream_show", json!({"dream_id": id}));
    held.call("dream_list", json!({}));
    held.call("status", json!({}));
    held.call("dream_undo", json!({"dream_id": id, "dry_run": true}));
    held.call("commit_mem", json!({"key": x["key"], "value": "by somebody else"}));
    let undone = held.call("dream_undo", json!({"dream_id": id, "restore_metadata": true}));
    assert_eq!(undone["conflicts"][0]["key"], x["key"]);
    assert_eq!(held.call("dream_undo", json!({"dream_id": id}))["alreadyUndone"], true);
    held.call("dream_show", json!({"dream_id": id}));

    let undone = held.call("undo", json!({"session_id": "run"}));
    held.call("undo", json!({"seqs": [undone["seq"]]}));
    let preview = held.call("rollback", json!({"snapshot_id": snapshot, "reason": "back"}));
    let execute = json!({"snapshot_id": snapshot, "reason": "back", "mode": "execute", "confirmation_token": preview["confirmationToken"]});
    held.call("rollback", execute);
    assert_eq!(held.called.len(), 18);
}
