//! From a query to the best documents.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use bilinc_core::DREAM_PREFIX;

use super::Recall;
use super::answer::{Answer, Match};
use super::best::Best;
use super::postings::Field;
use super::query::{self, How};
use super::rank::{Formula, worth};
use super::slots::{ORDINARY, REPORT};
use super::window::{WINDOW, Window};

/// The ways of answering, by their numbers.
const HOWS: [How; 4] = [How::Exact, How::Stem, How::Prefix, How::Typo];
/// The answers of so many words are walked side by side; those of more are added up by stretches of documents. Few in
/// tests, so that they meet both.
const FEW_ANSWERS: usize = if cfg!(test) { 2 } else { 6 };

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
        let answers: Vec<Answer> = query::terms(query, options, &self.dictionary)
            .into_iter()
            .map(|term| self.answer(term, options, &formula, visibility))
            .filter(|answer| !answer.matches.is_empty())
            .collect();

        let whole = answers.iter().map(|answer| answer.rarity).sum();
        let named = self.slots.find(query);
        let compete = |mut best: Best<'a, '_>| {
            let mut of_named = 0.0;
            self.score(&answers, whole, &formula, |slot, score| {
                if named == Some(slot) {
                    of_named = score;
                } else {
                    best.offer(slot, score);
                }
            });
            if let Some(slot) = named {
                best.offer(slot, formula.named(of_named, whole));
            }
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
                    matched: (explained.iter()).filter_map(|answer| answer.explain(candidate.slot)).collect(),
                })
            })
            .collect()
    }

    /// Adds up the answers for each document and hands on the score. Latest slots come first where that costs
    /// nothing: newer documents win ties, so that older ones need not be looked at.
    fn score(&self, answers: &[Answer], whole: f64, formula: &Formula, mut give: impl FnMut(u32, f64)) {
        if let [answer] = answers {
            let by_how = HOWS.map(|how| formula.by_share(answer.rarity * worth(how) / whole));
            for found in answer.matches.iter().rev() {
                let by_share = by_how.get(found.how as usize).copied().unwrap_or_default();
                give(found.slot, found.weight * by_share);
            }
            return;
        }
        if answers.len() <= FEW_ANSWERS {
            score_few(answers, whole, formula, give);
            return;
        }
        let mut rests: Vec<&[Match]> = answers.iter().map(|a| a.matches.as_slice()).collect();
        let mut window = Window::new();
        loop {
            // Windows without any match are passed over.
            let next = rests.iter().filter_map(|rest| rest.first()).map(|m| m.slot);
            let Some(first) = next.min() else { break };
            let end = first.saturating_add(WINDOW as u32);
            for (rest, answer) in rests.iter_mut().zip(answers) {
                let inside = rest.partition_point(|found| found.slot < end);
                let (now, later) = rest.split_at(inside);
                *rest = later;
                for found in now {
                    let weight = answer.rarity * worth(found.how);
                    window.add((found.slot - first) as usize, found.weight, weight);
                }
            }
            window.drain(|offset, sum, weight| {
                give(first + offset, formula.score(sum, weight / whole));
            });
        }
    }
}

/// Adds up few answers, from the latest slot to the first.
fn score_few(answers: &[Answer], whole: f64, formula: &Formula, mut give: impl FnMut(u32, f64)) {
    struct Rest<'a> {
        matches: &'a [Match],
        /// One more than the slot of the last of them, 0 when none is left.
        next: u64,
        by_how: [f64; HOWS.len()],
    }
    let next = |matches: &[Match]| matches.last().map_or(0, |found| u64::from(found.slot) + 1);
    let rest = |answer: &'_ Answer| HOWS.map(|how| answer.rarity * worth(how));
    let mut rests: Vec<Rest<'_>> = (answers.iter())
        .map(|answer| Rest { matches: &answer.matches, next: next(&answer.matches), by_how: rest(answer) })
        .collect();
    loop {
        let latest = rests.iter().fold(0, |latest, rest| rest.next.max(latest));
        let (mut sum, mut weight, mut slot) = (0.0, 0.0, None);
        // In the order of the words, because the last bits of a sum depend on it.
        for rest in rests.iter_mut().filter(|rest| rest.next == latest) {
            if let Some((found, before)) = rest.matches.split_last() {
                sum += found.weight;
                weight += rest.by_how.get(found.how as usize).copied().unwrap_or_default();
                slot = Some(found.slot);
                (rest.matches, rest.next) = (before, next(before));
            }
        }
        let Some(slot) = slot else { break };
        give(slot, formula.score(sum, weight / whole));
    }
}
