//! Events about sets of entries: snapshots, undos, rollbacks, imports.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::ChangeInfo;
use crate::command::Selection;
use crate::id::{DreamId, ImportId, Seq, SnapshotId, Version};
use crate::json::Json;
use crate::key::Key;

/// A position got a name.
#[derive(Debug, Clone, PartialEq)]
pub struct SnapshotTaken {
    /// Its id.
    pub snapshot: SnapshotId,
    /// What a person calls it.
    pub label: Option<Arc<str>>,
    /// A JSON object kept with it.
    pub metadata: Option<Json>,
    /// Entries that were there, by memory type in the order of its declaration.
    pub by_type: [u64; 5],
}

/// A key that an undo took back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoItem {
    /// The key.
    pub key: Key,
    /// What was undone: the newest of the changes taken back.
    pub undone: Seq,
    /// What that change was, in the words of its command.
    pub op: Arc<str>,
    /// The entry's version now; none when it is gone again.
    pub version: Option<Version>,
}

/// Why an undo left a key as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UndoConflictReason {
    /// Somebody else changed it since.
    Changed,
    /// The value to bring back was erased.
    Purged,
    /// The value to bring back was lost with damage of the log.
    Lost,
}

impl UndoConflictReason {
    /// The name that surfaces use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Purged => "purged",
            Self::Lost => "lost",
        }
    }
}

/// A key that an undo left as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoConflict {
    /// The key.
    pub key: Key,
    /// Why.
    pub reason: UndoConflictReason,
    /// The newest change by somebody else.
    pub change: Option<ChangeInfo>,
}

/// What an undo means for a dream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DreamShift {
    /// It was taken back, wholly or but for conflicts.
    Undone {
        /// Whether conflicts remain.
        partly: bool,
    },
    /// Its undo was taken back: it is finished, or open, as it was.
    Redone,
}

/// A set of events was taken back.
#[derive(Debug, Clone, PartialEq)]
pub struct Undone {
    /// What was asked for.
    pub selection: Selection,
    /// Whether it is the undo of a dream in the sense of the seven days' rule.
    pub dream_undo: bool,
    /// Keys taken back.
    pub restored: Vec<UndoItem>,
    /// Keys left as they are.
    pub conflicts: Vec<UndoConflict>,
    /// Keys with nothing to do.
    pub unchanged: Vec<Key>,
    /// Whether removed entries came back with all their metadata.
    pub metadata_restored: bool,
    /// What it means for dreams.
    pub dreams: Vec<(DreamId, DreamShift)>,
}

/// A key that a rollback could not bring back because its value was erased or lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedKey {
    /// The key.
    pub key: Key,
}

/// The state of a snapshot was brought back.
#[derive(Debug, Clone, PartialEq)]
pub struct RolledBack {
    /// Which snapshot.
    pub snapshot: SnapshotId,
    /// Why.
    pub reason: Arc<str>,
    /// Entries made.
    pub created: u64,
    /// Entries changed.
    pub updated: u64,
    /// Entries removed.
    pub deleted: u64,
    /// Keys that could not be brought back.
    pub skipped: Vec<SkippedKey>,
}

/// An operation of an import was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// Which import.
    pub import: ImportId,
    /// Entries made.
    pub created: u64,
    /// Entries replaced.
    pub replaced: u64,
    /// Entries left alone because they exist.
    pub skipped_existing: u64,
    /// Lines left out because their keys are reserved.
    pub skipped_reserved: u64,
}
