//! `undo`.

use clap::Args;

use super::console::Console;
use super::errors::CliError;
use super::times::{self, Edge};
use super::write::{RequestArgs, position};
use super::{carry, render};
use crate::wire::requests::UndoRequest;

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
    /// How people call what is taken back; nothing when nothing is named.
    fn what(&self) -> Option<String> {
        let named = [("dream", &self.dream), ("session", &self.session), ("import", &self.import)];
        let named = named.into_iter().find_map(|(kind, id)| Some(format!("{kind} {}", id.as_ref()?)));
        let source = || self.source.as_ref().map(|source| format!("all writes of {source}"));
        let range = || self.from_seq.zip(self.to_seq).map(|(from, to)| format!("positions {from} to {to}"));
        let seqs = || {
            let seqs: Vec<_> = self.seq.iter().map(u64::to_string).collect();
            (!seqs.is_empty()).then(|| format!("position {}", seqs.join(", ")))
        };
        let time = || (self.after.is_some() || self.before.is_some()).then(|| "that time".to_owned());
        named.or_else(source).or_else(range).or_else(seqs).or_else(time)
    }

    fn request(&self) -> Result<UndoRequest, CliError> {
        let (after, before) = (self.after.as_deref(), self.before.as_deref());
        times::no_age("after", after, &self.request)?;
        times::no_age("before", before, &self.request)?;
        Ok(UndoRequest {
            dream_id: self.dream.clone(),
            session_id: self.session.clone(),
            source: self.source.clone(),
            import_id: self.import.clone(),
            from_seq: self.from_seq,
            to_seq: self.to_seq,
            after: times::optional("after", after, Edge::End)?,
            before: times::optional("before", before, Edge::Start)?,
            seqs: Some(self.seq.clone()),
            dry_run: Some(self.dry_run),
        })
    }
}

/// Takes back a set of changes.
pub(super) fn undo(console: &mut Console<'_>, args: &UndoArgs) -> Result<(), CliError> {
    let Some(what) = args.what() else {
        let message = "say what to take back: --dream, --session, --source, --import, --seq, --from-seq with --to-seq, \
                       --after or --before";
        return Err(CliError::usage("selection", message));
    };
    let reply = carry::change(console, &args.request, args.request()?)?;
    let what = render::escape(&what);
    console.answer(&reply, |out, style, view| render::undone(out, style, view, &what))
}
