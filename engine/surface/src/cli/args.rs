//! The command line as a whole.

use std::cell::{Cell, OnceCell};
use std::path::PathBuf;
use std::rc::Rc;

use clap::{Args, Parser, Subcommand};

use super::backup::BackupArgs;
use super::completions::CompletionsArgs;
use super::diff::DiffArgs;
use super::dreams::DreamArgs;
use super::entries::{CommitArgs, ConfirmArgs, ForgetArgs, ReviseArgs};
use super::flags::{FlagArgs, FlagsArgs, UnflagArgs};
use super::health::HealthArgs;
use super::keys::KeysArgs;
use super::log::LogArgs;
use super::mcp::McpArgs;
use super::overview;
use super::reads::{GetArgs, HistoryArgs, ListArgs, RecallArgs};
use super::rollback::RollbackArgs;
use super::salvage::SalvageArgs;
use super::serve::ServeArgs;
use super::snapshot::SnapshotArgs;
use super::status::{self, VerifyArgs};
use super::transfer::{ExportArgs, ImportArgs};
use super::undo::UndoArgs;
use crate::catalogue;

/// Memory for AI agents, with a way back.
#[derive(Debug, Parser)]
#[command(
    name = "bilinc",
    version,
    override_help = overview::text(),
    max_term_width = 100
)]
pub struct Cli {
    #[command(flatten)]
    pub(super) globals: Globals,
    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

/// What may stand before or after any command.
#[derive(Debug, Clone, Args)]
pub(super) struct Globals {
    /// The store's folder; else BILINC_STORE, else the user's data folder
    #[arg(long, value_name = "DIR", global = true, help_heading = "Options of every command")]
    pub(super) store: Option<PathBuf>,
    /// A server, instead of a store; else BILINC_BASE_URL. Its key is read from BILINC_API_KEY
    #[arg(long, value_name = "URL", global = true, help_heading = "Options of every command")]
    pub(super) base_url: Option<String>,
    /// Print one JSON object instead of text for people
    #[arg(long, global = true, help_heading = "Options of every command")]
    pub(super) json: bool,
    /// What opening the store brought to light.
    #[arg(skip)]
    pub(super) seen: Rc<Seen>,
}

/// What opening the store brought to light and the answer must say.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The damage before which the store answers.
    pub(super) damage: OnceCell<String>,
    /// Whether there is no store yet, and the emptiness where one would be answers.
    pub(super) absent: Cell<bool>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    #[command(about = catalogue::COMMIT.summary)]
    Commit(CommitArgs),
    #[command(about = catalogue::REVISE.summary)]
    Revise(ReviseArgs),
    #[command(about = catalogue::CONFIRM.summary)]
    Confirm(ConfirmArgs),
    #[command(about = catalogue::FORGET.summary)]
    Forget(ForgetArgs),
    #[command(about = catalogue::FLAG.summary)]
    Flag(FlagArgs),
    #[command(about = catalogue::UNFLAG.summary)]
    Unflag(UnflagArgs),
    #[command(about = catalogue::RECALL.summary)]
    Recall(RecallArgs),
    #[command(about = catalogue::GET.summary)]
    Get(GetArgs),
    #[command(about = catalogue::LIST.summary)]
    List(ListArgs),
    #[command(about = catalogue::FLAGS.summary)]
    Flags(FlagsArgs),
    #[command(about = catalogue::HISTORY.summary)]
    History(HistoryArgs),
    /// Tidy the memory in one pass that can be undone as a whole
    Dream(DreamArgs),
    #[command(about = catalogue::UNDO.summary)]
    Undo(UndoArgs),
    /// Name the present position, or list the names
    Snapshot(SnapshotArgs),
    #[command(about = catalogue::DIFF.summary)]
    Diff(DiffArgs),
    /// Go back to a snapshot: preview first, then execute
    Rollback(RollbackArgs),
    #[command(about = catalogue::LOG.summary)]
    Log(LogArgs),
    #[command(about = catalogue::STATUS.summary, after_help = status::STATUS_EXAMPLE)]
    Status,
    #[command(about = catalogue::VERIFY.summary)]
    Verify(VerifyArgs),
    #[command(about = catalogue::BACKUP.summary)]
    Backup(BackupArgs),
    #[command(about = catalogue::SALVAGE.summary)]
    Salvage(SalvageArgs),
    #[command(about = catalogue::EXPORT.summary)]
    Export(ExportArgs),
    #[command(about = catalogue::IMPORT.summary)]
    Import(ImportArgs),
    /// Serve the store to agents over the Model Context Protocol
    Mcp(McpArgs),
    /// Serve stores over HTTP, one for each project
    Serve(ServeArgs),
    /// Make, list or revoke the API keys of a server
    Keys(KeysArgs),
    /// Say whether a server or a store is well
    Health(HealthArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// See a dream pass and its undo on a store that is thrown away
    #[command(after_help = "Example:\n  bilinc demo")]
    Demo,
}

impl Command {
    /// The name of a command that works on this machine alone, and what to do instead of asking a server.
    pub(super) fn local_only(&self) -> Option<(&'static str, &'static str)> {
        const ON_ITS_MACHINE: &str = "run it on the server's machine, with --store DATA/projects/NAME";
        Some(match self {
            Self::Backup(_) => ("backup", ON_ITS_MACHINE),
            Self::Salvage(_) => ("salvage", ON_ITS_MACHINE),
            Self::Serve(_) => ("serve", "it is the server itself"),
            Self::Keys(_) => ("keys", "run it on the server's machine, with --data"),
            Self::Demo => ("demo", "it works on a store of its own that is thrown away"),
            Self::Completions(_) => ("completions", "leave the option out"),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_operation_of_the_catalogue_has_its_command_and_its_summary() {
        let root = Cli::command();
        for operation in catalogue::ALL {
            let command = operation.name.split(' ').try_fold(&root, |command, word| command.find_subcommand(word));
            let command = command.unwrap_or_else(|| unreachable!("no command `{}`", operation.name));
            assert_eq!(command.get_about().unwrap().to_string(), operation.summary, "{}", operation.name);
        }
    }

    #[test]
    fn the_overview_names_every_command() {
        let text = overview::text();
        for command in Cli::command().get_subcommands() {
            assert!(text.contains(&format!("\n  {}", command.get_name())), "{}", command.get_name());
        }
    }

    #[test]
    fn global_options_stand_before_or_after_the_command() {
        for line in
            ["bilinc --store s --json list", "bilinc list --json --store s", "bilinc dream --json list --store s"]
        {
            let cli = Cli::try_parse_from(line.split(' ')).unwrap();
            assert!(cli.globals.json, "{line}");
            assert_eq!(cli.globals.store, Some(PathBuf::from("s")), "{line}");
        }
    }

    #[test]
    fn a_value_may_begin_with_a_dash() {
        for value in ["-", "-5", "--x"] {
            let line = ["bilinc", "commit", "--key", "k", "--value", value];
            let cli = Cli::try_parse_from(line).unwrap();
            let Some(Command::Commit(args)) = cli.command else { unreachable!() };
            assert_eq!(args.value, value);
        }
    }
}
