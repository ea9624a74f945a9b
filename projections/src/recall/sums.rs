//! Documents that answer by more than one word of the index: summed up, each once.

use alloc::vec::Vec;

use super::Recall;
use super::answer::{Answer, Met, Posting};
use super::marks::Again;
use super::postings::Counts;
use super::query::How;
use super::rank::Formula;

/// What a document has answered so far.
#[derive(Clone, Copy, Default)]
struct Sum {
    weight: f64,
    share: f64,
    now: Now,
}

/// How it answers the word of the query that is looked at.
#[derive(Clone, Copy, Default)]
struct Now {
    /// The closest way, which comes first.
    how: Option<How>,
    counts: Counts,
    occurrences: f64,
}

impl Recall {
    /// The scores of the documents that were met again, in the order of their numbers; 0 for one that answers nothing.
    pub(super) fn sum_up(
        &self,
        answers: &[Answer],
        met: &Met,
        again: &Again,
        whole: f64,
        formula: &Formula,
    ) -> Vec<f64> {
        let mut sums = alloc::vec![Sum::default(); again.slots.len()];
        let mut answering = Vec::new();
        // In the order of the words, because the last bits of a sum depend on it.
        for answer in answers {
            for (source, fully) in answer.sources() {
                for &Posting { slot, counts, .. } in met.of(source) {
                    let Some(number) = again.number(slot) else { continue };
                    let Some(Sum { now, .. }) = sums.get_mut(number) else { continue };
                    match now.how {
                        None => {
                            now.how = Some(source.how);
                            answering.push(number);
                        }
                        Some(How::Exact | How::Stem) if !fully => continue,
                        Some(_) => {}
                    }
                    now.counts.join(counts);
                    now.occurrences += source.occurrences(counts, self.slots.facts(slot), formula);
                }
            }
            for number in answering.drain(..) {
                if let Some(sum) = sums.get_mut(number)
                    && let Now { how: Some(how), counts, occurrences } = core::mem::take(&mut sum.now)
                {
                    sum.weight += answer.weigh(how, occurrences, counts, formula);
                    sum.share += answer.share(how);
                }
            }
        }
        let score = |sum: Sum| if sum.share > 0.0 { formula.score(sum.weight, sum.share / whole) } else { 0.0 };
        sums.into_iter().map(score).collect()
    }
}
