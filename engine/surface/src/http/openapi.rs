//! The description of the interface as OpenAPI 3.1, made from the catalogue and the twins of
//! [`crate::wire`].

use axum::body::Body;
use axum::http::{Response, StatusCode};
use serde_json::{Map, Value, json};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::errors::statuses;
use super::json as json_response;
use super::operations::{self, Run, Way};
use super::passage::named;
use crate::catalogue::{self, Operation};
use crate::wire::errors::ErrorView;
use crate::wire::requests::Read;

/// Where descriptions of types stand in the document.
const SCHEMAS: &str = "#/components/schemas/";

/// How what an operation takes and gives looks.
#[derive(Debug)]
pub(super) struct Shape {
    request: Value,
    answer: Value,
    components: Vec<(String, Value)>,
}

impl Shape {
    pub(super) fn of<R: Read + ToSchema, A: ToSchema>() -> Self {
        let mut found = Vec::new();
        R::schemas(&mut found);
        A::schemas(&mut found);
        found.push((A::name().into_owned(), A::schema()));
        let components = found.into_iter().map(|(name, schema)| (name, value(&schema))).collect();
        let answer = json!({"$ref": format!("{SCHEMAS}{}", A::name())});
        Self { request: value(&R::schema()), answer, components }
    }
}

/// Descriptions are plain data, which always becomes JSON.
fn value(schema: &RefOr<Schema>) -> Value {
    let mut value = serde_json::to_value(schema).unwrap_or_default();
    unsigned(&mut value);
    value
}

/// Whole numbers from 0 on reach further here than a signed one of their size, by whose name they are called.
fn unsigned(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(unsigned),
        Value::Object(members) => {
            let most = match members.get("format").and_then(Value::as_str) {
                Some("int64") => ("uint64", u64::MAX),
                Some("int32") => ("uint32", u64::from(u32::MAX)),
                _ => return members.values_mut().for_each(unsigned),
            };
            if members.get("minimum").is_some_and(|least| least.as_f64().is_some_and(|least| least >= 0.0)) {
                members.insert("format".to_owned(), most.0.into());
                members.entry("maximum").or_insert_with(|| most.1.into());
            }
        }
        _ => {}
    }
}

/// The document.
#[must_use]
pub fn document() -> String {
    let mut schemas = Map::new();
    let mut paths = Map::new();
    let mut errors = Vec::new();
    ErrorView::schemas(&mut errors);
    errors.push((ErrorView::name().into_owned(), ErrorView::schema()));
    schemas.extend(errors.iter().map(|(name, schema)| (name.clone(), value(schema))));
    for operation in catalogue::ALL {
        let Some(way) = operations::way(operation) else { continue };
        let path = paths.entry(operation.path).or_insert_with(|| json!({}));
        let Some(methods) = path.as_object_mut() else { continue };
        let shape = (way.shape)();
        // Two operations of one route are the same request; the first one names it.
        methods.entry(operation.method.to_lowercase()).or_insert_with(|| describe(operation, way, &shape));
        schemas.extend(shape.components);
    }
    paths.insert("/api/cloud/health".to_owned(), health());
    let document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Bilinc",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Memory for AI agents that remembers what happened to it.",
            "license": {"name": "MIT OR Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "responses": refusals(),
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"key": []}],
    });
    document.to_string()
}

fn describe(operation: &Operation, way: Way, shape: &Shape) -> Value {
    let described = json!({
        "operationId": operation.name.replace(' ', "_"),
        "summary": operation.summary,
        "tags": [operation.group.heading()],
        "parameters": parameters(operation, way.run, shape),
        "responses": responses(way.run, shape),
    });
    with(described, "requestBody", body(operation, way.run, shape))
}

/// An object with one more member, if there is one.
fn with(mut object: Value, name: &str, member: Option<Value>) -> Value {
    if let (Some(members), Some(member)) = (object.as_object_mut(), member) {
        members.insert(name.to_owned(), member);
    }
    object
}

/// The members of a request with their descriptions.
fn members(shape: &Shape) -> impl Iterator<Item = (&String, &Value, bool)> {
    let properties = shape.request.get("properties").and_then(Value::as_object);
    let required = shape.request.get("required").and_then(Value::as_array);
    properties.into_iter().flatten().map(move |(name, schema)| {
        let needed = required.is_some_and(|required| required.iter().any(|one| one == name));
        (name, schema, needed)
    })
}

