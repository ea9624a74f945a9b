//! What a salvage found, kept and lost.

use bilinc_core::{Key, Seq, StoreId, Timestamp};

use super::Head;

/// Positions that were lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostPositions {
    /// The first.
    pub first: Seq,
    /// The last.
    pub last: Seq,
    /// Bytes that were found there and could not be read; 0 where there were none.
    pub bytes: u64,
    /// What was found.
    pub reason: String,
    /// Keys that lost an event here, as far as later events tell, in order.
    pub keys: Vec<Key>,
}

/// An event whose facts are whole and whose body was lost: value, metadata object, or the fingerprint of
/// an idempotency key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostBody {
    /// The event.
    pub seq: Seq,
    /// The key it is about, if it is about one.
    pub key: Option<Key>,
    /// What was found.
    pub reason: String,
}

/// What of a damaged log is whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Kept {
    /// Operations.
    pub operations: u64,
    /// Their events.
    pub events: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// What a salvage did, or, as a preview, would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SalvageReport {
    /// The store.
    pub store: StoreId,
    /// Whether nothing was written because only a preview was asked for.
    pub preview: bool,
    /// Whether a salvage that had been interrupted was finished first.
    pub finished_earlier: bool,
    /// What was found damaged, in words; empty where there was nothing to do, and then nothing was changed.
    pub damage: Vec<String>,
    /// What is kept.
    pub kept: Kept,
    /// Events that are lost, in order.
    pub lost: Vec<LostPositions>,
    /// Bodies that are lost, in order.
    pub lost_bodies: Vec<LostBody>,
    /// Operations that are kept although nothing proves any more that they are what was recorded.
    pub unproven: Vec<Seq>,
    /// Keys with a gap in their past, in order: what is said of them beside a value is the last that is
    /// known, and a value that is not known is said to be lost.
    pub incomplete: Vec<Key>,
    /// Where the log stood before, as far as that was known.
    pub before: Head,
    /// Where the damaged files lie now, in the store's folder. A purge removes them; so does the end of one
    /// that was interrupted, which comes at once.
    pub quarantined: Vec<String>,
    /// Where the log stands now; none in a preview.
    pub head: Option<Head>,
}

impl SalvageReport {
    /// Whether there was anything to salvage.
    #[must_use]
    pub fn is_needed(&self) -> bool {
        !self.damage.is_empty()
    }

    /// How many events are lost.
    #[must_use]
    pub fn lost_events(&self) -> u64 {
        let count = |range: &LostPositions| range.last.get().saturating_sub(range.first.get()).saturating_add(1);
        self.lost.iter().map(count).sum()
    }
}

/// A salvage as the log records it for ever.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SalvageRecord {
    /// Where it is recorded.
    pub seq: Seq,
    /// When it was done.
    pub at: Timestamp,
    /// Events that were lost.
    pub lost: Vec<LostPositions>,
    /// Positions of events that lost their bodies.
    pub bodies: Vec<Seq>,
    /// Operations that were kept unproven.
    pub unproven: Vec<Seq>,
    /// What was found damaged.
    pub damage: Vec<String>,
    /// Where the log stood before, as far as that was known.
    pub before: Head,
}
