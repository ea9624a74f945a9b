//! The competition for the places of a result.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::{Ordering, Reverse};

use super::Recall;
use super::search::SearchOptions;
use super::slots::Slot;

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
}

impl Ord for Candidate<'_> {
    /// Greater is better. Total, because keys differ.
    fn cmp(&self, other: &Self) -> Ordering {
        (self.score.total_cmp(&other.score))
            .then_with(|| {
                let importance = self.document.importance;
                importance.total_cmp(&other.document.importance)
            })
            .then_with(|| self.document.changed.cmp(&other.document.changed))
            .then_with(|| other.key().cmp(self.key()))
    }
}

impl PartialOrd for Candidate<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate<'_> {}

/// The best candidates so far, at most `limit`.
pub(super) struct Best<'a, 'b> {
    recall: &'a Recall,
    options: &'b SearchOptions,
    accept: Option<&'b mut dyn FnMut(&str) -> bool>,
    heap: BinaryHeap<Reverse<Candidate<'a>>>,
    /// Below this score nobody gets a place.
    least: f64,
}

impl<'a, 'b> Best<'a, 'b> {
    /// Without a filter every document of the wanted types may take a place.
    pub(super) const fn new(
        recall: &'a Recall,
        options: &'b SearchOptions,
        accept: Option<&'b mut dyn FnMut(&str) -> bool>,
    ) -> Self {
        let least = if options.limit == 0 { f64::INFINITY } else { f64::NEG_INFINITY };
        Self { recall, options, accept, heap: BinaryHeap::new(), least }
    }

    /// Lets a document compete. The caller's filter is asked only once a place is certain otherwise.
    #[inline]
    pub(super) fn offer(&mut self, slot: u32, score: f64) {
        if score >= self.least {
            self.compete(slot, score);
        }
    }

    fn compete(&mut self, slot: u32, score: f64) {
        let full = self.heap.len() >= self.options.limit;
        let worst = self.heap.peek().map(|Reverse(worst)| worst);
        let Some(document) = self.recall.slots.slot(slot) else {
            return;
        };
        let candidate = Candidate { score, slot, document };
        if full && worst.is_some_and(|worst| candidate < *worst) {
            return;
        }
        let wanted = self.recall.slots.facts(slot).type_bit() & self.options.memory_types != 0;
        if !wanted || self.accept.as_mut().is_some_and(|accept| !accept(candidate.key())) {
            return;
        }
        if full {
            self.heap.pop();
        }
        self.heap.push(Reverse(candidate));
        if self.heap.len() >= self.options.limit {
            self.least = self.heap.peek().map_or(self.least, |Reverse(worst)| worst.score);
        }
    }

    /// The winners, best first.
    pub(super) fn into_vec(self) -> Vec<Candidate<'a>> {
        let reversed = self.heap.into_sorted_vec();
        reversed.into_iter().map(|Reverse(candidate)| candidate).collect()
    }
}
