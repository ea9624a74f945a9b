//! Pages of entries.

use std::sync::Arc;

use bilinc_core::{Entry, Json, Key, Rejection, Timestamp};
use bilinc_projections::order::Window;
use unicode_normalization::UnicodeNormalization;

use super::Memory;
use super::cursor::Cursor;
use crate::answer::{ListPage, ListedEntry};
use crate::error::Error;
use crate::query::{DEFAULT_PAGE, ListQuery, MAX_PAGE, Order, PREVIEW_CHARS, Values};
use crate::store::Published;

/// The entries of a page, whether more follow, and how many match in all.
struct Found {
    entries: Vec<(Key, Entry)>,
    more: bool,
    total: u64,
}

impl Memory {
    /// A page of entries.
    ///
    /// An entry that does not change is never skipped and never given twice, however much is written
    /// between two pages. A page without filters, or of one type, costs what is on it; with any other filter it
    /// is a walk over all keys, which counts those that match.
    ///
    /// # Errors
    /// When the limit or the cursor is wrong, or the log cannot be read.
    pub fn list(&self, query: &ListQuery) -> Result<ListPage, Error> {
        let limit = page_limit(query.limit)?;
        let list = query.order as u8;
        let cursor = query.cursor.as_deref().map(|text| Cursor::decode(text, self.store_id(), list)).transpose()?;
        self.store.refresh()?;
        self.make_order(query.order);
        let now = self.now();
        let found = find(&self.store.published(), query, cursor.as_ref(), limit, now);
        let next_cursor = found.entries.last().filter(|_| found.more).map(|(key, entry)| {
            let number = entry.updated_at.micros();
            Cursor { store: self.store_id(), list, number, key: key.as_str().to_owned() }.encode()
        });
        let entries = found.entries.into_iter().map(|(key, entry)| self.listed(key, entry, query.values));
        Ok(ListPage { entries: entries.collect::<Result<_, _>>()?, next_cursor, total: found.total })
    }

    fn make_order(&self, order: Order) {
        let there = {
            let published = self.store.published();
            if order == Order::Key { published.keys().is_some() } else { published.times().is_some() }
        };
        if !there {
            let mut published = self.store.published_mut();
            if order == Order::Key { published.make_keys() } else { published.make_times() }
        }
    }

    fn listed(&self, key: Key, entry: Entry, values: Values) -> Result<ListedEntry, Error> {
        let (value, metadata) = match values {
            Values::None => (None, None),
            Values::Preview => (self.store.value(&entry)?.as_ref().map(preview), None),
            Values::Full => {
                let text = self.store.text(&entry)?;
                (text.value, text.metadata)
            }
        };
        let lost = self.store.published().state.has_lost(&entry);
        Ok(ListedEntry { key, entry, value, metadata, lost })
    }
}

/// A string itself, else its compact JSON, cut at [`PREVIEW_CHARS`] characters.
fn preview(value: &Json) -> Json {
    let text = value.as_plain_string().unwrap_or_else(|| value.as_str().to_owned());
    match text.char_indices().nth(PREVIEW_CHARS) {
        Some((at, _)) => Json::string(&format!("{}…", text.get(..at).unwrap_or_default())),
        None => Json::string(&text),
    }
}

/// The number of items on a page.
pub(super) fn page_limit(limit: Option<usize>) -> Result<usize, Rejection> {
    match limit.unwrap_or(DEFAULT_PAGE) {
        limit if (1..=MAX_PAGE).contains(&limit) => Ok(limit),
        _ => Err(Rejection::invalid("limit", "out_of_range", format!("a page has 1 to {MAX_PAGE} items"))),
    }
}

fn find(published: &Published, query: &ListQuery, cursor: Option<&Cursor>, limit: usize, now: Timestamp) -> Found {
    let prefix: String = query.prefix.as_deref().unwrap_or_default().nfc().collect();
    let micros = |time: Option<Timestamp>| time.map(Timestamp::micros);
    let window = Window { after: micros(query.updated_after), before: micros(query.updated_before) };
    let at = cursor.map(|cursor| (cursor.number, cursor.key.as_str()));
    let known = known_total(published, query, now);
    // Where the total is known only the page itself is walked.
    let known_at = at.filter(|_| known.is_some());
    let mut found = Found { entries: Vec::new(), more: false, total: 0 };
    let mut matching = |key: &Arc<str>, behind_cursor: bool| {
        let entry = published.state.entry(key, now);
        if let Some(entry) = entry.filter(|entry| key.starts_with(&*prefix) && matches(entry, query)) {
            found.total += 1;
            if behind_cursor && found.entries.len() < limit {
                found.entries.push((Key::from_shared(Arc::clone(key)), entry.clone()));
            } else if behind_cursor {
                found.more = true;
            }
        }
        known.is_some() && found.more
    };
    match (query.order, published.keys(), published.times()) {
        (Order::Key, Some(keys), _) => {
            let after = cursor.map(|cursor| cursor.key.as_str());
            for key in keys.ascending(&prefix, after.filter(|_| known.is_some())) {
                if matching(key, after.is_none_or(|after| key.as_ref() > after)) {
                    break;
                }
            }
        }
        (Order::Newest, _, Some(times)) => {
            for (time, key) in times.descending(window, known_at) {
                if matching(key, at.is_none_or(|at| (time, key.as_ref()) < at)) {
                    break;
                }
            }
        }
        (Order::Oldest, _, Some(times)) => {
            for (time, key) in times.ascending(window, known_at) {
                if matching(key, at.is_none_or(|at| (time, key.as_ref()) > at)) {
                    break;
                }
            }
        }
        // The order was made just before and is never dropped.
        _ => {}
    }
    found.total = known.unwrap_or(found.total);
    found
}

/// How many entries match, where the state counts them.
fn known_total(published: &Published, query: &ListQuery, now: Timestamp) -> Option<u64> {
    let ListQuery { prefix, sources, updated_after, updated_before, flagged, .. } = query;
    let filtered = prefix.as_ref().is_some_and(|prefix| !prefix.is_empty())
        || !sources.is_empty()
        || updated_after.is_some()
        || updated_before.is_some()
        || flagged.is_some();
    let counts = (!filtered).then(|| published.state.counts(now))?;
    match query.memory_type {
        None => Some(counts.entries()),
        Some(kind) => counts.by_type.get(kind as usize).copied(),
    }
}

fn matches(entry: &Entry, query: &ListQuery) -> bool {
    query.memory_type.is_none_or(|kind| entry.facts.memory_type == kind)
        && (query.sources.is_empty() || query.sources.iter().any(|source| **source == *entry.facts.source))
        && query.updated_after.is_none_or(|after| entry.updated_at > after)
        && query.updated_before.is_none_or(|before| entry.updated_at < before)
        && query.flagged.is_none_or(|flagged| entry.flags.is_empty() != flagged)
}
