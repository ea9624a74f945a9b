//! Failures of tools: the error that every surface gives, and what a model can do next.

use bilinc::log::LogError;
use bilinc::{EngineError, Error, Rejection};
use rmcp::model::{CallToolResult, ContentBlock};

use super::limits;
use crate::backend::{ApplyFailed, Failed};
use crate::wire::errors::{Details, ErrorView};

/// Why a tool failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// The store or the server said no, or failed.
    Asked(Failed),
    /// A dream failed part-way.
    Apply(Box<ApplyFailed>),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Asked(error.into())
    }
}

impl From<Rejection> for Failure {
    fn from(rejection: Rejection) -> Self {
        Error::Rejected(rejection).into()
    }
}

impl From<Failed> for Failure {
    fn from(failed: Failed) -> Self {
        Self::Asked(failed)
    }
}

impl Failure {
    /// The error without what came before it.
    pub(super) fn error(&self) -> &Failed {
        match self {
            Self::Asked(error) => error,
            Self::Apply(failed) => &failed.error,
        }
    }

    /// Whether the store's writer has stopped.
    pub(super) fn writer_stopped(&self) -> bool {
        let Failed::Library(error) = self.error() else { return false };
        matches!(**error, Error::Engine(EngineError::Log(LogError::Poisoned { .. })))
    }

    fn details(&self) -> Details {
        match self {
            Self::Asked(error) => error.details(),
            Self::Apply(failed) => failed.error.details().with_pages(failed),
        }
    }

    /// The error as JSON. The results of a dream's pages are cut where they do not fit.
    fn json(&self, degraded: Option<&str>) -> (String, usize) {
        let error = self.error();
        let mut view = ErrorView {
            error: error.code().to_owned(),
            message: error.message(),
            request_id: error.request_id(),
            retryable: error.is_retryable(),
            details: self.details(),
        };
        if let Some(degraded) = degraded {
            view.details.degraded = Some(degraded.to_owned());
        }
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
fn hint(failed: &Failed) -> Option<&'static str> {
    let error = match failed {
        Failed::Library(error) => error.as_ref(),
        Failed::Server(error) => {
            let unknown = error.view.details.outcome.is_some();
            return hint_for(error.code()).or_else(|| unknown.then_some(UNKNOWN));
        }
    };
    match error {
        Error::Rejected(rejection) => hint_for(rejection.code()),
        Error::Engine(EngineError::Log(error)) => match error {
            LogError::Busy { .. } => Some("Another process is writing; try again."),
            LogError::ReadOnly { .. } => Some("Reads go on; status says why nothing can be written."),
            LogError::Damage(_) => Some("Nothing was changed. A person has to look: `bilinc salvage --preview`."),
            LogError::Poisoned { .. } | LogError::Unsettled { .. } => Some(UNKNOWN),
            _ => None,
        },
        _ => None,
    }
}

const UNKNOWN: &str = "Whether it was written is unknown: the same call with the same idempotency_key settles it.";

/// What to do about a refusal.
fn hint_for(code: &str) -> Option<&'static str> {
    Some(match code {
        "memory_not_found" => "recall or list_memories finds keys that exist; history shows whether this one ever did.",
        "memory_exists" => "Use revise to replace its value, or leave out if_absent.",
        "version_conflict" => "Somebody changed it meanwhile: get it, decide again, and name the version it has now.",
        "revision_rejected" => {
            "The stored memory is guarded: keep it, give at least its importance, or use strategy recency."
        }
        "snapshot_not_found" => "snapshot with action list names them all.",
        "dream_not_found" => "dream_list names them all.",
        "dream_closed" => "Begin another pass with dream_start.",
        "undo_window_expired" => "undo with dream_id has no time limit.",
        "forget_cap_exceeded" => {
            "Nothing of that page was written: send fewer forgets, and revise, flag or leave the others."
        }
        "secret_detected" => "Save it without the credential: say where it is kept instead.",
        "state_changed_since_preview" | "rollback_confirmation_expired" => {
            "Call rollback with mode preview again and look at it anew."
        }
        _ => return None,
    })
}
