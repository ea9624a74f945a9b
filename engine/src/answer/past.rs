//! What was: histories, snapshots, diffs, events.

use std::sync::Arc;

use bilinc_core::{ChangeOp, DreamId, Entry, Event, Json, Key, Operation, RolledBack, Seq, SnapshotId, Timestamp};

use super::ChainHash;

/// A side of a recorded change.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryState {
    /// The entry as it stood.
    pub entry: Entry,
    /// Its value; none when not asked for, hidden, erased or lost.
    pub value: Option<Json>,
    /// Whether the value or the metadata was lost with damage of the log.
    pub lost: bool,
}

/// A recorded change of one key.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryItem {
    /// What it did.
    pub op: ChangeOp,
    /// When.
    pub at: Timestamp,
    /// Where in the log.
    pub seq: Seq,
    /// Why.
    pub reason: Option<Arc<str>>,
    /// Who did it.
    pub source: Arc<str>,
    /// The session it was done in.
    pub session_id: Option<Arc<str>>,
    /// The entry before; none when there was none.
    pub before: Option<HistoryState>,
    /// The entry after; none when there is none.
    pub after: Option<HistoryState>,
    /// Whether values are hidden because a later forget stands.
    pub values_redacted: bool,
    /// The snapshot that a rollback's change brought back.
    pub rollback_snapshot: Option<SnapshotId>,
    /// The dream that did it.
    pub dream: Option<DreamId>,
    /// The positions that an undo's change takes back.
    pub undoes: Vec<Seq>,
}

/// The recorded changes of one key, newest first.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyHistory {
    /// The key.
    pub key: Key,
    /// Whether there is an entry now.
    pub exists: bool,
    /// The changes; empty for a key that was never used.
    pub items: Vec<HistoryItem>,
    /// Whether there are more than were asked for.
    pub truncated: bool,
}

/// A snapshot.
#[derive(Debug, Clone, PartialEq)]
pub struct SnapshotInfo {
    /// Its id.
    pub id: SnapshotId,
    /// The position it names.
    pub seq: Seq,
    /// When it was taken.
    pub created_at: Timestamp,
    /// What a person calls it.
    pub label: Option<Arc<str>>,
    /// A JSON object kept with it; `{}` when none was.
    pub metadata: Json,
    /// Entries that were there, by memory type in the order of its declaration.
    pub by_type: [u64; 5],
    /// The chain hash at its position.
    pub root_hash: ChainHash,
}

/// A key in a diff.
#[derive(Debug, Clone, PartialEq)]
pub struct DiffItem {
    /// The key.
    pub key: Key,
    /// The entry at the first point.
    pub before: Option<HistoryState>,
    /// The entry at the second point.
    pub after: Option<HistoryState>,
    /// Whether a value is hidden because a later forget stands.
    pub values_redacted: bool,
}

/// The changes between two points, keys in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Diff {
    /// The first point's position.
    pub from: Seq,
    /// The second point's position.
    pub to: Seq,
    /// Keys in each list, whole: added, modified, removed.
    pub counts: [u64; 3],
    /// Entries at the second point only.
    pub added: Vec<DiffItem>,
    /// Entries at both that differ.
    pub modified: Vec<DiffItem>,
    /// Entries at the first point only.
    pub removed: Vec<DiffItem>,
    /// Whether a list was cut at the limit.
    pub truncated: bool,
}

/// What a rollback would do.
#[derive(Debug, Clone, PartialEq)]
pub struct RollbackPreview {
    /// Keys in each list, whole: create, update, remove.
    pub counts: [u64; 3],
    /// Entries to make.
    pub create_keys: Vec<Key>,
    /// Entries to change.
    pub update_keys: Vec<Key>,
    /// Entries to remove.
    pub remove_keys: Vec<Key>,
    /// Keys that cannot be brought back, because their values were erased or lost.
    pub skipped_keys: Vec<Key>,
    /// Whether a list was cut at the limit.
    pub truncated: bool,
    /// What the rollback must be confirmed with.
    pub confirmation_token: String,
    /// Until when the token is good.
    pub expires_at: Timestamp,
}

/// A snapshot's state was brought back.
#[derive(Debug, Clone, PartialEq)]
pub struct RollbackAnswer {
    /// What was done.
    pub done: RolledBack,
    /// The position that sums it up: `undo` of it takes the rollback back.
    pub seq: Seq,
}

/// An event as the log shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct LogItem {
    /// Where it is.
    pub seq: Seq,
    /// The operation it belongs to.
    pub operation: Arc<Operation>,
    /// What it is, in one word: `create`, `update`, `revise`, …, `snapshot`, `dream_start`, `dream_page`,
    /// `dream_finish`, `undo`, `rollback`, `import`, `purge_complete`, `lost`, `salvage`.
    pub op: &'static str,
    /// Who wrote it.
    pub source: Arc<str>,
    /// The session it was written in.
    pub session_id: Option<Arc<str>>,
    /// The dream whose own doing it is.
    pub dream: Option<DreamId>,
    /// The facts.
    pub event: Event,
    /// The value in its body; none when not asked for, hidden or erased.
    pub value: Option<Json>,
    /// Whether the value is hidden because a later forget stands.
    pub values_redacted: bool,
    /// Whether the value was lost with damage of the log.
    pub lost: bool,
}

/// A page of events.
#[derive(Debug, Clone, PartialEq)]
pub struct LogPage {
    /// The events.
    pub events: Vec<LogItem>,
    /// For the next page; none on the last.
    pub next_cursor: Option<String>,
}
