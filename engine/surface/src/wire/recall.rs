//! Results of a recall.

use std::borrow::Cow;

use bilinc::{Json, Key, RecallHit, Seq, Version};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::entries::{FlagView, flags_of};
use super::{Time, given, is_false};

/// The results of a recall, best first.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct RecallView {
    /// The results.
    pub results: Vec<RecallResult>,
}

/// A result.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecallResult {
    /// The entry's key.
    #[schema(value_type = String)]
    pub key: Key,
    /// Its value.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<serde_json::Value>)]
    pub value: Option<Json>,
    /// Whether the value was cut, because the answer would be too large.
    #[serde(default, skip_serializing_if = "is_false")]
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// When it was created.
    pub created_at: Time,
    /// When it last changed or was confirmed.
    pub updated_at: Time,
    /// When it was last confirmed, if since its last change.
    pub confirmed_at: Option<Time>,
    /// Its version.
    #[schema(value_type = String)]
    pub entry_version: Version,
    /// Its open flags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<FlagView>,
    /// Its rank's number; comparable within one answer only.
    pub score: f64,
    /// Seconds since it was last updated.
    pub age_seconds: i64,
    /// The terms that matched, when asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matched: Vec<Matched>,
    /// The position of the earlier value by which it was found, with the profile `deep`; absent when it was
    /// found by what it holds now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>)]
    pub earlier_at: Option<Seq>,
}

/// A term of the query and how it was found.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Matched {
    /// The term.
    pub term: String,
    /// `exact`, `stem`, `prefix` or `typo`.
    pub how: Cow<'static, str>,
    /// Where.
    pub fields: Vec<Cow<'static, str>>,
}

impl RecallView {
    /// The results.
    #[must_use]
    pub fn new(hits: &[RecallHit]) -> Self {
        Self { results: hits.iter().map(RecallResult::from).collect() }
    }
}

impl From<&RecallHit> for RecallResult {
    fn from(hit: &RecallHit) -> Self {
        let (memory, entry) = (&hit.memory, &hit.memory.entry);
        let matched = (hit.matched.iter())
            .map(|term| Matched {
                term: term.term.clone(),
                how: term.how.into(),
                fields: term.fields.iter().map(|field| (*field).into()).collect(),
            })
            .collect();
        Self {
            key: memory.key.clone(),
            value: memory.value.clone(),
            value_truncated: false,
            memory_type: entry.facts.memory_type.name().into(),
            importance: entry.facts.importance,
            metadata: memory.metadata.clone(),
            source: entry.facts.source.to_string(),
            session_id: entry.facts.session_id.as_deref().map(str::to_owned),
            created_at: entry.created_at.into(),
            updated_at: entry.updated_at.into(),
            confirmed_at: entry.confirmed_at.map(Time),
            entry_version: entry.version,
            flags: flags_of(entry),
            score: hit.score,
            age_seconds: hit.age_seconds,
            matched,
            earlier_at: hit.earlier_at,
        }
    }
}
