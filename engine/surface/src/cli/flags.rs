//! `flag`, `unflag` and `flags`.

use bilinc::{At, EntryChange, Flag, Key, ListQuery, Memory, Order, Unflag, Values, Written};
use clap::Args;

use super::console::Console;
use super::errors::CliError;
use super::write::{WriteArgs, expected, key};
use super::{render, store};
use crate::wire::entries::{Flags, ListView, flags_of};
use crate::wire::fields;

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
    let evidence: Result<Vec<Key>, _> = args.evidence.iter().map(|key| fields::key("evidence_keys", key)).collect();
    let flag = Flag {
        key: key(&args.key)?,
        reason: args.reason,
        evidence_keys: evidence?,
        expected_version: expected(args.expected_version.as_deref())?,
    };
    let memory = store::change(&console.globals, &args.write)?;
    let written = memory.flag(flag)?;
    answer(console, &memory, &written)
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
    let unflag = Unflag {
        key: key(&args.key)?,
        reason: args.reason,
        expected_version: expected(args.expected_version.as_deref())?,
    };
    let memory = store::change(&console.globals, &args.write)?;
    let written = memory.unflag(unflag)?;
    answer(console, &memory, &written)
}

/// The flags that are open after the change, also when its answer is given again later.
fn answer(console: &mut Console<'_>, memory: &Memory, written: &Written<EntryChange>) -> Result<(), CliError> {
    let key = written.answer.key.clone();
    let found = memory.get_at(key.as_str(), At::Position(written.answer.seq))?;
    let flags = found.map(|found| flags_of(&found.entry)).unwrap_or_default();
    console.answer_write(memory, &Flags { key, flags }, written.replayed, render::flags)
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
    limit: usize,
    /// Where the page before ended
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
}

/// Lists what is flagged.
pub(super) fn flags(console: &mut Console<'_>, args: FlagsArgs) -> Result<(), CliError> {
    let store = store::read(&console.globals)?;
    let query = ListQuery {
        limit: Some(args.limit),
        prefix: args.prefix.clone(),
        flagged: Some(true),
        values: Values::None,
        cursor: args.cursor,
        ..ListQuery::default()
    };
    let page = store.memory.list(&query)?;
    let view = ListView::new(&page, fields::values_name(Values::None), Order::Key, Vec::new());
    let prefix = args.prefix.map(|prefix| format!(" --prefix {}", render::shell_word(&prefix))).unwrap_or_default();
    let more = format!("bilinc flags{prefix} --limit {}", args.limit);
    console.answer(&store.memory, &view, |out, style, view| render::flagged(out, style, view, &more))
}
