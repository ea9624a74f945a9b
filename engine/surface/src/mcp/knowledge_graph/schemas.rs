//! The arguments and answers of the tools, as schemas.

use serde_json::{Map, Value, json};

const OBSERVATION: &str = "An observation, best one short sentence";

pub(super) fn text(about: &str) -> Value {
    if about.is_empty() { json!({"type": "string"}) } else { json!({"type": "string", "description": about}) }
}

pub(super) fn list(items: Value) -> Value {
    json!({"type": "array", "items": items})
}

pub(super) fn object(properties: Value, required: &[&str]) -> Map<String, Value> {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties);
    schema.insert("required".to_owned(), required.into());
    schema
}

pub(super) fn entity_schema() -> Value {
    let properties = json!({
        "name": text("The entity's name"),
        "entityType": text("What kind of thing it is"),
        "observations": list(text(OBSERVATION)),
    });
    object(properties, &["name", "entityType", "observations"]).into()
}

pub(super) fn relation_schema() -> Value {
    let properties = json!({
        "from": text("The name of the entity where it begins"),
        "to": text("The name of the entity where it ends"),
        "relationType": text("How the one stands to the other"),
    });
    object(properties, &["from", "to", "relationType"]).into()
}

pub(super) fn added_schema() -> Value {
    let properties = json!({"entityName": text("The entity's name"), "contents": list(text(OBSERVATION))});
    object(properties, &["entityName", "contents"]).into()
}

pub(super) fn deleted_schema() -> Value {
    let properties =
        json!({"entityName": text("The entity's name"), "observations": list(text("An observation, exactly"))});
    object(properties, &["entityName", "observations"]).into()
}

pub(super) fn done_schema() -> Map<String, Value> {
    object(json!({"success": {"type": "boolean"}, "message": text("")}), &["success", "message"])
}

pub(super) fn graph_schema() -> Map<String, Value> {
    let omitted = json!({"type": "object", "description": "How many were left out, so that the answer fits"});
    let properties =
        json!({"entities": list(entity_schema()), "relations": list(relation_schema()), "omitted": omitted});
    object(properties, &["entities", "relations"])
}
