//! What a backup made.

use bilinc::{BackedUp, Seq, StoreId};
use serde::Serialize;
use utoipa::ToSchema;

/// A copy of a store, which is a store of its own.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackupView {
    /// The folder.
    pub target: String,
    /// The copy's own id.
    #[schema(value_type = String)]
    pub store_id: StoreId,
    /// The position it stands at.
    #[schema(value_type = u64)]
    pub seq: Seq,
    /// The chain hash there.
    pub root_hash: String,
    /// Both, as `verify --since-head` takes them.
    pub head: String,
    /// Segments written.
    pub segments: u64,
    /// Operations copied.
    pub operations: u64,
    /// Events copied.
    pub events: u64,
    /// Bytes written of the log.
    pub bytes: u64,
}

impl From<&BackedUp> for BackupView {
    fn from(done: &BackedUp) -> Self {
        Self {
            target: done.target.clone(),
            store_id: done.store,
            seq: done.head.seq,
            root_hash: done.head.chain.to_string(),
            head: done.head.to_string(),
            segments: done.segments,
            operations: done.operations,
            events: done.events,
            bytes: done.bytes,
        }
    }
}
