//! The Model Context Protocol over HTTP, without sessions: each request is answered by itself, in JSON.
//!
//! The protocol and its versions are the library's. Ours is what every route has (key, share, body,
//! place, time), whose pages may ask (`origin`), the store of the key's project, and that arguments
//! keep their text.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderMap, HeaderValue};
use axum::http::{Method, Response, StatusCode};
use axum::routing::{MethodRouter, post};
use rmcp::model::{ClientRequest, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout_at};

use super::app::App;
use super::errors::Failure;
use super::keys::KeyRecord;
use super::passage::Passage;
use super::projects::Project;
use super::{body, json};
use crate::mcp::messages::{self, Message, NoMessage};
use crate::mcp::{Options, Outcome, SOURCE, Server, Store, Toolset};

/// Where it is served, with which tools.
pub(super) const ROUTES: &[(&str, Toolset)] =
    &[("/mcp", Toolset::Memory), ("/mcp/knowledge-graph", Toolset::KnowledgeGraph)];

/// Most messages of a batch.
const BATCH: usize = 100;
/// The only version that has batches, which is also the one of a request that names none.
const WITH_BATCHES: &str = "2025-03-26";
const VERSION: &str = "mcp-protocol-version";

/// A route; without sessions there is nothing to get and nothing to delete.
pub(super) fn route(path: &'static str, tools: Toolset) -> MethodRouter<Arc<App>> {
    post(move |State(app): State<Arc<App>>, request: Request| async move {
        let mut passage = Passage::begin("POST", path);
        let done = answer(&app, tools, request, &mut passage.who).await;
        passage.end(&app.metrics, done)
    })
}

async fn answer(
    app: &Arc<App>,
    tools: Toolset,
    request: Request,
    who: &mut Option<Arc<KeyRecord>>,
) -> Result<Response<Body>, Failure> {
    let (head, sent) = request.into_parts();
    app.names.check(&head.headers)?;
    let key = app.admit(&head.headers)?;
    *who = Some(Arc::clone(&key));
    body::check_json(&head.headers)?;
    let body = body::read(&head.headers, sent, &app.large, app.settings.patience()).await?;
    let invalid = |_| Failure::invalid("body", "invalid_utf8", "not UTF-8");
    let text = std::str::from_utf8(&body.bytes).map_err(invalid)?;
    let Some(headers) = of_protocol(&head.headers) else {
        let error = ErrorData::invalid_request("Not Acceptable: answers are application/json", None);
        return Ok(refused(StatusCode::NOT_ACCEPTABLE, (None, error)));
    };
    let limit = app.settings.time_limit;
    let project = app.projects.project(&key.project);
    let places = Places { _work: app.gate.enter(limit).await?, _large: body.place };
    let options = Options { read_only: key.read_only, tools };
    let end = Instant::now() + limit;
    let caller = Caller { app: Arc::clone(app), options, headers, project, places: Arc::new(places), end };
    match messages::batch(text) {
        None => caller.one(text).await,
        Some(parts) => {
            // The first message is paid for already.
            for _ in parts.iter().take(BATCH).skip(1) {
                app.take_share(&key)?;
            }
            caller.batch(&parts).await
        }
    }
}

/// The headers that are the protocol's, with what its library wants to see; none when the caller does
/// not take JSON.
fn of_protocol(given: &HeaderMap) -> Option<HeaderMap> {
    let mut accepted = given.get_all(header::ACCEPT).iter().peekable();
    let takes = |kinds: &HeaderValue| {
        let kinds = kinds.to_str().unwrap_or_default().to_ascii_lowercase();
        ["application/json", "application/*", "*/*"].iter().any(|kind| kinds.contains(kind))
    };
    if accepted.peek().is_some() && !accepted.any(takes) {
        return None;
    }
    let own = given.iter().filter(|(name, _)| name.as_str().starts_with("mcp-"));
    let mut headers: HeaderMap = own.map(|(name, value)| (name.clone(), value.clone())).collect();
    headers.insert(header::HOST, HeaderValue::from_static("localhost"));
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    Some(headers)
}

/// What a request takes up until its work is done, also when nobody waits for it any more.
#[derive(Debug)]
struct Places {
    _work: OwnedSemaphorePermit,
    _large: Option<OwnedSemaphorePermit>,
}

/// Who asks, and with what.
struct Caller {
    app: Arc<App>,
    options: Options,
    headers: HeaderMap,
    project: Arc<Project>,
    places: Arc<Places>,
    /// When it has to be answered.
    end: Instant,
}

