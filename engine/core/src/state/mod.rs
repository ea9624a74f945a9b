//! The state that decisions are made on: the fold of all events.

mod block;
mod dreams;
mod equal;
mod evolve;
mod idempotency;
mod losses;
mod names;
mod purges;
mod review;
mod rows;
mod slots;
mod tally;

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

use foldhash::quality::FixedState;

pub use self::block::{SharedNames, SlotBlock, SlotBlocks};
pub use self::dreams::{DreamPhase, DreamRecord, DreamUndoRecord};
pub use self::evolve::{Change, replay};
pub use self::idempotency::IdempotencyRecord;
pub use self::rows::{Row, StateRows};
pub use self::slots::FrozenSlots;

use self::dreams::DreamBook;
use self::idempotency::IdempotencyBook;
use self::losses::LossBook;
use self::names::Names;
use self::purges::PurgeBook;
use self::review::ReviewIndex;
use self::slots::Slots;
use self::tally::Tally;
use crate::entry::Entry;
use crate::id::{DreamId, Seq, SnapshotId};
use crate::json::Json;
use crate::key::Key;
use crate::slot::Slot;
use crate::time::Timestamp;

/// A named position.
#[derive(Debug, Clone, PartialEq)]
pub struct SnapshotRecord {
    /// Its id.
    pub id: SnapshotId,
    /// The position it names, which is that of its own event.
    pub seq: Seq,
    /// When it was taken.
    pub at: Timestamp,
    /// What a person calls it.
    pub label: Option<Arc<str>>,
    /// A JSON object kept with it.
    pub metadata: Option<Json>,
    /// Entries that were there, by memory type in the order of its declaration.
    pub by_type: [u64; 5],
}

/// Sums over the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Entries that are there, by memory type in the order of its declaration.
    pub by_type: [u64; 5],
    /// Keys that have ever been used.
    pub keys: u64,
    /// Entries that are there with an open flag.
    pub flagged: u64,
    /// Bytes of the values and metadata objects of the entries, expired ones included.
    pub live_bytes: u64,
    /// Bytes of all values and metadata objects ever recorded.
    pub recorded_bytes: u64,
    /// Those of them that purges erased.
    pub purged_bytes: u64,
}

impl Counts {
    /// Entries that are there.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.by_type.iter().sum()
    }
}

/// The fold of all events: what decisions are made on and reads begin with.
///
/// Values are not in it; entries name the positions of their bodies. Memory grows with the number
/// of keys, dreams, snapshots and different sources and sessions, not with the number of events.
#[derive(Debug, Clone)]
pub struct State {
    slots: Slots,
    names: Names,
    review: ReviewIndex,
    tally: Tally,
    recorded_bytes: u64,
    dreams: DreamBook,
    snapshots: Vec<SnapshotRecord>,
    idempotency: IdempotencyBook,
    purges: PurgeBook,
    losses: LossBook,
    head: Seq,
    last_time: Option<Timestamp>,
}

impl State {
    /// What it is called where it is kept.
    pub const NAME: &'static str = "state";
    /// Moves when the same events give another state, or [`Row`] says other things: what was kept under
    /// an older number is folded anew.
    pub const VERSION: u32 = 1;

