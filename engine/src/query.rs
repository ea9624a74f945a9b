//! What reads ask for.

use bilinc_core::{DreamId, ImportId, Key, MemoryType, OperationId, Seq, SnapshotId, Timestamp};

/// A point of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// The state after the event at this position.
    Position(Seq),
    /// The state after the last event recorded at or before this time.
    Time(Timestamp),
    /// The state that a snapshot names.
    Snapshot(SnapshotId),
    /// The present.
    Now,
}

/// How much of a value a list gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Values {
    /// The whole value.
    #[default]
    Full,
    /// A string itself, else its compact JSON, cut at [`PREVIEW_CHARS`] characters with `…`.
    Preview,
    /// No value.
    None,
}

/// Longest preview of a value, in characters.
pub const PREVIEW_CHARS: usize = 200;

/// The order of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// By the bytes of the keys' UTF-8.
    #[default]
    Key,
    /// Last updated first.
    Newest,
    /// Last updated last.
    Oldest,
}

/// A page of entries.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ListQuery {
    /// Entries on a page, 1 to [`MAX_PAGE`]; [`DEFAULT_PAGE`] when absent.
    pub limit: Option<usize>,
    /// Only keys that begin so (brought to NFC, not trimmed).
    pub prefix: Option<String>,
    /// Only this type.
    pub memory_type: Option<MemoryType>,
    /// Only these sources; an empty text stands for entries without one. No filter when empty.
    pub sources: Vec<String>,
    /// Only entries updated after this time, exclusive.
    pub updated_after: Option<Timestamp>,
    /// Only entries updated before this time, exclusive.
    pub updated_before: Option<Timestamp>,
    /// Only entries with an open flag, or only those without.
    pub flagged: Option<bool>,
    /// The order.
    pub order: Order,
    /// How much of the values.
    pub values: Values,
    /// Where the page before ended, from its `next_cursor`.
    pub cursor: Option<String>,
}

/// Entries, events or results on a page when no limit is given.
pub const DEFAULT_PAGE: usize = 100;
/// Most entries, events or results on a page.
pub const MAX_PAGE: usize = 1_000;

/// How thoroughly a recall searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    /// Exact terms only.
    Fast,
    /// Stems, prefixes and a little tolerance for typos, too.
    #[default]
    Balanced,
    /// What [`Self::Balanced`] finds, in order of trust: confirmed entries without an open flag, then other
    /// entries without one, then flagged ones; each by score. An entry counts as confirmed until its next
    /// change.
    Verified,
    /// Also entries whose earlier values answer the query, in one order by score with those that answer by
    /// their present value. Values that a forget hides, or a purge erased, are not looked at. The first such
    /// recall of an open store reads the log once, and the words of all values that it holds stay in memory.
    Deep,
}

/// A ranked search.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallQuery {
    /// Text, never syntax; up to [`QUERY_CHARS`] characters.
    pub query: String,
    /// Most results, 1 to [`MAX_RESULTS`].
    pub limit: usize,
    /// Only these types; all when empty.
    pub memory_types: Vec<MemoryType>,
    /// How thoroughly.
    pub profile: Profile,
    /// Say which terms matched.
    pub explain: bool,
    /// Search what was there at this time. Reads the log up to there.
    pub query_timestamp: Option<Timestamp>,
}

/// Longest query, in characters.
pub const QUERY_CHARS: usize = 4_096;
/// Most results of a recall.
pub const MAX_RESULTS: usize = 100;

impl RecallQuery {
    /// A search for ten results with the default profile.
    #[must_use]
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            limit: 10,
            memory_types: Vec::new(),
            profile: Profile::default(),
            explain: false,
            query_timestamp: None,
        }
    }
}

/// The changes between two points.
#[derive(Debug, Clone, PartialEq)]
pub struct DiffQuery {
    /// The earlier point, as a rule; the later one turns added into removed.
    pub from: At,
    /// The other point.
    pub to: At,
    /// Give the values before and after.
    pub include_values: bool,
    /// Most keys in each of the three lists; counts are always whole.
    pub limit: usize,
}

/// A page of events.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LogQuery {
    /// Events on a page, 1 to [`MAX_PAGE`]; [`DEFAULT_PAGE`] when absent.
    pub limit: Option<usize>,
    /// Only events about this key.
    pub key: Option<Key>,
    /// Only events by this writer.
    pub source: Option<String>,
    /// Only events of this session.
    pub session_id: Option<String>,
    /// Only the own events of this dream: its start, its pages and what they changed, its undo.
    pub dream: Option<DreamId>,
    /// Only events of this import.
    pub import: Option<ImportId>,
    /// Only events of this operation.
    pub operation: Option<OperationId>,
    /// Only events from this position on.
    pub from_seq: Option<Seq>,
    /// Only events up to this position.
    pub to_seq: Option<Seq>,
    /// Only events recorded after this time, exclusive.
    pub after: Option<Timestamp>,
    /// Only events recorded before this time, exclusive.
    pub before: Option<Timestamp>,
    /// Oldest first instead of newest first.
    pub oldest_first: bool,
    /// Give values, too.
    pub include_values: bool,
    /// Where the page before ended, from its `next_cursor`.
    pub cursor: Option<String>,
}
