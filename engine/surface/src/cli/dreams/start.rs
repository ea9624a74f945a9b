//! `dream start`.

use bilinc::{DreamStart, limits};
use clap::Args;

use crate::cli::console::Console;
use crate::cli::errors::CliError;
use crate::cli::write::WriteArgs;
use crate::cli::{render, store, times};
use crate::wire::dreams::StartedView;

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
    #[arg(long, value_name = "TEXT")]
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
    let start = DreamStart {
        limit: args.limit,
        prefix: args.prefix,
        since: times::of_write("since", args.since.as_deref(), &args.write.request)?,
        include_reviewed: args.include_reviewed,
    };
    let memory = store::change(&console.globals, &args.write)?;
    let written = memory.dream_start(start)?;
    console.answer_write(&memory, &StartedView::from(&written.answer), written.replayed, render::started)
}
