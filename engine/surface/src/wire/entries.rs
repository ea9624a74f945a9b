//! Entries, and the answers of what changes one.

use std::borrow::Cow;

use bilinc::{
    DreamId, Entry, EntryChange, Json, Key, ListPage, ListedEntry, MemoryEntry, OpenFlag, Order, PurgeSummary, Seq,
    Version,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Time, given, is_false};

/// An open flag.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FlagView {
    /// Where it was set.
    #[schema(value_type = u64)]
    pub seq: Seq,
    /// When.
    pub at: Time,
    /// The dream that set it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub dream_id: Option<DreamId>,
    /// Why.
    pub reason: String,
    /// Entries that speak for it.
    #[schema(value_type = Vec<String>)]
    pub evidence_keys: Vec<Key>,
}

impl From<&OpenFlag> for FlagView {
    fn from(flag: &OpenFlag) -> Self {
        Self {
            seq: flag.seq,
            at: flag.at.into(),
            dream_id: flag.dream,
            reason: flag.reason.to_string(),
            evidence_keys: flag.evidence_keys.clone(),
        }
    }
}

/// The flags of an entry.
#[must_use]
pub fn flags_of(entry: &Entry) -> Vec<FlagView> {
    entry.flags.iter().map(FlagView::from).collect()
}

/// An entry, with as much of its value as was asked for.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EntryView {
    /// Its key.
    #[schema(value_type = String)]
    pub key: Key,
    /// Its value.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<serde_json::Value>)]
    pub value: Option<Json>,
    /// Whether a value was cut, which happens over MCP alone.
    #[serde(default, skip_serializing_if = "is_false")]
    #[schema(ignore)]
    pub value_truncated: bool,
    /// What kind of memory it is.
    pub memory_type: Cow<'static, str>,
    /// 0.0 to 1.0.
    pub importance: f64,
    /// Its metadata object.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<serde_json::Value>)]
    pub metadata: Option<Json>,
    /// Who saved it.
    pub source: String,
    /// The session it was saved in.
    pub session_id: Option<String>,
    /// Whether it is the agreed truth.
    pub canonical: Option<bool>,
    /// 0.0 to 1.0.
    pub priority: Option<f64>,
    /// Seconds to live.
    pub ttl: Option<f64>,
    /// Its last moment.
    pub expires_at: Option<Time>,
    /// When it was created.
    pub created_at: Time,
    /// When it last changed or was confirmed.
    pub updated_at: Time,
    /// When it was last confirmed, if since its last change.
    pub confirmed_at: Option<Time>,
    /// Its version.
    #[schema(value_type = String)]
    pub entry_version: Version,
    /// Its open flags, oldest first.
    pub flags: Vec<FlagView>,
    /// Whether value and metadata are hidden because a later forget stands.
    #[serde(default, skip_serializing_if = "is_false")]
    pub values_redacted: bool,
    /// Whether the value or the metadata was lost with damage of the log.
    #[serde(default, skip_serializing_if = "is_false")]
    pub value_lost: bool,
    /// Whether what is said beside the value is only the last that is known, since something was lost.
    #[serde(default, skip_serializing_if = "is_false")]
    pub incomplete: bool,
}

impl EntryView {
    fn new(key: &Key, entry: &Entry, value: Option<Json>, metadata: Option<Json>) -> Self {
        let facts = &entry.facts;
        Self {
            key: key.clone(),
            value,
            value_truncated: false,
            memory_type: facts.memory_type.name().into(),
            importance: facts.importance,
            metadata,
            source: facts.source.to_string(),
            session_id: facts.session_id.as_deref().map(str::to_owned),
            canonical: facts.canonical,
            priority: facts.priority,
            ttl: facts.ttl,
            expires_at: entry.expires_at().map(Time),
            created_at: entry.created_at.into(),
            updated_at: entry.updated_at.into(),
            confirmed_at: entry.confirmed_at.map(Time),
            entry_version: entry.version,
            flags: flags_of(entry),
            values_redacted: false,
            value_lost: false,
            incomplete: entry.incomplete,
        }
    }
}

impl From<&MemoryEntry> for EntryView {
    fn from(memory: &MemoryEntry) -> Self {
        let view = Self::new(&memory.key, &memory.entry, memory.value.clone(), memory.metadata.clone());
        Self { values_redacted: memory.values_redacted, value_lost: memory.lost, ..view }
    }
}

impl From<&ListedEntry> for EntryView {
    fn from(listed: &ListedEntry) -> Self {
        let view = Self::new(&listed.key, &listed.entry, listed.value.clone(), listed.metadata.clone());
        Self { value_lost: listed.lost, ..view }
    }
}

