//! What tools answer, as schemas. Clients hold answers to these, and so do our tests.

mod dreams;

use serde_json::{Map, Value, json};

pub(super) use self::dreams::{dream, dream_applied, dream_started, dreams, undone};

/// An answer: what every one carries, and these.
fn answer(properties: Value, required: &[&str]) -> Map<String, Value> {
    let mut all = Map::new();
    all.insert("success".to_owned(), json!({"type": "boolean"}));
    if let Value::Object(properties) = properties {
        all.extend(properties);
    }
    all.extend([
        ("stateVersion".to_owned(), described("string", "The chain hash at the head of the log")),
        (
            "replayed".to_owned(),
            described("boolean", "Whether this answer was given before and nothing was written now"),
        ),
        ("notice".to_owned(), json!({"type": "string"})),
        ("degraded".to_owned(), described("string", "The damage before which the store answers")),
        (
            "omitted".to_owned(),
            described("object", "How many items of which lists were left out, so that the answer fits"),
        ),
    ]);
    let required: Vec<_> = ["success", "stateVersion"].iter().chain(required).copied().collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), all.into());
    schema.insert("required".to_owned(), required.into());
    schema
}

fn described(kind: &str, about: &str) -> Value {
    json!({"type": kind, "description": about})
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required})
}

fn list(items: Value) -> Value {
    json!({"type": "array", "items": items})
}

fn text() -> Value {
    json!({"type": "string"})
}

fn texts() -> Value {
    list(text())
}

fn number() -> Value {
    json!({"type": "number"})
}

fn whole() -> Value {
    json!({"type": "integer"})
}

fn flag() -> Value {
    json!({"type": "boolean"})
}

fn or_null(kind: &str) -> Value {
    json!({"type": [kind, "null"]})
}

fn version() -> Value {
    described("string", "What expected_version names")
}

/// Any JSON.
fn any() -> Value {
    json!({})
}

fn flags() -> Value {
    list(object(
        json!({"seq": whole(), "at": text(), "dreamId": text(), "reason": text(), "evidenceKeys": texts()}),
        &["seq", "at", "reason", "evidenceKeys"],
    ))
}

fn change() -> Value {
    object(json!({"op": text(), "source": text(), "at": text(), "seq": whole()}), &["op", "source", "at", "seq"])
}

fn entry_properties() -> Value {
    json!({
        "key": text(),
        "value": any(),
        "valueTruncated": described("boolean", "Whether the value is a part only"),
        "memoryType": text(),
        "importance": number(),
        "metadata": any(),
        "source": text(),
        "sessionId": or_null("string"),
        "canonical": or_null("boolean"),
        "priority": or_null("number"),
        "ttl": or_null("number"),
        "expiresAt": or_null("string"),
        "createdAt": text(),
        "updatedAt": text(),
        "confirmedAt": or_null("string"),
        "entryVersion": version(),
        "flags": flags(),
        "valuesRedacted": flag(),
        "valueLost": flag(),
        "incomplete": flag(),
    })
}

const ENTRY: [&str; 7] = ["key", "memoryType", "importance", "source", "createdAt", "updatedAt", "entryVersion"];

pub(super) fn committed() -> Map<String, Value> {
    let properties = json!({
        "operation": {"type": "string", "enum": ["create", "update"]},
        "affectedKeys": texts(),
        "removedKeys": texts(),
        "entryVersion": version(),
    });
    answer(properties, &["operation", "affectedKeys", "entryVersion"])
}

pub(super) fn revised() -> Map<String, Value> {
    let properties = json!({"key": text(), "strategy": text(), "affectedKeys": texts(), "entryVersion": version()});
    answer(properties, &["key", "strategy", "entryVersion"])
}

pub(super) fn forgotten() -> Map<String, Value> {
    let purged = json!({
        "bodies": whole(),
        "bytes": whole(),
        "events": whole(),
        "alsoIn": {
            "type": "array",
            "items": text(),
            "description": "Keys into which this one was folded: copies may be there",
        },
    });
    let properties = json!({
        "key": text(),
        "removed": flag(),
        "reasonRecorded": flag(),
        "purged": object(purged, &["bodies", "bytes", "events", "alsoIn"]),
    });
    answer(properties, &["key", "removed"])
}

pub(super) fn confirmed() -> Map<String, Value> {
    let properties = json!({"key": text(), "confirmed": flag(), "updatedAt": text(), "entryVersion": version()});
    answer(properties, &["key", "confirmed", "entryVersion"])
}

pub(super) fn recalled() -> Map<String, Value> {
    let mut result = entry_properties();
    if let Some(result) = result.as_object_mut() {
        for absent in ["canonical", "priority", "ttl", "expiresAt", "valuesRedacted", "valueLost", "incomplete"] {
            result.remove(absent);
        }
        result.insert("score".to_owned(), described("number", "Comparable within this answer only"));
        result.insert("ageSeconds".to_owned(), whole());
        let matched = object(json!({"term": text(), "how": text(), "fields": texts()}), &["term", "how", "fields"]);
        result.insert("matched".to_owned(), list(matched));
        let earlier = described("integer", "The position of the earlier value by which a deep recall found it");
        result.insert("earlierAt".to_owned(), earlier);
    }
    let required: Vec<_> = ENTRY.iter().chain(&["score", "ageSeconds"]).copied().collect();
    answer(json!({"results": list(object(result, &required))}), &["results"])
}

