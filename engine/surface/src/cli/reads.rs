//! `recall`, `get`, `list` and `history`.

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};

use super::console::Console;
use super::entries::memory_types;
use super::errors::CliError;
use super::times::{self, Edge};
use super::{carry, render};
use crate::backend::{Backend, Reply};
use crate::wire::entries::ListView;
use crate::wire::fields::PROFILE_NAMES;
use crate::wire::requests::{GetRequest, HistoryRequest, ListRequest, RecallRequest};

/// How much of each value is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ValuesArg {
    /// The whole value
    Full,
    /// The first 200 characters
    Preview,
    /// Nothing
    None,
}

impl ValuesArg {
    /// The name that requests use.
    const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Preview => "preview",
            Self::None => "none",
        }
    }
}

/// Options of `recall`.
#[derive(Debug, Args)]
#[command(after_help = "\
The query is text, never syntax. Case and accents do not matter, and a dotless i finds a dotted one.

Examples:
  bilinc recall --query 'which editor do we use'
  bilinc recall --query deploy --type procedural --limit 3 --explain
  bilinc recall --query editor --at 2026-01-31")]
pub(super) struct RecallArgs {
    /// What to look for
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    query: String,
    /// How thoroughly
    #[arg(long, value_name = "PROFILE", value_parser = PossibleValuesParser::new(PROFILE_NAMES), default_value = "balanced")]
    profile: String,
    /// Most results, 1 to 100
    #[arg(long, value_name = "NUMBER", default_value_t = 10)]
    limit: u64,
    /// Only this type; may be given several times
    #[arg(long = "type", value_name = "TYPE", value_parser = memory_types())]
    types: Vec<String>,
    /// Say which terms matched, and where
    #[arg(long)]
    explain: bool,
    /// Search what was there at this time: RFC 3339, a day, or an age such as 7d
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
}

/// Searches.
pub(super) fn recall(console: &mut Console<'_>, args: RecallArgs) -> Result<(), CliError> {
    let request = RecallRequest {
        query: args.query,
        profile: Some(args.profile),
        limit: Some(args.limit),
        memory_types: Some(args.types),
        explain: Some(args.explain),
        query_timestamp: times::optional("at", args.at.as_deref(), Edge::End)?,
    };
    let reply = carry::read(console, request)?;
    console.answer(&reply, render::recall)
}

/// Options of `get`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bilinc get project.editor
  bilinc get project.editor --as-of 120
  bilinc get project.editor --as-of 2026-01-31T09:30:00Z")]
pub(super) struct GetArgs {
    /// The memory's key
    #[arg(allow_negative_numbers = true)]
    key: String,
    /// As it was: at a position (120 or @120), a time, or a snapshot's id
    #[arg(long, value_name = "POINT")]
    as_of: Option<String>,
}

/// Shows one memory.
pub(super) fn get(console: &mut Console<'_>, args: &GetArgs) -> Result<(), CliError> {
    let as_of = args.as_of.as_deref().map(|text| times::point("as_of", text)).transpose()?;
    let reply = carry::read(console, GetRequest { key: args.key.clone(), as_of })?;
    console.answer(&reply, render::entry)
}

/// The order of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OrderArg {
    /// By key
    Key,
    /// Last updated first
    Newest,
    /// Last updated last
    Oldest,
}

impl OrderArg {
    /// The name that requests use.
    const fn name(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::Newest => "newest",
            Self::Oldest => "oldest",
        }
    }
}

/// Options of `list`.
#[derive(Debug, Args)]
#[command(after_help = "\
A time as it is shown means its whole millisecond: what has that very time is neither after it nor \
before it.

Examples:
  bilinc list --prefix project. --order newest
  bilinc list --updated-after 7d --values full --all --json")]
pub(super) struct ListArgs {
    /// Only keys that begin so
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    prefix: Option<String>,
    /// Only this type
    #[arg(long = "type", value_name = "TYPE", value_parser = memory_types())]
    memory_type: Option<String>,
    /// Only memories saved by this source, exactly; may be given several times; \"\" is none
    #[arg(long = "source", value_name = "NAME", allow_hyphen_values = true)]
    sources: Vec<String>,
    /// Only memories updated after this time
    #[arg(long, value_name = "TIME")]
    updated_after: Option<String>,
    /// Only memories updated before this time
    #[arg(long, value_name = "TIME")]
    updated_before: Option<String>,
    /// Only memories with an open flag; `--flagged=false` only those without
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    flagged: Option<bool>,
    /// In which order
    #[arg(long, value_enum, default_value = "key")]
    order: OrderArg,
    /// How much of each value
    #[arg(long, value_enum, default_value = "preview")]
    values: ValuesArg,
    /// Memories on a page, 1 to 1000
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    limit: u64,
    /// Where the page before ended
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
    /// All pages at once
    #[arg(long)]
    all: bool,
}

