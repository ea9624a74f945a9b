//! The events themselves.

use std::borrow::Cow;

use bilinc::{
    DreamId, Event, ImportId, Json, Key, LogItem, LogPage, OperationId, OperationKind, Seq, SnapshotId, Version,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Time, given, is_false};

/// A page of events.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogView {
    /// The events.
    pub events: Vec<LogEvent>,
    /// For the next page.
    pub next_cursor: Option<String>,
}

impl From<&LogPage> for LogView {
    fn from(page: &LogPage) -> Self {
        Self { events: page.events.iter().map(LogEvent::from).collect(), next_cursor: page.next_cursor.clone() }
    }
}

/// An event.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogEvent {
    /// Where it is.
    #[schema(value_type = u64)]
    pub seq: Seq,
    /// When it was recorded.
    pub at: Time,
    /// What it is, in one word.
    pub op: Cow<'static, str>,
    /// The key that it is about.
    #[schema(value_type = Option<String>)]
    pub key: Option<Key>,
    /// Who wrote it.
    pub source: String,
    /// The session it was written in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The operation it belongs to.
    #[schema(value_type = String)]
    pub operation_id: OperationId,
    /// The dream whose own doing it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub dream_id: Option<DreamId>,
    /// The import whose doing it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub import_id: Option<ImportId>,
    /// The snapshot that it took or brought back.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub snapshot_id: Option<SnapshotId>,
    /// The positions that it takes back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<u64>)]
    pub undoes: Vec<Seq>,
    /// The duplicates that it folded in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<String>)]
    pub merged_from: Vec<Key>,
    /// The entries that speak for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<String>)]
    pub evidence_keys: Vec<Key>,
    /// The version that it gave its entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub entry_version: Option<Version>,
    /// The value in its body.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<serde_json::Value>)]
    pub value: Option<Json>,
    /// Whether the value was cut, because the answer would be too large.
    #[serde(default, skip_serializing_if = "is_false")]
    pub value_truncated: bool,
    /// Whether the value is hidden because a later forget stands.
    #[serde(default, skip_serializing_if = "is_false")]
    pub values_redacted: bool,
    /// Whether the value was lost with damage of the log.
    #[serde(default, skip_serializing_if = "is_false")]
    pub value_lost: bool,
    /// Whether the clock was seen to have stepped back.
    #[serde(default, skip_serializing_if = "is_false")]
    pub clock_back: bool,
}

impl From<&LogItem> for LogEvent {
    fn from(item: &LogItem) -> Self {
        let (event, operation) = (&item.event, &item.operation);
        let import_id = if let OperationKind::Import(import) = operation.kind { Some(import) } else { None };
        Self {
            seq: item.seq,
            at: operation.at.into(),
            op: item.op.into(),
            key: event.key().cloned(),
            source: item.source.to_string(),
            session_id: item.session_id.as_deref().map(str::to_owned),
            reason: event.reason().map(str::to_owned),
            operation_id: operation.id,
            dream_id: item.dream,
            import_id,
            snapshot_id: snapshot_of(event, operation.kind),
            undoes: event.undoes().to_vec(),
            merged_from: if let Event::Revised(revised) = event { revised.merged_from.clone() } else { Vec::new() },
            evidence_keys: if let Event::Flagged(flagged) = event { flagged.evidence_keys.clone() } else { Vec::new() },
            entry_version: event.version(),
            value: item.value.clone(),
            value_truncated: false,
            values_redacted: item.values_redacted,
            value_lost: item.lost,
            clock_back: operation.clock_back,
        }
    }
}

fn snapshot_of(event: &Event, kind: OperationKind) -> Option<SnapshotId> {
    match (event, kind) {
        (Event::SnapshotTaken(taken), _) => Some(taken.snapshot),
        (_, OperationKind::Rollback(snapshot)) => Some(snapshot),
        _ => None,
    }
}
