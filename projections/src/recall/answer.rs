//! The documents that answer one word of a query, and what that adds to the score of each.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::Recall;
use super::marks::Marks;
use super::postings::{Counts, Field};
use super::query::{How, Term};
use super::rank::{Formula, worth};
use super::search::{MatchedTerm, SearchOptions};
use super::slots::{Facts, Length};

/// Room is made for so many postings at first.
const FIRST: usize = 512;

/// The documents of all words that answer a query, one word after the other.
pub(super) struct Met {
    visibility: u8,
    postings: Vec<Posting>,
    pub(super) marks: Marks,
}

/// A document that holds a word.
#[derive(Clone, Copy)]
pub(super) struct Posting {
    pub(super) slot: u32,
    pub(super) counts: Counts,
    pub(super) length: Length,
}

/// A word of the index that answers, and where its documents stand in [`Met`], in rising order of slot.
pub(super) struct Source {
    pub(super) how: How,
    documents: Range<usize>,
    /// For each field at least as much as the word stands in it anywhere.
    pub(super) most: Counts,
}

/// All documents that answer one word of the query.
pub(super) struct Answer {
    term: String,
    /// Those that answer fully, then the looser ones, which count for documents that none of the others has.
    pub(super) sources: Vec<Source>,
    fully: usize,
    /// What the word itself can add at most.
    pub(super) rarity: f64,
    /// The same for loose answers: judged by how many documents answer in any way, so that they never say more.
    loose_rarity: f64,
}

impl Met {
    pub(super) fn new(recall: &Recall, visibility: u8) -> Self {
        let marks = Marks::new(recall.slots.used());
        Self { visibility, postings: Vec::with_capacity(FIRST), marks }
    }

    /// The documents of a source.
    #[inline]
    pub(super) fn of(&self, source: &Source) -> &[Posting] {
        self.postings.get(source.documents.clone()).unwrap_or_default()
    }

    /// How often a source has a word in a document, if it has.
    fn counts_in(&self, source: &Source, slot: u32) -> Option<Counts> {
        let postings = self.of(source);
        // Most sources are short, and most documents are in none of them.
        if postings.last().is_none_or(|last| slot > last.slot) {
            return None;
        }
        let at = postings.binary_search_by_key(&slot, |posting| posting.slot).ok()?;
        postings.get(at).map(|posting| posting.counts)
    }
}

impl Recall {
    /// Finds the documents that answer a word of the query; none when there are none.
    pub(super) fn answer(
        &self,
        term: Term,
        options: &SearchOptions,
        formula: &Formula,
        met: &mut Met,
    ) -> Option<Answer> {
        let same = term.same(options, &self.dictionary);
        let mut sources = Vec::with_capacity(same.len() + 2);
        let mut full = 0;
        for &(id, how) in &same {
            full += self.collect(id, how, met, &mut sources);
        }
        let fully = sources.len();

        // Looser ways, for documents that do not hold the word itself.
        let mut loose = 0;
        if let Some((beginning, most)) = term.beginning(options) {
            let mut seen = full;
            for id in self.dictionary.completions(beginning) {
                if seen >= most {
                    break;
                }
                // Documents of a relative answer fully already; they count as seen all the same.
                let relative = same.iter().position(|&(other, _)| other == id);
                if relative.is_none() {
                    loose += self.collect(id, How::Prefix, met, &mut sources);
                }
                let source = relative.map_or_else(|| sources.last(), |at| sources.get(at));
                seen += source.map_or(0, |source| source.documents.len());
            }
        }
        if full == 0 && loose == 0 {
            for id in term.misspelt(options, &self.dictionary) {
                loose += self.collect(id, How::Typo, met, &mut sources);
            }
        }
        (full + loose > 0).then(|| Answer {
            term: term.word,
            sources,
            fully,
            rarity: formula.rarity(if full == 0 { loose } else { full }),
            loose_rarity: formula.rarity(full + loose),
        })
    }

    /// Adds the documents of a word; says how many did not answer this word of the query before.
    fn collect(&self, id: u32, how: How, met: &mut Met, sources: &mut Vec<Source>) -> usize {
        let start = met.postings.len();
        let (mut most, mut new) = (Counts::default(), 0);
        met.postings.reserve(self.postings.at_most(id));
        for (slot, counts) in self.postings.iter(id) {
            if let Some(length) = self.slots.length(slot, met.visibility) {
                met.postings.push(Posting { slot, counts, length });
                most.join(counts);
                new += usize::from(met.marks.meet(slot));
            }
        }
        sources.push(Source { how, documents: start..met.postings.len(), most });
        new
    }
}

impl Answer {
    /// The sources, each with whether it answers fully.
    pub(super) fn sources(&self) -> impl Iterator<Item = (&Source, bool)> {
        self.sources.iter().enumerate().map(|(at, source)| (source, at < self.fully))
    }

    /// What a document adds to its score by answering in this way.
    pub(super) fn weigh(&self, how: How, occurrences: f64, counts: Counts, formula: &Formula) -> f64 {
        let saturated = formula.saturate(occurrences, counts.of(Field::Key) > 0);
        match how {
            How::Exact | How::Stem => self.rarity * saturated,
            How::Prefix | How::Typo => self.loose_rarity * worth(how) * saturated,
        }
    }

    /// What a document says of the query's weight that answers in this way.
    pub(super) fn share(&self, how: How) -> f64 {
        self.rarity * worth(how)
    }

    /// How a document answers the word, if it does.
    pub(super) fn explain(&self, slot: u32, met: &Met) -> Option<MatchedTerm> {
        let (full, loose) = self.sources.split_at_checked(self.fully)?;
        [full, loose].into_iter().find_map(|sources| {
            let (mut how, mut all) = (None, Counts::default());
            for source in sources {
                if let Some(counts) = met.counts_in(source, slot) {
                    // The closest source comes first.
                    how = how.or(Some(source.how));
                    all.join(counts);
                }
            }
            let fields = [Field::Key, Field::Value, Field::Metadata].into_iter().filter(|&field| all.of(field) > 0);
            Some(MatchedTerm { term: self.term.clone(), how: how?, fields: fields.collect() })
        })
    }
}

impl Source {
    pub(super) fn len(&self) -> usize {
        self.documents.len()
    }

    /// Weighted occurrences of the word in a document. Of a full answer relatives count less; of a loose one all
    /// count alike, and less later.
    #[inline]
    pub(super) fn occurrences(&self, counts: Counts, facts: Facts, formula: &Formula) -> f64 {
        let worth = if self.how == How::Stem { worth(self.how) } else { 1.0 };
        worth * formula.occurrences(counts, facts)
    }
}
