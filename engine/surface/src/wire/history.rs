//! The recorded changes of one key.

use std::borrow::Cow;

use bilinc::{DreamId, HistoryItem, HistoryState, Json, Key, KeyHistory, Seq, SnapshotId, Version};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Time, fields, given, is_false};

/// The recorded changes of one key, newest first.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct HistoryView {
    /// The key.
    #[schema(value_type = String)]
    pub key: Key,
    /// Whether there is an entry now.
    pub exists: bool,
    /// The changes.
    pub entries: Vec<HistoryEntry>,
    /// Whether there are more than were asked for.
    pub truncated: bool,
    /// How much of the values was asked for.
    pub values: Cow<'static, str>,
}

/// A recorded change. Values are left out where there was none, where none was asked for, and where
/// it is hidden or erased.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HistoryEntry {
    /// What it did.
    pub op: Cow<'static, str>,
    /// When.
    pub at: Time,
    /// Where in the log.
    #[schema(value_type = u64)]
    pub seq: Seq,
    /// Why.
    pub reason: Option<String>,
    /// Who did it.
    pub source: String,
    /// The session it was done in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The value before.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<serde_json::Value>)]
    pub before: Option<Json>,
    /// The value after.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<serde_json::Value>)]
    pub after: Option<Json>,
    /// Whether a value was cut, which happens over MCP alone.
    #[serde(default, skip_serializing_if = "is_false")]
    #[schema(ignore)]
    pub value_truncated: bool,
    /// Whether values are hidden because a later forget stands.
    pub values_redacted: bool,
    /// Whether a value was lost with damage of the log.
    #[serde(default, skip_serializing_if = "is_false")]
    pub value_lost: bool,
    /// The version that the entry got.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub entry_version: Option<Version>,
    /// The snapshot that a rollback brought back.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub rollback_snapshot_id: Option<SnapshotId>,
    /// The dream that did it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub dream_id: Option<DreamId>,
    /// The positions that it takes back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<u64>)]
    pub undoes: Vec<Seq>,
}

impl HistoryView {
    /// The history with values as they were asked for.
    #[must_use]
    pub fn new(history: &KeyHistory, values: bilinc::Values) -> Self {
        Self {
            key: history.key.clone(),
            exists: history.exists,
            entries: history.items.iter().map(|item| HistoryEntry::new(item, values)).collect(),
            truncated: history.truncated,
            values: fields::values_name(values).into(),
        }
    }
}

impl HistoryEntry {
    fn new(item: &HistoryItem, values: bilinc::Values) -> Self {
        let value = |state: &Option<HistoryState>| fields::shown_value(state.as_ref()?.value.as_ref(), values);
        Self {
            op: item.op.name().into(),
            at: item.at.into(),
            seq: item.seq,
            reason: item.reason.as_deref().map(str::to_owned),
            source: item.source.to_string(),
            session_id: item.session_id.as_deref().map(str::to_owned),
            before: value(&item.before),
            after: value(&item.after),
            value_truncated: false,
            values_redacted: item.values_redacted,
            value_lost: item.before.iter().chain(&item.after).any(|state| state.lost),
            entry_version: item.after.as_ref().map(|after| after.entry.version),
            rollback_snapshot_id: item.rollback_snapshot,
            dream_id: item.dream,
            undoes: item.undoes.clone(),
        }
    }
}