impl ListArgs {
    fn request(&self) -> Result<ListRequest, CliError> {
        Ok(ListRequest {
            limit: Some(self.limit),
            values: Some(self.values.name().to_owned()),
            prefix: self.prefix.clone(),
            memory_type: self.memory_type.clone(),
            updated_after: times::optional("updated_after", self.updated_after.as_deref(), Edge::End)?,
            updated_before: times::optional("updated_before", self.updated_before.as_deref(), Edge::Start)?,
            cursor: self.cursor.clone(),
            sources: Some(self.sources.clone()),
            order: Some(self.order.name().to_owned()),
            flagged: self.flagged,
        })
    }

    /// The command for the next page: a cursor holds a place only, so the filters must be repeated.
    fn next_command(&self) -> String {
        let mut command = String::from("bilinc list");
        let texts = [
            ("--prefix", &self.prefix),
            ("--type", &self.memory_type),
            ("--updated-after", &self.updated_after),
            ("--updated-before", &self.updated_before),
        ];
        let texts = texts.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        for (name, value) in texts.chain(self.sources.iter().map(|source| ("--source", source))) {
            command.push_str(&format!(" {name} {}", render::shell_word(value)));
        }
        if let Some(flagged) = self.flagged {
            command.push_str(&format!(" --flagged={flagged}"));
        }
        if self.order != OrderArg::Key {
            command.push_str(&format!(" --order {}", self.order.name()));
        }
        if self.values != ValuesArg::Preview {
            command.push_str(&format!(" --values {}", self.values.name()));
        }
        command.push_str(&format!(" --limit {}", self.limit));
        command
    }
}

/// Lists memories.
pub(super) fn list(console: &mut Console<'_>, args: ListArgs) -> Result<(), CliError> {
    let request = args.request()?;
    carry::judge(&request)?;
    let backend = carry::reader(&console.globals)?;
    let mut reply = page(&backend, request.clone())?;
    loop {
        let listed = reply.answer.entries.len() as u64;
        // A server may give less at once than was asked for.
        let wanted = if args.all { args.limit } else { args.limit.saturating_sub(listed) };
        let Some(cursor) = reply.answer.next_cursor.clone().filter(|_| wanted > 0) else { break };
        let next = page(&backend, ListRequest { cursor: Some(cursor), limit: Some(wanted), ..request.clone() })?;
        let view = reply.change();
        view.entries.extend(next.answer.entries);
        (view.next_cursor, view.total) = (next.answer.next_cursor, next.answer.total);
    }
    let more = args.next_command();
    console.answer(&reply, |out, style, view| render::list(out, style, view, &more))
}

/// A page of a list, a shorter one where the whole is too large for its server.
fn page(backend: &Backend, mut request: ListRequest) -> Result<Reply<ListView>, CliError> {
    loop {
        match carry::ask(backend, request.clone()) {
            Err(CliError::Server(error)) if error.is_too_large() && request.limit.is_some_and(|limit| limit > 1) => {
                request.limit = request.limit.map(|limit| limit / 2);
            }
            done => return done,
        }
    }
}

/// Options of `history`.
#[derive(Debug, Args)]
#[command(after_help = "\
Values from before a forget that stands are not shown.

Example:
  bilinc history project.editor")]
pub(super) struct HistoryArgs {
    /// The memory's key
    #[arg(allow_negative_numbers = true)]
    key: String,
    /// Most changes
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    limit: u64,
    /// How much of each value
    #[arg(long, value_enum, default_value = "full")]
    values: ValuesArg,
}

/// Shows what happened to one memory.
pub(super) fn history(console: &mut Console<'_>, args: &HistoryArgs) -> Result<(), CliError> {
    let values = Some(args.values.name().to_owned());
    let request = HistoryRequest { key: args.key.clone(), limit: Some(args.limit), values };
    let reply = carry::read(console, request)?;
    console.answer(&reply, render::history)
}
