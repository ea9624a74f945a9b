//! What an undo did to each key.

use std::borrow::Cow;

use bilinc::{DreamId, Key, Seq, UndoAnswer, Version};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Change, is_false};

/// What an undo did to each key.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UndoView {
    /// The dream, when it was the undo of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub dream_id: Option<DreamId>,
    /// Where that dream is in its life now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<Cow<'static, str>>,
    /// Keys taken back.
    pub restored: Vec<RestoredKey>,
    /// Keys left as they are.
    pub conflicts: Vec<ConflictKey>,
    /// Keys with nothing to do.
    #[schema(value_type = Vec<String>)]
    pub unchanged: Vec<Key>,
    /// Whether removed entries came back with all their metadata.
    pub metadata_restored: bool,
    /// Whether it had been done before and nothing was written now.
    pub already_undone: bool,
    /// The position that sums the undo up: undoing that position is the redo.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>)]
    pub seq: Option<Seq>,
    /// Whether nothing was written because it was only tried out.
    #[serde(default, skip_serializing_if = "is_false")]
    pub dry_run: bool,
}

/// A key that was taken back.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RestoredKey {
    /// The key.
    #[schema(value_type = String)]
    pub key: Key,
    /// What was undone.
    pub op: String,
    /// The entry's version now; left out when it is gone again, and when nothing was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub entry_version: Option<Version>,
    /// Whether the entry is gone again.
    #[serde(default, skip_serializing_if = "is_false")]
    pub gone: bool,
}

/// A key that was left as it is.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ConflictKey {
    /// The key.
    #[schema(value_type = String)]
    pub key: Key,
    /// `changed` or `purged`.
    pub reason: Cow<'static, str>,
    /// The newest change by somebody else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
}

impl UndoView {
    /// The answer of an undo, or of a trial of one.
    #[must_use]
    pub fn new(answer: &UndoAnswer, dry_run: bool) -> Self {
        let undone = &answer.undone;
        let restored = (undone.restored.iter())
            .map(|item| RestoredKey {
                key: item.key.clone(),
                op: item.op.to_string(),
                // A dry run makes no version, so it has none to give out.
                entry_version: item.version.filter(|_| !dry_run),
                gone: item.version.is_none(),
            })
            .collect();
        let conflicts = (undone.conflicts.iter())
            .map(|item| ConflictKey {
                key: item.key.clone(),
                reason: item.reason.name().into(),
                change: item.change.as_ref().map(Change::from),
            })
            .collect();
        Self {
            dream_id: answer.dream.map(|(dream, _)| dream),
            state: answer.dream.map(|(_, phase)| phase.name().into()),
            restored,
            conflicts,
            unchanged: undone.unchanged.clone(),
            metadata_restored: undone.metadata_restored,
            already_undone: answer.already_undone,
            seq: answer.seq,
            dry_run,
        }
    }
}