    /// The state of an empty log. Keys come from strangers, so the maps are seeded: take a random
    /// seed where an attacker could choose keys. No answer depends on it.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let hasher = FixedState::with_seed(seed);
        Self {
            slots: Slots::new(hasher.clone()),
            names: Names::new(hasher.clone()),
            review: ReviewIndex::new(hasher.clone()),
            tally: Tally::default(),
            recorded_bytes: 0,
            dreams: DreamBook::default(),
            snapshots: Vec::new(),
            idempotency: IdempotencyBook::new(hasher),
            purges: PurgeBook::default(),
            losses: LossBook::default(),
            head: Seq::ZERO,
            last_time: None,
        }
    }

    /// For tables of keys beside this one.
    pub(crate) fn hasher(&self) -> FixedState {
        self.slots.hasher().clone()
    }

    /// The position of the last event folded in.
    #[must_use]
    pub fn head(&self) -> Seq {
        self.head
    }

    /// The recorded time of the last event folded in.
    #[must_use]
    pub fn last_time(&self) -> Option<Timestamp> {
        self.last_time
    }

    /// How many keys have ever been used.
    #[must_use]
    pub fn key_count(&self) -> usize {
        self.slots.len()
    }

    /// Makes room for so many more keys at once.
    pub fn reserve(&mut self, keys: usize) {
        self.slots.reserve(keys);
    }

    /// What the events of a key add up to; `None` for a key that was never used.
    #[must_use]
    pub fn slot(&self, key: &str) -> Option<&Slot> {
        self.slots.get(key)
    }

    /// The key itself, whose text can be shared, with what its events add up to; `None` for a key that was never used.
    #[must_use]
    pub fn key_and_slot(&self, key: &str) -> Option<(&Key, &Slot)> {
        self.slots.get_at(self.slots.at(key)?)
    }

    /// The key itself, whose text can be shared; `None` for a key that was never used.
    #[must_use]
    pub fn key(&self, key: &str) -> Option<&Key> {
        self.slots.get_at(self.slots.at(key)?).map(|(key, _)| key)
    }

    /// The entry of a key, if it is there at `now`.
    #[must_use]
    pub fn entry(&self, key: &str, now: Timestamp) -> Option<&Entry> {
        self.slots.get(key)?.live(now)
    }

    /// All entries that are there at `now`, in no order that means anything.
    pub fn entries(&self, now: Timestamp) -> impl Iterator<Item = (&Key, &Entry)> {
        self.slots.iter().filter_map(move |(key, slot)| Some((key, slot.live(now)?)))
    }

    /// All keys with what their events add up to, in no order that means anything.
    pub fn slots(&self) -> impl Iterator<Item = (&Key, &Slot)> {
        self.slots.iter()
    }

    /// Keys with an open flag, in order, expired ones included.
    pub fn flagged(&self) -> impl Iterator<Item = &Key> {
        self.tally.flagged.iter()
    }

    /// Keys of entries that are there at the first moment and have expired by the second.
    pub fn expiring(&self, after: Timestamp, through: Timestamp) -> impl Iterator<Item = &Key> {
        let first = (after, Key::from_recorded(""));
        self.tally.expiring.range(first..).take_while(move |(at, _)| *at < through).map(|(_, key)| key)
    }

    /// Sums over what is there at `now`. Costs the number of flagged entries and of expired ones that
    /// nobody replaced.
    #[must_use]
    pub fn counts(&self, now: Timestamp) -> Counts {
        let mut by_type = self.tally.by_type;
        for (_, key) in self.tally.expiring.iter().take_while(|(at, _)| *at < now) {
            if let Some(entry) = self.slots.get(key.as_str()).and_then(|slot| slot.entry.as_ref())
                && let Some(count) = by_type.get_mut(entry.facts.memory_type as usize)
            {
                *count = count.saturating_sub(1);
            }
        }
        Counts {
            by_type,
            keys: self.slots.len() as u64,
            flagged: self.tally.flagged.iter().filter(|key| self.entry(key.as_str(), now).is_some()).count() as u64,
            live_bytes: self.tally.live_bytes,
            recorded_bytes: self.recorded_bytes,
            purged_bytes: self.purges.bytes,
        }
    }

    /// A dream.
    #[must_use]
    pub fn dream(&self, dream: DreamId) -> Option<&DreamRecord> {
        self.dreams.get(dream)
    }

    /// All dreams, newest first.
    pub fn dreams(&self) -> impl Iterator<Item = (DreamId, &DreamRecord)> {
        self.dreams.newest_first()
    }

    /// The latest start of a finished, not undone dream that left nothing out and does not rest on
    /// one that was undone since: no entry changed up to there waits for a dream.
    #[must_use]
    pub fn dream_mark(&self) -> Option<Seq> {
        self.dreams.mark()
    }

    /// The latest start of a finished, not undone dream that left nothing out: what changed later
    /// waits for a dream.
    pub(crate) fn last_complete_dream(&self) -> Option<Seq> {
        self.dreams.complete().next()
    }

    /// Entries whose last change that counts for dreams lies after a position, newest first.
    /// Reserved keys are not among them; expired entries may be.
    pub fn changed_since(&self, after: Seq, include_reviewed: bool) -> impl Iterator<Item = (&Key, &Slot)> {
        let newest = self.review.newest_first(after, include_reviewed);
        newest.filter_map(|at| self.slots.get_at(at))
    }

    /// How many of [`Self::changed_since`] are there at `now`, at most `most`. Costs the number of expired entries
    /// that nobody replaced, and hardly more as long as few entries wait from before that position.
    #[must_use]
    pub fn count_changed_since(&self, after: Seq, include_reviewed: bool, now: Timestamp, most: usize) -> usize {
        let expired = self.tally.expiring.iter().take_while(|(at, _)| *at < now).map(|(_, key)| key);
        let many = expired.clone().take(most.saturating_add(1)).count();
        if many > most {
            let all = self.changed_since(after, include_reviewed);
            return all.filter(|(_, slot)| slot.live(now).is_some()).take(most).count();
        }
        let is_among = |key: &&Key| {
            let changed = self.slots.get(key.as_str()).map(|slot| slot.changed);
            changed.is_some_and(|changed| self.review.is_after(key, changed, after, include_reviewed))
        };
        let gone = expired.filter(is_among).count();
        self.review.count(after, include_reviewed, most.saturating_add(gone)).saturating_sub(gone)
    }

    /// A snapshot.
    #[must_use]
    pub fn snapshot(&self, snapshot: SnapshotId) -> Option<&SnapshotRecord> {
        self.snapshots.iter().find(|record| record.id == snapshot)
    }

    /// All snapshots, oldest first.
    #[must_use]
    pub fn snapshots(&self) -> &[SnapshotRecord] {
        &self.snapshots
    }

    /// Purges that are not finished, each with the positions of the bodies to erase. They are to be
    /// finished before anything else is written.
    #[must_use]
    pub fn unfinished_purges(&self) -> &BTreeMap<Seq, Vec<Seq>> {
        self.purges.unfinished()
    }

    /// Whether the event at a position, or its body alone, was lost with damage of the log.
    #[must_use]
    pub fn is_lost(&self, seq: Seq) -> bool {
        self.losses.contains(seq)
    }

    /// Whether the value or the metadata of the entry, as it stood at some time, was lost.
    #[must_use]
    pub fn has_lost(&self, then: &Entry) -> bool {
        self.is_lost(then.value_at) || (then.metadata_at.is_some() && self.is_lost(then.metadata_at))
    }

    /// Positions of events whose bodies were lost with damage of the log.
    pub fn lost_bodies(&self) -> impl Iterator<Item = Seq> {
        self.losses.all().1
    }

    /// How many events, and how many bodies of other events, were lost with damage of the log.
    #[must_use]
    pub fn losses(&self) -> (u64, u64) {
        (self.losses.events(), self.losses.bodies())
    }

    /// The operation that an idempotency key came with in the 24 hours before `now`.
    #[must_use]
    pub fn remembered(&self, name: &str, now: Timestamp) -> Option<&IdempotencyRecord> {
        self.idempotency.get(name, now)
    }
}