fn parameters(operation: &Operation, run: Run, shape: &Shape) -> Vec<Value> {
    let in_query = operation.method == "GET" || matches!(run, Run::Import);
    let parameter = |name: &String, schema: &Value, place, required| {
        let mut schema = schema.clone();
        let description = schema.as_object_mut().and_then(|schema| schema.remove("description"));
        json!({"name": name, "in": place, "required": required, "schema": schema, "description": description})
    };
    let mut parameters: Vec<_> = members(shape)
        .filter(|(name, ..)| *name == "id" || (in_query && !matches!(run, Run::Export)))
        .map(|(name, schema, needed)| parameter(name, schema, if name == "id" { "path" } else { "query" }, needed))
        .collect();
    if operation.writes {
        parameters.push(json!({
            "name": "Idempotency-Key", "in": "header", "required": false,
            "schema": {"type": "string", "minLength": 1, "maxLength": 256},
            "description": "Makes a repeated request give the first answer again, for 24 hours.",
        }));
    }
    parameters
}

fn body(operation: &Operation, run: Run, shape: &Shape) -> Option<Value> {
    if matches!(run, Run::Import) {
        let lines = json!({"type": "string", "description": "JSON Lines, one memory a line."});
        return Some(json!({"required": false, "content": {"application/x-ndjson": {"schema": lines}}}));
    }
    if operation.method == "GET" {
        return None;
    }
    let inside = || members(shape).filter(|(name, ..)| *name != "id");
    let properties: Map<_, _> = inside().map(|(name, schema, _)| (name.clone(), schema.clone())).collect();
    let required: Vec<_> = inside().filter(|(.., needed)| *needed).map(|(name, ..)| name).collect();
    let schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
    let schema = with(schema, "required", (!required.is_empty()).then(|| json!(required)));
    Some(json!({"required": !required.is_empty(), "content": {"application/json": {"schema": schema}}}))
}

/// The answer with what every answer carries, and how refusals look.
fn responses(run: Run, shape: &Shape) -> Value {
    let whole = json!({"allOf": [shape.answer, {
        "type": "object",
        "required": ["success", "stateVersion"],
        "properties": {
            "success": {"type": "boolean", "const": true},
            "stateVersion": {"type": "string", "description": "The chain hash at the head of the log."},
            "replayed": {"type": "boolean", "description": "Whether this is the first answer given again."},
        },
    }]});
    let content = match run {
        Run::Export => json!({"application/x-ndjson": {"schema": {"type": "string"}}}),
        Run::Log => json!({
            "application/json": {"schema": whole},
            "text/event-stream": {"schema": {"type": "string", "description": "Events as they come, with `follow`."}},
        }),
        _ => json!({"application/json": {"schema": whole}}),
    };
    let mut responses = Map::new();
    responses.insert("200".to_owned(), json!({"description": "The answer.", "content": content}));
    for (status, _) in statuses() {
        responses.insert(status.to_string(), json!({"$ref": format!("#/components/responses/{status}")}));
    }
    Value::Object(responses)
}

/// How refusals look, by status.
fn refusals() -> Map<String, Value> {
    let error = format!("{SCHEMAS}{}", ErrorView::name());
    let refusal = |codes: &[&str]| {
        let content = json!({"application/json": {"schema": {"$ref": error}}});
        json!({"description": codes.join(", "), "content": content})
    };
    statuses().map(|(status, codes)| (status.to_string(), refusal(codes))).collect()
}

fn health() -> Value {
    let status = json!({"type": "string", "enum": ["ok", "rebuilding", "degraded"]});
    let schema = json!({
        "type": "object",
        "required": ["success", "status"],
        "properties": {"success": {"type": "boolean"}, "status": status, "reason": {"type": "string"}},
    });
    json!({"get": {
        "operationId": "health",
        "summary": "Say how the service is, to everybody",
        "security": [],
        "responses": {"200": {"description": "The answer.", "content": {"application/json": {"schema": schema}}}},
    }})
}

/// Gives the document, to everybody.
pub(super) async fn serve() -> Response<Body> {
    named(json_response(StatusCode::OK, document().into_bytes()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use std::collections::BTreeSet;

    use super::*;

    fn refs(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(members) => {
                found.extend(members.get("$ref").and_then(Value::as_str).map(str::to_owned));
                members.values().for_each(|value| refs(value, found));
            }
            Value::Array(items) => items.iter().for_each(|value| refs(value, found)),
            _ => {}
        }
    }

    #[test]
    fn every_route_is_described_and_every_type_is_there() {
        let document: Value = serde_json::from_str(&document()).unwrap();
        for operation in catalogue::ALL.iter().filter(|operation| !operation.is_local()) {
            let described = &document["paths"][operation.path][operation.method.to_lowercase()];
            assert!(described.is_object(), "{}", operation.name);
        }
        let mut found = BTreeSet::new();
        refs(&document, &mut found);
        for name in found {
            let named = document.pointer(name.strip_prefix('#').unwrap());
            assert!(named.is_some_and(Value::is_object), "{name}");
        }
    }
}