/// A page of a list.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListView {
    /// The entries.
    pub entries: Vec<EntryView>,
    /// For the next page.
    pub next_cursor: Option<String>,
    /// All entries that match.
    pub total: u64,
    /// How much of the values was asked for.
    pub values: Cow<'static, str>,
    /// The order that was asked for.
    pub order: Cow<'static, str>,
    /// The sources that were asked for.
    pub sources: Vec<String>,
}

impl ListView {
    /// The page with what was asked for echoed.
    #[must_use]
    pub fn new(page: &ListPage, values: &'static str, order: Order, sources: Vec<String>) -> Self {
        Self {
            entries: page.entries.iter().map(EntryView::from).collect(),
            next_cursor: page.next_cursor.clone(),
            total: page.total,
            values: values.into(),
            order: order_name(order).into(),
            sources,
        }
    }
}

/// The name of an order.
#[must_use]
pub const fn order_name(order: Order) -> &'static str {
    match order {
        Order::Key => "key",
        Order::Newest => "newest",
        Order::Oldest => "oldest",
    }
}

/// The answer of a commit.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Committed {
    /// `create` or `update`.
    pub operation: Cow<'static, str>,
    /// The entry's key.
    #[schema(value_type = Vec<String>)]
    pub affected_keys: Vec<Key>,
    /// None.
    #[schema(value_type = Vec<String>)]
    pub removed_keys: Vec<Key>,
    /// The entry's version.
    #[schema(value_type = Option<String>)]
    pub entry_version: Option<Version>,
}

impl From<&EntryChange> for Committed {
    fn from(change: &EntryChange) -> Self {
        Self {
            operation: change.op.name().into(),
            affected_keys: vec![change.key.clone()],
            removed_keys: Vec::new(),
            entry_version: change.version,
        }
    }
}

/// The answer of a revise.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Revised {
    /// The entry's key.
    #[schema(value_type = String)]
    pub key: Key,
    /// The strategy it was judged by.
    pub strategy: Cow<'static, str>,
    /// The entry's key.
    #[schema(value_type = Vec<String>)]
    pub affected_keys: Vec<Key>,
    /// The entry's version.
    #[schema(value_type = Option<String>)]
    pub entry_version: Option<Version>,
}

impl Revised {
    /// The answer of a revise judged by this strategy.
    #[must_use]
    pub fn new(change: &EntryChange, strategy: bilinc::Strategy) -> Self {
        Self {
            key: change.key.clone(),
            strategy: strategy.name().into(),
            affected_keys: vec![change.key.clone()],
            entry_version: change.version,
        }
    }
}

/// The answer of a forget.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Forgotten {
    /// The entry's key.
    #[schema(value_type = String)]
    pub key: Key,
    /// Always true.
    pub removed: bool,
    /// Always true: the reason is in the history.
    pub reason_recorded: bool,
    /// What was erased, when that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purged: Option<PurgedView>,
}

/// What a purge erased: numbers, never content.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PurgedView {
    /// Bodies in the log.
    pub bodies: u64,
    /// Bytes of values and metadata in them.
    pub bytes: u64,
    /// Events of the key that lost their value.
    pub events: u64,
    /// Keys whose revise folded this one in: copies may live on there.
    #[schema(value_type = Vec<String>)]
    pub also_in: Vec<Key>,
}

impl From<&PurgeSummary> for PurgedView {
    fn from(purged: &PurgeSummary) -> Self {
        let PurgeSummary { bodies, bytes, events, also_in } = purged;
        Self { bodies: *bodies, bytes: *bytes, events: *events, also_in: also_in.clone() }
    }
}

impl From<&EntryChange> for Forgotten {
    fn from(change: &EntryChange) -> Self {
        Self {
            key: change.key.clone(),
            removed: true,
            reason_recorded: true,
            purged: change.purged.as_ref().map(PurgedView::from),
        }
    }
}

/// The answer of a confirm.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Confirmed {
    /// The entry's key.
    #[schema(value_type = String)]
    pub key: Key,
    /// Always true.
    pub confirmed: bool,
    /// When.
    pub updated_at: Time,
    /// The entry's version.
    #[schema(value_type = Option<String>)]
    pub entry_version: Option<Version>,
}

impl From<&EntryChange> for Confirmed {
    fn from(change: &EntryChange) -> Self {
        Self { key: change.key.clone(), confirmed: true, updated_at: change.at.into(), entry_version: change.version }
    }
}

/// The answer of a flag or an unflag.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Flags {
    /// The entry's key.
    #[schema(value_type = String)]
    pub key: Key,
    /// The flags that are open now.
    pub flags: Vec<FlagView>,
}
