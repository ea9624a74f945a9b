//! `dream undo`.

use clap::Args;

use crate::cli::console::Console;
use crate::cli::errors::CliError;
use crate::cli::write::WriteArgs;
use crate::cli::{carry, render};
use crate::wire::requests::DreamUndoRequest;

/// Options of `dream undo`.
#[derive(Debug, Args)]
#[command(after_help = "\
Takes back what the dream itself changed. A memory that somebody else changed since is left as it is \
and reported. Memories that the dream removed come back with value, type, importance, source and \
time of creation; with --restore-metadata, with everything. Later than seven days after the dream, \
`bilinc undo --dream` does it.

Example:
  bilinc dream undo 0192a1b2-… --dry-run")]
pub(in crate::cli) struct UndoArgs {
    /// The dream's id
    dream_id: String,
    /// Bring back all metadata of removed memories, too
    #[arg(long)]
    restore_metadata: bool,
    /// Show what it would do and write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    write: WriteArgs,
}

/// Takes back a dream.
pub(super) fn undo(console: &mut Console<'_>, args: &UndoArgs) -> Result<(), CliError> {
    let request = DreamUndoRequest {
        id: args.dream_id.clone(),
        dry_run: Some(args.dry_run),
        restore_metadata: Some(args.restore_metadata),
        source: args.write.source(),
        session_id: args.write.session.clone(),
    };
    let reply = carry::change(console, &args.write.request, request)?;
    let what = format!("dream {}", render::escape(&args.dream_id));
    console.answer(&reply, |out, style, view| render::undone(out, style, view, &what))
}
