//! Entries as they stand at a position of the log.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use serde::Serialize;

use crate::id::{DreamId, Seq, Version};
use crate::key::Key;
use crate::time::Timestamp;

/// What kind of memory an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryType {
    /// A fact.
    #[default]
    Semantic,
    /// Something that happened.
    Episodic,
    /// How something is done.
    Procedural,
    /// Of use for the work at hand.
    Working,
    /// Where something is.
    Spatial,
}

impl MemoryType {
    /// All of them, in the order of their declaration.
    pub const ALL: [Self; 5] = [Self::Semantic, Self::Episodic, Self::Procedural, Self::Working, Self::Spatial];

    /// The name that surfaces use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Semantic => "semantic",
            Self::Episodic => "episodic",
            Self::Procedural => "procedural",
            Self::Working => "working",
            Self::Spatial => "spatial",
        }
    }

    /// The type of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for MemoryType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a writer says of an entry beside its value and metadata object.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// What kind of memory it is.
    pub memory_type: MemoryType,
    /// 0.0 to 1.0.
    pub importance: f64,
    /// Who saved it; may be empty.
    pub source: Arc<str>,
    /// The session it was saved in.
    pub session_id: Option<Arc<str>>,
    /// Whether it is the agreed truth; `entrenchment` guards it.
    pub canonical: Option<bool>,
    /// 0.0 to 1.0.
    pub priority: Option<f64>,
    /// Seconds after `updated_at` at which it stops being there; above 0.
    pub ttl: Option<f64>,
}

/// A mark on an entry for a person to look at.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenFlag {
    /// Where the flag was set; its identity.
    pub seq: Seq,
    /// The dream that set it, if one did.
    pub dream: Option<DreamId>,
    /// Why.
    pub reason: Arc<str>,
    /// Entries that speak for it.
    pub evidence_keys: Vec<Key>,
    /// When it was set.
    pub at: Timestamp,
}

/// One memory, without the bytes of its value and metadata: those are read from the log, at the
/// positions named here.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// What its writer said of it.
    pub facts: Facts,
    /// When the entry was created.
    pub created_at: Timestamp,
    /// When it last changed or was confirmed.
    pub updated_at: Timestamp,
    /// When it was last confirmed, if since its last change.
    pub confirmed_at: Option<Timestamp>,
    /// Its present version.
    pub version: Version,
    /// The event whose body holds the value.
    pub value_at: Seq,
    /// The event whose body holds the metadata object; [`Seq::ZERO`] where that is `{}`.
    pub metadata_at: Seq,
    /// Bytes of the value.
    pub value_bytes: u32,
    /// Bytes of the metadata object; 0 where that is `{}`.
    pub metadata_bytes: u32,
    /// Open flags, oldest first.
    pub flags: Vec<OpenFlag>,
    /// Whether an event that shaped it was lost with damage of the log: all that is said here beside the
    /// value, and the metadata object, are those last known.
    pub incomplete: bool,
}

impl Entry {
    /// Whether two states of an entry are equal in all that a rollback brings back: everything but
    /// version, `updated_at` and flags.
    #[must_use]
    pub fn same_content(&self, other: &Self) -> bool {
        self.facts == other.facts
            && self.created_at == other.created_at
            && self.confirmed_at == other.confirmed_at
            && self.value_at == other.value_at
            && self.metadata_at == other.metadata_at
    }

    /// The moment after which the entry is not there any more.
    #[must_use]
    pub fn expires_at(&self) -> Option<Timestamp> {
        expiry(self.updated_at, self.facts.ttl)
    }

    /// Whether its time to live has passed at `now`. The last moment still counts as alive.
    #[must_use]
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at().is_some_and(|at| at < now)
    }
}

/// The last moment of an entry updated at `updated_at` that lives for `ttl` seconds.
fn expiry(updated_at: Timestamp, ttl: Option<f64>) -> Option<Timestamp> {
    // The cast saturates, which is what a ttl beyond all time means.
    #[allow(clippy::cast_possible_truncation)]
    ttl.map(|seconds| updated_at.plus((seconds * 1e6) as i64))
}
