//! From a query to the best documents.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use bilinc_core::DREAM_PREFIX;

use super::Recall;
use super::answer::{Answer, Met};
use super::best::Best;
use super::postings::Field;
use super::query::{self, How};
use super::rank::Formula;
use super::slots::{ORDINARY, REPORT};

/// How tolerant a search is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// The words themselves, after folding.
    Fast,
    /// Also words of the same stem, words that begin with a word of the query, and small slips.
    #[default]
    Balanced,
}

/// A step of a search, for benchmarks to tell what each brings.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Words of the same stem.
    Stems,
    /// Words that begin with a word of the query.
    Beginnings,
    /// Small slips forgiven.
    Slips,
    /// Words left out of a query that say nothing.
    StopWords,
    /// Words weighted by the field they stand in.
    Fields,
    /// Documents that answer more of the query before those that answer one word often.
    Coverage,
}

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchOptions {
    /// How tolerant the search is.
    pub profile: Profile,
    /// The most hits to give.
    pub limit: usize,
    /// Memory types to look at: bit `n` stands for type `n`.
    pub memory_types: u8,
    /// Whether to say which words a document answers.
    pub explain: bool,
    /// A step to leave out.
    #[doc(hidden)]
    pub without: Option<Step>,
}

impl SearchOptions {
    /// Whether the search takes a step.
    pub(super) fn takes(&self, step: Step) -> bool {
        let tolerant = matches!(step, Step::Stems | Step::Beginnings | Step::Slips);
        (self.profile == Profile::Balanced || !tolerant) && self.without != Some(step)
    }
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self { profile: Profile::Balanced, limit: 10, memory_types: u8::MAX, explain: true, without: None }
    }
}

/// A document found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// Its key.
    pub key: Arc<str>,
    /// Its score: above 0, to be compared only within one search.
    pub score: f64,
    /// The words of the query it answers, in their order; none unless [`SearchOptions::explain`].
    pub matched: Vec<MatchedTerm>,
}

/// A word of the query that a document answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchedTerm {
    /// The word of the query, folded.
    pub term: String,
    /// The closest way in which the document answers it.
    pub how: How,
    /// The fields in which it does, key first.
    pub fields: Vec<Field>,
}

impl Recall {
    /// The best documents for a query, best first.
    ///
    /// The query is text: nothing in it is syntax. Equal scores are ordered by importance, then newest
    /// change, then key. A query that is a key finds that entry first. `accept` is asked about documents
    /// that would take a place, in no promised order.
    pub fn search<'a>(
        &'a self,
        query: &str,
        options: &SearchOptions,
        accept: &mut dyn FnMut(&str) -> bool,
    ) -> Vec<Hit> {
        let query = query.trim();
        if query.is_empty() {
            return Vec::new();
        }
        let visibility = if query.starts_with(DREAM_PREFIX) { ORDINARY | REPORT } else { ORDINARY };
        let formula = Formula::new(self.slots.totals(visibility), options);
        let mut met = Met::new(self, visibility);
        let mut answers: Vec<Answer> = Vec::new();
        for term in query::terms(query, options, &self.dictionary) {
            if !answers.is_empty() {
                met.marks.next_word();
            }
            answers.extend(self.answer(term, options, &formula, &mut met));
        }

        let whole = answers.iter().map(|answer| answer.rarity).sum();
        let named = self.slots.find(query);
        let again = core::mem::take(&mut met.marks).number_all(named);
        let sums = self.sum_up(&answers, &met, &again, whole, &formula);
        let compete = |mut best: Best<'a, '_>| {
            // Before all others, and the newest of them first: the more they reach, the fewer of the others need be
            // looked at.
            for (&slot, &score) in again.slots.iter().zip(&sums).rev() {
                let score = if named == Some(slot) { formula.named(score, whole) } else { score };
                best.offer(slot, self.slots.facts(slot), score);
            }
            self.offer_singles(&answers, &met, &again, whole, &formula, &mut best);
            best.into_vec()
        };
        // The filter costs more than all that is done here for a document, and mostly turns none away: so it is asked
        // about the winners alone, and about all that come near only when that left a place to another.
        let mut found = compete(Best::new(self, options, None));
        let places = found.len();
        found.retain(|candidate| accept(candidate.key()));
        if found.len() < places && places >= options.limit {
            found = compete(Best::new(self, options, Some(accept)));
        }
        let explained = if options.explain { answers.as_slice() } else { &[] };
        found
            .into_iter()
            .filter_map(|candidate| {
                Some(Hit {
                    key: Arc::clone(candidate.document.key.as_ref()?),
                    score: candidate.score,
                    matched: (explained.iter()).filter_map(|answer| answer.explain(candidate.slot, &met)).collect(),
                })
            })
            .collect()
    }
}
