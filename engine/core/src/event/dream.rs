//! Events about a dream.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::ChangeInfo;
use crate::command::ActionOp;
use crate::id::{DreamId, Version};
use crate::key::Key;
use crate::time::Timestamp;

/// What a dream was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct DreamOptions {
    /// Most candidates.
    pub limit: u32,
    /// Only keys that begin so.
    pub prefix: Option<String>,
    /// Begin of the window, when given.
    pub since: Option<Timestamp>,
    /// Also entries that an earlier dream had looked at.
    pub include_reviewed: bool,
}

/// An entry that a dream was given, at the version it had then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its key.
    pub key: Key,
    /// Its version at the start.
    pub version: Version,
}

/// A dream began.
#[derive(Debug, Clone, PartialEq)]
pub struct DreamStarted {
    /// Its id.
    pub dream: DreamId,
    /// What it was asked for.
    pub options: DreamOptions,
    /// Its candidates, newest change first.
    pub candidates: Vec<Candidate>,
    /// How many more entries matched, exact up to [`crate::limits::DREAM_MORE_EXACT`].
    pub more: u64,
    /// Most entries that it may forget.
    pub forget_cap: u32,
    /// Whether it leaves nothing out, so that its start becomes the mark once it is finished.
    pub complete: bool,
}

/// What became of an action.
#[derive(Debug, Clone, PartialEq)]
pub enum ActionStatus {
    /// Carried out.
    Applied {
        /// The entry's version afterwards; none when it was forgotten.
        version: Option<Version>,
    },
    /// The entry changed, or went, since the named version, and was left alone.
    Conflict {
        /// Its version now; none when it is gone.
        current: Option<Version>,
        /// The change that came between; none when the entry expired.
        change: Option<ChangeInfo>,
    },
    /// Could not be carried out.
    Error {
        /// The error code.
        code: Arc<str>,
        /// What is wrong, without the value.
        message: Arc<str>,
    },
}

/// An action with what became of it. The value of a revise is in the body of its event.
#[derive(Debug, Clone, PartialEq)]
pub struct ActionRecord {
    /// What was to be done.
    pub op: ActionOp,
    /// To which entry.
    pub key: Key,
    /// The version that was named.
    pub expected_version: Option<Version>,
    /// Duplicates folded in.
    pub merged_from: Vec<Key>,
    /// Why.
    pub reason: Arc<str>,
    /// Entries that spoke for it.
    pub evidence_keys: Vec<Key>,
    /// What became of it.
    pub status: ActionStatus,
}

impl ActionRecord {
    /// Whether the action took an entry out of use.
    #[must_use]
    pub fn is_applied_forget(&self) -> bool {
        self.op == ActionOp::Forget && matches!(self.status, ActionStatus::Applied { .. })
    }
}

/// A page of a dream was judged.
#[derive(Debug, Clone, PartialEq)]
pub struct DreamPageApplied {
    /// Which dream.
    pub dream: DreamId,
    /// Its actions, in the order they were sent.
    pub actions: Vec<ActionRecord>,
}

/// A dream was finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DreamFinished {
    /// Which dream.
    pub dream: DreamId,
}

/// The report entry of a dream was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportWritten {
    /// The entry's key, `bilinc:dream:<id>`.
    pub key: Key,
    /// Which dream.
    pub dream: DreamId,
    /// Whether there was no entry just before.
    pub created: bool,
    /// The entry's new version.
    pub version: Version,
    /// Bytes of the value in the body.
    pub value_bytes: u32,
}
