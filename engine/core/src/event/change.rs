//! Changes in the words of a history.

use alloc::sync::Arc;
use core::fmt;

use serde::Serialize;

use crate::id::Seq;
use crate::time::Timestamp;

/// What a change did, in the words of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeOp {
    /// Made an entry.
    Create,
    /// Replaced or revised one.
    Update,
    /// Confirmed one.
    Confirm,
    /// Took one out of use.
    Forget,
    /// Flagged one.
    Flag,
    /// Cleared flags.
    Unflag,
    /// An undo's change.
    Restore,
    /// A rollback's removal.
    Delete,
    /// Ended one, if it was there, and erased what was recorded of it.
    Purge,
    /// Was lost with damage of the log: what it did is not known.
    Lost,
}

impl ChangeOp {
    /// All of them, in the order of their declaration.
    pub const ALL: [Self; 10] = [
        Self::Create,
        Self::Update,
        Self::Confirm,
        Self::Forget,
        Self::Flag,
        Self::Unflag,
        Self::Restore,
        Self::Delete,
        Self::Purge,
        Self::Lost,
    ];

    /// The name that surfaces use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Confirm => "confirm",
            Self::Forget => "forget",
            Self::Flag => "flag",
            Self::Unflag => "unflag",
            Self::Restore => "restore",
            Self::Delete => "delete",
            Self::Purge => "purge",
            Self::Lost => "lost",
        }
    }
}

impl fmt::Display for ChangeOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A change as conflicts name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeInfo {
    /// What it did.
    pub op: ChangeOp,
    /// Who did it.
    pub source: Arc<str>,
    /// When.
    pub at: Timestamp,
    /// Where in the log.
    pub seq: Seq,
}
