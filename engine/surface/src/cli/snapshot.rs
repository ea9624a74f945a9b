//! `snapshot create` and `snapshot list`.

use clap::{Args, Subcommand};

use super::console::Console;
use super::errors::CliError;
use super::write::WriteArgs;
use super::{carry, render};
use crate::catalogue;
use crate::wire::fields;
use crate::wire::requests::{SnapshotRequest, SnapshotsRequest};

/// Options of `snapshot`.
#[derive(Debug, Args)]
#[command(
    subcommand_required = true,
    disable_help_subcommand = true,
    arg_required_else_help = true,
    after_help = "\
Example:
  bilinc snapshot create --label before-autonomous-run"
)]
pub(super) struct SnapshotArgs {
    #[command(subcommand)]
    command: SnapshotCommand,
}

/// What to do with snapshots.
#[derive(Debug, Subcommand)]
enum SnapshotCommand {
    #[command(about = catalogue::SNAPSHOT_CREATE.summary)]
    Create(CreateArgs),
    #[command(about = catalogue::SNAPSHOT_LIST.summary)]
    List(ListArgs),
}

/// Options of `snapshot create`.
#[derive(Debug, Args)]
#[command(after_help = "\
Nothing is copied: a snapshot is a name for a place in the log.

Example:
  bilinc snapshot create --label before-autonomous-run")]
struct CreateArgs {
    /// What people call it
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    label: Option<String>,
    /// A JSON object kept with it
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    metadata: Option<String>,
    #[command(flatten)]
    write: WriteArgs,
}

/// Options of `snapshot list`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  bilinc snapshot list --limit 5")]
struct ListArgs {
    /// Most snapshots
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    limit: u64,
}

/// Takes a snapshot or lists them.
pub(super) fn run(console: &mut Console<'_>, args: SnapshotArgs) -> Result<(), CliError> {
    match args.command {
        SnapshotCommand::Create(args) => create(console, args),
        SnapshotCommand::List(args) => list(console, &args),
    }
}

fn create(console: &mut Console<'_>, args: CreateArgs) -> Result<(), CliError> {
    let metadata = args.metadata.as_deref().map(|text| fields::metadata("metadata", text)).transpose()?;
    let (source, session_id) = (args.write.source(), args.write.session);
    let request = SnapshotRequest { label: args.label, metadata, source, session_id };
    let reply = carry::create(console, &args.write.request, request)?;
    console.answer(&reply, |out, style, view| render::snapshot_taken(out, style, &view.snapshot))
}

fn list(console: &mut Console<'_>, args: &ListArgs) -> Result<(), CliError> {
    let reply = carry::read(console, SnapshotsRequest { limit: Some(args.limit) })?;
    console.answer(&reply, render::snapshots)
}
