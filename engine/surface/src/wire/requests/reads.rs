//! Requests that read entries.

use bilinc::{At, ListQuery, Memory, Order, Profile, RecallQuery, Rejection, Values};

use super::{Answer, Oversize, Prepared, Request, Surface, fresh, key, limit, memory_type, named, request, whole};
use crate::catalogue::{self, Operation};
use crate::wire::entries::{EntryView, ListView, order_name};
use crate::wire::fields::{self, values_name};
use crate::wire::history::HistoryView;
use crate::wire::recall::RecallView;

const PROFILES: [Profile; 4] = [Profile::Fast, Profile::Balanced, Profile::Verified, Profile::Deep];

/// So many values, each at its limit, may be read before an answer is judged too large.
const READ_AT_ONCE: usize = 16;

request! {
    /// Searches memories.
    RecallRequest {
        /// What to look for: text, never syntax, up to 4,096 characters.
        #[schema(min_length = 1, max_length = 4096)]
        query: String,
        /// How thoroughly: `fast` takes exact words only; `balanced` also stems, beginnings and small slips;
        /// `verified` puts confirmed entries first and flagged ones last; `deep` also finds by earlier values.
        #[schema(pattern = "^(fast|balanced|verified|deep)$")]
        profile: Option<String>,
        /// Most results, 1 to 100.
        #[schema(minimum = 1, maximum = 100)]
        limit: Option<u64>,
        /// Only these types.
        memory_types: Option<Vec<String>>,
        /// Say which terms matched, and where.
        explain: Option<bool>,
        /// Search what was there at this time.
        query_timestamp: Option<String>,
    }
}

impl Answer for RecallView {
    fn oversize(&self) -> Oversize {
        Oversize::Cut
    }

    fn cut(&mut self, chars: usize) {
        for result in &mut self.results {
            result.value_truncated = fields::cut_value(&mut result.value, chars);
        }
    }
}

impl Request for RecallRequest {
    const OPERATION: Operation = catalogue::RECALL;
    type Answer = RecallView;

    fn prepare(self, _: &Surface) -> Result<Prepared<RecallView>, Rejection> {
        let profile = match self.profile.as_deref() {
            Some(name) => named("profile", name, PROFILES, fields::profile_name)?,
            None => Profile::default(),
        };
        let types = self.memory_types.unwrap_or_default();
        let query = RecallQuery {
            limit: limit(self.limit, 10),
            memory_types: types.iter().map(|name| memory_type("memory_types", name)).collect::<Result<_, _>>()?,
            profile,
            explain: self.explain.unwrap_or_default(),
            query_timestamp: time_to_end("query_timestamp", self.query_timestamp.as_deref())?,
            ..RecallQuery::new(self.query)
        };
        Ok(Box::new(move |memory| Ok(fresh(RecallView::new(&memory.recall(&query)?)))))
    }
}

fn time_to_end(field: &str, text: Option<&str>) -> Result<Option<bilinc::Timestamp>, Rejection> {
    text.map(|text| fields::time_to_end(field, text)).transpose()
}

request! {
    /// Shows one memory.
    GetRequest {
        /// The memory's key.
        #[schema(min_length = 1, max_length = 512)]
        key: String,
        /// As it was: at a position, a time or a snapshot.
        as_of: Option<String>,
    }
}

whole!(EntryView);

impl Request for GetRequest {
    const OPERATION: Operation = catalogue::GET;
    type Answer = EntryView;

    fn prepare(self, _: &Surface) -> Result<Prepared<EntryView>, Rejection> {
        let key = key(&self.key)?;
        let at = self.as_of.as_deref().map_or(Ok(At::Now), |text| fields::point("as_of", text))?;
        Ok(Box::new(move |memory| {
            let found = match at {
                At::Now => memory.get(key.as_str())?,
                at => memory.get_at(key.as_str(), at)?,
            };
            let found = found.ok_or(Rejection::MemoryNotFound { key })?;
            Ok(fresh(EntryView::from(&found)))
        }))
    }
}

request! {
    /// Lists memories, page by page.
    #[derive(Default)]
    ListRequest {
        /// Memories on a page, 1 to 1,000.
        #[schema(minimum = 1, maximum = 1000)]
        limit: Option<u64>,
        /// How much of each value: `full`, `preview` or `none`.
        #[schema(pattern = "^(full|preview|none)$")]
        values: Option<String>,
        /// Only keys that begin so.
        prefix: Option<String>,
        /// Only this type.
        #[schema(pattern = "^(semantic|episodic|procedural|working|spatial)$")]
        memory_type: Option<String>,
        /// Only memories updated after this time.
        updated_after: Option<String>,
        /// Only memories updated before this time.
        updated_before: Option<String>,
        /// Where the page before ended.
        cursor: Option<String>,
        /// Only memories saved by these sources, exactly; the empty text is none.
        sources: Option<Vec<String>>,
        /// `key`, `newest` or `oldest`.
        #[schema(pattern = "^(key|newest|oldest)$")]
        order: Option<String>,
        /// Only memories with an open flag, or only those without.
        flagged: Option<bool>,
    }
}

impl Answer for ListView {
    fn oversize(&self) -> Oversize {
        if self.entries.len() > 1 { Oversize::Refused } else { Oversize::Whole }
    }
}

