//! The routes, and the way of a request through the server.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::{RawPathParams, Request, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Response, StatusCode, Uri};
use axum::routing::{MethodFilter, MethodRouter, any, get};
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

use super::errors::Failure;
use super::keys::{KeyRecord, LiveKeys};
use super::limits::{Gate, Patience, Rates};
use super::metrics::Metrics;
use super::operations::{self, Input, Run, Way};
use super::origin::Names;
use super::passage::{Passage, named, request_id};
use super::projects::{Health, Projects};
use super::server::Peer;
use super::{auth, body, json, log_stream, mcp, openapi, transfer};
use crate::catalogue::{self, Operation};

/// How the server is to work.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The data folder.
    pub data: PathBuf,
    /// Whether text that looks like a credential is stored.
    pub allow_secrets: bool,
    /// Requests a second that each key may send, where there is a limit.
    pub rate_limit: Option<u32>,
    /// Most open connections.
    pub max_connections: usize,
    /// How long one request may work.
    pub time_limit: Duration,
    /// How long a client may pause in the middle of a request.
    pub pause_limit: Duration,
    /// How long an unused store stays open.
    pub idle_close: Duration,
    /// Whether others than this machine may read the metrics.
    pub public_metrics: bool,
    /// Names by which browsers may call the server, beside those of this machine.
    pub allowed_hosts: Vec<String>,
}

impl Settings {
    pub(super) fn patience(&self) -> Patience {
        Patience(self.pause_limit)
    }
}

/// So many requests work at the same time; the library syncs for many of them at once.
const PLACES: usize = 64;
/// So many requests wait for a place.
const QUEUE: usize = 1_024;
/// So many exports, imports and proofs go on at the same time.
const LONG_PLACES: usize = 4;
/// So many of them wait.
const LONG_QUEUE: usize = 16;
/// So many large bodies are held at the same time.
const LARGE_PLACES: usize = 16;
/// So many wait.
const LARGE_QUEUE: usize = 64;
/// So many callers follow the log.
const FOLLOWERS: usize = 256;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// What all requests share.
#[derive(Debug)]
pub(super) struct App {
    pub(super) settings: Settings,
    pub(super) keys: LiveKeys,
    pub(super) projects: Projects,
    pub(super) metrics: Metrics,
    pub(super) stop: CancellationToken,
    pub(super) gate: Gate,
    pub(super) long: Gate,
    pub(super) followers: Gate,
    pub(super) large: Gate,
    /// By which names it may be called.
    pub(super) names: Names,
    rates: Option<Rates>,
    started: Instant,
}

impl App {
    pub(super) fn new(settings: Settings, address: IpAddr, stop: CancellationToken) -> Self {
        Self {
            names: Names::new(address, &settings.allowed_hosts),
            keys: LiveKeys::new(&settings.data),
            projects: Projects::new(&settings.data, settings.allow_secrets),
            metrics: Metrics::default(),
            stop,
            gate: Gate::new(PLACES, QUEUE),
            long: Gate::new(LONG_PLACES, LONG_QUEUE),
            large: Gate::new(LARGE_PLACES, LARGE_QUEUE),
            followers: Gate::new(FOLLOWERS, 0),
            rates: settings.rate_limit.map(Rates::new),
            started: Instant::now(),
            settings,
        }
    }

    /// The key of a request that may be served now.
    pub(super) fn admit(&self, headers: &HeaderMap) -> Result<Arc<KeyRecord>, Failure> {
        let key = auth::key(headers, &self.keys)?;
        self.take_share(&key)?;
        Ok(key)
    }

    /// Takes one request off the share of a key.
    pub(super) fn take_share(&self, key: &KeyRecord) -> Result<(), Failure> {
        self.rates.as_ref().map_or(Ok(()), |rates| rates.take(&key.id, self.started.elapsed()))
    }

