//! `recall`, `list_memories` and `history`.

use super::{MEMORY_TYPES, Tool};
use crate::catalogue;
use crate::mcp::arguments::Change;
use crate::mcp::limits::{Omitted, Shortened};
use crate::mcp::outputs;
use crate::mcp::reply::Making;
use crate::mcp::schema::{Default, Field, Kind};
use crate::wire::entries::{EntryView, ListView};
use crate::wire::history::HistoryView;
use crate::wire::recall::RecallView;
use crate::wire::requests::{HistoryRequest, ListRequest, RecallRequest};

pub(super) const PROFILES: &[&str] = &["fast", "balanced", "verified", "deep"];
const PROFILE_HELP: &str = "fast takes exact words only; verified puts confirmed memories first and flagged ones last; \
    deep also finds by earlier values, and earlierAt says where one stood";
const VALUES: &[&str] = &["full", "preview", "none"];
const ORDERS: &[&str] = &["key", "newest", "oldest"];

/// Results of a recall and entries on a page of a list when nothing is asked for.
const RESULTS: u64 = 10;
const PAGE: u64 = 50;
const CHANGES: u64 = 20;

pub(super) const RECALL: Tool = Tool {
    name: "recall",
    title: catalogue::RECALL.summary,
    about: "Search the memories by words, best match first. Ask in the words that the memory may hold; several short \
            searches find more than a long one.",
    operations: &[catalogue::RECALL],
    idempotent: true,
    fields: &[
        Field::required("query", Kind::Text, "What to look for: text, never syntax"),
        Field::optional("profile", Kind::Word(PROFILES), PROFILE_HELP).or(Default::Word("balanced")),
        Field::optional("limit", Kind::Whole(1, 100), "Most results").or(Default::Whole(RESULTS)),
        Field::optional("memory_types", Kind::Words(MEMORY_TYPES), "Only these types"),
        Field::optional("explain", Kind::Flag, "Say which terms matched, and where").or(Default::No),
        Field::optional("query_timestamp", Kind::Text, "Search what was there at this time, RFC 3339"),
    ],
    output: outputs::recalled,
    run: |call| {
        let handle = call.store.read()?;
        let found = call.carry_out::<RecallRequest>(&handle, &[])?.answer.results;
        Making::of(&handle).with_notice().cut(found.len(), |cut| {
            let mut omitted = Omitted::default();
            let mut results = found.clone();
            cut.entries("results", &mut results, &mut omitted);
            Ok(Shortened { view: RecallView { results }, omitted })
        })
    },
};

pub(super) const LIST_MEMORIES: Tool = Tool {
    name: "list_memories",
    title: catalogue::LIST.summary,
    about: "List memories page by page, with filters. nextCursor of a page is the cursor of the next one.",
    operations: &[catalogue::LIST, catalogue::FLAGS],
    idempotent: true,
    fields: &[
        Field::optional("prefix", Kind::Text, "Only keys that begin so"),
        Field::optional("memory_type", Kind::Word(MEMORY_TYPES), "Only this type"),
        Field::optional("sources", Kind::Texts, "Only memories saved by these, exactly"),
        Field::optional("updated_after", Kind::Text, "Only memories updated after this time, RFC 3339"),
        Field::optional("updated_before", Kind::Text, "Only memories updated before this time, RFC 3339"),
        Field::optional("flagged", Kind::Flag, "Only memories with an open flag, or only those without"),
        Field::optional("order", Kind::Word(ORDERS), "By key, or by the time of the last update")
            .or(Default::Word("key")),
        Field::optional("values", Kind::Word(VALUES), "How much of each value").or(Default::Word("preview")),
        Field::optional("limit", Kind::Whole(1, 1_000), "Memories on a page").or(Default::Whole(PAGE)),
        Field::optional("cursor", Kind::Text, "Where the page before ended; with the same filters and order"),
    ],
    output: outputs::listed,
    run: |call| {
        let handle = call.store.read()?;
        let limit = call.arguments.whole("limit").unwrap_or(PAGE);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let mut page: Option<ListView> = None;
        Making::of(&handle).with_notice().cut(limit, |cut| {
            let mut omitted = Omitted::default();
            // A shorter page ends elsewhere, so it is asked for anew: no entry is skipped.
            let known = page.take().filter(|page| page.entries.len() <= cut.items);
            let known = match known {
                Some(page) => page,
                None => call.carry_out::<ListRequest>(&handle, &[Change::Set("limit", cut.items)])?.answer,
            };
            let mut entries: Vec<EntryView> = known.entries.clone();
            cut.entries("entries", &mut entries, &mut omitted);
            let ListView { next_cursor, total, values, order, sources, .. } = &known;
            let view = ListView {
                entries,
                next_cursor: next_cursor.clone(),
                total: *total,
                values: values.clone(),
                order: order.clone(),
                sources: sources.clone(),
            };
            page = Some(known);
            Ok(Shortened { view, omitted })
        })
    },
};

pub(super) const HISTORY: Tool = Tool {
    name: "history",
    title: catalogue::HISTORY.summary,
    about: "Show the recorded changes of one memory, newest first: what, when, who, why, and the values before and \
            after. Values from before a forget that stands are not shown.",
    operations: &[catalogue::HISTORY],
    idempotent: true,
    fields: &[
        Field::required("key", Kind::Text, "The memory's key, exactly"),
        Field::optional("limit", Kind::Whole(1, 1_000), "Most changes").or(Default::Whole(CHANGES)),
        Field::optional("values", Kind::Word(VALUES), "How much of each value").or(Default::Word("full")),
    ],
    output: outputs::history,
    run: |call| {
        let handle = call.store.read()?;
        let found = call.carry_out::<HistoryRequest>(&handle, &[])?.answer;
        Making::of(&handle).with_notice().cut(found.entries.len(), |cut| {
            let mut omitted = Omitted::default();
            let mut entries = found.entries.clone();
            cut.entries("entries", &mut entries, &mut omitted);
            let truncated = found.truncated || !omitted.is_empty();
            let HistoryView { key, exists, values, .. } = &found;
            let view = HistoryView { key: key.clone(), exists: *exists, entries, truncated, values: values.clone() };
            Ok(Shortened { view, omitted })
        })
    },
};
