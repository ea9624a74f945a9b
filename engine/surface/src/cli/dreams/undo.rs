//! `dream undo`.

use bilinc::DreamUndo;
use clap::Args;

use super::dream_id;
use crate::cli::console::Console;
use crate::cli::errors::CliError;
use crate::cli::write::WriteArgs;
use crate::cli::{render, store};
use crate::wire::undos::UndoView;

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
    let dream = dream_id(&args.dream_id)?;
    let memory = store::change(&console.globals, &args.write)?;
    let undo = DreamUndo { dream, dry_run: args.dry_run, restore_metadata: args.restore_metadata };
    let written = memory.dream_undo(undo)?;
    let view = UndoView::new(&written.answer, args.dry_run);
    let what = format!("dream {dream}");
    console.answer_write(&memory, &view, written.replayed, |out, style, view| render::undone(out, style, view, &what))
}
