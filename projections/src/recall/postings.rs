//! Which documents hold a word, and how often in which field.
//!
//! A list is bytes: for each document, in rising order of slot, the step from the slot before as a
//! variable-length number whose two low bits name the commonest counts; other counts follow in a byte.
//! Most postings take one or two bytes. A word of one document, as a key often has, takes no list at all.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::checkpoint::{Reader, write_bytes, write_number};

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
    const VALUE_ONCE: Self = Self(1);
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

    pub(super) const fn of(self, field: Field) -> u8 {
        match field {
            Field::Value => self.0 & 0x0f,
            Field::Key => (self.0 >> 4) & 3,
            Field::Metadata => self.0 >> 6,
        }
    }
}

/// The documents of one word.
#[derive(Debug, Default)]
pub(super) enum Postings {
    #[default]
    None,
    One(u32, Counts),
    Many(Box<List>),
}

#[derive(Debug)]
pub(super) struct List {
    bytes: Vec<u8>,
    last: u32,
}

impl Postings {
    /// Adds a document. Its slot must be above all slots that are there: slots are given out rising.
    pub(super) fn push(&mut self, slot: u32, counts: Counts) {
        match self {
            Self::None => *self = Self::One(slot, counts),
            Self::One(first, of_first) => {
                let mut list = List { bytes: Vec::new(), last: 0 };
                list.push(*first, *of_first);
                list.push(slot, counts);
                *self = Self::Many(Box::new(list));
            }
            Self::Many(list) => list.push(slot, counts),
        }
    }

    pub(super) fn iter(&self) -> Iter<'_> {
        let (one, bytes) = match self {
            Self::None => (None, [].as_slice()),
            Self::One(slot, counts) => (Some((*slot, *counts)), [].as_slice()),
            Self::Many(list) => (None, list.bytes.as_slice()),
        };
        Iter { one, bytes: bytes.iter(), slot: 0 }
    }

    /// Writes the list; [`Postings::read`] gives it back.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::None => write_number(0, out),
            Self::One(slot, counts) => {
                write_number(1, out);
                write_number((*slot).into(), out);
                out.push(counts.0);
            }
            // Two documents take two bytes at least, so the length also says that it is a list.
            Self::Many(list) => write_bytes(&list.bytes, out),
        }
    }

    /// Reads a list. Refuses broken ones and slots that do not rise or are not below `used`: searches rely on both.
    pub(super) fn read(reader: &mut Reader<'_>, used: u32) -> Option<Self> {
        let len: usize = reader.count()?;
        if len == 0 {
            return Some(Self::None);
        }
        if len == 1 {
            let slot = reader.number().filter(|&slot| slot < used)?;
            return Some(Self::One(slot, Counts(reader.byte()?)));
        }
        let bytes = reader.take(len)?.to_vec();
        let mut read = Iter { one: None, bytes: bytes.iter(), slot: 0 };
        let mut last = None;
        while !read.bytes.as_slice().is_empty() {
            let (slot, _) = read.next()?;
            if slot >= used || last.is_some_and(|last| slot <= last) {
                return None;
            }
            last = Some(slot);
        }
        let last = last?;
        Some(Self::Many(Box::new(List { bytes, last })))
    }

    /// About how many documents there are, never fewer.
    pub(super) fn at_most(&self) -> usize {
        match self {
            Self::None => 0,
            Self::One(..) => 1,
            Self::Many(list) => list.bytes.len(),
        }
    }
}

impl List {
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
    bytes: core::slice::Iter<'a, u8>,
    slot: u32,
}

impl Iterator for Iter<'_> {
    type Item = (u32, Counts);

    fn next(&mut self) -> Option<Self::Item> {
        let Some(&first) = self.bytes.next() else {
            return self.one.take();
        };
        let mut word = u64::from(first & 0x7f);
        let mut byte = first;
        let mut shift = 7;
        while byte & 0x80 != 0 {
            byte = *self.bytes.next()?;
            // Only forged bytes get so far that nothing is left of a shift.
            word |= u64::from(byte & 0x7f).checked_shl(shift)?;
            shift += 7;
        }
        self.slot = self.slot.wrapping_add((word >> 2) as u32);
        let counts = match word & 3 {
            0 => Counts::VALUE_ONCE,
            1 => Counts::KEY_ONCE,
            2 => Counts::METADATA_ONCE,
            _ => Counts(*self.bytes.next()?),
        };
        Some((self.slot, counts))
    }
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
            let mut pushed = Vec::new();
            let mut slot = 0;
            for (step, counts) in steps {
                slot += step;
                postings.push(slot, Counts(counts));
                pushed.push((slot, Counts(counts)));
            }
            prop_assert_eq!(postings.iter().collect::<Vec<_>>(), pushed);
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
