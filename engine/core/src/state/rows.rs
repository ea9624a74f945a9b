//! The state as rows, so that it can be kept beside the log and taken up again.
//!
//! What follows from other rows (the orders, the counts, the shared names) is not among them: it is made
//! anew, so it cannot contradict them.

use alloc::borrow::Cow;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::block::{SharedNames, SlotBlock, SlotBlocks};
use super::review::Track;
use super::slots::{At, FrozenSlots};
use super::{DreamRecord, IdempotencyRecord, SnapshotRecord, State};
use crate::id::{DreamId, Seq};
use crate::key::Key;
use crate::slot::Slot;
use crate::time::Timestamp;

/// One thing that a state holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Row<'a> {
    /// Where the state stands, and sums over events that are not in it.
    Stand {
        /// The position of the last event folded in.
        head: Seq,
        /// The recorded time of that event.
        last_time: Option<Timestamp>,
        /// Bytes of all values and metadata objects ever recorded.
        recorded_bytes: u64,
        /// Those of them that purges erased.
        purged_bytes: u64,
    },
    /// A dream; in the order of their starts.
    Dream(Cow<'a, DreamRecord>),
    /// A snapshot, oldest first.
    Snapshot(Cow<'a, SnapshotRecord>),
    /// An idempotency key, in the order they were recorded.
    Remembered {
        /// The key.
        name: Arc<str>,
        /// When it came.
        at: Timestamp,
        /// What is remembered of it; nothing of a key that was let go since.
        record: Option<IdempotencyRecord>,
    },
    /// A purge that is not finished.
    UnfinishedPurge {
        /// Its position.
        seq: Seq,
        /// Positions of the bodies to erase.
        bodies: Cow<'a, [Seq]>,
    },
    /// What damage of the log has taken.
    Losses {
        /// The first and the last of each run of lost events.
        events: Vec<(Seq, Seq)>,
        /// Events whose bodies were lost.
        bodies: Vec<Seq>,
    },
    /// What dreams have to do with a key since its last change by anybody else.
    Track {
        /// The key.
        key: Cow<'a, Key>,
        /// That last change.
        base: Seq,
        /// Changes by dreams since.
        own: Cow<'a, [(DreamId, Seq)]>,
        /// Dreams that finished with the key among their candidates.
        looked: Cow<'a, [DreamId]>,
    },
    /// What the events of a key add up to.
    Slot(Cow<'a, Key>, Cow<'a, Slot>),
}

impl State {
    /// Everything that the state holds. Dreams and tracks come before slots; the order among slots means
    /// nothing.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        let slots = self.slots.iter().map(|(key, slot)| Row::Slot(Cow::Borrowed(key), Cow::Borrowed(slot)));
        self.rows_before_slots().chain(slots)
    }

    /// The rows that come before those of slots: few, where [`Self::frozen_slots`] has one for each key.
    pub fn rows_before_slots(&self) -> impl Iterator<Item = Row<'_>> {
        let stand = Row::Stand {
            head: self.head,
            last_time: self.last_time,
            recorded_bytes: self.recorded_bytes,
            purged_bytes: self.purges.bytes,
        };
        let dreams = self.dreams.oldest_first().map(|record| Row::Dream(Cow::Borrowed(record)));
        let snapshots = self.snapshots.iter().map(|record| Row::Snapshot(Cow::Borrowed(record)));
        let remembered = self.idempotency.in_order().map(|(name, at, record)| Row::Remembered {
            name: Arc::clone(name),
            at,
            record: record.copied(),
        });
        let purges = self.purges.unfinished().iter();
        let purges = purges.map(|(seq, bodies)| Row::UnfinishedPurge { seq: *seq, bodies: Cow::Borrowed(bodies) });
        let (events, bodies) = self.losses.all();
        let losses = Row::Losses { events: events.collect(), bodies: bodies.collect() };
        let tracks = self.review.tracks().map(|(key, track)| Row::Track {
            key: Cow::Borrowed(key),
            base: track.base,
            own: Cow::Borrowed(&track.own),
            looked: Cow::Borrowed(&track.looked),
        });
        core::iter::once(stand)
            .chain(dreams)
            .chain(snapshots)
            .chain(remembered)
            .chain(purges)
            .chain(core::iter::once(losses))
            .chain(tracks)
    }

    /// The other rows as they are now, to be looked at later: costs what some hundred keys do.
    #[must_use]
    pub fn frozen_slots(&self) -> FrozenSlots {
        self.slots.frozen()
    }
}

/// Takes rows up again, in the order that [`State::rows`] gave them.
#[derive(Debug)]
pub struct StateRows {
    state: State,
    /// Entries that wait for a dream, by their last change; put in order at the end.
    waiting: Vec<(Seq, At)>,
}

impl StateRows {
    /// Begins; `seed` as for [`State::new`].
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: State::new(seed), waiting: Vec::new() }
    }

    /// Makes room for so many keys.
    pub fn reserve(&mut self, keys: usize) {
        self.state.reserve(keys);
        self.waiting.reserve(keys);
    }

    /// Takes up the next row.
    pub fn push(&mut self, row: Row<'_>) {
        let state = &mut self.state;
        match row {
            Row::Stand { head, last_time, recorded_bytes, purged_bytes } => {
                state.head = head;
                state.last_time = last_time;
                state.recorded_bytes = recorded_bytes;
                state.purges.bytes = purged_bytes;
            }
            Row::Dream(record) => state.dreams.take_up(record.into_owned()),
            Row::Snapshot(record) => state.snapshots.push(record.into_owned()),
            Row::Remembered { name, at, record } => state.idempotency.take_up(name, at, record),
            Row::UnfinishedPurge { seq, bodies } => state.purges.take_up(seq, bodies.into_owned()),
            Row::Losses { events, bodies } => state.losses.take_up(&events, &bodies),
            Row::Track { key, base, own, looked } => {
                let track = Track::new(base, own.into_owned(), looked.into_owned());
                state.review.take_up(key.into_owned(), track);
            }
            Row::Slot(key, slot) => {
                let mut blocks = self.blocks();
                blocks.push(key.into_owned(), slot.into_owned());
                let (block, names) = blocks.finish();
                self.push_block(block);
                self.push_names(names);
            }
        }
    }

    /// Puts slots together for [`Self::push_block`], where and when it suits.
    #[must_use]
    pub fn blocks(&self) -> SlotBlocks {
        SlotBlocks::new(self.state.slots.hasher().clone())
    }

    /// Takes up slots, as it would their rows; a block that is full costs least.
    pub fn push_block(&mut self, block: SlotBlock) {
        let SlotBlock { slots, hashes, tally, changed } = block;
        let State { slots: all, review, dreams, tally: whole, .. } = &mut self.state;
        whole.add(tally);
        let (mut changed, mut tracked) = (changed.into_iter(), Vec::new());
        all.put_all(slots, &hashes, |at| {
            if let Some(changed) = changed.next().flatten() {
                if review.tracks_any() { tracked.push((changed, at)) } else { self.waiting.push((changed, at)) }
            }
        });
        for (changed, at) in tracked {
            let Some((key, _)) = all.get_at(at) else { continue };
            if !review.restore_tracked((key, at), dreams) {
                self.waiting.push((changed, at));
            }
        }
    }

    /// Takes up the names that the entries of blocks share.
    pub fn push_names(&mut self, names: SharedNames) {
        self.state.names.add(names.0);
    }

    /// The state that was kept.
    #[must_use]
    pub fn finish(mut self) -> State {
        self.state.review.restore_waiting(self.waiting);
        self.state
    }
}
