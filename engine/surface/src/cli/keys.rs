//! `keys create`, `list` and `revoke`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde::Serialize;

use super::console::Console;
use super::errors::CliError;
use super::{render, store};
use crate::http::keys::{self, KeyFileError, KeyRecord};
use crate::http::{self, CreateError};

/// Where a server keeps its keys and stores.
#[derive(Debug, Args)]
pub(super) struct DataArgs {
    /// The server's data folder; else BILINC_DATA, else `bilinc-server` in the user's data folder
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

impl DataArgs {
    /// The data folder.
    pub(super) fn folder(&self) -> Result<PathBuf, CliError> {
        self.folder_among(|name| std::env::var_os(name))
    }

    fn folder_among(&self, variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, CliError> {
        let given = |path: &PathBuf| !path.as_os_str().is_empty();
        let named = self.data.clone().filter(given);
        match named.or_else(|| variable("BILINC_DATA").map(PathBuf::from).filter(given)) {
            Some(folder) => Ok(folder),
            None => {
                let folder = store::data_folder(variable, cfg!(target_os = "macos"));
                let missing =
                    || CliError::usage("data", "there is no home folder to keep data in: name one with --data");
                Ok(folder.ok_or_else(missing)?.join("bilinc-server"))
            }
        }
    }
}

/// Options of `keys`.
#[derive(Debug, Args)]
#[command(
    subcommand_required = true,
    disable_help_subcommand = true,
    arg_required_else_help = true,
    after_help = "\
Example:
  bilinc keys create --project team"
)]
pub(super) struct KeysArgs {
    #[command(subcommand)]
    command: KeysCommand,
}

/// What to do with keys.
#[derive(Debug, Subcommand)]
enum KeysCommand {
    /// Make a key for a project and show it once
    Create(CreateArgs),
    /// List keys, without what opens anything
    List(ListArgs),
    /// End a key at once
    Revoke(RevokeArgs),
}

/// Options of `keys create`.
#[derive(Debug, Args)]
#[command(after_help = "\
The key is shown once and only its hash is kept. It opens the one project, whose store is made when \
it is not there yet; a server that runs takes it at once.

Examples:
  bilinc keys create --project team --name laptop
  bilinc keys create --project team --read-only --json")]
struct CreateArgs {
    #[command(flatten)]
    data: DataArgs,
    /// The project that it opens
    #[arg(long, value_name = "NAME")]
    project: String,
    /// It may only read
    #[arg(long)]
    read_only: bool,
    /// What people call it
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    name: Option<String>,
}

/// Options of `keys list`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  bilinc keys list --project team")]
struct ListArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Only keys of this project
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
}

/// Options of `keys revoke`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  bilinc keys revoke key_0123456789abcdef")]
struct RevokeArgs {
    #[command(flatten)]
    data: DataArgs,
    /// The key's id, as `bilinc keys list` shows it
    #[arg(value_name = "ID")]
    id: String,
}

/// A key, as it is shown.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct KeyView {
    /// The key itself, only when it is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    id: String,
    project: String,
    read_only: bool,
    name: Option<String>,
    created_at: String,
    revoked_at: Option<String>,
}

impl KeyView {
    fn new(record: KeyRecord, key: Option<String>) -> Self {
        let KeyRecord { id, project, read_only, name, created_at, revoked_at, .. } = record;
        Self { key, id, project, read_only, name, created_at, revoked_at }
    }
}

/// Keys, in the order in which they were made.
#[derive(Debug, Serialize)]
struct KeysView {
    keys: Vec<KeyView>,
}

/// Makes, lists or revokes keys.
pub(super) fn run(console: &mut Console<'_>, args: KeysArgs) -> Result<(), CliError> {
    match args.command {
        KeysCommand::Create(args) => create(console, args),
        KeysCommand::List(args) => list(console, &args),
        KeysCommand::Revoke(args) => revoke(console, &args),
    }
}

fn create(console: &mut Console<'_>, args: CreateArgs) -> Result<(), CliError> {
    let data = args.data.folder()?;
    http::create_project(&data, &args.project).map_err(|error| match error {
        CreateError::Store(error) => error.into(),
        CreateError::Data(error) => failed(error),
    })?;
    let made = keys::create(&data, &args.project, args.read_only, args.name);
    let (key, record) = made.map_err(failed)?;
    let view = KeyView::new(record, Some(key));
    if console.globals.json {
        return console.json_line(&view);
    }
    let style = console.style;
    let may = if view.read_only { "read" } else { "read and write" };
    writeln!(console.out, "{}", style.bold(view.key.as_deref().unwrap_or_default()))?;
    writeln!(console.out, "This key may {may} the project {}. It is not shown again.", render::escape(&view.project))?;
    Ok(writeln!(console.out, "{}", style.dim(&format!("`bilinc keys revoke {}` ends it.", view.id)))?)
}

fn list(console: &mut Console<'_>, args: &ListArgs) -> Result<(), CliError> {
    let keys = keys::list(&args.data.folder()?).map_err(failed)?;
    let wanted = |key: &KeyRecord| args.project.as_ref().is_none_or(|project| key.project == *project);
    let view = KeysView { keys: keys.into_iter().filter(wanted).map(|key| KeyView::new(key, None)).collect() };
    if console.globals.json {
        return console.json_line(&view);
    }
    if view.keys.is_empty() {
        return Ok(writeln!(console.out, "No keys.")?);
    }
    for key in &view.keys {
        let may = if key.read_only { "read-only" } else { "read-write" };
        let ended = key.revoked_at.as_ref().map(|at| format!("  revoked {at}")).unwrap_or_default();
        let name = key.name.as_ref().map(|name| format!("  {}", render::escape(name))).unwrap_or_default();
        let (project, created) = (render::escape(&key.project), &key.created_at);
        writeln!(console.out, "{}  {project}  {may}  made {created}{ended}{name}", console.style.bold(&key.id))?;
    }
    Ok(())
}

fn revoke(console: &mut Console<'_>, args: &RevokeArgs) -> Result<(), CliError> {
    let record = keys::revoke(&args.data.folder()?, &args.id).map_err(failed)?;
    let view = KeyView::new(record, None);
    if console.globals.json {
        return console.json_line(&view);
    }
    Ok(writeln!(console.out, "{} opens nothing any more.", console.style.bold(&view.id))?)
}

/// Why keys cannot be read or changed, as the command line says it.
pub(super) fn failed(error: KeyFileError) -> CliError {
    match error {
        KeyFileError::ProjectName => CliError::usage("project", error.to_string()),
        KeyFileError::NoSuchKey(_) => CliError::usage("id", error.to_string()),
        KeyFileError::Io { doing, path, source } => CliError::File { doing, path, source },
        error => CliError::Serve(error.to_string()),
    }
}
