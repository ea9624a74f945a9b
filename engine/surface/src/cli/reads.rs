//! `recall`, `get`, `list` and `history`.

use bilinc::{At, ListPage, ListQuery, MemoryType, Order, Profile, RecallQuery, Rejection, Values};
use clap::{Args, ValueEnum};

use super::console::Console;
use super::entries::memory_types;
use super::errors::CliError;
use super::times::{self, Edge};
use super::write::key;
use super::{render, store};
use crate::wire::entries::{EntryView, ListView, order_name};
use crate::wire::fields;
use crate::wire::history::HistoryView;
use crate::wire::recall::RecallView;

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

impl From<ValuesArg> for Values {
    fn from(values: ValuesArg) -> Self {
        match values {
            ValuesArg::Full => Self::Full,
            ValuesArg::Preview => Self::Preview,
            ValuesArg::None => Self::None,
        }
    }
}

/// How thoroughly a recall searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ProfileArg {
    /// Exact terms only
    Fast,
    /// Stems, prefixes and a little tolerance for typos, too
    Balanced,
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
    #[arg(long, value_enum, default_value = "balanced")]
    profile: ProfileArg,
    /// Most results, 1 to 100
    #[arg(long, value_name = "NUMBER", default_value_t = 10)]
    limit: usize,
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
    let query = RecallQuery {
        limit: args.limit,
        memory_types: args.types.iter().filter_map(|name| MemoryType::from_name(name)).collect(),
        profile: match args.profile {
            ProfileArg::Fast => Profile::Fast,
            ProfileArg::Balanced => Profile::Balanced,
        },
        explain: args.explain,
        query_timestamp: times::optional("at", args.at.as_deref(), Edge::End)?,
        ..RecallQuery::new(args.query)
    };
    let store = store::read(&console.globals)?;
    let view = RecallView::new(&store.memory.recall(&query)?);
    console.answer(&store.memory, &view, render::recall)
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
    let key = key(&args.key)?;
    let at = args.as_of.as_deref().map_or(Ok(At::Now), |text| times::point("as_of", text))?;
    let store = store::read(&console.globals)?;
    let found = match at {
        At::Now => store.memory.get(key.as_str())?,
        at => store.memory.get_at(key.as_str(), at)?,
    };
    let found = found.ok_or(Rejection::MemoryNotFound { key })?;
    console.answer(&store.memory, &EntryView::from(&found), render::entry)
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
    limit: usize,
    /// Where the page before ended
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
    /// All pages at once
    #[arg(long)]
    all: bool,
}

impl ListArgs {
    fn order(&self) -> Order {
        match self.order {
            OrderArg::Key => Order::Key,
            OrderArg::Newest => Order::Newest,
            OrderArg::Oldest => Order::Oldest,
        }
    }

    fn query(&self) -> Result<ListQuery, CliError> {
        Ok(ListQuery {
            limit: Some(self.limit),
            prefix: self.prefix.clone(),
            memory_type: self.memory_type.as_deref().and_then(MemoryType::from_name),
            sources: self.sources.clone(),
            updated_after: times::optional("updated_after", self.updated_after.as_deref(), Edge::End)?,
            updated_before: times::optional("updated_before", self.updated_before.as_deref(), Edge::Start)?,
            flagged: self.flagged,
            order: self.order(),
            values: self.values.into(),
            cursor: self.cursor.clone(),
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
            command.push_str(&format!(" --order {}", order_name(self.order())));
        }
        if self.values != ValuesArg::Preview {
            command.push_str(&format!(" --values {}", fields::values_name(self.values.into())));
        }
        command.push_str(&format!(" --limit {}", self.limit));
        command
    }
}

/// Lists memories.
pub(super) fn list(console: &mut Console<'_>, args: ListArgs) -> Result<(), CliError> {
    let mut query = args.query()?;
    let store = store::read(&console.globals)?;
    let mut page = store.memory.list(&query)?;
    while let Some(cursor) = page.next_cursor.take_if(|_| args.all) {
        query.cursor = Some(cursor);
        let next = store.memory.list(&query)?;
        let entries = page.entries.into_iter().chain(next.entries).collect();
        page = ListPage { entries, next_cursor: next.next_cursor, total: next.total };
    }
    let more = args.next_command();
    let view = ListView::new(&page, fields::values_name(query.values), query.order, args.sources);
    console.answer(&store.memory, &view, |out, style, view| render::list(out, style, view, &more))
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
    limit: usize,
    /// How much of each value
    #[arg(long, value_enum, default_value = "full")]
    values: ValuesArg,
}

/// Shows what happened to one memory.
pub(super) fn history(console: &mut Console<'_>, args: &HistoryArgs) -> Result<(), CliError> {
    let key = key(&args.key)?;
    let values = Values::from(args.values);
    let store = store::read(&console.globals)?;
    let history = store.memory.history(key.as_str(), args.limit, values != Values::None)?;
    console.answer(&store.memory, &HistoryView::new(&history, values), render::history)
}
