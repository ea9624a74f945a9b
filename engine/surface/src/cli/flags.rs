//! `flag`, `unflag` and `flags`.

use clap::Args;

use super::console::Console;
use super::errors::CliError;
use super::write::WriteArgs;
use super::{carry, render};
use crate::wire::requests::{FlagRequest, ListRequest, UnflagRequest};

/// Options of `flag`.
#[derive(Debug, Args)]
#[command(after_help = "\
A flag changes neither the memory nor its version. It stays through replaces and revises until it is \
cleared, and `bilinc flags` lists it.

Example:
  bilinc flag project.editor --reason 'contradicts team.editor' --evidence team.editor")]
pub(super) struct FlagArgs {
    /// The memory's key
    #[arg(allow_negative_numbers = true)]
    key: String,
    /// What is to be looked at, 1 to 512 characters
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    reason: String,
    /// A memory that speaks for it; may be given several times
    #[arg(long = "evidence", value_name = "KEY", allow_hyphen_values = true)]
    evidence: Vec<String>,
    /// Refuse when the memory has another version
    #[arg(long, value_name = "VERSION")]
    expected_version: Option<String>,
    #[command(flatten)]
    write: WriteArgs,
}

/// Marks a memory.
pub(super) fn flag(console: &mut Console<'_>, args: FlagArgs) -> Result<(), CliError> {
    let request = FlagRequest {
        key: args.key,
        reason: args.reason,
        evidence_keys: Some(args.evidence),
        expected_version: args.expected_version,
        source: args.write.source(),
        session_id: args.write.session,
    };
    let reply = carry::change(console, &args.write.request, request)?;
    console.answer(&reply, render::flags)
}

/// Options of `unflag`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  bilinc unflag project.editor --reason 'checked, it is right'")]
pub(super) struct UnflagArgs {
    /// The memory's key
    #[arg(allow_negative_numbers = true)]
    key: String,
    /// Why
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    reason: Option<String>,
    /// Refuse when the memory has another version
    #[arg(long, value_name = "VERSION")]
    expected_version: Option<String>,
    #[command(flatten)]
    write: WriteArgs,
}

/// Clears the flags of a memory.
pub(super) fn unflag(console: &mut Console<'_>, args: UnflagArgs) -> Result<(), CliError> {
    let request = UnflagRequest {
        key: args.key,
        reason: args.reason,
        expected_version: args.expected_version,
        source: args.write.source(),
        session_id: args.write.session,
    };
    let reply = carry::change(console, &args.write.request, request)?;
    console.answer(&reply, render::flags)
}

/// Options of `flags`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  bilinc flags --prefix project.")]
pub(super) struct FlagsArgs {
    /// Only keys that begin so
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    prefix: Option<String>,
    /// Memories on a page, 1 to 1000
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    limit: u64,
    /// Where the page before ended
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
}

/// Lists what is flagged.
pub(super) fn flags(console: &mut Console<'_>, args: FlagsArgs) -> Result<(), CliError> {
    let request = ListRequest {
        limit: Some(args.limit),
        values: Some("none".to_owned()),
        prefix: args.prefix.clone(),
        flagged: Some(true),
        cursor: args.cursor,
        ..ListRequest::default()
    };
    let reply = carry::read(console, request)?;
    let prefix = args.prefix.map(|prefix| format!(" --prefix {}", render::shell_word(&prefix))).unwrap_or_default();
    let more = format!("bilinc flags{prefix} --limit {}", args.limit);
    console.answer(&reply, |out, style, view| render::flagged(out, style, view, &more))
}
