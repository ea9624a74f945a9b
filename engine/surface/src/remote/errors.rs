//! What goes wrong with a server, in the one shape of errors.

use serde::Deserialize;
use ureq::Timeout;
use ureq::http::StatusCode;

use super::address::Address;
use super::ask::Ask;
use crate::wire::errors::{Details, ErrorView};

/// An error that a server answered, or that stands for an answer that did not come.
#[derive(Debug)]
pub struct ServerError {
    /// The error.
    pub view: Box<ErrorView>,
    /// Its text, when a server wrote it.
    pub text: Option<String>,
}

impl ServerError {
    /// An error of our own with a code of the interface.
    pub(crate) fn new(code: &str, reason: &str, message: String) -> Self {
        let details = Details { reason: Some(reason.to_owned()), ..Details::default() };
        let view = ErrorView {
            error: code.to_owned(),
            message,
            request_id: crate::wire::errors::request_id(),
            retryable: false,
            details,
        };
        Self { view: Box::new(view), text: None }
    }

    /// That the same call may succeed later.
    pub(super) fn retryable(mut self) -> Self {
        self.view.retryable = true;
        self
    }

    /// That it cannot be said whether the write is there, and how to find out.
    fn unknown(mut self, ask: &Ask) -> Self {
        if ask.writes {
            self.view.retryable = false;
            self.view.details.outcome = Some("unknown".into());
            self.view.details.idempotency_key.clone_from(&ask.once);
        }
        self
    }

    /// Its code.
    #[must_use]
    pub fn code(&self) -> &str {
        &self.view.error
    }

    /// Whether the answer would have been too large for the server.
    #[must_use]
    pub fn is_too_large(&self) -> bool {
        self.view.details.reason.as_deref() == Some("response_too_large")
    }

    /// Adds the key that settles a write whose outcome the server itself does not know.
    pub(super) fn under(mut self, ask: &Ask) -> Self {
        if self.view.details.outcome.is_some() && self.view.details.idempotency_key.is_none() {
            self.view.details.idempotency_key.clone_from(&ask.once);
            self.text = None;
        }
        self
    }

    /// The server was not reached, so nothing was asked of it.
    pub(super) fn unreachable(address: &Address, error: &ureq::Error) -> Self {
        let message = format!("cannot reach the server at {address}: {}", cause(error));
        let failed = Self::new("cloud_runtime_unavailable", "unreachable", message);
        // A certificate does not get better by asking again.
        if is_distrust(error) { failed } else { failed.retryable() }
    }

    /// The server was asked, and no whole answer came.
    pub(super) fn no_answer(address: &Address, error: &ureq::Error, ask: &Ask) -> Self {
        let message = format!("the server at {address} gave no answer: {}", cause(error));
        Self::new("cloud_runtime_unavailable", "no_answer", message).retryable().unknown(ask)
    }

    /// An answer that is no error of a Bilinc server, with a status that says that it is one.
    pub(super) fn of_answer(
        address: &Address,
        status: StatusCode,
        redirect: Option<&str>,
        text: &str,
        ask: &Ask,
    ) -> Self {
        if let Ok(view) = serde_json::from_str::<Answered>(text) {
            return Self { view: Box::new(view.into()), text: Some(text.trim_end().to_owned()) }.under(ask);
        }
        if status.is_redirection() {
            let to = redirect.map(|to| format!(" to {to}")).unwrap_or_default();
            let message = format!(
                "the server at {address} sends its callers on{to}, which is not followed, so that a key reaches no other \
                 address than the one that was named: name that one"
            );
            return Self::new("cloud_runtime_unavailable", "redirect", message);
        }
        let message = format!("what answers at {address} is no Bilinc server, or stands before one: it said {status}");
        let failed = |code| Self::new(code, "not_bilinc", message.clone());
        match status.as_u16() {
            401 => failed("invalid_api_key"),
            403 => failed("read_only"),
            404 => failed("not_found"),
            413 => failed("payload_too_large"),
            429 => failed("rate_limited").retryable(),
            // A proxy that gave up waiting may have handed the request on.
            502..=504 => failed("cloud_runtime_unavailable").retryable().unknown(ask),
            _ => failed("cloud_runtime_unavailable"),
        }
    }

    /// An answer that cannot be read.
    pub(super) fn unreadable(address: &Address, error: &serde_json::Error, ask: &Ask) -> Self {
        let message = format!("the answer of the server at {address} cannot be read: {error}");
        let failed = Self::new("cloud_runtime_unavailable", "unreadable_answer", message);
        if ask.writes { failed.unknown(ask) } else { failed }
    }
}

/// An error as a server writes it; one before ours may leave out what is no part of the message.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answered {
    error: String,
    message: String,
    #[serde(default)]
    request_id: String,
    #[serde(default)]
    retryable: bool,
    #[serde(default)]
    details: Details,
}

