//! `undo`.

use bilinc::{Selection, Seq, Undo};
use clap::Args;

use super::console::Console;
use super::errors::CliError;
use super::times::{self, Edge};
use super::write::{RequestArgs, position};
use super::{render, store};
use crate::wire::fields;
use crate::wire::undos::UndoView;

/// Options of `undo`.
#[derive(Debug, Args)]
#[command(after_help = "\
Names one set of changes and takes back exactly these. A memory that somebody else changed since is \
left as it is and reported. Nothing is rewritten: the undo is an operation of its own, and undoing \
its position is the redo. There is no time limit. A time as it is shown means its whole millisecond: \
what has that very time is neither after it nor before it.

Examples:
  bilinc undo --session run-42 --dry-run
  bilinc undo --seq 118 120
  bilinc undo --from-seq 100 --to-seq 120
  bilinc undo --after 2026-01-31T09:00:00Z --before 2026-01-31T10:00:00Z")]
pub(super) struct UndoArgs {
    /// What a dream changed
    #[arg(long, value_name = "ID", group = "what")]
    dream: Option<String>,
    /// What was written in a session
    #[arg(long, value_name = "ID", group = "what", allow_hyphen_values = true)]
    session: Option<String>,
    /// What a writer wrote
    #[arg(long, value_name = "NAME", group = "what", allow_hyphen_values = true)]
    source: Option<String>,
    /// What an import wrote
    #[arg(long, value_name = "ID", group = "what")]
    import: Option<String>,
    /// Single positions
    #[arg(long, value_name = "POSITION", value_parser = position, num_args = 1.., value_delimiter = ',', group = "what")]
    seq: Vec<u64>,
    /// Positions from this one
    #[arg(long, value_name = "POSITION", value_parser = position, requires = "to_seq", conflicts_with = "what")]
    from_seq: Option<u64>,
    /// Up to this one
    #[arg(long, value_name = "POSITION", value_parser = position, requires = "from_seq", conflicts_with = "what")]
    to_seq: Option<u64>,
    /// What was recorded after this time
    #[arg(long, value_name = "TIME", conflicts_with_all = ["what", "from_seq"])]
    after: Option<String>,
    /// What was recorded before this time
    #[arg(long, value_name = "TIME", conflicts_with_all = ["what", "from_seq"])]
    before: Option<String>,
    /// Show what it would do and write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    request: RequestArgs,
}

impl UndoArgs {
    /// The set of events, and how people call it.
    fn selection(&self) -> Result<(Selection, String), CliError> {
        if let Some(dream) = &self.dream {
            return Ok((Selection::Dream(fields::id("dream_id", dream)?), format!("dream {dream}")));
        }
        if let Some(session) = &self.session {
            return Ok((Selection::Session(session.as_str().into()), format!("session {session}")));
        }
        if let Some(source) = &self.source {
            return Ok((Selection::Source(source.as_str().into()), format!("all writes of {source}")));
        }
        if let Some(import) = &self.import {
            return Ok((Selection::Import(fields::id("import_id", import)?), format!("import {import}")));
        }
        if let (Some(from), Some(to)) = (self.from_seq, self.to_seq) {
            let selection = Selection::Range(Seq::new(from), Seq::new(to));
            return Ok((selection, format!("positions {from} to {to}")));
        }
        if !self.seq.is_empty() {
            let named: Vec<_> = self.seq.iter().map(u64::to_string).collect();
            let selection = Selection::Seqs(self.seq.iter().map(|seq| Seq::new(*seq)).collect());
            return Ok((selection, format!("position {}", named.join(", "))));
        }
        if self.after.is_some() || self.before.is_some() {
            let (after, before) = (self.after.as_deref(), self.before.as_deref());
            times::no_age("after", after, &self.request)?;
            times::no_age("before", before, &self.request)?;
            let selection = Selection::Time {
                after: times::optional("after", after, Edge::End)?,
                before: times::optional("before", before, Edge::Start)?,
            };
            return Ok((selection, "that time".to_owned()));
        }
        let message = "say what to take back: --dream, --session, --source, --import, --seq, --from-seq with --to-seq, \
                       --after or --before";
        Err(CliError::usage("selection", message))
    }
}

/// Takes back a set of changes.
pub(super) fn undo(console: &mut Console<'_>, args: UndoArgs) -> Result<(), CliError> {
    let (selection, what) = args.selection()?;
    let memory = store::change_as_cli(&console.globals, &args.request)?;
    let written = memory.undo(Undo { selection, dry_run: args.dry_run })?;
    let view = UndoView::new(&written.answer, args.dry_run);
    let what = render::escape(&what).into_owned();
    console.answer_write(&memory, &view, written.replayed, |out, style, view| render::undone(out, style, view, &what))
}
