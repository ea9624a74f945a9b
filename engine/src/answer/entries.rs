//! Entries and changes of one entry.

use bilinc_core::{ChangeOp, Entry, ImportId, Json, Key, Seq, Timestamp, Version};

/// One entry was changed or flagged.
#[derive(Debug, Clone, PartialEq)]
pub struct EntryChange {
    /// Its key.
    pub key: Key,
    /// What was done.
    pub op: ChangeOp,
    /// The version it got; none when it was forgotten or only its flags changed.
    pub version: Option<Version>,
    /// When.
    pub at: Timestamp,
    /// Where in the log.
    pub seq: Seq,
    /// What was erased, when that was asked for.
    pub purged: Option<PurgeSummary>,
}

/// What a purge erased: numbers, never content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PurgeSummary {
    /// Bodies in the log: those of values, and those of fingerprints beside them.
    pub bodies: u64,
    /// Bytes of values and metadata objects in them.
    pub bytes: u64,
    /// Events of the key that lost their value.
    pub events: u64,
    /// Keys whose revise named this one among the duplicates folded in: copies may live on there.
    pub also_in: Vec<Key>,
}

/// An entry with its value and metadata.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryEntry {
    /// Its key.
    pub key: Key,
    /// All but value and metadata.
    pub entry: Entry,
    /// Its value; none when hidden or erased.
    pub value: Option<Json>,
    /// Its metadata object; none when hidden or erased.
    pub metadata: Option<Json>,
    /// Whether value and metadata are hidden because a later forget stands.
    pub values_redacted: bool,
    /// Whether the value or the metadata is not there because it was lost with damage of the log.
    pub lost: bool,
}

/// An entry on a page of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedEntry {
    /// Its key.
    pub key: Key,
    /// All but value and metadata.
    pub entry: Entry,
    /// Its value, as much as was asked for. A preview is a JSON string.
    pub value: Option<Json>,
    /// Its metadata object, with full values.
    pub metadata: Option<Json>,
    /// Whether the value or the metadata is not there because it was lost with damage of the log.
    pub lost: bool,
}

/// A page of entries.
#[derive(Debug, Clone, PartialEq)]
pub struct ListPage {
    /// The entries.
    pub entries: Vec<ListedEntry>,
    /// For the next page; none on the last.
    pub next_cursor: Option<String>,
    /// All entries that match, on whatever page.
    pub total: u64,
}

/// A term of a query and how it was found.
#[derive(Debug, Clone, PartialEq)]
pub struct MatchedTerm {
    /// The term of the query.
    pub term: String,
    /// `exact`, `stem`, `prefix` or `typo`.
    pub how: &'static str,
    /// Where: `key`, `value`, `metadata`; may be several.
    pub fields: Vec<&'static str>,
}

/// A result of a recall.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallHit {
    /// The entry.
    pub memory: MemoryEntry,
    /// Its rank's number; comparable within one answer only.
    pub score: f64,
    /// Seconds since it was last updated.
    pub age_seconds: i64,
    /// The terms that matched, when asked for.
    pub matched: Vec<MatchedTerm>,
    /// Where the earlier value was recorded by which the entry was found, with [`Profile::Deep`](crate::Profile);
    /// none when it was found by what it holds now.
    pub earlier_at: Option<Seq>,
}

/// What an import wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportSummary {
    /// Its id, by which it can be undone.
    pub import: ImportId,
    /// Lines read.
    pub lines: u64,
    /// Entries made.
    pub created: u64,
    /// Entries replaced.
    pub replaced: u64,
    /// Entries left alone because they exist.
    pub skipped_existing: u64,
    /// Lines left out because their keys are reserved.
    pub skipped_reserved: u64,
}
