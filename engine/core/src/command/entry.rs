//! Commands about one entry.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::Serialize;

use crate::entry::MemoryType;
use crate::id::Version;
use crate::json::Json;
use crate::key::Key;

/// Creates or replaces an entry; what is not given takes its default.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Commit {
    /// The entry's key.
    pub key: Key,
    /// Its value.
    pub value: Json,
    /// Its metadata object; `{}` when absent.
    pub metadata: Option<Json>,
    /// What kind of memory it is; semantic when absent.
    pub memory_type: Option<MemoryType>,
    /// 0.0 to 1.0; 1.0 when absent.
    pub importance: Option<f64>,
    /// Who saves it; the actor's source when absent.
    pub source: Option<Arc<str>>,
    /// The session it is saved in; the actor's when absent.
    pub session_id: Option<Arc<str>>,
    /// Whether it is the agreed truth.
    pub canonical: Option<bool>,
    /// 0.0 to 1.0.
    pub priority: Option<f64>,
    /// Seconds to live, above 0.
    pub ttl: Option<f64>,
    /// Refuse when the key exists.
    pub if_absent: bool,
    /// Refuse when the entry has another version.
    pub expected_version: Option<Version>,
}

impl Commit {
    /// A commit with every default.
    #[must_use]
    pub fn new(key: Key, value: Json) -> Self {
        Self {
            key,
            value,
            metadata: None,
            memory_type: None,
            importance: None,
            source: None,
            session_id: None,
            canonical: None,
            priority: None,
            ttl: None,
            if_absent: false,
            expected_version: None,
        }
    }
}

/// When a revise gives way to what is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// Always replaces.
    Recency,
    /// Refused when the new importance is below the stored.
    Importance,
    /// Refused when the stored entry is canonical and the new importance is below the stored.
    #[default]
    Entrenchment,
    /// Refused when the stored entry was confirmed since its last change and the new importance is
    /// below the stored.
    Verification,
}

impl Strategy {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Recency, Self::Importance, Self::Entrenchment, Self::Verification];

    /// The name that surfaces use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Recency => "recency",
            Self::Importance => "importance",
            Self::Entrenchment => "entrenchment",
            Self::Verification => "verification",
        }
    }
}

/// Replaces the value of an entry, and its importance when given.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Revise {
    /// The entry's key.
    pub key: Key,
    /// Its new value.
    pub value: Json,
    /// Its new importance, 0.0 to 1.0; kept when absent.
    pub importance: Option<f64>,
    /// When to give way.
    pub strategy: Strategy,
    /// Why.
    pub reason: Option<String>,
    /// Refuse when the entry has another version.
    pub expected_version: Option<Version>,
}

/// Takes an entry out of use, or erases it for good.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Forget {
    /// The entry's key.
    pub key: Key,
    /// Why.
    pub reason: String,
    /// Refuse when the entry has another version.
    pub expected_version: Option<Version>,
    /// Also erase the content of all events of the key, for good; works on one forgotten earlier.
    // Left out of the fingerprint when it is not asked for, as it was before there was a purge.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub purge: bool,
}

/// Says that an entry is still right.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Confirm {
    /// The entry's key.
    pub key: Key,
    /// Why.
    pub reason: Option<String>,
    /// Refuse when the entry has another version.
    pub expected_version: Option<Version>,
}

/// Marks an entry for a person.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Flag {
    /// The entry's key.
    pub key: Key,
    /// What is to be looked at.
    pub reason: String,
    /// Entries that speak for it.
    pub evidence_keys: Vec<Key>,
    /// Refuse when the entry has another version.
    pub expected_version: Option<Version>,
}

/// Clears the open flags of an entry.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Unflag {
    /// The entry's key.
    pub key: Key,
    /// Why.
    pub reason: Option<String>,
    /// Refuse when the entry has another version.
    pub expected_version: Option<Version>,
}
