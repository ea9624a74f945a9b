//! What goes wrong over HTTP, and how it is said.

use axum::body::Body;
use axum::http::header::{self, HeaderValue};
use axum::http::{Response, StatusCode};
use bilinc::log::LogError;
use bilinc::{EngineError, Error, Rejection};

use super::REQUEST_ID;
use crate::wire::errors::{Details, ErrorView};

/// Why a request failed.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) status: StatusCode,
    code: String,
    message: String,
    retryable: bool,
    details: Box<Details>,
    retry_after: Option<u64>,
    allow: Option<&'static str>,
    /// Whether the store's writer has stopped.
    pub(super) writer_stopped: bool,
}

impl Failure {
    /// A failure with a code of the interface.
    pub(super) fn new(code: &str, message: impl Into<String>) -> Self {
        Self {
            status: status_of(code),
            code: code.to_owned(),
            message: message.into(),
            retryable: false,
            details: Box::default(),
            retry_after: None,
            allow: None,
            writer_stopped: false,
        }
    }

    /// A malformed part of a request.
    pub(super) fn invalid(field: &str, reason: &'static str, message: &str) -> Self {
        Rejection::invalid(field, reason, message).into()
    }

    /// A request by a name, or from a page, that has no business here.
    pub(super) fn not_allowed(field: &str, message: &str) -> Self {
        Self { status: StatusCode::FORBIDDEN, ..Self::invalid(field, "not_allowed", message) }
    }

    /// The server cannot take this now; it may later.
    pub(super) fn busy(reason: &str, message: &str) -> Self {
        Self { retryable: true, retry_after: Some(1), ..Self::unavailable(reason, message) }
    }

    /// The server cannot do this.
    pub(super) fn unavailable(reason: &str, message: impl Into<String>) -> Self {
        let details = Details { reason: Some(reason.to_owned()), ..Details::default() };
        Self { details: Box::new(details), ..Self::new("cloud_runtime_unavailable", message) }
    }

    /// The work broke off. What a panic says may hold what nobody should read.
    pub(super) fn broken() -> Self {
        Self::new("internal_error", "the work on this request broke off; the server's log says where")
    }

    /// It took longer than it may. A write may still come to be.
    pub(super) fn too_slow(writes: bool) -> Self {
        let message = "the store took longer than the time limit";
        let failure = Self::busy("time_limit", message);
        if !writes {
            return failure;
        }
        let details = Details { outcome: Some("unknown".into()), ..*failure.details };
        Self { retryable: false, retry_after: None, details: Box::new(details), ..failure }
    }

    /// A key asked for more than its share.
    pub(super) fn rate_limited(seconds: u64) -> Self {
        let message = format!("this key asks more often than it may; wait {seconds} s");
        Self { retryable: true, retry_after: Some(seconds), ..Self::new("rate_limited", message) }
    }

    /// A body over a limit.
    pub(super) fn payload_too_large(limit: u64) -> Self {
        let details = Details { limit: Some(limit), ..Details::default() };
        let message = format!("the body is over {limit} bytes; larger sets of memories go in by an import");
        Self { details: Box::new(details), ..Self::new("payload_too_large", message) }
    }

    /// A route that takes other methods.
    pub(super) fn method_not_allowed(allow: &'static str) -> Self {
        Self { allow: Some(allow), ..Self::new("method_not_allowed", format!("this route takes {allow}")) }
    }

    fn of(error: &Error) -> Self {
        Self { retryable: error.is_retryable(), ..Self::new(error.code(), error.to_string()) }
    }

    /// What a log line says of it: never a value.
    pub(super) fn code(&self) -> &str {
        &self.code
    }

