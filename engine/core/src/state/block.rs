//! Slots put together apart from the state that takes them up, so that another thread can do it.

use alloc::vec::Vec;

use foldhash::quality::FixedState;

use super::names::Names;
use super::slots::{BLOCK, hash_of};
use super::tally::{Brief, Tally};
use crate::id::Seq;
use crate::key::Key;
use crate::slot::Slot;

/// Puts slots together in blocks, as the state holds them for which [`StateRows::blocks`] made this.
///
/// [`StateRows::blocks`]: super::StateRows::blocks
#[derive(Debug)]
pub struct SlotBlocks {
    hasher: FixedState,
    names: Names,
    current: SlotBlock,
    is_first: bool,
}

/// Keys, with what the events of each add up to and what follows from that.
#[derive(Debug, Default)]
pub struct SlotBlock {
    pub(super) slots: Vec<(Key, Slot)>,
    /// Of the keys, in the same order.
    pub(super) hashes: Vec<u32>,
    pub(super) tally: Tally,
    /// The newest change of each ordinary key that has an entry; none of the others.
    pub(super) changed: Vec<Option<Seq>>,
}

impl SlotBlocks {
    pub(super) fn new(hasher: FixedState) -> Self {
        let names = Names::new(hasher.clone());
        Self { hasher, names, current: SlotBlock::default(), is_first: true }
    }

    /// Adds a slot. Gives the block that it fills.
    #[inline]
    pub fn push(&mut self, key: Key, mut slot: Slot) -> Option<SlotBlock> {
        if let Some(entry) = &mut slot.entry {
            self.names.share_of(entry);
        }
        let block = &mut self.current;
        if block.slots.is_empty() && !self.is_first {
            block.slots.reserve_exact(BLOCK);
            block.hashes.reserve_exact(BLOCK);
            block.changed.reserve_exact(BLOCK);
        }
        block.hashes.push(hash_of(&self.hasher, key.as_str()));
        block.tally.recount(&key, None, Brief::of(&slot).as_ref());
        block.changed.push((slot.entry.is_some() && !key.is_reserved()).then_some(slot.changed));
        block.slots.push((key, slot));
        (block.slots.len() >= BLOCK).then(|| self.hand_on())
    }

    fn hand_on(&mut self) -> SlotBlock {
        self.is_first = false;
        core::mem::take(&mut self.current)
    }

    /// What is left over, and the names that the entries of all blocks share.
    #[must_use]
    pub fn finish(mut self) -> (SlotBlock, SharedNames) {
        (self.hand_on(), SharedNames(self.names))
    }
}

/// The sources and session ids that entries share.
#[derive(Debug)]
pub struct SharedNames(pub(super) Names);
