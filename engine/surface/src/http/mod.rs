//! The server: the operations of the catalogue over HTTP, for many projects at once.
//!
//! A request passes in this order: its route, its key (`auth`), its share (`limits`), its body
//! (`body`), a place to work in, its project's store (`projects`), and then its operation
//! (`operations`), which reads a request of [`crate::wire::requests`] and answers with a twin of
//! [`crate::wire`]. The library waits for disks, so it is only called on threads that may wait.
//!
//! What the server does not know: what a request means. Fields and rules are the library's and
//! those of `wire`.

mod answer;
mod app;
mod auth;
mod body;
mod errors;
mod handles;
pub mod keys;
mod limits;
mod log_stream;
mod mcp;
mod metrics;
mod openapi;
mod operations;
mod origin;
mod passage;
mod projects;
mod refuse;
mod server;
mod transfer;

pub use self::app::Settings;
pub use self::openapi::document;
pub use self::projects::{CreateError, create as create_project};
pub use self::server::{ServeError, Server};

use axum::body::Body;
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{Response, StatusCode};

use crate::wire::requests::Surface;

/// Names an answer, so that it can be spoken about.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// What this surface brings to each request.
const SURFACE: Surface = Surface { source: "bilinc_cloud", answer_bytes: Some(1024 * 1024) };

/// An answer of JSON.
fn json(status: StatusCode, body: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
