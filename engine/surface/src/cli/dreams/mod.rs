//! `dream start`, `apply`, `show`, `list` and `undo`.

mod apply;
mod start;
mod undo;

use bilinc::DreamId;
use clap::{Args, Subcommand};

use super::console::Console;
use super::errors::CliError;
use super::{carry, render};
use crate::catalogue;
use crate::wire::fields;
use crate::wire::requests::{DreamListRequest, DreamShowRequest};

/// Options of `dream`.
#[derive(Debug, Args)]
#[command(
    subcommand_required = true,
    disable_help_subcommand = true,
    arg_required_else_help = true,
    after_help = "\
A dream pass in three steps:
  bilinc dream start --limit 50 --json > candidates.json
  …an agent reads the candidates and writes actions.json…
  bilinc dream apply <dream_id> --file actions.json

And the way back, for seven days:
  bilinc dream undo <dream_id>"
)]
pub(super) struct DreamArgs {
    #[command(subcommand)]
    pub(super) command: DreamCommand,
}

/// What to do with dreams.
#[derive(Debug, Subcommand)]
pub(super) enum DreamCommand {
    #[command(about = catalogue::DREAM_START.summary)]
    Start(start::StartArgs),
    #[command(about = catalogue::DREAM_APPLY.summary)]
    Apply(apply::ApplyArgs),
    #[command(about = catalogue::DREAM_SHOW.summary)]
    Show(ShowArgs),
    #[command(about = catalogue::DREAM_LIST.summary)]
    List(ListArgs),
    #[command(about = catalogue::DREAM_UNDO.summary)]
    Undo(undo::UndoArgs),
}

/// Options of `dream show`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  bilinc dream show 0192a1b2-…")]
pub(super) struct ShowArgs {
    /// The dream's id
    dream_id: String,
}

/// Options of `dream list`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  bilinc dream list --limit 5")]
pub(super) struct ListArgs {
    /// Most dreams
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    limit: u64,
}

/// Does something with dreams.
pub(super) fn run(console: &mut Console<'_>, command: DreamCommand) -> Result<(), CliError> {
    match command {
        DreamCommand::Start(args) => start::start(console, args),
        DreamCommand::Apply(args) => apply::apply(console, args),
        DreamCommand::Show(args) => show(console, &args),
        DreamCommand::List(args) => list(console, &args),
        DreamCommand::Undo(args) => undo::undo(console, &args),
    }
}

fn dream_id(text: &str) -> Result<DreamId, CliError> {
    Ok(fields::id("dream_id", text)?)
}

fn show(console: &mut Console<'_>, args: &ShowArgs) -> Result<(), CliError> {
    let reply = carry::read(console, DreamShowRequest { id: args.dream_id.clone() })?;
    console.answer(&reply, render::dream)
}

fn list(console: &mut Console<'_>, args: &ListArgs) -> Result<(), CliError> {
    let reply = carry::read(console, DreamListRequest { limit: Some(args.limit) })?;
    console.answer(&reply, render::dreams)
}
