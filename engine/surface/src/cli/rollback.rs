//! `rollback preview` and `rollback execute`.

use bilinc::{Memory, SnapshotId};
use clap::{Args, Subcommand};

use super::console::Console;
use super::errors::CliError;
use super::write::WriteArgs;
use super::{render, store};
use crate::catalogue;
use crate::wire::fields;
use crate::wire::snapshots::{PreviewView, RolledBackView};

/// Options of `rollback`.
#[derive(Debug, Args)]
#[command(
    subcommand_required = true,
    disable_help_subcommand = true,
    arg_required_else_help = true,
    after_help = "\
Examples:
  bilinc rollback preview --snapshot 0192a1b2-… --reason 'bad run'
  bilinc rollback execute --snapshot 0192a1b2-… --reason 'bad run' --confirmation-token …"
)]
pub(super) struct RollbackArgs {
    #[command(subcommand)]
    pub(super) command: RollbackCommand,
}

/// How far to go.
#[derive(Debug, Subcommand)]
pub(super) enum RollbackCommand {
    #[command(about = catalogue::ROLLBACK_PREVIEW.summary)]
    Preview(PreviewArgs),
    #[command(about = catalogue::ROLLBACK_EXECUTE.summary)]
    Execute(ExecuteArgs),
}

/// Which snapshot, and why.
#[derive(Debug, Args)]
struct TargetArgs {
    /// The snapshot to go back to
    #[arg(long, value_name = "ID")]
    snapshot: String,
    /// Why, 1 to 512 characters; it stays in the log
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    reason: String,
    /// Most keys in each list of a preview
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    limit: usize,
}

impl TargetArgs {
    fn snapshot(&self) -> Result<SnapshotId, CliError> {
        Ok(fields::id("snapshot_id", &self.snapshot)?)
    }

    fn preview(&self, memory: &Memory) -> Result<PreviewView, CliError> {
        let snapshot = self.snapshot()?;
        Ok(PreviewView::new(snapshot, memory.rollback_preview(snapshot, &self.reason, self.limit)?))
    }
}

/// Options of `rollback preview`.
#[derive(Debug, Args)]
#[command(after_help = "\
Changes nothing. The token in the answer is good for 15 minutes, for this snapshot and reason, as \
long as nothing else is written.

Example:
  bilinc rollback preview --snapshot 0192a1b2-… --reason 'bad run'")]
pub(super) struct PreviewArgs {
    #[command(flatten)]
    target: TargetArgs,
}

/// Options of `rollback execute`.
#[derive(Debug, Args)]
#[command(after_help = "\
Takes the token of a preview, so that nobody rolls back more than was looked at; --yes makes the \
preview and confirms it in one go. With neither, it shows the preview and changes nothing. \
A rollback is an operation like any other and can itself be undone.

Example:
  bilinc rollback execute --snapshot 0192a1b2-… --reason 'bad run' --yes")]
pub(super) struct ExecuteArgs {
    #[command(flatten)]
    target: TargetArgs,
    /// The token of a preview
    #[arg(long, visible_alias = "token", value_name = "TOKEN", conflicts_with = "yes")]
    confirmation_token: Option<String>,
    /// Preview and confirm in one go
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    write: WriteArgs,
}

/// Previews or executes a rollback.
pub(super) fn run(console: &mut Console<'_>, command: RollbackCommand) -> Result<(), CliError> {
    match command {
        RollbackCommand::Preview(args) => {
            // A token needs the secret of the store, which the first preview makes.
            let store = store::inspect(&console.globals)?;
            let view = args.target.preview(&store.memory)?;
            show(console, &store.memory, &view, &args.target.reason)
        }
        RollbackCommand::Execute(args) => execute(console, &args),
    }
}

fn show(console: &mut Console<'_>, memory: &Memory, view: &PreviewView, reason: &str) -> Result<(), CliError> {
    console.answer(memory, view, |out, style, view| render::preview(out, style, view, reason))
}

fn execute(console: &mut Console<'_>, args: &ExecuteArgs) -> Result<(), CliError> {
    let snapshot = args.target.snapshot()?;
    let memory = store::change(&console.globals, &args.write)?;
    let token = match &args.confirmation_token {
        Some(token) => token.clone(),
        None if args.yes => args.target.preview(&memory)?.confirmation_token,
        None => {
            if !console.globals.json {
                let view = args.target.preview(&memory)?;
                show(console, &memory, &view, &args.target.reason)?;
                console.out.flush()?;
            }
            let message = "nothing was changed: give the --confirmation-token of a preview, or --yes";
            return Err(CliError::usage("confirmation_token", message));
        }
    };
    let written = memory.rollback(snapshot, &args.target.reason, &token)?;
    console.answer_write(&memory, &RolledBackView::from(&written.answer), written.replayed, render::rolled_back)
}
