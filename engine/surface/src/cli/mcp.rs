//! `mcp` and `mcp install`.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use bilinc::Actor;
use clap::{Args, Subcommand, ValueEnum};

use super::args::{Cli, Command, Globals};
use super::console::Console;
use super::errors::{self, CliError};
use super::{render, server, store};
use crate::mcp::install::{self, Client, Launch, Remote};
use crate::mcp::{self, Options, Server, Toolset};
use crate::remote::{self, Address};

/// Options of `mcp`.
#[derive(Debug, Args)]
#[command(after_help = "\
A client starts this and speaks with it over standard input and output; nothing else is written \
there. Several may run on one store at the same time. `bilinc mcp install` prints what to write where.

Examples:
  bilinc mcp install --client claude-code
  bilinc mcp --store ./memory
  bilinc mcp --read-only
  bilinc mcp --base-url https://memory.example.org
  bilinc mcp --tools knowledge-graph")]
pub(super) struct McpArgs {
    #[command(subcommand)]
    command: Option<McpCommand>,
    #[command(flatten)]
    serve: ServeArgs,
}

/// How the server behaves.
#[derive(Debug, Clone, Args)]
struct ServeArgs {
    /// List only the tools that read, and refuse the others
    #[arg(long)]
    read_only: bool,
    /// Store text although it looks like a credential
    #[arg(long)]
    allow_secrets: bool,
    /// Which tools there are
    #[arg(long, value_enum, default_value = "memory")]
    tools: ToolsArg,
}

/// Which tools there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ToolsArg {
    /// Memories with history, dreams and undo
    Memory,
    /// Those of the official memory server, on the same log
    KnowledgeGraph,
}

impl From<ToolsArg> for Toolset {
    fn from(tools: ToolsArg) -> Self {
        match tools {
            ToolsArg::Memory => Self::Memory,
            ToolsArg::KnowledgeGraph => Self::KnowledgeGraph,
        }
    }
}

/// What else there is.
#[derive(Debug, Subcommand)]
enum McpCommand {
    /// Print the set-up for a client
    Install(InstallArgs),
}

/// Options of `mcp install`.
#[derive(Debug, Args)]
#[command(after_help = "\
Prints and changes nothing. With --json, or for the client json, it is the JSON alone. With --base-url \
the client speaks with that server over HTTP.

Examples:
  bilinc mcp install --client claude-code
  bilinc mcp install --client cursor --store ~/work/memory --read-only
  bilinc mcp install --client codex --base-url https://memory.example.org")]
struct InstallArgs {
    /// Which client
    #[arg(long, value_enum)]
    client: ClientArg,
    #[command(flatten)]
    serve: ServeArgs,
}

/// A client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ClientArg {
    /// Claude Code
    ClaudeCode,
    /// Claude Desktop
    ClaudeDesktop,
    /// Codex
    Codex,
    /// Cursor
    Cursor,
    /// Any client that takes mcpServers as JSON
    Json,
}

impl From<ClientArg> for Client {
    fn from(client: ClientArg) -> Self {
        match client {
            ClientArg::ClaudeCode => Self::ClaudeCode,
            ClientArg::ClaudeDesktop => Self::ClaudeDesktop,
            ClientArg::Codex => Self::Codex,
            ClientArg::Cursor => Self::Cursor,
            ClientArg::Json => Self::Json,
        }
    }
}

/// Serves when that is asked for. Standard output belongs to the protocol then, so this comes before
/// anything takes hold of it.
pub(super) fn serve_if_asked(cli: &Cli) -> Option<ExitCode> {
    let Some(Command::Mcp(McpArgs { command: None, serve: args })) = &cli.command else { return None };
    Some(match serve(&cli.globals, args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => errors::report(&error, cli.globals.json, None),
    })
}

fn serve(globals: &Globals, args: &ServeArgs) -> Result<(), CliError> {
    if let Some(client) = server::named(globals)? {
        return serve_server(client, args);
    }
    let actor = Actor { source: mcp::SOURCE.into(), session_id: None };
    let store = store::served(globals, actor, args.read_only, args.allow_secrets)?;
    let options = Options { read_only: args.read_only, tools: args.tools.into() };
    Ok(mcp::serve(Server::new(Arc::new(store), options))?)
}

