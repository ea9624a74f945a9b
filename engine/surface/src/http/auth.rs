//! Who asks.

use std::sync::Arc;

use axum::http::header::{self, HeaderMap};

use super::errors::Failure;
use super::keys::{KeyRecord, LiveKeys};

/// The key that a request comes with.
pub(super) fn key(headers: &HeaderMap, keys: &LiveKeys) -> Result<Arc<KeyRecord>, Failure> {
    let invalid = || Failure::new("invalid_api_key", "this API key opens nothing here: it is wrong, or was revoked");
    let Some(given) = headers.get(header::AUTHORIZATION) else {
        let message = "send an API key as `Authorization: Bearer bil_live_…`; `bilinc keys create` makes one";
        return Err(Failure::new("missing_api_key", message));
    };
    let given = given.to_str().map_err(|_| invalid())?;
    let (scheme, secret) = given.split_once(' ').ok_or_else(invalid)?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(invalid());
    }
    let found = keys.find(secret.trim()).map_err(|error| {
        tracing::error!(%error, "nobody is let in");
        Failure::unavailable("keys", "the server cannot read its keys; its log says why")
    })?;
    found.ok_or_else(invalid)
}
