//! The log as server-sent events: each event as it becomes durable, its position as its id.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::Response;
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use bilinc::{LogQuery, Rejection, Seq};
use futures_util::stream;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::{self, Sender};
use tokio::time::{Instant, sleep_until};

use super::SURFACE;
use super::app::App;
use super::errors::Failure;
use super::operations::{self, Input};
use super::projects::Project;
use crate::wire::log::{LogEvent, LogView};
use crate::wire::requests::{Answer, CUT_CHARS, LogRequest};

/// How often the end of the log is looked at, for what other processes write.
const POLL: Duration = Duration::from_millis(250);
/// How often a stream without events says that it is there.
const ALIVE: Duration = Duration::from_secs(15);
/// Events that are read at once.
const EVENTS: usize = 100;
/// Pieces that wait for their reader.
const WAITING: usize = 8;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Follows the log, if that is asked for.
pub(super) async fn follow(
    app: &Arc<App>,
    input: &Input,
    headers: &HeaderMap,
) -> Result<Option<Response<Body>>, Failure> {
    let request: LogRequest = operations::read(input)?;
    if request.follow != Some(true) {
        return Ok(None);
    }
    let query = query(&request)?;
    let from = begin(&request, headers)?;
    let place = app.followers.enter(Duration::ZERO).await?;
    let project = app.projects.project(&input.key.project);
    let (to, pieces) = mpsc::channel::<Bytes>(WAITING);
    let mut follower = Follower {
        app: Arc::clone(app),
        project,
        key: input.key.id.clone(),
        query,
        next: Seq::ZERO,
        to,
        _place: place,
    };
    follower.next = match from {
        Some(from) => from,
        None => follower.head().await?.plus(1),
    };
    // The answer begins at once, so that its reader knows that it stands.
    let beginning = Bytes::from_static(b": following\n\n");
    tokio::spawn(follower.run());
    let body = stream::unfold((Some(beginning), pieces), |(first, mut pieces)| async move {
        let piece = match first {
            Some(first) => first,
            None => pieces.recv().await?,
        };
        Some((Ok::<_, io::Error>(piece), (None, pieces)))
    });
    let mut response = Response::new(Body::from_stream(body));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(Some(response))
}

fn query(request: &LogRequest) -> Result<LogQuery, Failure> {
    let unexpected = |field: &str| Rejection::invalid(field, "unexpected", "a log that is followed has no such end");
    if request.cursor.is_some() {
        return Err(unexpected("cursor").into());
    }
    if request.to_seq.is_some() {
        return Err(unexpected("to_seq").into());
    }
    if request.before.is_some() {
        return Err(unexpected("before").into());
    }
    Ok(LogQuery { limit: Some(EVENTS), oldest_first: true, ..request.query()? })
}

/// The first position to show: behind the one that was seen last, or as asked for; else what comes
/// from now on.
fn begin(request: &LogRequest, headers: &HeaderMap) -> Result<Option<Seq>, Failure> {
    let Some(seen) = headers.get(LAST_EVENT_ID) else { return Ok(request.from_seq.map(Seq::new)) };
    let seen = seen.to_str().ok().and_then(|text| text.trim().parse::<u64>().ok());
    let seen =
        seen.ok_or_else(|| Failure::invalid("last_event_id", "wrong_type", "the id of an event is its position"))?;
    Ok(Some(Seq::new(seen).plus(1)))
}

/// Who follows, and how far.
struct Follower {
    app: Arc<App>,
    project: Arc<Project>,
    key: String,
    query: LogQuery,
    next: Seq,
    to: Sender<Bytes>,
    _place: OwnedSemaphorePermit,
}

impl Follower {
    /// Sends events until the server stops, the key is revoked, the store fails or the reader goes.
    async fn run(mut self) {
        let mut alive = Instant::now() + ALIVE;
        loop {
            if self.app.stop.is_cancelled() || !self.app.keys.is_good(&self.key) {
                return;
            }
            let stop = self.app.stop.clone();
            let project = Arc::clone(&self.project);
            let written = project.written.notified();
            match self.send_new().await {
                Ok(true) => alive = Instant::now() + ALIVE,
                Ok(false) if Instant::now() >= alive => {
                    alive = Instant::now() + ALIVE;
                    if self.to.send(Bytes::from_static(b": alive\n\n")).await.is_err() {
                        return;
                    }
                }
                Ok(false) => {}
                Err(()) => return,
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.to.closed() => return,
                () = written => {}
                () = sleep_until(Instant::now() + POLL) => {}
            }
        }
    }

    /// The last position.
    async fn head(&self) -> Result<Seq, Failure> {
        let (app, project) = (Arc::clone(&self.app), Arc::clone(&self.project));
        let work = tokio::task::spawn_blocking(move || Ok(app.projects.memory(&project)?.head()?.seq));
        work.await.unwrap_or_else(|_| Err(Failure::broken()))
    }

    /// Sends what is there and was not sent yet, and says whether anything was.
    async fn send_new(&mut self) -> Result<bool, ()> {
        let head = self.head().await.map_err(drop)?;
        if head < self.next {
            return Ok(false);
        }
        let mut query = LogQuery { from_seq: Some(self.next), to_seq: Some(head), ..self.query.clone() };
        let mut sent = false;
        loop {
            let (app, project, asked) = (Arc::clone(&self.app), Arc::clone(&self.project), query.clone());
            let work = tokio::task::spawn_blocking(move || page(&app, &project, &asked));
            let (text, cursor) = work.await.map_err(drop)?.map_err(drop)?;
            if !text.is_empty() {
                sent = true;
                self.to.send(text.into()).await.map_err(drop)?;
            }
            match cursor {
                Some(cursor) => query.cursor = Some(cursor),
                None => break,
            }
        }
        self.next = head.plus(1);
        Ok(sent)
    }
}

/// A page of events as text, and where the next one begins.
fn page(app: &App, project: &Project, query: &LogQuery) -> Result<(String, Option<String>), Failure> {
    let mut page: LogView = (&app.projects.memory(project)?.log(query)?).into();
    let mut text = events(&page.events)?;
    if SURFACE.answer_bytes.is_some_and(|most| text.len() > most) {
        page.cut(CUT_CHARS);
        text = events(&page.events)?;
    }
    Ok((text, page.next_cursor))
}

fn events(events: &[LogEvent]) -> Result<String, Failure> {
    let mut text = String::new();
    for event in events {
        // JSON as it is written here has no line breaks.
        let data = serde_json::to_string(event).map_err(|error| Failure::new("internal_error", error.to_string()))?;
        text.push_str(&format!("id: {}\ndata: {data}\n\n", event.seq));
    }
    Ok(text)
}