/// Serves what a server keeps. A key that may only read has only the tools that read.
fn serve_server(client: Arc<remote::Client>, args: &ServeArgs) -> Result<(), CliError> {
    if args.tools == ToolsArg::KnowledgeGraph {
        let message = "the tools of a knowledge graph work on a store of this machine: leave out --base-url and \
                       BILINC_BASE_URL, or take --tools memory";
        return Err(CliError::usage("tools", message));
    }
    if args.allow_secrets {
        return Err(CliError::usage("allow_secrets", "a server decides that itself: `bilinc serve --allow-secrets`"));
    }
    let read_only = args.read_only || may_only_read(&client)?;
    let options = Options { read_only, tools: Toolset::Memory };
    Ok(mcp::serve(Server::new(Arc::new(mcp::Store::on_server(client)), options))?)
}

/// Whether the key may only read. A server that does not answer now may do so later; a key that opens
/// nothing is told at once.
fn may_only_read(client: &remote::Client) -> Result<bool, CliError> {
    match client.glance() {
        Ok(status) => Ok(!status.capabilities.write && status.store.read_only.is_none()),
        Err(error) if matches!(error.code(), "missing_api_key" | "invalid_api_key") => Err(error.into()),
        Err(_) => Ok(false),
    }
}

/// Prints a set-up.
pub(super) fn run(console: &mut Console<'_>, args: McpArgs) -> Result<(), CliError> {
    let Some(McpCommand::Install(install)) = args.command else { return Ok(()) };
    if let Some(base_url) = console.globals.base_url.clone() {
        let remote = remote(&install, &base_url, &args.serve)?;
        return print(console, &install, remote.json(install.client.into()), |client| {
            remote.instructions(client, |word| render::shell_word(word).to_string())
        });
    }
    let launch = launch(&console.globals, &install.serve, &args.serve)?;
    print(console, &install, install::as_json(&launch), |client| {
        install::instructions(client, &launch, |word| render::shell_word(word).to_string())
    })
}

fn print(
    console: &mut Console<'_>,
    install: &InstallArgs,
    json: serde_json::Value,
    text: impl FnOnce(Client) -> String,
) -> Result<(), CliError> {
    if console.globals.json || install.client == ClientArg::Json {
        return Ok(writeln!(console.out, "{json:#}")?);
    }
    Ok(console.out.write_all(text(install.client.into()).as_bytes())?)
}

fn program() -> String {
    std::env::current_exe().map_or_else(|_| "bilinc".to_owned(), |path| path.display().to_string())
}

/// A server over HTTP. What it stores where is its own business, and what a key may do is the key's.
fn remote(install: &InstallArgs, base_url: &str, before: &ServeArgs) -> Result<Remote, CliError> {
    let own = [
        ("read-only", install.serve.read_only || before.read_only),
        ("allow-secrets", install.serve.allow_secrets || before.allow_secrets),
    ];
    if let Some((option, _)) = own.iter().find(|(_, given)| *given) {
        return Err(CliError::usage(option, "a server over HTTP decides that itself".to_owned()));
    }
    Address::parse(base_url).map_err(|error| CliError::usage("base_url", error.to_string()))?;
    let knowledge_graph = [install.serve.tools, before.tools].contains(&ToolsArg::KnowledgeGraph);
    if knowledge_graph && install.client == ClientArg::ClaudeDesktop {
        return Err(CliError::usage(
            "tools",
            "Claude Desktop reaches the tools for memories alone over HTTP".to_owned(),
        ));
    }
    Ok(Remote { base_url: base_url.trim_end_matches('/').to_owned(), knowledge_graph, program: program() })
}

/// This program, on the store that was named, with the options that were given before or after
/// `install`.
fn launch(globals: &Globals, args: &ServeArgs, before: &ServeArgs) -> Result<Launch, CliError> {
    let mut arguments = vec!["mcp".to_owned()];
    if let Some(path) = &globals.store {
        arguments.extend(["--store".to_owned(), absolute(path)?]);
    }
    let options = [
        ("--read-only", args.read_only || before.read_only),
        ("--allow-secrets", args.allow_secrets || before.allow_secrets),
    ];
    if [args.tools, before.tools].contains(&ToolsArg::KnowledgeGraph) {
        arguments.extend(["--tools", "knowledge-graph"].map(str::to_owned));
    }
    arguments.extend(options.iter().filter(|(_, given)| *given).map(|(name, _)| (*name).to_owned()));
    Ok(Launch { program: program(), arguments })
}

/// Clients start the server in a folder of their own.
fn absolute(path: &Path) -> Result<String, CliError> {
    let failed = |source| CliError::File { doing: "find", path: path.display().to_string(), source };
    Ok(std::path::absolute(path).map_err(failed)?.display().to_string())
}
