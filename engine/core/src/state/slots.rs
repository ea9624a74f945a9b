//! All keys that were ever used, with what their events add up to.

use alloc::borrow::Cow;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::hash::BuildHasher;

use foldhash::quality::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::Row;
use crate::key::Key;
use crate::slot::Slot;

/// So many slots lie together. While slots are frozen, the first change in a block copies it.
pub(super) const BLOCK: usize = 256;

type Block = Arc<Vec<(Key, Slot)>>;

/// Slots by key, in the order in which their keys came; none is ever taken out.
///
/// A slot is large, so it lies in a block that never moves, and the table holds no more than where: it grows
/// without moving slots, and the room that it leaves free is small.
#[derive(Debug, Clone)]
pub(super) struct Slots {
    blocks: Vec<Block>,
    table: HashTable<Place>,
    hasher: FixedState,
}

/// Which key of a state is meant, in the order in which they came there. Four thousand million slots fill more
/// than a terabyte, so there are no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct At(u32);

impl At {
    fn block(self) -> usize {
        self.0 as usize / BLOCK
    }

    fn in_block(self) -> usize {
        self.0 as usize % BLOCK
    }
}

/// Where the slot of a key lies. The hash is kept so that neither growing nor a look-up that meets another key
/// goes to that slot.
#[derive(Debug, Clone, Copy)]
struct Place {
    hash: u32,
    at: At,
}

impl Place {
    /// The hash as the table takes it, which looks at the lowest bits and at the highest.
    fn spread(hash: u32) -> u64 {
        u64::from(hash) << 32 | u64::from(hash)
    }
}

impl Slots {
    pub(super) fn new(hasher: FixedState) -> Self {
        Self { blocks: Vec::new(), table: HashTable::new(), hasher }
    }

    pub(super) const fn hasher(&self) -> &FixedState {
        &self.hasher
    }

    /// Makes room for so many more keys at once.
    pub(super) fn reserve(&mut self, keys: usize) {
        self.table.reserve(keys, |place| Place::spread(place.hash));
    }

    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    /// In the order in which their keys came.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Key, &Slot)> {
        self.blocks.iter().flat_map(|block| block.iter()).map(|(key, slot)| (key, slot))
    }

    /// As they are now, whatever becomes of them.
    pub(super) fn frozen(&self) -> FrozenSlots {
        FrozenSlots { blocks: self.blocks.clone() }
    }

    pub(super) fn get(&self, key: &str) -> Option<&Slot> {
        self.get_at(self.at(key)?).map(|(_, slot)| slot)
    }

    /// Where the slot of a key lies.
    pub(super) fn at(&self, key: &str) -> Option<At> {
        self.find(self.hash(key), key)
    }

    /// The same, of an empty slot of a key that was never used.
    pub(super) fn at_or_new(&mut self, key: &Key) -> At {
        let hash = self.hash(key.as_str());
        self.find(hash, key.as_str()).unwrap_or_else(|| self.push(hash, key.clone(), Slot::default()))
    }

    /// Takes up a slot under its key, in place of what may be there. Says where it lies.
    pub(super) fn put(&mut self, key: Key, slot: Slot) -> At {
        let hash = self.hash(key.as_str());
        let Some(at) = self.find(hash, key.as_str()) else { return self.push(hash, key, slot) };
        if let Some((_, held)) = self.get_at_mut(at) {
            *held = slot;
        }
        at
    }

    /// Takes up many slots, each in place of what may be there under its key. Tells where each lies, in their order.
    ///
    /// They stay where they are when they begin a block and none of their keys is known; `hashes` are of the keys.
    pub(super) fn put_all(&mut self, slots: Vec<(Key, Slot)>, hashes: &[u32], mut placed: impl FnMut(At)) {
        let first = self.len();
        let begins_block = first.is_multiple_of(BLOCK) && (1..=BLOCK).contains(&slots.len());
        let begins_block = begins_block && slots.len() == hashes.len();
        let rest = if begins_block { self.adopt(slots, hashes, &mut placed) } else { slots };
        for (key, slot) in rest {
            placed(self.put(key, slot));
        }
    }

    /// Makes slots a block, up to the first whose key is known; gives back the rest.
    fn adopt(&mut self, slots: Vec<(Key, Slot)>, hashes: &[u32], placed: &mut impl FnMut(At)) -> Vec<(Key, Slot)> {
        let first = self.len();
        self.blocks.push(Arc::new(slots));
        for (index, hash) in hashes.iter().copied().enumerate() {
            let at = At(u32::try_from(first.saturating_add(index)).unwrap_or(u32::MAX));
            let blocks = &self.blocks;
            let key = |at: At| blocks.get(at.block())?.get(at.in_block()).map(|(key, _)| key);
            let is_it = |place: &Place| place.hash == hash && key(place.at) == key(at);
            match self.table.entry(Place::spread(hash), is_it, |place| Place::spread(place.hash)) {
                Entry::Vacant(vacant) => {
                    vacant.insert(Place { hash, at });
                }
                Entry::Occupied(_) => {
                    let mut block = self.blocks.pop().map(Arc::unwrap_or_clone).unwrap_or_default();
                    let rest = block.split_off(index);
                    // No block but the last has room.
                    self.blocks.extend((index > 0).then(|| Arc::new(block)));
                    return rest;
                }
            }
            placed(at);
        }
        Vec::new()
    }

    pub(super) fn get_at(&self, at: At) -> Option<(&Key, &Slot)> {
        self.blocks.get(at.block())?.get(at.in_block()).map(|(key, slot)| (key, slot))
    }

    pub(super) fn get_at_mut(&mut self, at: At) -> Option<(&Key, &mut Slot)> {
        let block = Arc::make_mut(self.blocks.get_mut(at.block())?);
        block.get_mut(at.in_block()).map(|(key, slot)| (&*key, slot))
    }

    fn hash(&self, key: &str) -> u32 {
        hash_of(&self.hasher, key)
    }

    fn find(&self, hash: u32, key: &str) -> Option<At> {
        let is_it =
            |place: &Place| place.hash == hash && self.get_at(place.at).is_some_and(|(held, _)| held.as_str() == key);
        self.table.find(Place::spread(hash), is_it).map(|place| place.at)
    }

    fn push(&mut self, hash: u32, key: Key, slot: Slot) -> At {
        let at = At(u32::try_from(self.len()).unwrap_or(u32::MAX));
        match self.blocks.last_mut().filter(|block| block.len() < BLOCK) {
            Some(block) => Arc::make_mut(block).push((key, slot)),
            None => {
                // The slots of a small store take no more room than they need.
                let mut block = Vec::with_capacity(if self.blocks.is_empty() { 1 } else { BLOCK });
                block.push((key, slot));
                self.blocks.push(Arc::new(block));
            }
        }
        self.table.insert_unique(Place::spread(hash), Place { hash, at }, |place| Place::spread(place.hash));
        at
    }
}

