//! One request from its beginning to its answer: its name, and what the log and the metrics say of it.

use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::http::Response;
use axum::http::header::HeaderValue;
use bilinc::{Ids, TimeOrderedIds};

use super::REQUEST_ID;
use super::errors::Failure;
use super::keys::KeyRecord;
use super::metrics::Metrics;

/// A name for one answer.
pub(super) fn request_id() -> String {
    uuid::Uuid::from_u128(TimeOrderedIds.next_id()).to_string()
}

/// The answer with a name of its own.
pub(super) fn named(mut response: Response<Body>) -> Response<Body> {
    name(&mut response, &request_id());
    response
}

fn name(response: &mut Response<Body>, request_id: &str) {
    if let Ok(id) = HeaderValue::from_str(request_id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
}

/// A request that has begun.
#[derive(Debug)]
pub(super) struct Passage {
    began: Instant,
    request_id: String,
    method: &'static str,
    route: &'static str,
    /// Whose key it came with, once that is known.
    pub(super) who: Option<Arc<KeyRecord>>,
}

impl Passage {
    /// A request of this route begins.
    pub(super) fn begin(method: &'static str, route: &'static str) -> Self {
        Self { began: Instant::now(), request_id: request_id(), method, route, who: None }
    }

    /// The answer, after it was counted and logged.
    pub(super) fn end(self, metrics: &Metrics, done: Result<Response<Body>, Failure>) -> Response<Body> {
        let code = done.as_ref().err().map(|failure| failure.code().to_owned());
        let mut response = done.unwrap_or_else(|failure| failure.into_response(&self.request_id));
        name(&mut response, &self.request_id);
        let (status, took) = (response.status().as_u16(), self.began.elapsed());
        metrics.request(self.method, self.route, status, took);
        let key = self.who.as_deref();
        tracing::info!(
            request = self.request_id,
            method = self.method,
            route = self.route,
            status,
            code = code.as_deref(),
            project = key.map(|key| key.project.as_str()),
            key = key.map(|key| key.id.as_str()),
            ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            "request"
        );
        response
    }
}
