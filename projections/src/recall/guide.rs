//! Where to look in a long order of words: the words themselves lie scattered, and each look at one misses the caches.

use alloc::vec::Vec;
use core::ops::Range;

/// So many words stand between two whose beginnings are known. Few in tests, so that they meet many.
const APART: usize = if cfg!(test) { 3 } else { 64 };

/// The beginnings of some words of an order, evenly spread.
#[derive(Default)]
pub(super) struct Guide {
    beginnings: Vec<u64>,
}

impl Guide {
    /// Of words in byte order, by their places.
    pub(super) fn new<'a>(words: usize, word: impl Fn(usize) -> &'a str) -> Self {
        Self { beginnings: (0..words).step_by(APART).map(|at| beginning(word(at))).collect() }
    }

    /// Where the first word may be that is not below `word`; those before are below it, and none behind is the first.
    pub(super) fn around(&self, word: &str) -> Range<usize> {
        let sought = beginning(word);
        let below = self.beginnings.partition_point(|&known| known < sought);
        let like = self.beginnings.partition_point(|&known| known <= sought);
        below.saturating_sub(1) * APART..like * APART
    }
}

/// The first bytes of a word as a number, which compare as the words do where they differ.
pub(super) fn beginning(word: &str) -> u64 {
    let mut bytes = [0; 8];
    bytes.iter_mut().zip(word.bytes()).for_each(|(to, from)| *to = from);
    u64::from_be_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_guide_leads_to_where_a_word_is_or_would_be(
            mut words in proptest::collection::vec("[ab]{0,12}", 0..40),
            sought in "[ab]{0,12}",
        ) {
            words.sort_unstable();
            let guide = Guide::new(words.len(), |at| words.get(at).map_or("", String::as_str));
            let around = guide.around(&sought);
            let place = words.partition_point(|word: &String| *word < sought);
            prop_assert!(around.start <= place && place <= around.end.min(words.len()), "{around:?} {place}");
        }
    }
}
