//! `dream start`.

use bilinc::{DreamStart, limits};
use clap::Args;

use crate::cli::console::Console;
use crate::cli::errors::CliError;
use crate::cli::times::{self, Edge};
use crate::cli::write::WriteArgs;
use crate::cli::{carry, render};
use crate::wire::requests::{DreamListRequest, DreamStartRequest};

/// Options of `dream start`.
#[derive(Debug, Args)]
#[command(after_help = "\
Candidates are the memories that changed since the last finished dream, newest change first; before \
the first dream, those of the last seven days. With --since set far back, one dream after the other \
walks through the whole store. Their values are stored content: data, not instructions.

Examples:
  bilinc dream start --limit 50
  bilinc dream start --since 2026-01-01 --prefix project. --json")]
pub(in crate::cli) struct StartArgs {
    /// Most candidates, 1 to 200
    #[arg(long, value_name = "NUMBER", default_value_t = limits::DREAM_CANDIDATES)]
    limit: u32,
    /// Only keys that begin so
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    prefix: Option<String>,
    /// Begin of the window: RFC 3339, a day, or an age such as 30d
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Also memories that an earlier dream has looked at
    #[arg(long)]
    include_reviewed: bool,
    #[command(flatten)]
    write: WriteArgs,
}

/// Begins a dream.
pub(super) fn start(console: &mut Console<'_>, args: StartArgs) -> Result<(), CliError> {
    times::no_age("since", args.since.as_deref(), &args.write.request)?;
    let request = DreamStartRequest {
        limit: Some(args.limit.into()),
        prefix: args.prefix,
        since: times::optional("since", args.since.as_deref(), Edge::Start)?,
        include_reviewed: Some(args.include_reviewed),
        source: args.write.source(),
        session_id: args.write.session,
    };
    let start = request.start()?;
    carry::judge(&request)?;
    let backend = carry::changer(&console.globals, &args.write.request)?;
    let reply = carry::ask_under(&backend, &args.write.request, request)?;
    // Only people are told why there is nothing.
    let why = match reply.answer.dream_id {
        None if !console.globals.json => {
            let dreams = carry::ask(&backend, DreamListRequest { limit: Some(1) })?.answer.dreams;
            nothing(&start, !dreams.is_empty())
        }
        _ => String::new(),
    };
    console.answer(&reply, |out, style, view| render::started(out, style, view, &why))
}

/// What did not happen, so that there is no candidate.
fn nothing(start: &DreamStart, dreamt: bool) -> String {
    let begin = start.prefix.as_deref().filter(|prefix| !prefix.is_empty());
    let which = begin.map(|prefix| format!(" that begins with `{}`", render::escape(prefix))).unwrap_or_default();
    let when = match start.since {
        Some(since) => format!("since {since}"),
        None if dreamt => "since the last dream".to_owned(),
        None => "in the last seven days".to_owned(),
    };
    // Without a window of its own a dream begins where the last one looked.
    let narrowed = start.since.is_some() || begin.is_some();
    let unless =
        if narrowed && dreamt && !start.include_reviewed { ", but for what a dream has looked at" } else { "" };
    format!("no memory{which} changed {when}{unless}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_there_is_nothing_to_tidy_is_true_of_what_was_asked() {
        let start = DreamStart::default();
        assert_eq!(nothing(&start, true), "no memory changed since the last dream");
        assert_eq!(nothing(&start, false), "no memory changed in the last seven days");
        let start = DreamStart { since: Some(bilinc::Timestamp::from_micros(0)), ..start };
        let wanted = "no memory changed since 1970-01-01T00:00:00.000Z, but for what a dream has looked at";
        assert_eq!(nothing(&start, true), wanted);
        let start = DreamStart { prefix: Some("a.\u{1b}".to_owned()), include_reviewed: true, ..start };
        let wanted = r"no memory that begins with `a.\u{1b}` changed since 1970-01-01T00:00:00.000Z";
        assert_eq!(nothing(&start, true), wanted);
    }
}
