//! Failures of tools: the error that every surface gives, and what a model can do next.

use bilinc::log::LogError;
use bilinc::{DreamApplyError, EngineError, Error, Ids, Rejection, TimeOrderedIds};
use rmcp::model::{CallToolResult, ContentBlock};

use super::limits;
use crate::wire::errors::{Details, ErrorView};

/// Why a tool failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// The library said no, or failed.
    Library(Box<Error>),
    /// A dream failed part-way.
    Apply {
        /// What failed, and what was done before.
        failed: Box<DreamApplyError>,
        /// Whether it was only tried out.
        dry_run: bool,
    },
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Library(Box::new(error))
    }
}

impl From<Rejection> for Failure {
    fn from(rejection: Rejection) -> Self {
        Error::Rejected(rejection).into()
    }
}

impl Failure {
    /// The error of the library.
    pub(super) fn error(&self) -> &Error {
        match self {
            Self::Library(error) => error,
            Self::Apply { failed, .. } => &failed.error,
        }
    }

    /// Whether the store's writer has stopped.
    pub(super) fn writer_stopped(&self) -> bool {
        matches!(self.error(), Error::Engine(EngineError::Log(LogError::Poisoned { .. })))
    }

    fn details(&self) -> Details {
        match self {
            Self::Library(error) => error.as_ref().into(),
            Self::Apply { failed, dry_run } => Details::of_apply(failed, *dry_run),
        }
    }

    /// The error as JSON. The results of a dream's pages are cut where they do not fit.
    fn json(&self, degraded: Option<&str>) -> (String, usize) {
        let error = self.error();
        let mut view = ErrorView {
            error: error.code().to_owned(),
            message: error.to_string(),
            request_id: uuid::Uuid::from_u128(TimeOrderedIds.next_id()).to_string(),
            retryable: error.is_retryable(),
            details: Details { degraded: degraded.map(str::to_owned), ..self.details() },
        };
        let mut omitted = 0;
        loop {
            if let Some(text) = limits::written(&view) {
                return (text, omitted);
            }
            match view.details.results.as_mut().filter(|results| !results.is_empty()) {
                Some(results) => {
                    let kept = results.len() / 2;
                    omitted += results.len() - kept;
                    results.truncate(kept);
                }
                None => view.details = Details::default(),
            }
        }
    }

    /// The failure as a tool gives it: the error as JSON, then a plain sentence on what to do next.
    ///
    /// There is no structured content: a client may hold that to the schema of what succeeds.
    pub(super) fn into_result(self, degraded: Option<&str>) -> CallToolResult {
        let (json, omitted) = self.json(degraded);
        let mut content = vec![ContentBlock::text(json)];
        let left_out = (omitted > 0).then(|| format!("{omitted} results are left out here; dream_show gives them."));
        let next = [left_out, hint(self.error()).map(str::to_owned)].into_iter().flatten().collect::<Vec<_>>();
        if !next.is_empty() {
            content.push(ContentBlock::text(next.join(" ")));
        }
        CallToolResult::error(content)
    }
}

/// What to do next, where the message leaves it open.
fn hint(error: &Error) -> Option<&'static str> {
    match error {
        Error::Rejected(rejection) => Some(match rejection {
            Rejection::MemoryNotFound { .. } => {
                "recall or list_memories finds keys that exist; history shows whether this one ever did."
            }
            Rejection::MemoryExists { .. } => "Use revise to replace its value, or leave out if_absent.",
            Rejection::VersionConflict { .. } => {
                "Somebody changed it meanwhile: get it, decide again, and name the version it has now."
            }
            Rejection::RevisionRejected { .. } => {
                "The stored memory is guarded: keep it, give at least its importance, or use strategy recency."
            }
            Rejection::SnapshotNotFound(_) => "snapshot with action list names them all.",
            Rejection::DreamNotFound(_) => "dream_list names them all.",
            Rejection::DreamClosed { .. } => "Begin another pass with dream_start.",
            Rejection::UndoWindowExpired { .. } => "undo with dream_id has no time limit.",
            Rejection::ForgetCapExceeded { .. } => {
                "Nothing of that page was written: send fewer forgets, and revise, flag or leave the others."
            }
            Rejection::SecretDetected { .. } => "Save it without the credential: say where it is kept instead.",
            Rejection::StateChangedSincePreview | Rejection::ConfirmationExpired => {
                "Call rollback with mode preview again and look at it anew."
            }
            _ => return None,
        }),
        Error::Engine(EngineError::Log(error)) => match error {
            LogError::Busy { .. } => Some("Another process is writing; try again."),
            LogError::ReadOnly { .. } => Some("Reads go on; status says why nothing can be written."),
            LogError::Damage(_) => Some("Nothing was changed. A person has to look: `bilinc salvage --preview`."),
            LogError::Poisoned { .. } | LogError::Unsettled { .. } => {
                Some("Whether it was written is unknown: the same call with the same idempotency_key settles it.")
            }
            _ => None,
        },
        _ => None,
    }
}
