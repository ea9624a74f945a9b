//! Snapshots and rollbacks.

use bilinc::{Json, Key, RollbackAnswer, RollbackPreview, Seq, SnapshotId, SnapshotInfo};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{ByType, Time};

/// A snapshot.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotView {
    /// Its id.
    #[schema(value_type = String)]
    pub id: SnapshotId,
    /// The position it names.
    #[schema(value_type = u64)]
    pub seq: Seq,
    /// When it was taken.
    pub created_at: Time,
    /// Entries that were there.
    pub total_entries: u64,
    /// Entries that were there, by memory type.
    pub by_type: ByType,
    /// The chain hash at its position.
    pub root_hash: String,
    /// What a person calls it.
    pub label: Option<String>,
    /// A JSON object kept with it.
    #[schema(value_type = serde_json::Value)]
    pub metadata: Json,
}

impl From<&SnapshotInfo> for SnapshotView {
    fn from(info: &SnapshotInfo) -> Self {
        let by_type = ByType(info.by_type);
        Self {
            id: info.id,
            seq: info.seq,
            created_at: info.created_at.into(),
            total_entries: by_type.total(),
            by_type,
            root_hash: info.root_hash.to_string(),
            label: info.label.as_deref().map(str::to_owned),
            metadata: info.metadata.clone(),
        }
    }
}

/// The answer of taking a snapshot.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct SnapshotTaken {
    /// The snapshot.
    pub snapshot: SnapshotView,
}

/// Snapshots, newest first.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct SnapshotsView {
    /// The snapshots.
    pub snapshots: Vec<SnapshotView>,
}

/// How many keys a rollback would touch.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
pub struct PreviewCounts {
    /// Entries to make.
    pub create: u64,
    /// Entries to change.
    pub update: u64,
    /// Entries to remove.
    pub remove: u64,
}

/// What a rollback would do.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreviewView {
    /// The snapshot.
    #[schema(value_type = String)]
    pub snapshot_id: SnapshotId,
    /// How many keys each list has, whole.
    pub counts: PreviewCounts,
    /// Entries to make.
    #[schema(value_type = Vec<String>)]
    pub create_keys: Vec<Key>,
    /// Entries to change.
    #[schema(value_type = Vec<String>)]
    pub update_keys: Vec<Key>,
    /// Entries to remove.
    #[schema(value_type = Vec<String>)]
    pub remove_keys: Vec<Key>,
    /// Keys that cannot be brought back because their values were erased.
    #[schema(value_type = Vec<String>)]
    pub skipped_keys: Vec<Key>,
    /// Whether a list was cut at the limit.
    pub truncated: bool,
    /// Always true.
    pub destructive: bool,
    /// What the rollback must be confirmed with.
    pub confirmation_token: String,
    /// Until when the token is good.
    pub expires_at: Time,
}

impl PreviewView {
    /// The preview of a rollback to this snapshot.
    #[must_use]
    pub fn new(snapshot_id: SnapshotId, preview: RollbackPreview) -> Self {
        let [create, update, remove] = preview.counts;
        Self {
            snapshot_id,
            counts: PreviewCounts { create, update, remove },
            create_keys: preview.create_keys,
            update_keys: preview.update_keys,
            remove_keys: preview.remove_keys,
            skipped_keys: preview.skipped_keys,
            truncated: preview.truncated,
            destructive: true,
            confirmation_token: preview.confirmation_token,
            expires_at: preview.expires_at.into(),
        }
    }
}

/// How many keys a rollback touched.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
pub struct RolledBackCounts {
    /// Entries made.
    pub created: u64,
    /// Entries changed.
    pub updated: u64,
    /// Entries removed.
    pub deleted: u64,
}

/// What a rollback did.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RolledBackView {
    /// The snapshot.
    #[schema(value_type = String)]
    pub snapshot_id: SnapshotId,
    /// How many keys it touched.
    pub counts: RolledBackCounts,
    /// Keys that could not be brought back because their values were erased.
    #[schema(value_type = Vec<String>)]
    pub skipped_keys: Vec<Key>,
    /// The position that sums it up, by which it can be undone.
    pub seq: u64,
}

impl From<&RollbackAnswer> for RolledBackView {
    fn from(answer: &RollbackAnswer) -> Self {
        let done = &answer.done;
        Self {
            seq: answer.seq.get(),
            snapshot_id: done.snapshot,
            counts: RolledBackCounts { created: done.created, updated: done.updated, deleted: done.deleted },
            skipped_keys: done.skipped.iter().map(|skipped| skipped.key.clone()).collect(),
        }
    }
}