impl Caller {
    /// Serves one message.
    async fn one(&self, text: &str) -> Result<Response<Body>, Failure> {
        let Message { text, arguments, message } = match messages::read(text) {
            Ok(message) => message,
            Err(no_message) => return Ok(refused(StatusCode::BAD_REQUEST, no_message)),
        };
        let server = self.server().with_arguments(arguments);
        let (id, writes) = match &message {
            JsonRpcMessage::Request(request) => {
                let writes = match &request.request {
                    ClientRequest::CallToolRequest(call) => server.writes(&call.params.name),
                    _ => false,
                };
                (Some(request.id.clone()), writes)
            }
            _ => (None, false),
        };
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .disable_allowed_hosts()
            .with_max_request_body_bytes(text.len());
        let sessions = Arc::new(NeverSessionManager::default());
        let service = StreamableHttpService::new(move || Ok(server.clone()), sessions, config);
        let mut request = Request::new(Body::from(text));
        *request.method_mut() = Method::POST;
        *request.headers_mut() = self.headers.clone();
        // A caller that goes away drops this: a call that has not begun does nothing then.
        let answered = timeout_at(self.end, service.handle(request)).await;
        as_json(answered.map_err(|_| Failure::too_slow(writes))?.map(Body::new), id).await
    }

    /// Serves messages that came together, in their order.
    async fn batch(&self, parts: &[&str]) -> Result<Response<Body>, Failure> {
        let version = self.headers.get(VERSION).map_or(WITH_BATCHES.as_bytes(), HeaderValue::as_bytes);
        let wrong = match parts.len() {
            _ if version != WITH_BATCHES.as_bytes() => Some("Invalid Request: this version has no batches"),
            0 => Some("Invalid Request: an empty batch"),
            1..=BATCH => None,
            _ => Some("Invalid Request: a batch of more than 100 messages"),
        };
        if let Some(what) = wrong {
            return Ok(refused(StatusCode::BAD_REQUEST, (None, ErrorData::invalid_request(what, None))));
        }
        let mut answers = Vec::new();
        for part in parts {
            let answer = self.one(part).await?.into_body();
            let answer = to_bytes(answer, usize::MAX).await.map_err(|_| Failure::broken())?;
            if !answer.is_empty() {
                answers.push(if answers.is_empty() { b'[' } else { b',' });
                answers.extend_from_slice(&answer);
            }
        }
        if answers.is_empty() {
            return Ok(accepted());
        }
        answers.push(b']');
        Ok(json(StatusCode::OK, answers))
    }

    /// A server for one message, on the store of the project, which is opened when it is needed.
    fn server(&self) -> Server {
        let (app, project, places) = (Arc::clone(&self.app), Arc::clone(&self.project), Arc::clone(&self.places));
        let store = Store::opened_by(move || {
            let _held = &places;
            let actor = bilinc::Actor { source: SOURCE.into(), session_id: None };
            Ok(app.projects.memory(&project)?.acting_as(actor))
        });
        let (app, project) = (Arc::clone(&self.app), Arc::clone(&self.project));
        Server::new(Arc::new(store), self.options).watched_by(move |outcome| match outcome {
            Outcome::Written => app.projects.wrote(&project),
            Outcome::WriterStopped => app.projects.stopped(&project),
            Outcome::Other => {}
        })
    }
}

/// An answer of the library as this server gives it. What the library refuses in words becomes an
/// error of the protocol.
async fn as_json(response: Response<Body>, id: Option<RequestId>) -> Result<Response<Body>, Failure> {
    let (head, body) = response.into_parts();
    let kind = head.headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    let is_json = kind == Some(b"application/json");
    if kind.is_some_and(|kind| kind.starts_with(b"text/event-stream")) {
        return Ok(Response::from_parts(head, body));
    }
    let body = to_bytes(body, usize::MAX).await.map_err(|_| Failure::broken())?;
    if is_json {
        return Ok(json(head.status, body.into()));
    }
    if head.status == StatusCode::ACCEPTED {
        return Ok(accepted());
    }
    let words = String::from_utf8_lossy(&body).into_owned();
    Ok(refused(head.status, (id, ErrorData::invalid_request(words, None))))
}

/// Nothing is said to what wants no answer.
fn accepted() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::ACCEPTED;
    response
}

/// An error of the protocol.
fn refused(status: StatusCode, (id, error): NoMessage) -> Response<Body> {
    // Plain data of our own, which always becomes JSON.
    let body = serde_json::to_vec(&ServerJsonRpcMessage::error(error, id)).unwrap_or_default();
    json(status, body)
}
