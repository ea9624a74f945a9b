//! The documents of the index.
//!
//! Each put takes a new slot, and slots rise for ever between two compactions: a replaced or removed
//! document leaves its slot dead, and readers of posting lists pass over it. So a removal needs neither
//! the document's words nor a walk over lists.

use alloc::sync::Arc;
use alloc::vec::Vec;

use bilinc_core::DREAM_PREFIX;
use hashbrown::HashTable;

use super::checkpoint::{Reader, write_bytes, write_number};
use super::grow;
use super::hash::hash;

/// What ranking needs of a document once it competes for a place.
#[derive(Debug)]
pub(super) struct Slot {
    /// None when dead, so that a forgotten key is not kept alive from here.
    pub(super) key: Option<Arc<str>>,
    pub(super) importance: f64,
    pub(super) changed: u64,
}

/// What scoring needs of a document at each posting: four bytes, so that a walk stays in the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Facts {
    /// Words in the value, up to 65,535.
    pub(super) value_len: u16,
    /// Words in the key, up to 255.
    pub(super) key_len: u8,
    /// `ORDINARY` or `REPORT`, 0 when dead; the memory type above.
    flags: u8,
}

/// Visibility of documents that are not dream reports.
pub(super) const ORDINARY: u8 = 1;
/// Visibility of dream reports.
pub(super) const REPORT: u8 = 2;

impl Facts {
    /// Of no document whose value is so long a word counts more.
    pub(super) const fn shortest(length: Length) -> Self {
        Self { value_len: length.least(), key_len: 1, flags: 0 }
    }

    pub(super) fn new(key: &str, memory_type: u8, value_len: usize, key_len: usize) -> Self {
        let kind = if key.starts_with(DREAM_PREFIX) { REPORT } else { ORDINARY };
        Self {
            value_len: u16::try_from(value_len).unwrap_or(u16::MAX),
            key_len: u8::try_from(key_len).unwrap_or(u8::MAX),
            flags: kind | (memory_type.min(7) << 2),
        }
    }

    pub(super) const fn visible(self, visibility: u8) -> bool {
        self.flags & visibility != 0
    }

    /// The bit of the memory type in a mask of types.
    pub(super) const fn type_bit(self) -> u8 {
        1 << (self.flags >> 2)
    }
}

/// About how many words a value has, in one byte: a walk over long lists looks at nothing else of most documents.
/// Never less for a longer one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Length(u8);

/// So short lengths are told exactly, longer ones by steps.
const EXACT: u16 = 200;
/// With it the longest still fits: 200 + 54 * 1,200 + 535 is 65,535.
const LENGTH_STEP: u16 = 1_200;

impl Length {
    /// Of a document that is dead, or a report.
    const HIDDEN: Self = Self(0);
    /// Not longer than any.
    pub(super) const SHORTEST: Self = Self(1);

    const fn of(value_len: u16) -> Self {
        let step = if value_len < EXACT { value_len } else { EXACT + (value_len - EXACT) / LENGTH_STEP };
        Self(step as u8 + 1)
    }

    /// The fewest words of such a value.
    const fn least(self) -> u16 {
        let step = (self.0 as u16).saturating_sub(1);
        if step < EXACT { step } else { EXACT + (step - EXACT) * LENGTH_STEP }
    }
}

/// Sums over living documents, from which averages come. Whole numbers, so order of arrival cannot show.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    pub(super) documents: u64,
    pub(super) value_words: u64,
    pub(super) key_words: u64,
}

/// All slots.
pub(super) struct Slots {
    seed: u64,
    slots: Vec<Slot>,
    facts: Vec<Facts>,
    /// What a walk over lists asks of each posting.
    lengths: Vec<Length>,
    by_key: HashTable<u32>,
    of_ordinary: Totals,
    of_reports: Totals,
}

impl Slots {
    pub(super) const fn new(seed: u64) -> Self {
        Self {
            seed,
            slots: Vec::new(),
            facts: Vec::new(),
            by_key: HashTable::new(),
            lengths: Vec::new(),
            of_ordinary: Totals { documents: 0, value_words: 0, key_words: 0 },
            of_reports: Totals { documents: 0, value_words: 0, key_words: 0 },
        }
    }

    /// Living documents.
    pub(super) fn living(&self) -> usize {
        self.by_key.len()
    }