pub(super) fn entry() -> Map<String, Value> {
    let mut properties = entry_properties();
    if let Some(properties) = properties.as_object_mut() {
        properties.insert(
            "valueChars".to_owned(),
            described("integer", "Characters of the whole value, when it comes in parts"),
        );
        properties.insert("nextValueOffset".to_owned(), described("integer", "The value_offset of the next part"));
        properties
            .insert("nextMetadataOffset".to_owned(), described("integer", "The metadata_offset of the next part"));
    }
    answer(properties, &ENTRY)
}

pub(super) fn listed() -> Map<String, Value> {
    let properties = json!({
        "entries": list(object(entry_properties(), &ENTRY)),
        "nextCursor": {"type": ["string", "null"], "description": "The cursor of the next page; null on the last"},
        "total": described("integer", "All memories that match"),
        "values": text(),
        "order": text(),
        "sources": texts(),
    });
    answer(properties, &["entries", "nextCursor", "total"])
}

pub(super) fn history() -> Map<String, Value> {
    let change = json!({
        "op": text(),
        "at": text(),
        "seq": whole(),
        "reason": or_null("string"),
        "source": text(),
        "sessionId": text(),
        "before": any(),
        "after": any(),
        "valueTruncated": flag(),
        "valuesRedacted": flag(),
        "valueLost": flag(),
        "entryVersion": text(),
        "rollbackSnapshotId": text(),
        "dreamId": text(),
        "undoes": list(whole()),
    });
    let properties = json!({
        "key": text(),
        "exists": flag(),
        "entries": list(object(change, &["op", "at", "seq", "source", "valuesRedacted"])),
        "truncated": flag(),
        "values": text(),
    });
    answer(properties, &["key", "exists", "entries", "truncated"])
}

pub(super) fn status() -> Map<String, Value> {
    let dream =
        object(json!({"dreamId": text(), "state": text(), "daysLeft": whole()}), &["dreamId", "state", "daysLeft"]);
    let usage = json!({
        "memories": whole(),
        "byType": {"type": "object"},
        "keys": whole(),
        "flagged": described("integer", "Memories with an open flag"),
        "snapshots": whole(),
        "liveBytes": whole(),
        "historyBytes": whole(),
        "purgedBytes": whole(),
        "logBytes": whole(),
    });
    let store = json!({
        "exists": flag(),
        "seq": described("integer", "The last position"),
        "rootHash": text(),
        "head": text(),
        "segments": whole(),
        "checkpoint": or_null("integer"),
        "durability": text(),
        "readOnly": {"type": ["string", "null"], "description": "Why it takes no writes"},
        "recovered": or_null("string"),
        "lostEvents": whole(),
        "lostBodies": whole(),
        "dreams": {"type": "array", "items": dream, "description": "Dreams that can be undone or still act"},
    });
    let properties = json!({
        "plan": text(),
        "workspace": object(json!({"id": or_null("string"), "path": or_null("string")}), &[]),
        "capabilities": {"type": "object"},
        "limits": {"type": "object"},
        "usage": object(usage, &["memories", "flagged"]),
        "store": object(store, &["exists", "seq", "dreams"]),
    });
    answer(properties, &["usage", "store"])
}

fn snapshot() -> Value {
    let properties = json!({
        "id": text(),
        "seq": whole(),
        "createdAt": text(),
        "totalEntries": whole(),
        "byType": {"type": "object"},
        "rootHash": text(),
        "label": or_null("string"),
        "metadata": {"type": "object"},
    });
    object(properties, &["id", "seq", "createdAt", "totalEntries"])
}

pub(super) fn snapshots() -> Map<String, Value> {
    answer(json!({"snapshot": snapshot(), "snapshots": list(snapshot())}), &[])
}

pub(super) fn diff() -> Map<String, Value> {
    let item = json!({
        "key": text(),
        "memoryType": or_null("string"),
        "beforeVersion": text(),
        "afterVersion": text(),
        "before": any(),
        "after": any(),
        "valueTruncated": flag(),
        "valuesRedacted": flag(),
        "valueLost": flag(),
    });
    let items = list(object(item, &["key"]));
    let properties = json!({
        "target": text(),
        "fromSeq": whole(),
        "toSeq": whole(),
        "counts": object(
            json!({"added": whole(), "modified": whole(), "removed": whole()}),
            &["added", "modified", "removed"],
        ),
        "added": items,
        "modified": items,
        "removed": items,
        "valuesIncluded": flag(),
        "truncated": flag(),
    });
    answer(properties, &["target", "counts", "added", "modified", "removed", "truncated"])
}

pub(super) fn rollback() -> Map<String, Value> {
    let properties = json!({
        "snapshotId": text(),
        "counts": {
            "type": "object",
            "description": "Of a preview create, update, remove; else created, updated, deleted",
        },
        "createKeys": texts(),
        "updateKeys": texts(),
        "removeKeys": texts(),
        "skippedKeys": {"type": "array", "items": text(), "description": "Keys whose values were erased"},
        "truncated": flag(),
        "destructive": flag(),
        "confirmationToken": text(),
        "expiresAt": text(),
        "seq": whole(),
    });
    answer(properties, &["snapshotId", "counts", "skippedKeys"])
}
