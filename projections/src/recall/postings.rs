//! Which documents hold a word, and how often in which field.
//!
//! A list is bytes: for each document, in rising order of slot, the step from the slot before as a
//! variable-length number whose two low bits name the commonest counts; other counts follow in a byte.
//! Most postings take one or two bytes. A word of one document, as a key often has, takes no list at all.

use alloc::vec::Vec;

use super::checkpoint::{Reader, write_bytes, write_number};
use super::grow;

/// Where a document that is left out has moved to. No document has this slot.
pub(super) const NO_SLOT: u32 = u32::MAX;

/// A field of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// The key.
    Key,
    /// The text of the value.
    Value,
    /// The text of the metadata.
    Metadata,
}

/// How often a word stands in each field, in one byte: up to 15 in the value, up to 3 in the others.
///
/// Beyond that a further occurrence says next to nothing, because the ranking saturates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts(u8);

impl Counts {
    /// Once in the value, and nowhere else.
    pub(super) const VALUE_ONCE: Self = Self(1);
    const KEY_ONCE: Self = Self(1 << 4);
    const METADATA_ONCE: Self = Self(1 << 6);

    pub(super) fn add(&mut self, field: Field) {
        let (unit, full) = match field {
            Field::Value => (1, 0x0f),
            Field::Key => (1 << 4, 0x30),
            Field::Metadata => (1 << 6, 0xc0),
        };
        if self.0 & full != full {
            self.0 += unit;
        }
    }

    /// In each field at least as much as either.
    pub(super) const fn join(&mut self, other: Self) {
        self.0 |= other.0;
    }

    pub(super) const fn of(self, field: Field) -> u8 {
        match field {
            Field::Value => self.0 & 0x0f,
            Field::Key => (self.0 >> 4) & 3,
            Field::Metadata => self.0 >> 6,
        }
    }
}

/// The documents of one word.
#[derive(Clone, Copy, Debug, Default)]
enum Holders {
    #[default]
    None,
    One(u32, Counts),
    /// The number of their list.
    Many(u32),
}

#[derive(Debug)]
struct List {
    bytes: Vec<u8>,
    last: u32,
}

/// The documents of all words, by number of word.
#[derive(Debug, Default)]
pub(super) struct Postings {
    words: Vec<Holders>,
    lists: Vec<List>,
}

impl Postings {
    /// Makes room for the words that are new, which no document holds yet.
    pub(super) fn grow(&mut self, words: usize) {
        let new = words.saturating_sub(self.words.len());
        grow(&mut self.words, new);
        self.words.resize(words, Holders::None);
    }

    /// Adds a document to a word. Its slot must be above all slots that are there: slots are given out rising.
    pub(super) fn push(&mut self, word: u32, slot: u32, counts: Counts) {
        let Some(holders) = self.words.get_mut(word as usize) else { return };
        match *holders {
            Holders::None => *holders = Holders::One(slot, counts),
            Holders::One(first, of_first) => {
                // There are no more lists than words.
                let Ok(number) = u32::try_from(self.lists.len()) else { return };
                let mut list = List { bytes: Vec::new(), last: 0 };
                list.push(first, of_first);
                list.push(slot, counts);
                grow(&mut self.lists, 1);
                self.lists.push(list);
                *holders = Holders::Many(number);
            }
            Holders::Many(number) => {
                if let Some(list) = self.lists.get_mut(number as usize) {
                    list.push(slot, counts);
                }
            }
        }
    }

    /// The documents of a word.
    #[inline]
    pub(super) fn iter(&self, word: u32) -> Iter<'_> {
        let (one, bytes) = match self.holders(word) {
            Holders::None => (None, [].as_slice()),
            Holders::One(slot, counts) => (Some((slot, counts)), [].as_slice()),
            Holders::Many(number) => (None, self.list(number)),
        };
        Iter { one, bytes, slot: 0 }
    }

    /// About how many documents a word has, never fewer.
    pub(super) fn at_most(&self, word: u32) -> usize {
        match self.holders(word) {
            Holders::None => 0,
            Holders::One(..) => 1,
            Holders::Many(number) => self.list(number).len(),
        }
    }

    fn holders(&self, word: u32) -> Holders {
        self.words.get(word as usize).copied().unwrap_or_default()
    }

    fn list(&self, number: u32) -> &[u8] {
        self.lists.get(number as usize).map_or(&[], |list| &list.bytes)
    }

    /// Writes the list of a word with documents in the slots that they have moved to, those left out that have
    /// [`NO_SLOT`] or came later than any that moved. Writes nothing, and says so, where none is left.
    /// [`Postings::read`] gives lists back; that of a word without documents is a 0.
    pub(super) fn write(&self, word: u32, moved: &[u32], out: &mut Vec<u8>) -> bool {
        let mut left = self.iter(word).filter_map(|(slot, counts)| {
            let to = moved.get(slot as usize).copied().filter(|&to| to != NO_SLOT)?;
            Some((to, counts))
        });
        let Some(first) = left.next() else { return false };
        match left.next() {
            None => {
                write_number(1, out);
                write_number(first.0.into(), out);
                out.push(first.1.0);
            }
            // Two documents take two bytes at least, so the length also says that it is a list.
            Some(second) => {
                let mut list = List { bytes: Vec::with_capacity(self.at_most(word)), last: 0 };
                [first, second].into_iter().chain(left).for_each(|(slot, counts)| list.push(slot, counts));
                write_bytes(&list.bytes, out);
            }
        }
        true
    }

    /// Reads the lists of so many words. Refuses broken ones and slots that do not rise or are not below `used`:
    /// searches rely on both.
    pub(super) fn read(reader: &mut Reader<'_>, words: usize, used: u32) -> Option<Self> {
        let mut postings = Self::default();
        postings.words.reserve_exact(words);
        for _ in 0..words {
            let len: usize = reader.count()?;
            let holders = match len {
                0 => Holders::None,
                1 => Holders::One(reader.number().filter(|&slot| slot < used)?, Counts(reader.byte()?)),
                _ => {
                    let number = u32::try_from(postings.lists.len()).ok()?;
                    grow(&mut postings.lists, 1);
                    postings.lists.push(List::read(reader.take(len)?, used)?);
                    Holders::Many(number)
                }
            };
            postings.words.push(holders);
        }
        Some(postings)
    }
}