    /// Slots given out, the dead ones included.
    pub(super) const fn used(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn slot(&self, slot: u32) -> Option<&Slot> {
        self.slots.get(slot as usize)
    }

    pub(super) fn facts(&self, slot: u32) -> Facts {
        self.facts.get(slot as usize).copied().unwrap_or_default()
    }

    /// About how long the value of a document is; None when it is not visible.
    #[inline]
    pub(super) fn length(&self, slot: u32, visibility: u8) -> Option<Length> {
        let length = self.lengths.get(slot as usize).copied()?;
        if length != Length::HIDDEN {
            return Some(length);
        }
        // Reports are looked for nearly never.
        let facts = self.facts(slot);
        (visibility & REPORT != 0 && facts.visible(REPORT)).then(|| Length::of(facts.value_len))
    }

    pub(super) fn find(&self, key: &str) -> Option<u32> {
        self.find_hashed(hash(self.seed, key.as_bytes()), key)
    }

    fn find_hashed(&self, of_key: u64, key: &str) -> Option<u32> {
        self.by_key.find(of_key, |&slot| key_at(&self.slots, slot) == key).copied()
    }

    /// Sums over the documents of this visibility.
    pub(super) fn totals(&self, visibility: u8) -> Totals {
        let mut sum = Totals::default();
        for (kind, totals) in [(ORDINARY, self.of_ordinary), (REPORT, self.of_reports)] {
            if visibility & kind != 0 {
                sum.documents += totals.documents;
                sum.value_words += totals.value_words;
                sum.key_words += totals.key_words;
            }
        }
        sum
    }

    /// Gives a document the next slot. Its key must not be there. None when the numbers have run out.
    pub(super) fn add(&mut self, slot: Slot, facts: Facts) -> Option<u32> {
        let hash = hash(self.seed, slot.key.as_deref().unwrap_or_default().as_bytes());
        self.add_hashed(hash, slot, facts)
    }

    fn add_hashed(&mut self, of_key: u64, slot: Slot, facts: Facts) -> Option<u32> {
        let id = u32::try_from(self.slots.len()).ok()?;
        grow(&mut self.slots, 1);
        grow(&mut self.facts, 1);
        grow(&mut self.lengths, 1);
        self.slots.push(slot);
        self.facts.push(facts);
        self.lengths.push(if facts.visible(ORDINARY) { Length::of(facts.value_len) } else { Length::HIDDEN });
        let (seed, slots) = (self.seed, &self.slots);
        let hash_of = |id: &u32| hash(seed, key_at(slots, *id).as_bytes());
        self.by_key.insert_unique(of_key, id, hash_of);
        self.count(facts, u64::wrapping_add);
        Some(id)
    }

    /// Leaves the slot of a key dead.
    pub(super) fn remove(&mut self, key: &str) {
        let hash = hash(self.seed, key.as_bytes());
        let slots = &self.slots;
        let found = self.by_key.find_entry(hash, |&slot| key_at(slots, slot) == key);
        let Ok(entry) = found else { return };
        let (id, _) = entry.remove();
        if let Some(length) = self.lengths.get_mut(id as usize) {
            *length = Length::HIDDEN;
        }
        let gone = self.facts.get_mut(id as usize).map(core::mem::take).unwrap_or_default();
        if let Some(slot) = self.slots.get_mut(id as usize) {
            slot.key = None;
        }
        self.count(gone, u64::wrapping_sub);
    }

    fn count(&mut self, facts: Facts, step: fn(u64, u64) -> u64) {
        let totals = if facts.visible(REPORT) { &mut self.of_reports } else { &mut self.of_ordinary };
        totals.documents = step(totals.documents, 1);
        totals.value_words = step(totals.value_words, facts.value_len.into());
        totals.key_words = step(totals.key_words, facts.key_len.into());
    }

    /// Writes the document of a slot, if it is alive; whether it is. [`Slots::read`] gives back so many documents
    /// as the number before them says, in slots from 0.
    pub(super) fn write(&self, slot: u32, out: &mut Vec<u8>) -> bool {
        let Some((key, slot, facts)) =
            self.slot(slot).and_then(|held| Some((held.key.as_deref()?, held, self.facts(slot))))
        else {
            return false;
        };
        write_bytes(key.as_bytes(), out);
        out.extend_from_slice(&slot.importance.to_bits().to_le_bytes());
        write_number(slot.changed, out);
        write_number(facts.value_len.into(), out);
        out.push(facts.key_len);
        out.push(facts.flags >> 2);
        true
    }

    pub(super) fn read(
        seed: u64,
        reader: &mut Reader<'_>,
        share: &mut dyn FnMut(&str) -> Option<Arc<str>>,
    ) -> Option<Self> {
        let mut slots = Self::new(seed);
        let count = reader.count()?;
        slots.slots.reserve_exact(count);
        slots.facts.reserve_exact(count);
        slots.lengths.reserve_exact(count);
        // The table is empty: there is nothing to hash again.
        slots.by_key.reserve(count, |_| 0);
        for _ in 0..count {
            let key = share(reader.text()?)?;
            let importance = f64::from_bits(u64::from_le_bytes(reader.take(8)?.try_into().ok()?));
            let changed = reader.number()?;
            let value_len: u16 = reader.number()?;
            let (key_len, memory_type) = (reader.byte()?, reader.byte()?);
            let facts = Facts::new(&key, memory_type, value_len.into(), key_len.into());
            let hash = hash(seed, key.as_bytes());
            if slots.find_hashed(hash, &key).is_some() {
                return None;
            }
            slots.add_hashed(hash, Slot { key: Some(key), importance, changed }, facts)?;
        }
        Some(slots)
    }

    /// The living documents in order of slot, each with the slot it had.
    pub(super) fn into_living(self) -> impl Iterator<Item = (u32, Slot, Facts)> {
        (0_u32..)
            .zip(self.slots.into_iter().zip(self.facts))
            .filter(|(_, (slot, _))| slot.key.is_some())
            .map(|(id, (slot, facts))| (id, slot, facts))
    }
}

fn key_at(slots: &[Slot], slot: u32) -> &str {
    slots.get(slot as usize).and_then(|slot| slot.key.as_deref()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_never_above_the_words_of_a_value_and_never_falls() {
        let mut before = Length::HIDDEN;
        for words in 0..=u16::MAX {
            let length = Length::of(words);
            assert!(length >= before && length > Length::HIDDEN, "{words}");
            assert!(length.least() <= words && words - length.least() < LENGTH_STEP, "{words}");
            assert!(words >= EXACT || length.least() == words, "{words}");
            before = length;
        }
    }
}