    /// Carries an operation out where it may wait for disks, and answers when it is done or has
    /// taken too long. What has begun goes on to its end, also when nobody waits for it any more.
    async fn carry_out(
        self: &Arc<Self>,
        input: Input,
        run: fn(&Input, operations::Store<'_>) -> Result<Vec<u8>, Failure>,
        place: OwnedSemaphorePermit,
        limit: Option<Duration>,
    ) -> Result<Vec<u8>, Failure> {
        let writes = input.operation.writes;
        let app = Arc::clone(self);
        let work = tokio::task::spawn_blocking(move || {
            let _place = place;
            app.in_project(&input.key.project, writes, |store| run(&input, store))
        });
        let done = match limit {
            Some(limit) => tokio::time::timeout(limit, work).await.map_err(|_| Failure::too_slow(writes))?,
            None => work.await,
        };
        done.unwrap_or_else(|_| Err(Failure::broken()))
    }

    /// Works on the store of a project, and sees to it when its writer has stopped.
    pub(super) fn in_project<T>(
        &self,
        project: &str,
        writes: bool,
        work: impl FnOnce(operations::Store<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let project = self.projects.project(project);
        let done = work(&|| Ok(self.projects.memory(&project)?));
        match &done {
            Ok(_) if writes => self.projects.wrote(&project),
            Err(failure) if failure.writer_stopped => self.projects.stopped(&project),
            _ => {}
        }
        done
    }
}

/// The routes: one for each operation of the catalogue that is not local, and those about the
/// server itself.
pub(super) fn router(app: Arc<App>) -> Router {
    let mut router = Router::new()
        .route("/api/cloud/health", get(health))
        .route("/api/openapi.json", get(openapi::serve))
        .route("/metrics", get(metrics));
    for (path, tools) in mcp::ROUTES {
        router = router.route(path, mcp::route(path, *tools));
    }
    let mut paths: Vec<&str> = Vec::new();
    for path in catalogue::ALL.iter().map(|operation| operation.path).filter(|path| !path.is_empty()) {
        if !paths.contains(&path) {
            paths.push(path);
            router = router.route(path, route(path));
        }
    }
    router.fallback(any(not_found)).method_not_allowed_fallback(method_not_allowed).with_state(app)
}

/// What a path takes: its first operation for each method, since others are the same request.
fn route(path: &str) -> MethodRouter<Arc<App>> {
    let mut methods: Vec<&str> = Vec::new();
    let mut route = MethodRouter::new();
    for operation in catalogue::ALL.iter().filter(|operation| operation.path == path) {
        let Some(Way { run, .. }) = operations::way(operation) else { continue };
        if !methods.contains(&operation.method) {
            methods.push(operation.method);
            let filter = if operation.method == "GET" { MethodFilter::GET } else { MethodFilter::POST };
            let serve = move |State(app): State<Arc<App>>, path: RawPathParams, request: Request| async move {
                let id = path.iter().find(|(name, _)| *name == "id").map(|(_, id)| id.to_owned());
                serve(app, operation, run, id, request).await
            };
            route = route.on(filter, serve);
        }
    }
    route
}

/// The methods that a path takes.
fn methods_of(path: &str) -> &'static str {
    let parts = |path: &str| path.split('/').map(str::to_owned).collect::<Vec<_>>();
    let asked = parts(path);
    let is_it = |operation: &&Operation| {
        let known = parts(operation.path);
        known.len() == asked.len() && known.iter().zip(&asked).all(|(known, asked)| known == asked || known == "{id}")
    };
    if mcp::ROUTES.iter().any(|(known, _)| *known == path) {
        return "POST";
    }
    let takes = |method: &str| catalogue::ALL.iter().filter(is_it).any(|operation| operation.method == method);
    match (takes("GET"), takes("POST")) {
        (true, true) => "GET, HEAD, POST",
        (false, true) => "POST",
        _ => "GET, HEAD",
    }
}

/// Serves one request of an operation, and says so in the log and the metrics.
async fn serve(
    app: Arc<App>,
    operation: &'static Operation,
    run: Run,
    id: Option<String>,
    request: Request,
) -> Response<Body> {
    let mut passage = Passage::begin(operation.method, operation.path);
    let done = answer(&app, operation, run, id, request, &mut passage.who).await;
    passage.end(&app.metrics, done)
}

async fn answer(
    app: &Arc<App>,
    operation: &'static Operation,
    run: Run,
    id: Option<String>,
    request: Request,
    who: &mut Option<Arc<KeyRecord>>,
) -> Result<Response<Body>, Failure> {
    let (head, sent) = request.into_parts();
    let key = app.admit(&head.headers)?;
    *who = Some(Arc::clone(&key));
    if operation.writes && key.read_only {
        return Err(Failure::new("read_only", "this API key may only read"));
    }
    let idempotency = idempotency(&head.headers)?;
    let query = query(&head.uri)?;
    let mut input = Input { operation, key, idempotency, id, query, body: body::Whole::default() };
    match run {
        Run::Import => return transfer::import(app, input, sent).await,
        Run::Export => return transfer::export(app, input).await,
        Run::Log => {
            if let Some(response) = log_stream::follow(app, &input, &head.headers).await? {
                return Ok(response);
            }
        }
        Run::Call(_) | Run::Long(_) => {}
    }
    if operation.method == "POST" {
        body::check_json(&head.headers)?;
        input.body = body::read(&head.headers, sent, &app.large, app.settings.patience()).await?;
    }
    let limit = app.settings.time_limit;
    let (run, place, limit) = match run {
        Run::Long(run) => (run, app.long.enter(limit).await?, None),
        Run::Call(run) => (run, app.gate.enter(limit).await?, Some(limit)),
        _ => (operations::log as fn(&Input, operations::Store<'_>) -> _, app.gate.enter(limit).await?, Some(limit)),
    };
    let bytes = app.carry_out(input, run, place, limit).await?;
    Ok(json(StatusCode::OK, bytes))
}

/// The name under which a request may be sent again.
fn idempotency(headers: &HeaderMap) -> Result<Option<String>, Failure> {
    let mut names = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(name) = names.next() else { return Ok(None) };
    if names.next().is_some() {
        return Err(Failure::invalid("idempotency_key", "duplicate_member", "given twice"));
    }
    let invalid = |_| Failure::invalid("idempotency_key", "invalid_utf8", "not UTF-8");
    Ok(Some(std::str::from_utf8(name.as_bytes()).map_err(invalid)?.to_owned()))
}

/// The parameters of a query, decoded.
fn query(uri: &Uri) -> Result<Vec<(String, String)>, Failure> {
    let invalid = |_| Failure::invalid("query", "malformed", "the query string cannot be read");
    axum::extract::Query::<Vec<(String, String)>>::try_from_uri(uri).map(|query| query.0).map_err(invalid)
}

/// How the service is, for everybody.
async fn health(State(app): State<Arc<App>>) -> Response<Body> {
    let health = match app.keys.projects() {
        Err(_) => Health::Degraded("the keys cannot be read"),
        Ok(projects) if projects.iter().any(|project| !app.projects.is_there(project)) => {
            Health::Degraded("a store is not where it has to be")
        }
        Ok(_) => app.projects.health(),
    };
    let body = match health {
        Health::Ok => serde_json::json!({"success": true, "status": "ok"}),
        Health::Rebuilding => serde_json::json!({"success": true, "status": "rebuilding"}),
        Health::Degraded(reason) => serde_json::json!({"success": true, "status": "degraded", "reason": reason}),
    };
    named(json(StatusCode::OK, body.to_string().into_bytes()))
}

async fn metrics(State(app): State<Arc<App>>, request: Request) -> Response<Body> {
    let peer = request.extensions().get::<Peer>();
    let forwarded = ["forwarded", "x-forwarded-for"].iter().any(|name| request.headers().contains_key(*name));
    let near = peer.is_some_and(|Peer(peer)| peer.ip().is_loopback()) && !forwarded;
    if !near && !app.settings.public_metrics {
        return not_found().await;
    }
    let text = app.metrics.text(&app.projects, &app.gate);
    let mut response = Response::new(Body::from(text));
    let kind = HeaderValue::from_static("text/plain; version=0.0.4");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    named(response)
}

async fn not_found() -> Response<Body> {
    let message = "there is no such route; /api/openapi.json names them all";
    Failure::new("not_found", message).into_response(&request_id())
}

async fn method_not_allowed(uri: Uri) -> Response<Body> {
    Failure::method_not_allowed(methods_of(uri.path())).into_response(&request_id())
}
