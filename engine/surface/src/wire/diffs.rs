//! The changes between two points.

use std::borrow::Cow;

use bilinc::{Diff, DiffItem, Error, Json, Key, Rejection, Seq, Version};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{given, is_false};

/// How many keys each list has, whole.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
pub struct DiffCounts {
    /// Entries at the second point only.
    pub added: u64,
    /// Entries at both that differ.
    pub modified: u64,
    /// Entries at the first point only.
    pub removed: u64,
}

/// The changes between two points.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiffView {
    /// `current`, or the point that was asked for.
    pub target: String,
    /// The first point's position.
    #[schema(value_type = u64)]
    pub from_seq: Seq,
    /// The second point's position.
    #[schema(value_type = u64)]
    pub to_seq: Seq,
    /// How many keys each list has, whole.
    pub counts: DiffCounts,
    /// Entries at the second point only.
    pub added: Vec<DiffEntry>,
    /// Entries at both that differ.
    pub modified: Vec<DiffEntry>,
    /// Entries at the first point only.
    pub removed: Vec<DiffEntry>,
    /// Whether values were asked for.
    pub values_included: bool,
    /// Whether a list was cut at the limit.
    pub truncated: bool,
}

/// A key in a diff.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiffEntry {
    /// The key.
    #[schema(value_type = String)]
    pub key: Key,
    /// What kind of memory it is, at the second point if it is there.
    pub memory_type: Option<Cow<'static, str>>,
    /// Its version at the first point.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub before_version: Option<Version>,
    /// Its version at the second point.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub after_version: Option<Version>,
    /// Its value at the first point.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<serde_json::Value>)]
    pub before: Option<Json>,
    /// Its value at the second point.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<serde_json::Value>)]
    pub after: Option<Json>,
    /// Whether a value was cut, which happens over MCP alone.
    #[serde(default, skip_serializing_if = "is_false")]
    #[schema(ignore)]
    pub value_truncated: bool,
    /// Whether a value is hidden because a later forget stands.
    #[serde(default, skip_serializing_if = "is_false")]
    pub values_redacted: bool,
    /// Whether a value was lost with damage of the log.
    #[serde(default, skip_serializing_if = "is_false")]
    pub value_lost: bool,
}

/// Names the points of a diff as its request does.
#[must_use]
pub fn in_terms_of_the_request(error: Error) -> Error {
    match error {
        Error::Rejected(Rejection::Invalid { field, reason, message }) => {
            let field = match field.as_str() {
                "from" => "from_snapshot_id".to_owned(),
                "to" => "to_snapshot_id".to_owned(),
                _ => field,
            };
            Rejection::invalid(field, reason, message).into()
        }
        other => other,
    }
}

impl From<&DiffItem> for DiffEntry {
    fn from(item: &DiffItem) -> Self {
        let (before, after) = (item.before.as_ref(), item.after.as_ref());
        Self {
            key: item.key.clone(),
            memory_type: after.or(before).map(|state| state.entry.facts.memory_type.name().into()),
            before_version: before.map(|state| state.entry.version),
            after_version: after.map(|state| state.entry.version),
            before: before.and_then(|state| state.value.clone()),
            after: after.and_then(|state| state.value.clone()),
            value_truncated: false,
            values_redacted: item.values_redacted,
            value_lost: item.before.iter().chain(&item.after).any(|state| state.lost),
        }
    }
}

impl DiffView {
    /// The diff towards `target`.
    #[must_use]
    pub fn new(diff: &Diff, target: String, values_included: bool) -> Self {
        let entries = |items: &[DiffItem]| items.iter().map(DiffEntry::from).collect();
        let [added, modified, removed] = diff.counts;
        Self {
            target,
            from_seq: diff.from,
            to_seq: diff.to,
            counts: DiffCounts { added, modified, removed },
            added: entries(&diff.added),
            modified: entries(&diff.modified),
            removed: entries(&diff.removed),
            values_included,
            truncated: diff.truncated,
        }
    }
}