    /// The answer.
    pub(super) fn into_response(self, request_id: &str) -> Response<Body> {
        let view = ErrorView {
            error: self.code,
            message: self.message,
            request_id: request_id.to_owned(),
            retryable: self.retryable,
            details: *self.details,
        };
        // Plain data of our own, which always becomes JSON.
        let body = serde_json::to_vec(&view).unwrap_or_default();
        let mut response = super::json(self.status, body);
        let headers = response.headers_mut();
        if let Ok(id) = HeaderValue::from_str(request_id) {
            headers.insert(REQUEST_ID, id);
        }
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if let Some(allow) = self.allow {
            headers.insert(header::ALLOW, HeaderValue::from_static(allow));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// Why a store is not open; nothing of it that a client can act upon, but for damage.
#[derive(Debug)]
pub(super) enum Unopened {
    /// Another request has been opening it for a while.
    Opening,
    /// It cannot be opened.
    Failed(Error),
}

const OPENING: &str = "the store is being opened; try again";
const NOT_NOW: &str = "the store cannot be opened at the moment";
const SEE_LOG: &str = "the store cannot be opened; the server's log says why";

impl From<Unopened> for Failure {
    fn from(unopened: Unopened) -> Self {
        match unopened {
            Unopened::Opening => Self::busy("rebuilding", OPENING),
            Unopened::Failed(error) if error.code() == "store_corrupt" => {
                Self { details: Box::new(Details::from(&error)), ..Self::of(&error) }
            }
            Unopened::Failed(error) if error.is_retryable() => Self::busy("store_not_open", NOT_NOW),
            Unopened::Failed(_) => Self::unavailable("store_not_open", SEE_LOG),
        }
    }
}

impl From<Unopened> for Error {
    fn from(unopened: Unopened) -> Self {
        let reason = match unopened {
            Unopened::Failed(error) if error.code() == "store_corrupt" => return error,
            Unopened::Opening => OPENING,
            Unopened::Failed(error) if error.is_retryable() => NOT_NOW,
            Unopened::Failed(_) => SEE_LOG,
        };
        let source = std::io::Error::other(reason);
        EngineError::Log(LogError::Io { path: "of this project".to_owned(), doing: "use the store", source }).into()
    }
}

impl From<Rejection> for Failure {
    fn from(rejection: Rejection) -> Self {
        Error::from(rejection).into()
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let retry_after = error.is_retryable().then_some(1);
        let writer_stopped = matches!(error, Error::Engine(EngineError::Log(LogError::Poisoned { .. })));
        Self { details: Box::new((&error).into()), retry_after, writer_stopped, ..Self::of(&error) }
    }
}

/// Each status with its codes, as a client may see them.
const STATUSES: &[(StatusCode, &[&str])] = &[
    (StatusCode::BAD_REQUEST, &["invalid_request"]),
    (StatusCode::UNAUTHORIZED, &["missing_api_key", "invalid_api_key"]),
    (StatusCode::FORBIDDEN, &["read_only"]),
    (StatusCode::NOT_FOUND, &["memory_not_found", "snapshot_not_found", "dream_not_found", "not_found"]),
    (StatusCode::METHOD_NOT_ALLOWED, &["method_not_allowed"]),
    (
        StatusCode::CONFLICT,
        &[
            "memory_exists",
            "version_conflict",
            "idempotency_conflict",
            "state_changed_since_preview",
            "revision_rejected",
            "dream_closed",
        ],
    ),
    (StatusCode::GONE, &["rollback_confirmation_expired", "undo_window_expired"]),
    (StatusCode::PAYLOAD_TOO_LARGE, &["payload_too_large"]),
    (StatusCode::UNPROCESSABLE_ENTITY, &["forget_cap_exceeded", "secret_detected", "operation_too_large"]),
    (StatusCode::TOO_MANY_REQUESTS, &["rate_limited"]),
    (StatusCode::INTERNAL_SERVER_ERROR, &["store_corrupt", "internal_error"]),
    (StatusCode::SERVICE_UNAVAILABLE, &["cloud_runtime_unavailable"]),
];

/// The statuses of refusals with their codes.
pub(super) fn statuses() -> impl Iterator<Item = (u16, &'static [&'static str])> {
    STATUSES.iter().map(|(status, codes)| (status.as_u16(), *codes))
}

/// The status that goes with a code.
fn status_of(code: &str) -> StatusCode {
    let known = STATUSES.iter().find(|(_, codes)| codes.contains(&code));
    known.map_or(StatusCode::INTERNAL_SERVER_ERROR, |(status, _)| *status)
}

#[cfg(test)]
mod tests {
    use bilinc::{DreamClosedReason, DreamId, SnapshotId, Timestamp};

    use super::*;

    #[test]
    fn refusals_that_need_time_to_pass_have_their_status() {
        let dream = DreamId::from_u128(1);
        let until = Timestamp::from_micros(0);
        for (rejection, status) in [
            (Rejection::ConfirmationExpired, 410),
            (Rejection::UndoWindowExpired { dream, until }, 410),
            (Rejection::DreamClosed { dream, reason: DreamClosedReason::Expired }, 409),
            (Rejection::SnapshotNotFound(SnapshotId::from_u128(1)), 404),
            (Rejection::OperationTooLarge { bytes: 2, limit: 1 }, 422),
        ] {
            assert_eq!(Failure::from(rejection.clone()).status.as_u16(), status, "{rejection}");
        }
    }

    #[test]
    fn a_writer_that_stopped_leaves_the_outcome_open_and_is_not_tried_again() {
        let stopped = LogError::Poisoned { durable: 3, cause: "sync".to_owned() };
        let failure = Failure::from(Error::from(EngineError::from(stopped)));
        assert_eq!((failure.status.as_u16(), failure.retryable, failure.writer_stopped), (503, false, true));
        assert_eq!(failure.details.outcome.as_deref(), Some("unknown"));
        let busy = LogError::Busy { lock: "append.lock", holder: String::new(), waited: std::time::Duration::ZERO };
        let failure = Failure::from(Error::from(EngineError::from(busy)));
        assert_eq!((failure.status.as_u16(), failure.retryable, failure.retry_after), (503, true, Some(1)));
    }

    #[test]
    fn what_took_too_long_may_be_asked_again_unless_it_writes() {
        assert!(Failure::too_slow(false).retryable);
        let write = Failure::too_slow(true);
        assert_eq!((write.retryable, write.details.outcome.as_deref()), (false, Some("unknown")));
    }
}
