//! `rollback preview` and `rollback execute`.

use clap::{Args, Subcommand};

use super::console::Console;
use super::errors::CliError;
use super::write::WriteArgs;
use super::{carry, render};
use crate::backend::Reply;
use crate::catalogue;
use crate::wire::requests::{PreviewRequest, RollbackRequest};
use crate::wire::snapshots::PreviewView;

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
    limit: u64,
}

impl TargetArgs {
    fn preview(&self) -> PreviewRequest {
        PreviewRequest { snapshot_id: self.snapshot.clone(), reason: self.reason.clone(), limit: Some(self.limit) }
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
            carry::judge(&args.target.preview())?;
            // A token needs the secret of the store, which the first preview makes.
            let backend = carry::inspector(&console.globals)?;
            let reply = carry::ask(&backend, args.target.preview())?;
            show(console, &reply, &args.target.reason)
        }
        RollbackCommand::Execute(args) => execute(console, &args),
    }
}

fn show(console: &mut Console<'_>, reply: &Reply<PreviewView>, reason: &str) -> Result<(), CliError> {
    console.answer(reply, |out, style, view| render::preview(out, style, view, reason))
}

fn execute(console: &mut Console<'_>, args: &ExecuteArgs) -> Result<(), CliError> {
    let target = &args.target;
    let request = |confirmation_token| RollbackRequest {
        snapshot_id: target.snapshot.clone(),
        reason: target.reason.clone(),
        confirmation_token,
        source: args.write.source(),
        session_id: args.write.session.clone(),
    };
    // Judged before the store is opened, with whatever token.
    carry::judge(&request(String::new()))?;
    let backend = carry::changer(&console.globals, &args.write.request)?;
    let token = match &args.confirmation_token {
        Some(token) => token.clone(),
        None if args.yes => carry::ask(&backend, target.preview())?.answer.confirmation_token,
        None => {
            if !console.globals.json {
                let reply = carry::ask(&backend, target.preview())?;
                show(console, &reply, &target.reason)?;
                console.out.flush()?;
            }
            let message = "nothing was changed: give the --confirmation-token of a preview, or --yes";
            return Err(CliError::usage("confirmation_token", message));
        }
    };
    let reply = carry::ask_under(&backend, &args.write.request, request(token))?;
    console.answer(&reply, render::rolled_back)
}
