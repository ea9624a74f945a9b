//! Connections: how many there may be, how long they may dawdle, and how they end.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response};
use axum::routing::future::RouteFuture;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_io_timeout::TimeoutStream;
use tokio_util::sync::CancellationToken;
use tower_service::Service as _;

use super::app::{self, App, Settings};
use super::keys::{self, KeyFileError, make_folder};
use super::limits::{self, Patience};
use super::{handles, refuse};

/// Why the server cannot begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The data folder or the address cannot be used.
    #[error("cannot {doing} ({what}): {source}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// On what.
        what: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The keys cannot be read.
    #[error(transparent)]
    Keys(#[from] KeyFileError),
    /// Others could reach it, and nobody has a key.
    #[error("{0} can be reached by others, and there are no keys yet: make one first")]
    Open(SocketAddr),
}

/// So many new connections wait to be taken, if the system allows it; past that, they try again a second later.
const BACKLOG: i32 = 4_096;

/// A server that has its address and has not begun.
#[derive(Debug)]
pub struct Server {
    listener: std::net::TcpListener,
    address: SocketAddr,
    settings: Settings,
}

impl Server {
    /// Takes an address. One that others can reach is refused while there are no keys.
    ///
    /// # Errors
    /// [`ServeError`] says why not.
    pub fn bind(address: SocketAddr, settings: Settings) -> Result<Self, ServeError> {
        let failed = |doing, what: String| move |source| ServeError::Io { doing, what, source };
        let data: &Path = &settings.data;
        make_folder(data).map_err(failed("make the data folder", data.display().to_string()))?;
        if !address.ip().is_loopback() && !Self::has_keys(data)? {
            return Err(ServeError::Open(address));
        }
        let listener = std::net::TcpListener::bind(address).map_err(failed("listen", address.to_string()))?;
        listener.set_nonblocking(true).map_err(failed("listen", address.to_string()))?;
        rustix::net::listen(&listener, BACKLOG).map_err(|error| failed("listen", address.to_string())(error.into()))?;
        let address = listener.local_addr().map_err(failed("listen", address.to_string()))?;
        Ok(Self { listener, address, settings })
    }

    /// Whether anybody has a key for the data in this folder.
    ///
    /// # Errors
    /// When the keys cannot be read.
    pub fn has_keys(data: &Path) -> Result<bool, KeyFileError> {
        Ok(keys::list(data)?.iter().any(|key| key.revoked_at.is_none()))
    }

    /// The address, with the port that was taken.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until it is told to stop, then finishes what has begun.
    ///
    /// # Errors
    /// When the system gives no threads or takes the address away.
    pub fn run(self, stop: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let done = runtime.block_on(self.serve(stop));
        // What still works after the grace is left to the log, which knows how to be cut off.
        runtime.shutdown_timeout(limits::GRACE);
        done
    }

    async fn serve(self, stop: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
        let stopping = CancellationToken::new();
        let listener = TcpListener::from_std(self.listener)?;
        let (idle_close, patience) = (self.settings.idle_close, self.settings.patience());
        let most = handles::raise(self.settings.max_connections);
        if most < self.settings.max_connections {
            tracing::warn!(most, "the system's limit of open files allows fewer connections than asked for");
        }
        let app = Arc::new(App::new(self.settings, self.address.ip(), stopping.clone()));
        tokio::spawn(close_idle(Arc::clone(&app), idle_close));
        let router = app::router(Arc::clone(&app));
        let connections = Arc::new(Semaphore::new(most));
        let refusals = Arc::new(Semaphore::new(refuse::LISTENING));
        let graceful = GracefulShutdown::new();
        tokio::pin!(stop);
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = &mut stop => break,
            };
            let (stream, peer) = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // Out of file handles, as a rule; some are given back before long.
                    tracing::warn!(%error, "a connection could not be taken");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            let Ok(place) = Arc::clone(&connections).try_acquire_owned() else {
                app.metrics.connection(false);
                refuse::refuse(stream, &refusals);
                continue;
            };
            app.metrics.connection(true);
            let begun = Arc::new(AtomicBool::new(false));
            let routes = Routes { router: router.clone(), peer: Peer(peer), begun: Arc::clone(&begun) };
            let connection = graceful.watch(connection(stream, routes, patience));
            let stopping = stopping.clone();
            tokio::spawn(async move {
                let _place = place;
                tokio::pin!(connection);
                let done = tokio::select! {
                    done = &mut connection => done,
                    // Nobody is waited for who has not asked for anything yet.
                    () = stopping.cancelled() => if begun.load(Ordering::Acquire) { connection.await } else { Ok(()) },
                };
                if let Err(error) = done {
                    tracing::debug!(%error, "a connection broke");
                }
            });
        }
        drop(listener);
        tracing::info!("stopping");
        stopping.cancel();
        tokio::select! {
            () = graceful.shutdown() => {}
            () = tokio::time::sleep(limits::GRACE) => tracing::warn!("some requests did not end in time"),
        }
        Ok(())
    }
}

/// The other end of a connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peer(pub(super) SocketAddr);

/// The routes as one connection sees them.
struct Routes {
    router: Router,
    peer: Peer,
    /// Whether a request has come.
    begun: Arc<AtomicBool>,
}

impl Service<Request<Incoming>> for Routes {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = RouteFuture<Infallible>;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        self.begun.store(true, Ordering::Release);
        request.extensions_mut().insert(self.peer);
        self.router.clone().call(request.map(Body::new))
    }
}

type Timed = TokioIo<Pin<Box<TimeoutStream<TcpStream>>>>;

/// Serves one connection.
fn connection(stream: TcpStream, routes: Routes, patience: Patience) -> http1::Connection<Timed, Routes> {
    // Answers are written whole; nothing is gained by waiting for more.
    let _ = stream.set_nodelay(true);
    let mut timed = TimeoutStream::new(stream);
    timed.set_write_timeout(Some(patience.write()));
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(patience.pause())
        .serve_connection(TokioIo::new(Box::pin(timed)), routes)
}

/// Closes stores that nobody uses.
async fn close_idle(app: Arc<App>, idle: Duration) {
    let every = (idle / 4).max(Duration::from_millis(100));
    loop {
        tokio::select! {
            () = app.stop.cancelled() => return,
            () = tokio::time::sleep(every) => {}
        }
        let Some(moment) = Instant::now().checked_sub(idle) else { continue };
        let app = Arc::clone(&app);
        let closed = tokio::task::spawn_blocking(move || app.projects.close_unused_since(moment)).await;
        if let Ok(closed @ 1..) = closed {
            tracing::info!(closed, "closed idle stores");
        }
    }
}