/// The part of a key's hash that is kept.
pub(super) fn hash_of(hasher: &FixedState, key: &str) -> u32 {
    // Any of its bits are as good as others.
    #[allow(clippy::cast_possible_truncation)]
    let hash = hasher.hash_one(key) as u32;
    hash
}

/// What the events of all keys added up to at one time; made at once, because blocks are shared with the state until
/// it changes them. What the state changes meanwhile, it holds twice.
#[derive(Debug)]
pub struct FrozenSlots {
    blocks: Vec<Block>,
}

impl FrozenSlots {
    /// Hands on a row for each key, up to the first that fails. Blocks are let go one by one.
    ///
    /// # Errors
    /// What `take` answers.
    pub fn try_each<E>(self, mut take: impl FnMut(&Row<'_>) -> Result<(), E>) -> Result<(), E> {
        for block in self.blocks {
            for (key, slot) in block.iter() {
                take(&Row::Slot(Cow::Borrowed(key), Cow::Borrowed(slot)))?;
            }
        }
        Ok(())
    }
}

/// By keys: in which order they came does not count, for a state that was kept is taken up in another one.
impl PartialEq for Slots {
    fn eq(&self, other: &Self) -> bool {
        let equal = |((key, slot), (there, held)): ((&Key, &Slot), (&Key, &Slot))| {
            // Mostly the same log was folded in the same order.
            if key == there { slot == held } else { other.get(key.as_str()) == Some(slot) }
        };
        self.len() == other.len() && self.iter().zip(other.iter()).all(equal)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use alloc::format;

    use super::*;
    use crate::id::Seq;

    fn slots(numbers: impl Iterator<Item = u64>) -> Slots {
        let mut slots = Slots::new(FixedState::with_seed(7));
        for number in numbers {
            let key = Key::from_recorded(&format!("key {number}"));
            let at = slots.at_or_new(&key);
            assert_eq!(slots.at_or_new(&key), at);
            slots.get_at_mut(at).unwrap().1.head = Seq::new(number);
        }
        slots
    }

    #[test]
    fn each_key_has_the_slot_that_it_was_given_across_blocks_and_growth() {
        let many = 5 * BLOCK as u64 / 2;
        let slots = slots((0..many).chain(0..many));
        assert_eq!(slots.len() as u64, many);
        for number in 0..many {
            let (key, slot) = slots.get_at(slots.at(&format!("key {number}")).unwrap()).unwrap();
            assert_eq!((key.as_str(), slot.head), (&*format!("key {number}"), Seq::new(number)));
        }
        assert!(slots.get("key").is_none());
        assert!(slots.iter().map(|(_, slot)| slot.head).eq((0..many).map(Seq::new)));
    }

    #[test]
    fn the_order_in_which_keys_came_makes_no_difference() {
        assert_eq!(slots(0..3_000), slots((0..3_000).rev()));
        assert_ne!(slots(0..3_000), slots(1..3_000));
        assert_ne!(slots(0..3_000), slots(1..3_001));
    }

    /// What `put_all` makes of runs of numbered keys, and of the same keys put one by one.
    fn put_both(runs: &[core::ops::Range<u64>]) -> (Slots, Slots) {
        let [mut at_once, mut one_by_one] = [(); 2].map(|()| Slots::new(FixedState::with_seed(7)));
        for (run, numbers) in (0_u64..).zip(runs) {
            let named = |number| {
                (Key::from_recorded(&format!("key {number}")), Slot { head: Seq::new(run), ..Slot::default() })
            };
            let slots: Vec<_> = numbers.clone().map(named).collect();
            let hashes: Vec<_> = slots.iter().map(|(key, _)| hash_of(&at_once.hasher, key.as_str())).collect();
            let (mut placed, keys) = (Vec::new(), slots.clone());
            at_once.put_all(slots, &hashes, |at| placed.push(at));
            assert_eq!(placed.len(), keys.len());
            for (at, (key, slot)) in placed.into_iter().zip(keys) {
                assert_eq!(at_once.get_at(at), Some((&key, &slot)));
                one_by_one.put(key, slot);
            }
        }
        (at_once, one_by_one)
    }

    #[test]
    fn slots_that_are_put_at_once_are_those_that_are_put_one_by_one() {
        let block = BLOCK as u64;
        let runs: [&[core::ops::Range<u64>]; 7] = [
            &[0..block, block..2 * block, 2 * block..2 * block + 3],
            &[0..0, 0..3, 3..block, block..block + 1],
            &[0..block, 0..block, block..2 * block],
            // Known from the middle of a block on, and some of them again behind it.
            &[0..block, block / 2..block + block / 2, block..2 * block],
            &[0..block, block - 1..2 * block - 1, 2 * block - 1..3 * block - 1],
            &[0..2 * block + 1, 5 * block..6 * block],
            &[0..block - 1, block..2 * block, 0..block],
        ];
        for runs in runs {
            let (at_once, one_by_one) = put_both(runs);
            assert_eq!(at_once, one_by_one, "{runs:?}");
            assert_eq!(at_once.iter().count(), at_once.len(), "{runs:?}");
            for (key, _) in one_by_one.iter() {
                assert_eq!(at_once.get(key.as_str()), one_by_one.get(key.as_str()), "{runs:?}");
            }
        }
    }

    #[test]
    fn a_block_that_holds_a_key_twice_keeps_what_came_last() {
        let mut slots = Slots::new(FixedState::with_seed(7));
        let named = |name, head| (Key::from_recorded(name), Slot { head: Seq::new(head), ..Slot::default() });
        let twice = alloc::vec![named("one", 1), named("two", 2), named("one", 3), named("three", 4)];
        let hashes: Vec<_> = twice.iter().map(|(key, _)| hash_of(&slots.hasher, key.as_str())).collect();
        slots.put_all(twice, &hashes, |_| ());
        assert!(slots.iter().map(|(_, slot)| slot.head.get()).eq([3, 2, 4]));
    }

    #[test]
    fn keys_whose_kept_hashes_are_equal_are_told_apart() {
        let mut slots = Slots::new(FixedState::with_seed(7));
        let [one, two] = ["one", "two"].map(|key| slots.push(5, Key::from_recorded(key), Slot::default()));
        assert_ne!(one, two);
        let found = ["one", "two", "three"].map(|key| slots.find(5, key));
        assert_eq!(found, [Some(one), Some(two), None]);
    }
}
