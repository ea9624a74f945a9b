//! The actions of a dream, as an agent sends them.
//!
//! Read by hand from raw JSON, for three reasons: values must keep their text, both spellings of a
//! field name are welcome, and a refusal has to name the very field of the very action. What cannot
//! be read as an action refuses the request; what can be read and not carried out, such as a value
//! that is too large, becomes an error of that action alone.

use bilinc::{Action, ActionOp, ActionRefusal, InvalidJson, Json, Key, Rejection, limits};
use serde_json::value::RawValue;

use super::fields;
use super::requests::{beginning, members, wrong_type};

/// How an action looks, for descriptions of the interface. Both spellings of a name are read.
#[derive(Debug, utoipa::ToSchema)]
#[schema(as = Action)]
#[allow(dead_code)]
pub struct ActionSchema {
    /// `revise`, `forget`, `confirm` or `flag`.
    op: String,
    /// To which candidate.
    key: String,
    /// The version that was looked at; required but for `flag`.
    expected_version: Option<String>,
    /// What a revise puts there.
    new_value: Option<serde_json::Value>,
    /// Duplicates that a revise folds in.
    merged_from: Option<Vec<String>>,
    /// Why, 1 to 512 characters.
    reason: String,
    /// Memories that speak for it, at most 50.
    evidence_keys: Option<Vec<String>>,
}

/// Actions with the report that came along.
#[derive(Debug, PartialEq)]
pub struct ActionList {
    /// The actions, in the order they were sent.
    pub actions: Vec<Action>,
    /// The agent's report.
    pub report: Option<Json>,
}

/// Reads an array of actions, or an object with `actions` and `report`.
///
/// # Errors
/// `invalid_request` that names the field, for what cannot be read as actions.
pub fn parse(text: &str) -> Result<ActionList, Rejection> {
    let (actions, report) = split(text)?;
    Ok(ActionList { actions: actions.as_deref().map(list).transpose()?.unwrap_or_default(), report })
}

/// The array of actions as it came, and the report that came along.
///
/// # Errors
/// As [`parse`], but that no action is looked into.
pub fn split(text: &str) -> Result<(Option<Box<RawValue>>, Option<Json>), Rejection> {
    let raw: &RawValue = serde_json::from_str(text.trim())
        .map_err(|error| Rejection::invalid("actions", "invalid_json", format!("not JSON: {error}")))?;
    if raw.get().starts_with('[') {
        return Ok((Some(raw.to_owned()), None));
    }
    let (mut actions, mut report) = (None, None);
    for (name, value) in members("body", raw)? {
        match name.as_str() {
            "actions" => unique("actions", &mut actions, value.to_owned())?,
            "report" if value.get() == "null" => {}
            "report" => unique("report", &mut report, fields::json("report", value.get(), limits::REPORT_BYTES)?)?,
            other => {
                let message = "unknown; an object holds `actions` and `report`";
                return Err(Rejection::invalid(beginning(other), "unknown_field", message));
            }
        }
    }
    Ok((actions, report))
}

/// Reads an array of actions.
///
/// # Errors
/// As [`parse`].
pub fn list(raw: &RawValue) -> Result<Vec<Action>, Rejection> {
    let items: Vec<&RawValue> = serde_json::from_str(raw.get()).map_err(|_| wrong_type("actions", "an array"))?;
    items.into_iter().enumerate().map(|(index, item)| action(index, item)).collect()
}

/// The fields of an action as they come in.
#[derive(Default)]
struct Draft {
    op: Option<ActionOp>,
    key: Option<Key>,
    expected_version: Option<bilinc::Version>,
    new_value: Option<Json>,
    merged_from: Option<Vec<Key>>,
    reason: Option<String>,
    evidence_keys: Option<Vec<Key>>,
    refused: Option<ActionRefusal>,
}

fn action(index: usize, raw: &RawValue) -> Result<Action, Rejection> {
    let whole = format!("actions[{index}]");
    let at = |field: &str| format!("{whole}.{field}");
    let mut draft = Draft::default();
    for (name, value) in members(&whole, raw)? {
        let name = snake_case(&name);
        let field = at(&name);
        let given = value.get() != "null";
        match name.as_str() {
            "op" => unique(&field, &mut draft.op, op(&field, value)?)?,
            "key" => unique(&field, &mut draft.key, fields::key(&field, &string(&field, value)?)?)?,
            "reason" => unique(&field, &mut draft.reason, string(&field, value)?)?,
            "expected_version" if given => {
                let version = fields::id(&field, &string(&field, value)?)?;
                unique(&field, &mut draft.expected_version, version)?;
            }
            "merged_from" if given => unique(&field, &mut draft.merged_from, keys(&field, value)?)?,
            "evidence_keys" if given => unique(&field, &mut draft.evidence_keys, keys(&field, value)?)?,
            "new_value" => match Json::parse(value.get(), limits::VALUE_BYTES) {
                Ok(json) => unique(&field, &mut draft.new_value, json)?,
                Err(error) => draft.refused = Some(impossible(&error)),
            },
            "expected_version" | "merged_from" | "evidence_keys" => {}
            _ => {
                let message = "unknown; an action holds op, key, expected_version, new_value, merged_from, reason, \
                               evidence_keys";
                return Err(Rejection::invalid(at(&beginning(&name)), "unknown_field", message));
            }
        }
    }
    let missing = |field: &str| Rejection::invalid(at(field), "required", "every action needs it");
    let op = draft.op.ok_or_else(|| missing("op"))?;
    let reason = draft.reason.ok_or_else(|| missing("reason"))?;
    // A null says "no value" wherever a value would be out of place.
    let stray_null = op != ActionOp::Revise && draft.new_value.as_ref().is_some_and(|json| json.as_str() == "null");
    Ok(Action {
        op,
        key: draft.key.ok_or_else(|| missing("key"))?,
        expected_version: draft.expected_version,
        new_value: draft.new_value.filter(|_| !stray_null),
        merged_from: draft.merged_from.unwrap_or_default(),
        reason,
        evidence_keys: draft.evidence_keys.unwrap_or_default(),
        refused: draft.refused,
    })
}

fn impossible(error: &InvalidJson) -> ActionRefusal {
    ActionRefusal { code: "invalid_request".to_owned(), message: format!("new_value: {error}") }
}

fn op(field: &str, value: &RawValue) -> Result<ActionOp, Rejection> {
    let name = string(field, value)?;
    ActionOp::ALL.into_iter().find(|op| op.name() == name).ok_or_else(|| {
        let message = "an action is one of revise, forget, confirm, flag";
        Rejection::invalid(field, "unknown_op", message)
    })
}

fn keys(field: &str, value: &RawValue) -> Result<Vec<Key>, Rejection> {
    let texts: Vec<String> = serde_json::from_str(value.get()).map_err(|_| wrong_type(field, "an array of strings"))?;
    texts.iter().map(|text| fields::key(field, text)).collect()
}

fn string(field: &str, value: &RawValue) -> Result<String, Rejection> {
    serde_json::from_str(value.get()).map_err(|_| wrong_type(field, "a string"))
}

/// Sets what may be given once only, under whatever spelling.
fn unique<T>(field: &str, place: &mut Option<T>, value: T) -> Result<(), Rejection> {
    if place.replace(value).is_some() {
        return Err(Rejection::invalid(field, "duplicate_member", "given twice"));
    }
    Ok(())
}

/// `newValue` as `new_value`.
fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 2);
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
#[path = "actions_tests.rs"]
mod tests;
