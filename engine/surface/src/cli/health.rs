//! `health`.

use bilinc::Error;
use clap::Args;
use serde::{Deserialize, Serialize};

use super::console::Console;
use super::errors::CliError;
use super::render::{self, Tone};
use super::{server, store};

/// Options of `health`.
#[derive(Debug, Args)]
#[command(after_help = "\
Says `ok`, `rebuilding` or `degraded` with a reason, and exits with 1 when it is degraded. A server tells \
that to everybody, so no key is needed.

Examples:
  bilinc health
  bilinc health --base-url https://memory.example.org")]
pub(super) struct HealthArgs {}

/// How a server or a store is.
#[derive(Debug, Serialize, Deserialize)]
struct HealthView {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    status: String,
    success: bool,
}

/// Says how the server or the store is.
pub(super) fn health(console: &mut Console<'_>) -> Result<(), CliError> {
    let (view, text) = match server::named_for_everybody(&console.globals)? {
        Some(client) => client.health::<HealthView>().map(|(view, text)| (view, Some(text)))?,
        None => (of_store(console)?, None),
    };
    match text {
        Some(text) if console.globals.json => writeln!(console.out, "{}", text.trim_end())?,
        _ if console.globals.json => console.json_line(&view)?,
        _ => {
            let tone = if view.status == "ok" { Tone::Good } else { Tone::Warning };
            let reason = view.reason.as_deref().map(|reason| format!(": {}", render::escape(reason)));
            let status = console.style.paint(tone, &render::escape(&view.status));
            writeln!(console.out, "{status}{}", reason.unwrap_or_default())?;
        }
    }
    if view.status == "degraded" { Err(CliError::Said) } else { Ok(()) }
}

/// A store that cannot be opened is degraded; one that is not named right is no store.
fn of_store(console: &Console<'_>) -> Result<HealthView, CliError> {
    let degraded = |reason| HealthView { success: true, status: "degraded".to_owned(), reason: Some(reason) };
    match store::quietly(&console.globals).map(|store| store.memory.status()) {
        Ok(Ok(status)) => Ok(match status.read_only {
            Some(reason) => degraded(reason),
            None => HealthView { success: true, status: "ok".to_owned(), reason: None },
        }),
        Ok(Err(error)) => Ok(degraded(error.to_string())),
        Err(CliError::Engine(error @ Error::Engine(_))) if error.code() != "invalid_request" => {
            Ok(degraded(error.to_string()))
        }
        Err(error) => Err(error),
    }
}
