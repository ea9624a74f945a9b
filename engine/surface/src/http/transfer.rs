//! Lines in and out, however many they are.

use std::io::{self, BufReader, Read, Write};
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::header::{self, HeaderValue};
use axum::http::{Response, StatusCode};
use futures_util::stream;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::time::Instant;

use super::app::App;
use super::errors::Failure;
use super::limits::Patience;
use super::operations::{self, Input};
use super::{SURFACE, answer, body, json, limits};
use crate::wire::fields;
use crate::wire::requests::{ImportRequest, Members, Read as _};
use crate::wire::transfer::ImportView;

/// So many pieces of a stream wait for their reader.
const WAITING: usize = 8;
/// Lines go out in pieces of so many bytes.
const PIECE: usize = 64 * 1024;

/// Reads an import as it comes. It is judged as a whole, so one that breaks off writes nothing.
pub(super) async fn import(app: &Arc<App>, input: Input, sent: Body) -> Result<Response<Body>, Failure> {
    let request = ImportRequest::read_all(Members::of_query(input.query.iter().cloned()))?;
    check(&request, input.idempotency.as_deref())?;
    let place = app.long.enter(app.settings.time_limit).await?;
    let (to, pieces) = mpsc::channel(WAITING);
    let work = {
        let app = Arc::clone(app);
        tokio::task::spawn_blocking(move || {
            let _place = place;
            app.in_project(&input.key.project, true, |store| {
                let memory = store()?;
                let (actor, options) = request.options(&SURFACE);
                let lines = BufReader::new(Pieces { pieces, now: Bytes::new() });
                let acting = operations::handle(&memory, &input).acting_as(actor);
                let written = acting.import(lines, options, &mut |_, _| {})?;
                let view = ImportView::from(&written.answer);
                answer::bytes(bilinc::Written { answer: view, replayed: written.replayed }, memory.head()?)
            })
        })
    };
    // A failure of the body ends the import through its reader, and is the better one to tell.
    feed(sent, to, app.settings.patience()).await?;
    let done = work.await.unwrap_or_else(|_| Err(Failure::broken()))?;
    Ok(json(StatusCode::OK, done))
}

/// The library judges who writes when there is something to write; here it is the same without a line.
fn check(request: &ImportRequest, idempotency: Option<&str>) -> Result<(), Failure> {
    let check = |field: &str, text: Option<&str>, least, most| match text {
        Some(text) => fields::text(field, text, least, most).map(drop),
        None => Ok(()),
    };
    check("source", request.source.as_deref(), 0, bilinc::limits::SOURCE_CHARS)?;
    check("session_id", request.session_id.as_deref(), 0, bilinc::limits::SOURCE_CHARS)?;
    Ok(check("idempotency_key", idempotency, 1, bilinc::limits::IDEMPOTENCY_KEY_CHARS)?)
}

/// Hands a body on piece by piece; what nobody takes any more is read and dropped, so that its
/// sender comes to read the answer.
async fn feed(sent: Body, to: Sender<io::Result<Bytes>>, patience: Patience) -> Result<(), Failure> {
    let began = Instant::now();
    let mut chunks = sent.into_data_stream();
    let (mut read, mut dropped) = (0_u64, 0_u64);
    loop {
        let piece = match body::piece(&mut chunks, began + patience.stream(read), patience).await {
            Ok(Some(piece)) => piece,
            Ok(None) => return Ok(()),
            Err(failure) => {
                // Only a reader that has gone does not hear of it.
                let _ = to.send(Err(io::ErrorKind::UnexpectedEof.into())).await;
                return Err(failure);
            }
        };
        let bytes = piece.len() as u64;
        read = read.saturating_add(bytes);
        if read > limits::IMPORT {
            let _ = to.send(Err(io::ErrorKind::UnexpectedEof.into())).await;
            return Err(Failure::payload_too_large(limits::IMPORT));
        }
        if to.send(Ok(piece)).await.is_err() {
            dropped = dropped.saturating_add(bytes);
            if dropped > limits::DRAINED {
                return Ok(());
            }
        }
    }
}

/// A body as something to read from.
struct Pieces {
    pieces: Receiver<io::Result<Bytes>>,
    now: Bytes,
}

impl Read for Pieces {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.now.is_empty() {
            match self.pieces.blocking_recv() {
                Some(piece) => self.now = piece?,
                None => return Ok(0),
            }
        }
        let taken = self.now.split_to(self.now.len().min(into.len()));
        (&*taken).read(into)
    }
}

/// Writes the memories as they are read. A failure after the first piece breaks the answer off, so
/// that nobody takes a part of it for the whole.
pub(super) async fn export(app: &Arc<App>, input: Input) -> Result<Response<Body>, Failure> {
    if let Some((name, _)) = input.query.first() {
        let name = crate::wire::requests::beginning(name);
        return Err(Failure::invalid(&name, "unknown_field", "unknown; nothing is taken here"));
    }
    let place = app.long.enter(app.settings.time_limit).await?;
    let (to, mut pieces) = mpsc::channel::<Result<Bytes, Failure>>(WAITING);
    let app = Arc::clone(app);
    tokio::task::spawn_blocking(move || {
        let _place = place;
        let mut lines = Lines { to: &to, now: Vec::with_capacity(PIECE) };
        let done = app.in_project(&input.key.project, false, |store| {
            store()?.export(&mut lines, &mut |_, _| {})?;
            Ok(())
        });
        if let Err(failure) = done {
            let _ = to.blocking_send(Err(failure));
        }
    });
    let first = match pieces.recv().await {
        None => Bytes::new(),
        Some(first) => first?,
    };
    let rest = stream::unfold((Some(first), pieces), |(first, mut pieces)| async move {
        let piece = match first {
            Some(first) => Ok(first),
            None => pieces.recv().await?.map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe)),
        };
        Some((piece, (None, pieces)))
    });
    let mut response = Response::new(Body::from_stream(rest));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// An answer as something to write to; what is left goes out with a flush.
struct Lines<'a> {
    to: &'a Sender<Result<Bytes, Failure>>,
    now: Vec<u8>,
}

impl Write for Lines<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.now.extend_from_slice(bytes);
        if self.now.len() >= PIECE {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.now.is_empty() {
            return Ok(());
        }
        let piece = std::mem::replace(&mut self.now, Vec::with_capacity(PIECE));
        self.to.blocking_send(Ok(piece.into())).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}
