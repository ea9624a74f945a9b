//! Errors of the engine: the domain saying no, and the machine failing, kept apart.

use bilinc_core::{ActionRecord, Rejection, Seq};

use crate::answer::HeadNotMet;
use crate::log::LogError;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The domain says no. Nothing was written; the message says what to do.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// The machine failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// A failure that is not the caller's doing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The log failed: damage, a disk that says no, another process that holds it.
    #[error(transparent)]
    Log(#[from] LogError),
    /// What was read from the log passes its checksums and is still no event: it was written by a
    /// program that does not keep the format, or by a later version.
    #[error("position {position} holds no event that this version can read: {reason}")]
    Unreadable {
        /// The first position of the operation.
        position: Seq,
        /// What was found.
        reason: String,
    },
    /// The log is whole, and is not the history that a chain head was noted of: it was rewritten, went
    /// back to an earlier copy, or is another store's. Keep the folder as it is, and look for a backup
    /// through which that head can be met.
    #[error(transparent)]
    OtherHistory(Box<HeadNotMet>),
    /// The operation is recorded, durable and shown, but what else its answer holds could not be read. The
    /// same request under the same idempotency key gets the answer; without one, look before asking again.
    #[error("the operation is recorded, but its answer could not be read: {source}")]
    Unanswered {
        /// Why reading failed.
        source: Box<EngineError>,
    },
    /// The system has no random numbers to give, or the source of ids no new ones.
    #[error("there are no random numbers: {0}")]
    Random(String),
    /// A file that the caller reads from or writes to failed.
    #[error("{doing}: {source}")]
    Stream {
        /// What was being done.
        doing: &'static str,
        /// The system's reason.
        source: std::io::Error,
    },
}

impl Error {
    /// The code that every surface uses.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Rejected(rejection) => rejection.code(),
            Self::Engine(error) => error.code(),
        }
    }

    /// Whether the same call may succeed later without anything being changed by the caller.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Rejected(_) => false,
            Self::Engine(error) => error.is_retryable(),
        }
    }
}

impl EngineError {
    /// The code that every surface uses.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Log(LogError::Damage(_)) | Self::Unreadable { .. } | Self::OtherHistory(_) => "store_corrupt",
            Self::Log(LogError::ReadOnly { .. }) => "read_only",
            Self::Log(LogError::NotFound { .. }) => "not_found",
            Self::Log(
                LogError::NotAStore { .. } | LogError::NewerFormat { .. } | LogError::NetworkFileSystem { .. },
            ) => "invalid_request",
            Self::Log(LogError::OperationTooLarge { .. }) => "operation_too_large",
            Self::Log(
                LogError::Io { .. }
                | LogError::Busy { .. }
                | LogError::Unsettled { .. }
                | LogError::Poisoned { .. }
                | LogError::SalvageUnfinished { .. },
            ) => "cloud_runtime_unavailable",
            Self::Unanswered { source } => source.code(),
            Self::Log(_) | Self::Random(_) | Self::Stream { .. } => "internal_error",
        }
    }

    /// As a failure of what was read for an answer, behind a write that is recorded.
    pub(crate) fn behind_a_write(error: Error) -> Error {
        match error {
            Error::Engine(source) => Error::Engine(Self::Unanswered { source: Box::new(source) }),
            rejected @ Error::Rejected(_) => rejected,
        }
    }

    /// Whether the same call may succeed later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Log(LogError::Busy { .. } | LogError::Io { .. }))
    }

    /// The same failure once more, for the next of several requests that it befell.
    pub(crate) fn again(&self) -> Self {
        match self {
            Self::Log(error) => Self::Log(again(error)),
            Self::Unreadable { position, reason } => Self::Unreadable { position: *position, reason: reason.clone() },
            Self::OtherHistory(not_met) => Self::OtherHistory(not_met.clone()),
            Self::Unanswered { source } => Self::Unanswered { source: Box::new(source.again()) },
            Self::Random(reason) => Self::Random(reason.clone()),
            Self::Stream { doing, source } => Self::Stream { doing, source: same(source) },
        }
    }
}

fn same(error: &std::io::Error) -> std::io::Error {
    std::io::Error::new(error.kind(), error.to_string())
}

fn again(error: &LogError) -> LogError {
    match error {
        LogError::Io { path, doing, source } => LogError::Io { path: path.clone(), doing, source: same(source) },
        LogError::Damage(damage) => LogError::Damage(damage.clone()),
        LogError::NewerFormat { path, found, supported } => {
            LogError::NewerFormat { path: path.clone(), found: *found, supported: *supported }
        }
        LogError::Busy { lock, holder, waited } => LogError::Busy { lock, holder: holder.clone(), waited: *waited },
        LogError::Unsettled { lock, holder, waited } => {
            LogError::Unsettled { lock, holder: holder.clone(), waited: *waited }
        }
        LogError::Poisoned { durable, cause } => LogError::Poisoned { durable: *durable, cause: cause.clone() },
        LogError::ReadOnly { reason } => LogError::ReadOnly { reason: reason.clone() },
        LogError::OperationTooLarge { bytes, limit } => LogError::OperationTooLarge { bytes: *bytes, limit: *limit },
        LogError::InvalidDraft { reason } => LogError::InvalidDraft { reason },
        LogError::NetworkFileSystem { path, kind } => LogError::NetworkFileSystem { path: path.clone(), kind },
        LogError::SalvageUnfinished { path } => LogError::SalvageUnfinished { path: path.clone() },
        LogError::NotFound { path } => LogError::NotFound { path: path.clone() },
        LogError::NotAStore { path, found } => LogError::NotAStore { path: path.clone(), found: found.clone() },
        LogError::NoSuchPosition { seq, last } => LogError::NoSuchPosition { seq: *seq, last: *last },
    }
}

/// A `dream_apply` of several pages that failed part-way. Earlier pages stay applied.
#[derive(Debug, thiserror::Error)]
#[error("page {page} failed after {} results: {error}", results.len())]
pub struct DreamApplyError {
    /// The page that failed, from 1.
    pub page: u32,
    /// Why.
    pub error: Box<Error>,
    /// What became of the actions on earlier pages.
    pub results: Vec<ActionRecord>,
    /// Indexes of the actions that were never carried out: those of the failed page and after.
    pub not_tried: Vec<usize>,
}
