//! The first step: what several agents remember.

use std::collections::BTreeSet;

use bilinc::{ImportOptions, ListQuery, ListedEntry, Memory};

use super::error::{Step, check, check_count};
use super::page::{Cell, Page, Paint};

/// The memories, one a line, in the form that `bilinc import` reads.
const MEMORIES: &str = include_str!("memories.jsonl");
/// Entries with these prefixes are shown: two that say the same, and two that cannot both be true.
const SHOWN: [&str; 2] = ["test.", "arch.queue"];

/// Imports the memories, shows some, and gives all of them.
pub(super) fn remember(page: &mut Page<'_>, memory: &Memory) -> Step<Vec<ListedEntry>> {
    page.heading("1. What several agents remember about the project Kestrel")?;
    page.command("import memories.jsonl", "")?;
    let options = ImportOptions { if_absent: false };
    let imported = memory.import(MEMORIES.as_bytes(), options, &mut |_, _| ())?.answer;
    check_count("imported memories", imported.created, MEMORIES.lines().count())?;
    let entries = all(memory)?;
    check_count("entries", entries.len(), imported.created)?;
    let writers: BTreeSet<&str> = entries.iter().map(|entry| &*entry.entry.facts.source).collect();
    page.say(&format!("{} memories, written by {}.", imported.created, joined(&writers)))?;
    for prefix in SHOWN {
        page.command(&format!("list --prefix {prefix}"), "")?;
        let query = ListQuery { prefix: Some(prefix.into()), ..ListQuery::default() };
        let shown = memory.list(&query)?.entries;
        check(shown.len() > 1, || format!("{} entries with the prefix {prefix}", shown.len()))?;
        for entry in &shown {
            entry_row(page, entry)?;
        }
    }
    page.say("Things said twice, things no longer true: what any agent's memory looks like after a month.")?;
    page.gap()?;
    Ok(entries)
}

/// All entries but dream reports, by key.
pub(super) fn all(memory: &Memory) -> Step<Vec<ListedEntry>> {
    let page = memory.list(&ListQuery { limit: Some(bilinc::MAX_PAGE), ..ListQuery::default() })?;
    check(page.next_cursor.is_none(), || "more entries than fit a page".into())?;
    Ok(page.entries.into_iter().filter(|entry| !entry.key.is_reserved()).collect())
}

/// A row with key, writer and value.
pub(super) fn entry_row(page: &mut Page<'_>, entry: &ListedEntry) -> Step {
    let value = entry.value.as_ref().map(text_of).unwrap_or_default();
    page.row(&[
        Cell(entry.key.as_str(), 20, Paint::Plain),
        Cell(&entry.entry.facts.source, 8, Paint::Faint),
        Cell(&value, 0, Paint::Plain),
    ])
}

/// A value for reading: a string itself, else its JSON.
pub(super) fn text_of(value: &bilinc::Json) -> String {
    value.as_plain_string().unwrap_or_else(|| value.to_string())
}

fn joined(names: &BTreeSet<&str>) -> String {
    let names: Vec<&str> = names.iter().copied().collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.join(""),
    }
}
