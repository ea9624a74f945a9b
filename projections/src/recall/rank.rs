//! The formula: BM25 over weighted fields.
//!
//! Occurrences in each field are divided by how long the field is and weighted, then summed, then
//! saturated once (BM25F), so that a word in two fields does not count as two words.

use super::math::ln;
use super::postings::{Counts, Field};
use super::query::How;
use super::search::{SearchOptions, Step};
use super::slots::{Facts, Totals};

/// How soon further occurrences stop to matter.
const SATURATION: f64 = 1.2;
/// How much a long value dilutes its words.
const VALUE_LENGTH: f64 = 0.6;
/// How much a long key dilutes its words.
const KEY_LENGTH: f64 = 0.3;
const KEY_WEIGHT: f64 = 1.0;
const METADATA_WEIGHT: f64 = 0.5;

/// What even the commonest word says, so that answering more words always counts.
const RARITY_FLOOR: f64 = 0.4;
/// How much more a word says that stands in the key: keys name what an entry is about.
const SUBJECT: f64 = 0.8;
const MOST: f64 = 1.0 + SUBJECT;

/// Values with fewer words have their table.
const SHORT_VALUE: usize = 64;

/// Part of the score that depends on how much of the query a document answers.
const COVERAGE: f64 = 0.8;

/// The formula, with the averages of the documents that a search can see.
pub(super) struct Formula {
    documents: f64,
    per_value_word: f64,
    per_key_word: f64,
    subject: f64,
    metadata_weight: f64,
    coverage: f64,
    /// Occurrences of a word that stands once in a value, by the length of the value: most of all, and a division
    /// takes longer than to look it up.
    once: [f64; SHORT_VALUE],
}

impl Formula {
    pub(super) fn new(totals: Totals, options: &SearchOptions) -> Self {
        let documents = totals.documents as f64;
        let per_word = |words: u64| documents / (words.max(1) as f64);
        let fields = options.takes(Step::Fields);
        let mut formula = Self {
            documents,
            once: [0.0; SHORT_VALUE],
            per_value_word: per_word(totals.value_words),
            per_key_word: per_word(totals.key_words),
            subject: if fields { SUBJECT } else { 0.0 },
            metadata_weight: if fields { METADATA_WEIGHT } else { 1.0 },
            coverage: if options.takes(Step::Coverage) { COVERAGE } else { 0.0 },
        };
        formula.once = core::array::from_fn(|len| formula.in_value(1.0, len as f64));
        formula
    }

    /// How much a word says that `holders` documents hold.
    pub(super) fn rarity(&self, holders: usize) -> f64 {
        let holders = holders as f64;
        RARITY_FLOOR + ln(1.0 + (self.documents - holders + 0.5) / (holders + 0.5))
    }

    /// Weighted occurrences in a document, not yet saturated.
    pub(super) fn occurrences(&self, counts: Counts, facts: Facts) -> f64 {
        if counts == Counts::VALUE_ONCE
            && let Some(once) = self.once.get(usize::from(facts.value_len))
        {
            return *once;
        }
        self.all_occurrences(counts, facts)
    }

    fn in_value(&self, count: f64, len: f64) -> f64 {
        count / (1.0 - VALUE_LENGTH + VALUE_LENGTH * len * self.per_value_word)
    }

    fn all_occurrences(&self, counts: Counts, facts: Facts) -> f64 {
        let [value, key, metadata] =
            [Field::Value, Field::Key, Field::Metadata].map(|field| f64::from(counts.of(field)));
        let mut sum = 0.0;
        // Most words stand in one field, and a division takes longer than all else here.
        if value > 0.0 {
            sum += self.in_value(value, f64::from(facts.value_len));
        }
        if key > 0.0 {
            sum += KEY_WEIGHT * key / (1.0 - KEY_LENGTH + KEY_LENGTH * f64::from(facts.key_len) * self.per_key_word);
        }
        sum + self.metadata_weight * metadata
    }

    /// What occurrences are worth, between 0 and `MOST`.
    pub(super) fn saturate(&self, occurrences: f64, in_key: bool) -> f64 {
        let subject = if in_key { 1.0 + self.subject } else { 1.0 };
        subject * occurrences / (SATURATION + occurrences)
    }

    /// The score of the document whose very key is the query: above what any other can reach.
    pub(super) fn named(&self, score: f64, whole: f64) -> f64 {
        1.0 + score + whole * MOST
    }

    /// The score of a document from the sum over the words it answers, and the share of the query's weight
    /// that those words have.
    pub(super) fn score(&self, sum: f64, share: f64) -> f64 {
        sum * self.by_share(share)
    }

    /// By what the sum of a document is multiplied that answers such a share.
    pub(super) fn by_share(&self, share: f64) -> f64 {
        1.0 - self.coverage + self.coverage * share
    }
}

/// What a word counts that answers in this way, against the word itself.
pub(super) const fn worth(how: How) -> f64 {
    match how {
        How::Exact => 1.0,
        How::Stem => 0.7,
        How::Prefix => 0.5,
        How::Typo => 0.6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_stands_once_counts_what_the_formula_says_for_values_of_any_length() {
        let totals = Totals { documents: 77, value_words: 1_931, key_words: 301 };
        let formula = Formula::new(totals, &SearchOptions::default());
        for words in 0..2 * SHORT_VALUE {
            let facts = Facts::new("key", 0, words, 2);
            let [told, made] = [Formula::occurrences, Formula::all_occurrences]
                .map(|occurrences| occurrences(&formula, Counts::VALUE_ONCE, facts).to_bits());
            assert_eq!(told, made, "{words}");
        }
    }
}
