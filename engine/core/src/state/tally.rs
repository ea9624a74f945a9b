//! What follows from the entries of single keys: sums over them, and the few that are looked for by more than their key.

use alloc::collections::BTreeSet;

use crate::entry::Entry;
use crate::id::Seq;
use crate::key::Key;
use crate::slot::Slot;
use crate::time::Timestamp;

/// Sums over entries, expired ones included, and those of them that expire or bear flags.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Tally {
    /// Entries with a time to live, by their last moment.
    pub(super) expiring: BTreeSet<(Timestamp, Key)>,
    /// Keys of entries with an open flag.
    pub(super) flagged: BTreeSet<Key>,
    /// Entries by type.
    pub(super) by_type: [u64; 5],
    /// Bytes of their values and metadata objects.
    pub(super) live_bytes: u64,
}

/// What is counted of an entry.
pub(super) struct Brief {
    pub(super) changed: Seq,
    pub(super) updated_at: Timestamp,
    expires_at: Option<Timestamp>,
    memory_type: usize,
    bytes: u64,
    flagged: bool,
}

impl Brief {
    pub(super) fn of(slot: &Slot) -> Option<Self> {
        slot.entry.as_ref().map(|entry: &Entry| Self {
            changed: slot.changed,
            updated_at: entry.updated_at,
            expires_at: entry.expires_at(),
            memory_type: entry.facts.memory_type as usize,
            bytes: u64::from(entry.value_bytes) + u64::from(entry.metadata_bytes),
            flagged: !entry.flags.is_empty(),
        })
    }
}

impl Tally {
    /// Counts the entry of a key as it is now in place of what it was before.
    pub(super) fn recount(&mut self, key: &Key, before: Option<&Brief>, after: Option<&Brief>) {
        if let Some(before) = before {
            if let Some(at) = before.expires_at {
                self.expiring.remove(&(at, key.clone()));
            }
            if let Some(count) = self.by_type.get_mut(before.memory_type) {
                *count = count.saturating_sub(1);
            }
            self.live_bytes = self.live_bytes.saturating_sub(before.bytes);
        }
        if let Some(after) = after {
            if let Some(at) = after.expires_at {
                self.expiring.insert((at, key.clone()));
            }
            if let Some(count) = self.by_type.get_mut(after.memory_type) {
                *count = count.saturating_add(1);
            }
            self.live_bytes = self.live_bytes.saturating_add(after.bytes);
        }
        let flagged = |brief: Option<&Brief>| brief.is_some_and(|brief| brief.flagged);
        match (flagged(before), flagged(after)) {
            (false, true) => drop(self.flagged.insert(key.clone())),
            (true, false) => drop(self.flagged.remove(key)),
            _ => {}
        }
    }

    /// Adds what was counted of other keys.
    pub(super) fn add(&mut self, others: Self) {
        let Self { expiring, flagged, by_type, live_bytes } = others;
        self.expiring.extend(expiring);
        self.flagged.extend(flagged);
        for (count, more) in self.by_type.iter_mut().zip(by_type) {
            *count = count.saturating_add(more);
        }
        self.live_bytes = self.live_bytes.saturating_add(live_bytes);
    }
}
