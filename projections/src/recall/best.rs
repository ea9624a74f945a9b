//! The competition for the places of a result.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::{Ordering, Reverse};

use super::Recall;
use super::search::SearchOptions;
use super::slots::{Facts, Slot};

/// So many that may take a place wait for their documents to be looked at. Few in tests, so that they meet both.
const WAITING: usize = if cfg!(test) { 4 } else { 1_024 };

/// So many wait in most searches.
const FIRST: usize = 64;

/// A document that competes for a place.
pub(super) struct Candidate<'a> {
    pub(super) score: f64,
    pub(super) slot: u32,
    pub(super) document: &'a Slot,
}

impl Candidate<'_> {
    pub(super) fn key(&self) -> &str {
        self.document.key.as_deref().unwrap_or_default()
    }

    /// The better comes first. Total, because keys differ.
    fn order(&self, other: &Self) -> Ordering {
        (other.score.total_cmp(&self.score))
            .then_with(|| {
                let importance = other.document.importance;
                importance.total_cmp(&self.document.importance)
            })
            .then_with(|| other.document.changed.cmp(&self.document.changed))
            .then_with(|| self.key().cmp(other.key()))
    }
}

/// A score, which no document has below 0: then its bits compare as it does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Score(u64);

/// The best candidates so far, and all that a look at their documents may yet put before some of these.
pub(super) struct Best<'a, 'b> {
    recall: &'a Recall,
    options: &'b SearchOptions,
    accept: Option<&'b mut dyn FnMut(&str) -> bool>,
    /// The best scores, at most `limit`, the least of them on top.
    scores: BinaryHeap<Reverse<Score>>,
    /// Among these are the best. Documents lie far apart in memory, so they are looked at last.
    waiting: Vec<(f64, u32)>,
    /// Below this score nobody gets a place.
    least: f64,
}

impl<'a, 'b> Best<'a, 'b> {
    /// Without a filter every document of the wanted types may take a place.
    pub(super) fn new(
        recall: &'a Recall,
        options: &'b SearchOptions,
        accept: Option<&'b mut dyn FnMut(&str) -> bool>,
    ) -> Self {
        let least = if options.limit == 0 { f64::INFINITY } else { f64::NEG_INFINITY };
        let scores = BinaryHeap::with_capacity(options.limit.min(WAITING));
        Self { recall, options, accept, scores, waiting: Vec::with_capacity(FIRST), least }
    }

    /// Below this score nobody gets a place any more.
    pub(super) const fn least(&self) -> f64 {
        self.least
    }

    /// Lets a document compete. The caller's filter is asked only where its score is enough for a place.
    #[inline]
    pub(super) fn offer(&mut self, slot: u32, facts: Facts, score: f64) {
        if score >= self.least && facts.type_bit() & self.options.memory_types != 0 {
            self.compete(slot, score);
        }
    }

    fn compete(&mut self, slot: u32, score: f64) {
        if let Some(accept) = &mut self.accept {
            let document = self.recall.slots.slot(slot);
            if !document.and_then(|document| document.key.as_deref()).is_some_and(accept) {
                return;
            }
        }
        self.waiting.push((score, slot));
        if score > self.least {
            if self.scores.len() >= self.options.limit {
                self.scores.pop();
            }
            self.scores.push(Reverse(Score(score.to_bits())));
            if self.scores.len() >= self.options.limit {
                self.least = self.scores.peek().map_or(self.least, |Reverse(Score(bits))| f64::from_bits(*bits));
            }
        }
        if self.waiting.len() >= self.options.limit.saturating_add(WAITING) {
            self.waiting = self.best().into_iter().map(|best| (best.score, best.slot)).collect();
        }
    }

    /// The best of those that wait, in no order.
    fn best(&self) -> Vec<Candidate<'a>> {
        let candidate = |&(score, slot): &(f64, u32)| {
            let document = self.recall.slots.slot(slot).filter(|_| score >= self.least)?;
            Some(Candidate { score, slot, document })
        };
        let mut best = Vec::with_capacity(self.waiting.len());
        best.extend(self.waiting.iter().filter_map(candidate));
        if best.len() > self.options.limit {
            best.select_nth_unstable_by(self.options.limit, Candidate::order);
            best.truncate(self.options.limit);
        }
        best
    }

    /// The winners, best first.
    pub(super) fn into_vec(self) -> Vec<Candidate<'a>> {
        let mut best = self.best();
        best.sort_unstable_by(Candidate::order);
        best
    }
}
