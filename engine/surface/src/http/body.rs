//! Bodies of requests.

use axum::body::Body;
use axum::http::header::{self, HeaderMap};
use futures_util::StreamExt;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout_at};

use super::errors::Failure;
use super::limits::{self, Gate, Patience};

/// A body, with the place that it takes while it is large.
#[derive(Debug, Default)]
pub(super) struct Whole {
    pub(super) bytes: Vec<u8>,
    pub(super) place: Option<OwnedSemaphorePermit>,
}

/// Reads a body whole, but never more of it than a request may have.
pub(super) async fn read(headers: &HeaderMap, body: Body, large: &Gate, patience: Patience) -> Result<Whole, Failure> {
    if headers.contains_key(header::EXPECT) && announced(headers).is_some_and(|bytes| bytes > limits::BODY) {
        // Its sender waits to be told, and has sent nothing yet.
        return Err(Failure::payload_too_large(limits::BODY));
    }
    let end = Instant::now() + patience.body();
    let mut chunks = body.into_data_stream();
    let (mut whole, mut read) = (Whole::default(), 0_u64);
    loop {
        let pause = Instant::now() + patience.pause();
        let chunk = timeout_at(pause.min(end), chunks.next()).await.map_err(|_| too_slow())?;
        let Some(chunk) = chunk else { break };
        let chunk = chunk.map_err(|_| cut_off())?;
        read = read.saturating_add(chunk.len() as u64);
        if read > limits::BODY.saturating_add(limits::DRAINED) {
            break;
        }
        if read > limits::BODY {
            whole = Whole::default();
            continue;
        }
        if whole.place.is_none() && whole.bytes.len().saturating_add(chunk.len()) > limits::LARGE_BODY {
            whole.place = Some(large.enter(patience.pause()).await?);
        }
        whole.bytes.extend_from_slice(&chunk);
    }
    if read > limits::BODY { Err(Failure::payload_too_large(limits::BODY)) } else { Ok(whole) }
}

/// The next piece of a body that is taken as it comes, if it comes before the end of patience.
pub(super) async fn piece(
    chunks: &mut axum::body::BodyDataStream,
    end: Instant,
    patience: Patience,
) -> Result<Option<axum::body::Bytes>, Failure> {
    match timeout_at(end.min(Instant::now() + patience.pause()), chunks.next()).await {
        Ok(None) => Ok(None),
        Ok(Some(Ok(chunk))) => Ok(Some(chunk)),
        Ok(Some(Err(_))) => Err(cut_off()),
        Err(_) => Err(too_slow()),
    }
}

/// Refuses a body that says it is something else than JSON.
pub(super) fn check_json(headers: &HeaderMap) -> Result<(), Failure> {
    let Some(kind) = headers.get(header::CONTENT_TYPE) else { return Ok(()) };
    let kind = kind.to_str().unwrap_or_default();
    let (kind, _) = kind.split_once(';').unwrap_or((kind, ""));
    let kind = kind.trim().to_ascii_lowercase();
    if kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json")) {
        return Ok(());
    }
    Err(Failure::invalid("content_type", "wrong_content_type", "a body here is application/json"))
}

fn announced(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn too_slow() -> Failure {
    Failure::invalid("body", "too_slow", "the body did not come in time")
}

fn cut_off() -> Failure {
    Failure::invalid("body", "cut_off", "the body ended before its end")
}