impl List {
    fn read(bytes: &[u8], used: u32) -> Option<Self> {
        let mut read = Iter { one: None, bytes, slot: 0 };
        let mut last = None;
        while !read.bytes.is_empty() {
            let (slot, _) = read.next()?;
            if slot >= used || last.is_some_and(|last| slot <= last) {
                return None;
            }
            last = Some(slot);
        }
        Some(Self { bytes: bytes.to_vec(), last: last? })
    }

    fn push(&mut self, slot: u32, counts: Counts) {
        // Doubling would leave a third of the index empty.
        if self.bytes.capacity() - self.bytes.len() < 6 {
            self.bytes.reserve_exact((self.bytes.len() / 4).max(12));
        }
        let code = match counts {
            Counts::VALUE_ONCE => 0,
            Counts::KEY_ONCE => 1,
            Counts::METADATA_ONCE => 2,
            _ => 3,
        };
        let mut rest = (u64::from(slot.wrapping_sub(self.last)) << 2) | code;
        while rest >= 0x80 {
            self.bytes.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        self.bytes.push(rest as u8);
        if code == 3 {
            self.bytes.push(counts.0);
        }
        self.last = slot;
    }
}

/// Walks a list in rising order of slot.
pub(super) struct Iter<'a> {
    one: Option<(u32, Counts)>,
    bytes: &'a [u8],
    slot: u32,
}

impl Iterator for Iter<'_> {
    type Item = (u32, Counts);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.bytes.is_empty() {
            return self.one.take();
        }
        let (step, rest) = split_step(self.bytes)?;
        let (counts, rest) = match (step & 3, rest) {
            (0, rest) => (Counts::VALUE_ONCE, rest),
            (1, rest) => (Counts::KEY_ONCE, rest),
            (2, rest) => (Counts::METADATA_ONCE, rest),
            (_, [counts, rest @ ..]) => (Counts(*counts), rest),
            (_, []) => return None,
        };
        self.slot = self.slot.wrapping_add((step >> 2) as u32);
        self.bytes = rest;
        Some((self.slot, counts))
    }
}

/// A step with its code, and the bytes behind it. Nearly all take one byte or two.
#[inline]
fn split_step(bytes: &[u8]) -> Option<(u64, &[u8])> {
    match bytes {
        [first @ 0..0x80, rest @ ..] => Some((u64::from(*first), rest)),
        [first, second @ 0..0x80, rest @ ..] => Some((u64::from(first & 0x7f) | u64::from(*second) << 7, rest)),
        _ => split_long_step(bytes),
    }
}

#[cold]
fn split_long_step(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (mut step, mut shift, mut rest) = (0, 0, bytes);
    while let [byte, after @ ..] = rest {
        // Only forged bytes get so far that nothing is left of a shift.
        step |= u64::from(byte & 0x7f).checked_shl(shift)?;
        (shift, rest) = (shift + 7, after);
        if byte & 0x80 == 0 {
            return Some((step, rest));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_list_gives_back_what_was_pushed(
            steps in proptest::collection::vec((1_u32..100_000, 1_u8..=255), 0..50),
        ) {
            let mut postings = Postings::default();
            postings.grow(2);
            let mut pushed = Vec::new();
            let mut slot = 0;
            for (step, counts) in steps {
                slot += step;
                postings.push(1, slot, Counts(counts));
                pushed.push((slot, Counts(counts)));
            }
            prop_assert_eq!(postings.iter(1).collect::<Vec<_>>(), pushed);
        }
    }

    #[test]
    fn counts_stop_at_their_limit_and_do_not_spill() {
        let mut counts = Counts::default();
        for _ in 0..40 {
            counts.add(Field::Key);
            counts.add(Field::Value);
        }
        counts.add(Field::Metadata);
        let found = [Field::Key, Field::Value, Field::Metadata].map(|field| counts.of(field));
        assert_eq!(found, [3, 15, 1]);
    }
}