/// How much of each value.
fn values(name: Option<&str>, default: Values) -> Result<Values, Rejection> {
    let all = [Values::Full, Values::Preview, Values::None];
    name.map_or(Ok(default), |name| named("values", name, all, values_name))
}

impl Request for ListRequest {
    const OPERATION: Operation = catalogue::LIST;
    type Answer = ListView;

    fn prepare(self, surface: &Surface) -> Result<Prepared<ListView>, Rejection> {
        let orders = [Order::Key, Order::Newest, Order::Oldest];
        let order = self.order.as_deref().map_or(Ok(Order::Key), |name| named("order", name, orders, order_name))?;
        let sources = self.sources.unwrap_or_default();
        let from_start = |text: &String| fields::time_from_start("updated_before", text);
        let query = ListQuery {
            limit: Some(limit(self.limit, 50)),
            prefix: self.prefix,
            memory_type: self.memory_type.as_deref().map(|name| memory_type("memory_type", name)).transpose()?,
            sources: sources.clone(),
            updated_after: time_to_end("updated_after", self.updated_after.as_deref())?,
            updated_before: self.updated_before.as_ref().map(from_start).transpose()?,
            flagged: self.flagged,
            order,
            values: values(self.values.as_deref(), Values::Preview)?,
            cursor: self.cursor,
        };
        let most = surface.answer_bytes;
        Ok(Box::new(move |memory| {
            if let Some(most) = most.filter(|_| query.values == Values::Full) {
                check_list(memory, &query, most)?;
            }
            let page = memory.list(&query)?;
            Ok(fresh(ListView::new(&page, values_name(query.values), query.order, sources)))
        }))
    }
}

/// Refuses a page that will be too large before its values are read.
fn check_list(memory: &Memory, query: &ListQuery, most: usize) -> Result<(), bilinc::Error> {
    if query.limit.is_none_or(|limit| limit <= READ_AT_ONCE) {
        return Ok(());
    }
    let page = memory.list(&ListQuery { values: Values::None, ..query.clone() })?;
    let entries = page.entries.iter().map(|listed| &listed.entry);
    let bytes = entries.map(|entry| u64::from(entry.value_bytes) + u64::from(entry.metadata_bytes)).sum();
    check_bytes(bytes, page.entries.len(), most)
}

/// The refusal of an answer that would be too large.
#[must_use]
pub(crate) fn response_too_large(most: usize) -> Rejection {
    let message = format!("the answer would be over {most} bytes: ask for fewer at once, or for less of each value");
    Rejection::invalid("limit", "response_too_large", message)
}

fn check_bytes(bytes: u64, items: usize, most: usize) -> Result<(), bilinc::Error> {
    if items > 1 && bytes > most as u64 { Err(response_too_large(most).into()) } else { Ok(()) }
}

request! {
    /// Shows what happened to one memory, newest first.
    HistoryRequest {
        /// The memory's key.
        #[schema(min_length = 1, max_length = 512)]
        key: String,
        /// Most changes, 1 to 1,000.
        #[schema(minimum = 1, maximum = 1000)]
        limit: Option<u64>,
        /// How much of each value: `full`, `preview` or `none`.
        #[schema(pattern = "^(full|preview|none)$")]
        values: Option<String>,
    }
}

impl Answer for HistoryView {
    fn oversize(&self) -> Oversize {
        if self.entries.len() > 1 { Oversize::Refused } else { Oversize::Whole }
    }
}

impl Request for HistoryRequest {
    const OPERATION: Operation = catalogue::HISTORY;
    type Answer = HistoryView;

    fn prepare(self, surface: &Surface) -> Result<Prepared<HistoryView>, Rejection> {
        let key = key(&self.key)?;
        let limit = limit(self.limit, 20);
        let values = values(self.values.as_deref(), Values::Full)?;
        let most = surface.answer_bytes.filter(|_| values == Values::Full && limit > READ_AT_ONCE);
        Ok(Box::new(move |memory| {
            if let Some(most) = most {
                let history = memory.history(key.as_str(), limit, false)?;
                let states = history.items.iter().filter(|item| !item.values_redacted);
                let states = states.flat_map(|item| item.before.iter().chain(&item.after));
                let bytes = states.map(|state| u64::from(state.entry.value_bytes)).sum();
                check_bytes(bytes, history.items.len(), most)?;
            }
            let history = memory.history(key.as_str(), limit, values != Values::None)?;
            Ok(fresh(HistoryView::new(&history, values)))
        }))
    }
}

/// A value in parts of a diff is as large as its entry says.
pub(super) fn check_diff(memory: &Memory, query: &bilinc::DiffQuery, most: usize) -> Result<(), bilinc::Error> {
    if query.limit <= READ_AT_ONCE {
        return Ok(());
    }
    let diff = memory.diff(&bilinc::DiffQuery { include_values: false, ..query.clone() })?;
    let items: Vec<_> = diff.added.iter().chain(&diff.modified).chain(&diff.removed).collect();
    let states = items.iter().filter(|item| !item.values_redacted);
    let states = states.flat_map(|item| item.before.iter().chain(&item.after));
    let bytes = states.map(|state| u64::from(state.entry.value_bytes)).sum();
    check_bytes(bytes, items.len(), most)
}
