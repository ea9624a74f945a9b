//! `commit`, `revise`, `confirm` and `forget`.

use bilinc::{MemoryType, Strategy};
use clap::builder::PossibleValuesParser;
use clap::{ArgAction, Args};

use super::console::Console;
use super::errors::CliError;
use super::write::{WriteArgs, fraction, value};
use super::{carry, render};
use crate::wire::fields;
use crate::wire::requests::{CommitRequest, ConfirmRequest, ForgetRequest, ReviseRequest};

/// The memory types, for help and completions.
pub(super) fn memory_types() -> PossibleValuesParser {
    PossibleValuesParser::new(MemoryType::ALL.map(MemoryType::name))
}

/// Options of `commit`.
#[derive(Debug, Args)]
#[command(after_help = "\
A replace takes every field from this command or its default and keeps only the time of creation \
and the flags. To change the value alone, use `bilinc revise`.

Examples:
  bilinc commit --key project.editor --value 'Helix, since March'
  bilinc commit --key deploy.limits --value '{\"cpu\": 1.10}' --type procedural
  git diff --stat | bilinc commit --key last.change --value - --type working --ttl 86400")]
pub(super) struct CommitArgs {
    /// The memory's key, 1 to 512 characters
    #[arg(long, allow_hyphen_values = true)]
    pub(super) key: String,
    /// JSON if it parses, else a plain string; `-` reads standard input
    #[arg(long, allow_hyphen_values = true)]
    pub(super) value: String,
    /// What kind of memory it is
    #[arg(long = "type", value_name = "TYPE", value_parser = memory_types(), default_value = "semantic")]
    memory_type: String,
    /// 0.0 to 1.0
    #[arg(long, value_name = "NUMBER", value_parser = fraction, allow_negative_numbers = true, default_value = "1.0")]
    importance: f64,
    /// A JSON object kept with it
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    metadata: Option<String>,
    /// Seconds after which it is gone
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    ttl: Option<f64>,
    /// Mark it as the agreed truth, which `revise` guards
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", action = ArgAction::Set)]
    canonical: Option<bool>,
    /// 0.0 to 1.0
    #[arg(long, value_name = "NUMBER", value_parser = fraction, allow_negative_numbers = true)]
    priority: Option<f64>,
    /// Refuse when the key exists
    #[arg(long)]
    if_absent: bool,
    /// Refuse when the memory has another version
    #[arg(long, value_name = "VERSION")]
    expected_version: Option<String>,
    #[command(flatten)]
    write: WriteArgs,
}

/// Saves a memory.
pub(super) fn commit(console: &mut Console<'_>, args: CommitArgs) -> Result<(), CliError> {
    let metadata = args.metadata.as_deref().map(|text| fields::metadata("metadata", text)).transpose()?;
    let request = CommitRequest {
        key: args.key,
        value: value(args.value)?,
        memory_type: Some(args.memory_type),
        importance: Some(args.importance),
        metadata,
        source: args.write.source(),
        session_id: args.write.session,
        canonical: args.canonical,
        priority: args.priority,
        ttl: args.ttl,
        if_absent: Some(args.if_absent),
        expected_version: args.expected_version,
    };
    let reply = carry::create(console, &args.write.request, request)?;
    console.answer(&reply, render::committed)
}

/// Options of `revise`.
#[derive(Debug, Args)]
#[command(after_help = "\
Type, source, metadata and the rest stay; a confirmation is cleared. The strategy decides when the \
stored value is kept instead: `entrenchment` guards canonical memories against a lower importance, \
`verification` confirmed ones, `importance` all; `recency` always replaces.

Example:
  bilinc revise --key project.editor --value 'Zed' --reason 'switched in May'")]
pub(super) struct ReviseArgs {
    /// The memory's key
    #[arg(long, allow_hyphen_values = true)]
    key: String,
    /// JSON if it parses, else a plain string; `-` reads standard input
    #[arg(long, allow_hyphen_values = true)]
    value: String,
    /// Its new importance, 0.0 to 1.0; kept when absent
    #[arg(long, value_name = "NUMBER", value_parser = fraction, allow_negative_numbers = true)]
    importance: Option<f64>,
    /// When to keep what is stored
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(Strategy::ALL.map(Strategy::name)), default_value = "entrenchment")]
    strategy: String,
    /// Why
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    reason: Option<String>,
    /// Refuse when the memory has another version
    #[arg(long, value_name = "VERSION")]
    expected_version: Option<String>,
    #[command(flatten)]
    write: WriteArgs,
}

/// Replaces a value.
pub(super) fn revise(console: &mut Console<'_>, args: ReviseArgs) -> Result<(), CliError> {
    let request = ReviseRequest {
        key: args.key,
        value: value(args.value)?,
        importance: args.importance,
        strategy: Some(args.strategy),
        reason: args.reason,
        expected_version: args.expected_version,
        source: args.write.source(),
        session_id: args.write.session,
    };
    let reply = carry::change(console, &args.write.request, request)?;
    console.answer(&reply, render::revised)
}

/// Options of `confirm`.
#[derive(Debug, Args)]
#[command(after_help = "\
The value stays; the memory counts as looked at now, and `--strategy verification` guards it.

Example:
  bilinc confirm project.editor --reason 'asked the team'")]
pub(super) struct ConfirmArgs {
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

/// Says that a memory is still right.
pub(super) fn confirm(console: &mut Console<'_>, args: ConfirmArgs) -> Result<(), CliError> {
    let request = ConfirmRequest {
        key: args.key,
        expected_version: args.expected_version,
        reason: args.reason,
        source: args.write.source(),
        session_id: args.write.session,
    };
    let reply = carry::change(console, &args.write.request, request)?;
    console.answer(&reply, render::confirmed)
}

/// Options of `forget`.
#[derive(Debug, Args)]
#[command(after_help = "\
The memory ends for recall and lists, and its earlier values are hidden. The log keeps them, so \
that `bilinc undo` can bring it back. Keys are exact; there are no patterns.

With --purge the values and metadata of all its past are erased from the store's files for good, \
also of a memory that was forgotten earlier. What was copied into other memories stays there; so do \
backups, and what a file system or a disk keeps of overwritten blocks.

Examples:
  bilinc forget --key project.editor --reason 'no longer true'
  bilinc forget --key customer.address --reason 'asked to be erased' --purge")]
pub(super) struct ForgetArgs {
    /// The memory's key, exactly
    #[arg(long, allow_hyphen_values = true)]
    key: String,
    /// Why, 1 to 512 characters; it stays in the history
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    reason: String,
    /// Erase it for good, with all its earlier values; cannot be undone
    #[arg(long)]
    purge: bool,
    /// Refuse when the memory has another version
    #[arg(long, value_name = "VERSION")]
    expected_version: Option<String>,
    #[command(flatten)]
    write: WriteArgs,
}

/// Takes a memory out of use.
pub(super) fn forget(console: &mut Console<'_>, args: ForgetArgs) -> Result<(), CliError> {
    let request = ForgetRequest {
        key: args.key,
        reason: args.reason,
        expected_version: args.expected_version,
        purge: Some(args.purge),
        source: args.write.source(),
        session_id: args.write.session,
    };
    let reply = carry::change(console, &args.write.request, request)?;
    console.answer(&reply, render::forgotten)
}
