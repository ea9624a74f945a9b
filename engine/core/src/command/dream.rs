//! Commands of a dream.

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::id::{DreamId, Version};
use crate::json::Json;
use crate::key::Key;
use crate::time::Timestamp;

/// Starts a dream pass.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DreamStart {
    /// Most candidates, 1 to [`crate::limits::DREAM_CANDIDATES`].
    pub limit: u32,
    /// Only keys that begin so.
    pub prefix: Option<String>,
    /// Begin of the window; the mark when absent.
    pub since: Option<Timestamp>,
    /// Also entries that an earlier dream has looked at.
    pub include_reviewed: bool,
}

impl Default for DreamStart {
    fn default() -> Self {
        Self { limit: crate::limits::DREAM_CANDIDATES, prefix: None, since: None, include_reviewed: false }
    }
}

/// What one action of a dream does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionOp {
    /// Replaces the value.
    Revise,
    /// Takes the entry out of use.
    Forget,
    /// Says it is still right.
    Confirm,
    /// Marks it for a person.
    Flag,
}

impl ActionOp {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Revise, Self::Forget, Self::Confirm, Self::Flag];

    /// The name that surfaces use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Revise => "revise",
            Self::Forget => "forget",
            Self::Confirm => "confirm",
            Self::Flag => "flag",
        }
    }
}

/// Why an action cannot be carried out, found before the dream judged it: a value too large or a
/// credential in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ActionRefusal {
    /// The error code.
    pub code: String,
    /// What is wrong, without the value.
    pub message: String,
}

/// One action of a dream.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Action {
    /// What to do.
    pub op: ActionOp,
    /// To which candidate.
    pub key: Key,
    /// The version that was looked at; required but for `flag`.
    pub expected_version: Option<Version>,
    /// The value of a revise.
    pub new_value: Option<Json>,
    /// Duplicates folded into this entry.
    pub merged_from: Vec<Key>,
    /// Why.
    pub reason: String,
    /// Entries that speak for it.
    pub evidence_keys: Vec<Key>,
    /// Set when the action was found impossible already.
    pub refused: Option<ActionRefusal>,
}

/// Judges and applies one page of a dream.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DreamApply {
    /// Which dream.
    pub dream: DreamId,
    /// At most [`crate::limits::PAGE_ACTIONS`].
    pub actions: Vec<Action>,
    /// Free text or JSON, stored when the dream finishes.
    pub report: Option<Json>,
    /// Whether this page finishes the dream.
    pub finish: bool,
    /// Judge and write nothing.
    pub dry_run: bool,
}

/// Takes back a whole dream pass.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DreamUndo {
    /// Which dream.
    pub dream: DreamId,
    /// Show the answer and write nothing.
    pub dry_run: bool,
    /// Bring back all metadata of removed entries.
    pub restore_metadata: bool,
}
