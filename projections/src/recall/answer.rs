//! The documents that answer one word of a query, and what that adds to the score of each.

use alloc::string::String;
use alloc::vec::Vec;

use super::Recall;
use super::postings::{Counts, Field};
use super::query::{How, Term};
use super::rank::{Formula, worth};
use super::search::{MatchedTerm, SearchOptions};

/// The fields, in the order of their bits in [`Match::fields`].
const FIELDS: [Field; 3] = [Field::Key, Field::Value, Field::Metadata];
const IN_KEY: u8 = 1;

/// So many lists are joined one after the other; more are sorted at once. Few in tests, so that they meet both.
const FEW_LISTS: usize = if cfg!(test) { 2 } else { 8 };

/// A document that answers one word of the query.
#[derive(Clone, Copy)]
pub(super) struct Match {
    pub(super) slot: u32,
    pub(super) how: How,
    /// Which fields hold the word, a bit each.
    fields: u8,
    /// First the weighted occurrences, later what the word adds to the score.
    pub(super) weight: f64,
}

/// All documents that answer one word of the query, in rising order of slot.
pub(super) struct Answer {
    term: String,
    pub(super) matches: Vec<Match>,
    /// What the word itself can add at most.
    pub(super) rarity: f64,
}

impl Recall {
    /// Finds the documents that answer a word of the query.
    pub(super) fn answer(&self, term: Term, options: &SearchOptions, formula: &Formula, visibility: u8) -> Answer {
        let same = term.same(options, &self.dictionary);
        let (mut matches, gave) = self.collect_all(&same, formula, visibility);
        let full = matches.len();

        // Looser ways, for documents that do not hold the word itself.
        let mut loose = Vec::new();
        if let Some((beginning, most)) = term.beginning(options) {
            let mut seen = full;
            for id in self.dictionary.completions(beginning) {
                if seen >= most {
                    break;
                }
                // Documents of a relative answer fully already; they count as seen all the same.
                seen += match same.iter().position(|&(other, _)| other == id).and_then(|at| gave.get(at)) {
                    Some(gave) => *gave,
                    None => self.collect(id, How::Prefix, formula, visibility, &mut loose),
                };
            }
            merge(&mut loose);
        }
        if full == 0 && loose.is_empty() {
            let misspelt = term.misspelt(options, &self.dictionary);
            let misspelt: Vec<_> = misspelt.into_iter().map(|id| (id, How::Typo)).collect();
            loose = self.collect_all(&misspelt, formula, visibility).0;
        }
        if !loose.is_empty() {
            loose.retain(|found| matches.binary_search_by_key(&found.slot, |found| found.slot).is_err());
        }

        // Loose matches are judged by how many documents answer in any way, so that they never say more.
        let rarity = formula.rarity(if full == 0 { loose.len() } else { full });
        let loose_rarity = formula.rarity(full + loose.len());
        for found in &mut matches {
            found.weight = rarity * formula.saturate(found.weight, found.fields & IN_KEY != 0);
        }
        for found in &mut loose {
            found.weight = loose_rarity * worth(found.how) * formula.saturate(found.weight, found.fields & IN_KEY != 0);
        }
        if !loose.is_empty() {
            matches.append(&mut loose);
            matches.sort_unstable_by_key(|found| found.slot);
        }
        Answer { term: term.word, matches, rarity }
    }

    /// The documents of several words, and how many each of them has.
    fn collect_all(&self, ids: &[(u32, How)], formula: &Formula, visibility: u8) -> (Vec<Match>, Vec<usize>) {
        let (mut all, mut one, mut joined) = (Vec::new(), Vec::new(), Vec::new());
        let gave = ids.iter().map(|&(id, how)| {
            if ids.len() > FEW_LISTS || all.is_empty() {
                return self.collect(id, how, formula, visibility, &mut all);
            }
            let gave = self.collect(id, how, formula, visibility, &mut one);
            join(&all, &one, &mut joined);
            core::mem::swap(&mut all, &mut joined);
            one.clear();
            gave
        });
        let gave = gave.collect();
        merge(&mut all);
        (all, gave)
    }

    /// Adds the documents of a word, in rising order of slot; says how many.
    fn collect(&self, id: u32, how: How, formula: &Formula, visibility: u8, matches: &mut Vec<Match>) -> usize {
        let before = matches.len();
        // Of a full answer relatives count less; of a loose one all count alike, and less later.
        let worth = if how == How::Stem { worth(how) } else { 1.0 };
        matches.reserve(self.postings.at_most(id));
        for (slot, counts) in self.postings.iter(id) {
            let facts = self.slots.facts(slot);
            if facts.visible(visibility) {
                matches.push(Match {
                    slot,
                    how,
                    fields: fields_of(counts),
                    weight: worth * formula.occurrences(counts, facts),
                });
            }
        }
        matches.len() - before
    }
}

impl Answer {
    /// How a document answers the word, if it does.
    pub(super) fn explain(&self, slot: u32) -> Option<MatchedTerm> {
        let at = self.matches.binary_search_by_key(&slot, |found| found.slot).ok()?;
        let found = self.matches.get(at)?;
        Some(MatchedTerm {
            term: self.term.clone(),
            how: found.how,
            fields: (0..)
                .zip(FIELDS)
                .filter(|&(bit, _)| found.fields & (1 << bit) != 0)
                .map(|(_, field)| field)
                .collect(),
        })
    }
}

fn fields_of(counts: Counts) -> u8 {
    let [key, value, metadata] = FIELDS.map(|field| u8::from(counts.of(field) > 0));
    key | (value << 1) | (metadata << 2)
}

impl Match {
    /// Adds what a further word found in the same document.
    fn take_in(&mut self, next: &Self) {
        self.weight += next.weight;
        self.fields |= next.fields;
        self.how = self.how.min(next.how);
    }
}

/// Joins what further words found to what the words before found, both in rising order of slot.
fn join(found: &[Match], further: &[Match], joined: &mut Vec<Match>) {
    joined.clear();
    joined.reserve(found.len() + further.len());
    let mut rest = found;
    for next in further {
        while let [this, others @ ..] = rest
            && this.slot < next.slot
        {
            joined.push(*this);
            rest = others;
        }
        match rest {
            [this, others @ ..] if this.slot == next.slot => {
                let mut both = *this;
                both.take_in(next);
                joined.push(both);
                rest = others;
            }
            _ => joined.push(*next),
        }
    }
    joined.extend_from_slice(rest);
}

/// Joins what several words found in the same document. Sums run in the order of the words, because the
/// last bits of a sum depend on it.
fn merge(matches: &mut Vec<Match>) {
    if matches.is_sorted_by(|left, right| left.slot < right.slot) {
        return;
    }
    matches.sort_by_key(|found| found.slot);
    matches.dedup_by(|next, kept| {
        let same = next.slot == kept.slot;
        if same {
            kept.take_in(next);
        }
        same
    });
}
