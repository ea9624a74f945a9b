//! `serve`.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde::Serialize;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;

use super::console::Console;
use super::errors::CliError;
use super::server_log::ServerLog;
use super::{keys, render};
use crate::http::{ServeError, Server, Settings};

/// How much is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LogLevel {
    /// Nothing
    Off,
    /// What went wrong with the server
    Error,
    /// What may go wrong, too
    Warn,
    /// Every request, too
    Info,
    /// Every connection that broke, too
    Debug,
}

impl From<LogLevel> for tracing::metadata::LevelFilter {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Off => Self::OFF,
            LogLevel::Error => Self::ERROR,
            LogLevel::Warn => Self::WARN,
            LogLevel::Info => Self::INFO,
            LogLevel::Debug => Self::DEBUG,
        }
    }
}

/// Options of `serve`.
#[derive(Debug, Args)]
#[command(after_help = "\
Clients send an API key with each request; `bilinc keys create` makes one, also while the server runs. \
A key belongs to one project, and each project is a store of its own in the data folder. The log of \
requests goes to standard error and holds no values, keys or bodies.

It stops on SIGINT or SIGTERM and finishes what has begun.

Examples:
  bilinc keys create --project team
  bilinc serve
  bilinc serve --data /srv/bilinc --listen 0.0.0.0:8787 --rate-limit 50")]
pub(super) struct ServeArgs {
    #[command(flatten)]
    data: keys::DataArgs,
    /// The address; one that others can reach needs a key to exist
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8787")]
    listen: SocketAddr,
    /// Store text although it looks like a credential
    #[arg(long)]
    allow_secrets: bool,
    /// Requests a second that each key may send; no limit when absent
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    rate_limit: Option<u32>,
    /// Most open connections
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..), default_value_t = 1024)]
    max_connections: u32,
    /// Seconds that one request may work
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..), default_value_t = 60)]
    time_limit: u32,
    /// Seconds that a client may pause in the middle of a request; a body may take four times as long
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..), default_value_t = 30)]
    pause_limit: u32,
    /// Seconds after which an unused store is closed
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..), default_value_t = 600)]
    idle_close: u32,
    /// A name by which browsers may call /mcp, beside this machine's own; may be given again
    #[arg(long = "allowed-host", value_name = "NAME")]
    allowed_hosts: Vec<String>,
    /// Let other machines read /metrics
    #[arg(long)]
    public_metrics: bool,
    /// How much is logged
    #[arg(long, value_enum, value_name = "LEVEL", default_value = "info")]
    log: LogLevel,
}

/// That the server listens.
#[derive(Debug, Serialize)]
struct Listening {
    /// Where.
    listening: String,
    /// The data folder.
    data: PathBuf,
}

/// Serves until a signal comes.
pub(super) fn serve(console: &mut Console<'_>, args: &ServeArgs) -> Result<(), CliError> {
    let data = args.data.folder()?;
    let settings = Settings {
        data: data.clone(),
        allow_secrets: args.allow_secrets,
        rate_limit: args.rate_limit,
        max_connections: usize::try_from(args.max_connections).unwrap_or(usize::MAX),
        time_limit: Duration::from_secs(args.time_limit.into()),
        pause_limit: Duration::from_secs(args.pause_limit.into()),
        idle_close: Duration::from_secs(args.idle_close.into()),
        public_metrics: args.public_metrics,
        allowed_hosts: args.allowed_hosts.clone(),
    };
    let create =
        format!("bilinc keys create --data {} --project NAME", render::shell_word(&data.display().to_string()));
    let server = Server::bind(args.listen, settings).map_err(|error| match error {
        ServeError::Open(_) => CliError::usage("listen", format!("{error}, with `{create}`")),
        error => CliError::Serve(error.to_string()),
    })?;
    let keyless = !Server::has_keys(&data).map_err(keys::failed)?;
    let log = log_to_stderr(args.log).map_err(|error| CliError::Serve(error.to_string()))?;
    let listening = Listening { listening: format!("http://{}", server.address()), data };
    if console.globals.json {
        console.json_line(&listening)?;
        console.out.flush()?;
    }
    let mut stderr = std::io::stderr().lock();
    // What cannot be said is no reason not to serve.
    let _ = writeln!(stderr, "bilinc: listening on {}", listening.listening);
    if keyless {
        let _ = writeln!(stderr, "bilinc: there are no keys yet, so nobody is let in; make one with:\n  {create}");
    }
    drop(stderr);
    let served = server.run(stopped());
    log.end();
    served.map_err(|error| CliError::Serve(error.to_string()))
}

fn log_to_stderr(level: LogLevel) -> std::io::Result<ServerLog> {
    let log = ServerLog::begin(std::io::stderr())?;
    // Of ourselves alone: what libraries say of a request may hold what is in it.
    let filter = Targets::new().with_target("bilinc", tracing::metadata::LevelFilter::from(level));
    let ansi = super::Style::of_stderr() != super::Style::plain();
    let lines = tracing_subscriber::fmt::layer().with_writer(log.clone()).with_ansi(ansi).with_target(false);
    let subscriber = tracing_subscriber::registry().with(lines.with_filter(filter));
    // Only a second server in one process finds a subscriber there, and logs to it.
    let _ = tracing::subscriber::set_global_default(subscriber);
    Ok(log)
}

/// Waits for a signal to stop. A second one ends the process at once.
async fn stopped() {
    let signals = [SignalKind::interrupt(), SignalKind::terminate()].map(signal);
    let [Ok(mut interrupt), Ok(mut terminate)] = signals else {
        // Without signals there is no other way to stop than to be ended.
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        std::process::exit(130);
    });
}
