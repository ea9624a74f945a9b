//! The index from bytes, so that a new process need not read every value to search; how they are made is in `saving`.
//!
//! The bytes hold words of values: whoever keeps them drops them with every purge. They carry no checksum
//! and no version; their keeper adds both, and [`Recall::VERSION`] is the version to add.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::Recall;
use super::dictionary::Dictionary;
use super::postings::Postings;
use super::slots::Slots;

/// Does two halves of a work, the first of them on another thread if it has one.
pub type Both<'a> = dyn FnMut(&mut (dyn FnMut() + Send), &mut dyn FnMut()) + 'a;

impl Recall {
    /// The index that was saved. `share` gives the caller's own pointer for a key, so that the key is not
    /// held twice, or None for a key it does not know.
    ///
    /// The work comes in two halves. `both` calls each of them once: the first on another thread if it has one,
    /// the second on this.
    ///
    /// None when the bytes are not those of an index or hold an unknown key: then it is to be built anew.
    /// Bytes changed on the way are not always noticed; they may give wrong hits, never a panic.
    #[must_use]
    pub fn load(
        seed: u64,
        bytes: &[u8],
        share: &mut dyn FnMut(&str) -> Option<Arc<str>>,
        both: &mut Both<'_>,
    ) -> Option<Self> {
        let mut reader = Reader { rest: bytes };
        let used: u32 = reader.number()?;
        let (words, slots_len, dictionary_len) = (reader.count()?, reader.count()?, reader.count()?);
        let mut slots_part = Reader { rest: reader.take(slots_len)? };
        let mut dictionary_part = Reader { rest: reader.take(dictionary_len)? };
        let (mut postings, mut others) = (None, None);
        let mut read_others =
            || Some((Slots::read(seed, &mut slots_part, share)?, Dictionary::read(seed, &mut dictionary_part)?));
        both(&mut || postings = Postings::read(&mut reader, words, used), &mut || others = read_others());
        let (postings, (slots, dictionary)) = (postings?, others?);
        let is_whole = [reader, slots_part, dictionary_part].iter().all(|reader| reader.rest.is_empty());
        let fits = slots.used() == used as usize && dictionary.len() == words;
        (is_whole && fits).then_some(Self { seed, generation: 0, slots, dictionary, postings })
    }
}

/// Appends a number, seven bits a byte, the lowest first.
pub(super) fn write_number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends bytes behind their length.
pub(super) fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    write_number(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// Reads what was written; everything is None once the bytes end too early.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    #[cfg(test)]
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    /// A number that fits the type asked for.
    pub(super) fn number<T: TryFrom<u64>>(&mut self) -> Option<T> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return T::try_from(number).ok();
            }
        }
        None
    }

    /// How many things follow. Each takes a byte at least, so a forged count reserves no memory.
    pub(super) fn count(&mut self) -> Option<usize> {
        self.number().filter(|&count: &usize| count <= self.rest.len())
    }

    pub(super) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(taken)
    }

    pub(super) fn text(&mut self) -> Option<&'a str> {
        let len = self.count()?;
        core::str::from_utf8(self.take(len)?).ok()
    }
}