impl From<Answered> for ErrorView {
    fn from(answered: Answered) -> Self {
        let Answered { error, message, request_id, retryable, details } = answered;
        Self { error, message, request_id, retryable, details }
    }
}

/// Whether a request failed before anything of it was sent.
pub(super) fn before_sending(error: &ureq::Error) -> bool {
    use std::io::ErrorKind;
    match error {
        ureq::Error::Io(error) => matches!(
            error.kind(),
            ErrorKind::ConnectionRefused
                | ErrorKind::HostUnreachable
                | ErrorKind::NetworkUnreachable
                | ErrorKind::NetworkDown
                | ErrorKind::AddrNotAvailable
                | ErrorKind::PermissionDenied
                | ErrorKind::InvalidInput
                // A handshake of TLS that failed.
                | ErrorKind::InvalidData
        ),
        ureq::Error::Timeout(which) => matches!(which, Timeout::Resolve | Timeout::Connect),
        ureq::Error::HostNotFound
        | ureq::Error::ConnectionFailed
        | ureq::Error::BadUri(_)
        | ureq::Error::Http(_)
        | ureq::Error::Tls(_)
        | ureq::Error::Rustls(_)
        | ureq::Error::Pem(_) => true,
        _ => false,
    }
}

/// Whether more of the same would only take as long again.
pub(super) fn is_timeout(error: &ureq::Error) -> bool {
    matches!(error, ureq::Error::Timeout(_))
}

fn is_distrust(error: &ureq::Error) -> bool {
    match error {
        ureq::Error::Io(error) => error.kind() == std::io::ErrorKind::InvalidData,
        ureq::Error::Tls(_) | ureq::Error::Rustls(_) | ureq::Error::Pem(_) => true,
        _ => false,
    }
}

/// The system's reason, in words.
fn cause(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Io(error) => error.to_string(),
        ureq::Error::HostNotFound => "there is no host of that name".to_owned(),
        ureq::Error::Timeout(_) => "it took too long".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::io;

    use super::*;

    fn ask(writes: bool) -> Ask {
        let once = writes.then(|| "once".to_owned());
        Ask { method: "POST", path: String::new(), query: Vec::new(), body: None, writes, once }
    }

    fn address() -> Address {
        Address::parse("http://h").unwrap()
    }

    #[test]
    fn a_write_without_an_answer_is_unknown_and_says_what_settles_it() {
        let broken = ureq::Error::Io(io::ErrorKind::ConnectionReset.into());
        let failed = ServerError::no_answer(&address(), &broken, &ask(true)).view;
        assert_eq!((failed.retryable, failed.details.outcome.as_deref()), (false, Some("unknown")));
        assert_eq!(failed.details.idempotency_key.as_deref(), Some("once"));
        assert!(ServerError::no_answer(&address(), &broken, &ask(false)).view.retryable);
    }

    #[test]
    fn what_was_never_sent_is_known_not_to_be_there() {
        assert!(before_sending(&ureq::Error::Io(io::ErrorKind::ConnectionRefused.into())));
        assert!(!before_sending(&ureq::Error::Io(io::ErrorKind::ConnectionReset.into())));
        assert!(before_sending(&ureq::Error::Timeout(Timeout::Connect)));
        assert!(!before_sending(&ureq::Error::Timeout(Timeout::PerRead)));
        let refused = ureq::Error::Io(io::ErrorKind::ConnectionRefused.into());
        let failed = ServerError::unreachable(&address(), &refused).view;
        assert_eq!((failed.retryable, failed.details.outcome), (true, None));
    }

    #[test]
    fn an_answer_of_something_else_has_a_code_of_the_interface() {
        for (status, code) in [(401, "invalid_api_key"), (404, "not_found"), (200, "cloud_runtime_unavailable")] {
            let status = StatusCode::from_u16(status).unwrap();
            let failed = ServerError::of_answer(&address(), status, None, "<html>", &ask(false));
            assert_eq!((failed.code(), failed.text.as_deref()), (code, None));
        }
        let gateway = ServerError::of_answer(&address(), StatusCode::BAD_GATEWAY, None, "<html>", &ask(true)).view;
        assert_eq!(gateway.details.outcome.as_deref(), Some("unknown"));
        let moved = StatusCode::MOVED_PERMANENTLY;
        let failed = ServerError::of_answer(&address(), moved, Some("https://other"), "", &ask(true));
        assert!(failed.view.message.contains("https://other"), "{failed:?}");
    }

    #[test]
    fn an_error_of_a_server_is_kept_as_it_wrote_it() {
        let text = r#"{"error":"memory_not_found","message":"m","requestId":"r","retryable":false,"details":{"key":"k"},"new":1}"#;
        let failed = ServerError::of_answer(&address(), StatusCode::NOT_FOUND, None, text, &ask(true));
        assert_eq!((failed.code(), failed.text.as_deref()), ("memory_not_found", Some(text)));
        assert_eq!(failed.view.details.key.unwrap().as_str(), "k");
    }
}
