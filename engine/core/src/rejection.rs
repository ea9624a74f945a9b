//! The domain saying no.

use alloc::string::String;

use crate::command::Strategy;
use crate::event::ChangeInfo;
use crate::id::{DreamId, SnapshotId, Version};
use crate::key::Key;
use crate::time::Timestamp;

/// Why a dream takes no more actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DreamClosedReason {
    /// It was undone.
    Undone,
    /// It started more than seven days ago.
    Expired,
}

impl DreamClosedReason {
    /// The name that error details use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Undone => "undone",
            Self::Expired => "expired",
        }
    }
}

/// Why a command was refused. Nothing was written, and no value is in here.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Rejection {
    /// Something malformed.
    #[error("{field}: {message}")]
    Invalid {
        /// Which part of the request.
        field: String,
        /// The rule, as error details name it.
        reason: &'static str,
        /// What is wrong and what would be right.
        message: String,
    },
    /// There is no such entry.
    #[error("no memory has the key `{key}`")]
    MemoryNotFound {
        /// The key.
        key: Key,
    },
    /// `if_absent` was asked for and the entry is there.
    #[error("a memory with the key `{key}` exists; leave out if_absent to replace it")]
    MemoryExists {
        /// The key.
        key: Key,
        /// The entry's version.
        current: Version,
    },
    /// The entry changed since the expected version.
    #[error("`{key}` changed since {expected}; it is at {current} now: read it again and decide anew")]
    VersionConflict {
        /// The key.
        key: Key,
        /// What was expected.
        expected: Version,
        /// What is.
        current: Version,
        /// The change that came between.
        change: Option<ChangeInfo>,
    },
    /// The idempotency key came before with another payload.
    #[error("this idempotency key was used for another request within the last 24 hours; take a new one")]
    IdempotencyConflict,
    /// Something was written since the preview.
    #[error("the store changed since the preview; preview the rollback again")]
    StateChangedSincePreview,
    /// The confirmation token is over fifteen minutes old.
    #[error("the confirmation token has expired; preview the rollback again")]
    ConfirmationExpired,
    /// The strategy gave way to what is stored.
    #[error("the strategy `{}` keeps the stored value of `{key}`: {why}", strategy.name())]
    RevisionRejected {
        /// The key.
        key: Key,
        /// Which strategy.
        strategy: Strategy,
        /// What made it give way.
        why: &'static str,
    },
    /// There is no such snapshot.
    #[error("there is no snapshot {0}")]
    SnapshotNotFound(SnapshotId),
    /// There is no such dream.
    #[error("there is no dream {0}")]
    DreamNotFound(DreamId),
    /// The dream takes no more actions.
    #[error("the dream {dream} takes no more actions ({}); start a new one", reason.name())]
    DreamClosed {
        /// Which dream.
        dream: DreamId,
        /// Why.
        reason: DreamClosedReason,
    },
    /// The seven days are over.
    #[error("the dream {dream} could be undone until {until}; `undo` has no such limit")]
    UndoWindowExpired {
        /// Which dream.
        dream: DreamId,
        /// Until when.
        until: Timestamp,
    },
    /// A page would forget more than the dream may.
    #[error(
        "this dream may forget {cap} entries, {applied} are forgotten already and this page asks for {asked} more: \
         send fewer forgets"
    )]
    ForgetCapExceeded {
        /// Most entries that the dream may forget.
        cap: u32,
        /// How many it has forgotten.
        applied: u32,
        /// How many the page asks for.
        asked: u32,
    },
    /// The operation does not fit one frame of the log.
    #[error("the operation is {bytes} bytes, the limit is {limit}: do it in parts (an undo by ranges of positions)")]
    OperationTooLarge {
        /// How large it is, in bytes.
        bytes: u64,
        /// The limit, in bytes.
        limit: u64,
    },
    /// A credential is in it.
    #[error("{path} holds what looks like a credential ({kind}); memories are no place for it")]
    SecretDetected {
        /// Which kind.
        kind: &'static str,
        /// Where, as a JSON path.
        path: String,
    },
}

impl Rejection {
    /// A malformed part of a request.
    #[must_use]
    pub fn invalid(field: impl Into<String>, reason: &'static str, message: impl Into<String>) -> Self {
        Self::Invalid { field: field.into(), reason, message: message.into() }
    }

    /// The code that every surface uses.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Invalid { .. } => "invalid_request",
            Self::MemoryNotFound { .. } => "memory_not_found",
            Self::MemoryExists { .. } => "memory_exists",
            Self::VersionConflict { .. } => "version_conflict",
            Self::IdempotencyConflict => "idempotency_conflict",
            Self::StateChangedSincePreview => "state_changed_since_preview",
            Self::ConfirmationExpired => "rollback_confirmation_expired",
            Self::RevisionRejected { .. } => "revision_rejected",
            Self::SnapshotNotFound(_) => "snapshot_not_found",
            Self::DreamNotFound(_) => "dream_not_found",
            Self::DreamClosed { .. } => "dream_closed",
            Self::UndoWindowExpired { .. } => "undo_window_expired",
            Self::ForgetCapExceeded { .. } => "forget_cap_exceeded",
            Self::OperationTooLarge { .. } => "operation_too_large",
            Self::SecretDetected { .. } => "secret_detected",
        }
    }
}
