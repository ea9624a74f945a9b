//! Which documents a search has met, once or more often: a bit for each, so that those of a hundred thousand stay in the
//! fastest cache.

use alloc::vec::Vec;

/// The documents that were met, by slot, 64 to a number.
#[derive(Default)]
pub(super) struct Marks {
    /// Met for the word of the query that is looked at now.
    here: Vec<u64>,
    /// Met for earlier words of the query; empty as long as there was none.
    before: Vec<u64>,
    /// Met again, for the same word or for another; some of them more often than once.
    again: Vec<u32>,
}

impl Marks {
    /// Of so many slots none was met.
    pub(super) fn new(slots: usize) -> Self {
        Self { here: alloc::vec![0; slots.div_ceil(64)], before: Vec::new(), again: Vec::new() }
    }

    /// Meets a document; says whether it is the first time for this word of the query.
    #[inline]
    pub(super) fn meet(&mut self, slot: u32) -> bool {
        let (at, bit) = place(slot);
        let Some(here) = self.here.get_mut(at) else { return false };
        let first = *here & bit == 0;
        if !first || self.before.get(at).is_some_and(|before| before & bit != 0) {
            self.again.push(slot);
        }
        *here |= bit;
        first
    }

    /// Passes on to the next word of the query.
    pub(super) fn next_word(&mut self) {
        if self.before.is_empty() {
            self.before = alloc::vec![0; self.here.len()];
            core::mem::swap(&mut self.here, &mut self.before);
            return;
        }
        for (here, before) in self.here.iter_mut().zip(&mut self.before) {
            *before |= core::mem::take(here);
        }
    }

    /// Numbers the documents that were met again, and `also`, in rising order of slot.
    pub(super) fn number_all(self, also: Option<u32>) -> Again {
        let Self { here: mut bits, before: mut first, again: mut slots } = self;
        slots.extend(also);
        slots.sort_unstable();
        slots.dedup();
        bits.fill(0);
        first.resize(bits.len(), 0);
        for (number, slot) in (0..).zip(&slots) {
            let (at, bit) = place(*slot);
            if let (Some(bits), Some(first)) = (bits.get_mut(at), first.get_mut(at)) {
                if *bits == 0 {
                    *first = number;
                }
                *bits |= bit;
            }
        }
        Again { bits, first, slots }
    }
}

/// The documents that were met more often than once, numbered.
pub(super) struct Again {
    bits: Vec<u64>,
    /// The number of the first of each 64, where any of them was met again.
    first: Vec<u64>,
    /// Their slots, rising.
    pub(super) slots: Vec<u32>,
}

impl Again {
    /// The number of a document, if it was met again.
    #[inline]
    pub(super) fn number(&self, slot: u32) -> Option<usize> {
        let (at, bit) = place(slot);
        let bits = self.bits.get(at).filter(|bits| *bits & bit != 0)?;
        Some(*self.first.get(at)? as usize + (bits & (bit - 1)).count_ones() as usize)
    }

    /// Whether a document was met again.
    #[inline]
    pub(super) fn holds(&self, slot: u32) -> bool {
        let (at, bit) = place(slot);
        self.bits.get(at).is_some_and(|bits| bits & bit != 0)
    }
}

/// Where the bit of a slot is.
const fn place(slot: u32) -> (usize, u64) {
    (slot as usize / 64, 1 << (slot % 64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::{BTreeMap, BTreeSet};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_met_again_is_known_and_numbered_in_order(
            words in proptest::collection::vec(proptest::collection::vec(0_u32..300, 0..30), 1..5),
            also in proptest::option::of(0_u32..300),
        ) {
            let mut marks = Marks::new(300);
            let mut times: BTreeMap<u32, usize> = BTreeMap::new();
            for word in &words {
                let mut here = BTreeSet::new();
                for &slot in word {
                    *times.entry(slot).or_default() += 1;
                    prop_assert_eq!(marks.meet(slot), here.insert(slot));
                }
                marks.next_word();
            }
            let again = marks.number_all(also);
            let wanted = (0..300).filter(|slot| also == Some(*slot) || times.get(slot).is_some_and(|&times| times > 1));
            prop_assert_eq!(&again.slots, &wanted.collect::<Vec<_>>());
            for slot in 0..300 {
                prop_assert_eq!(again.number(slot), again.slots.binary_search(&slot).ok());
                prop_assert_eq!(again.holds(slot), again.number(slot).is_some());
            }
        }
    }
}
