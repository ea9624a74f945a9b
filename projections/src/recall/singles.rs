//! Documents that answer by one word of the index alone: nothing is to be summed up, and most cannot take a place.

use super::Recall;
use super::answer::{Answer, Met, Posting};
use super::best::Best;
use super::marks::Again;
use super::postings::Counts;
use super::rank::Formula;
use super::slots::{Facts, Length};

/// Sources of so few documents are walked without asking what they can reach.
const FEW: usize = if cfg!(test) { 1 } else { 16 };
/// More than a rounded result may lie above another one that exact numbers would not be below.
const ROUNDING: f64 = 1.0 + 1e-9;

impl Recall {
    /// Lets those documents compete that were not met again. A word whose documents cannot reach a place is not
    /// walked: none of them scores more than the shortest document would that has the word as often as any.
    pub(super) fn offer_singles(
        &self,
        answers: &[Answer],
        met: &Met,
        again: &Again,
        whole: f64,
        formula: &Formula,
        best: &mut Best<'_, '_>,
    ) {
        for answer in answers {
            for source in &answer.sources {
                let by_share = formula.by_share(answer.share(source.how) / whole);
                let score = |counts, facts| {
                    let occurrences = source.occurrences(counts, facts, formula);
                    answer.weigh(source.how, occurrences, counts, formula) * by_share
                };
                // None scores more in a document of this length or a longer one.
                let most = |counts, length| score(counts, Facts::shortest(length)) * ROUNDING;
                if source.len() > FEW && most(source.most, Length::SHORTEST) < best.least() {
                    continue;
                }
                // From this length on, a value that holds the word once is known to be too long.
                let mut too_long = None;
                // Newer documents win ties, so that older ones need not be looked at.
                for &Posting { slot, counts, length } in met.of(source).iter().rev() {
                    let once = counts == Counts::VALUE_ONCE;
                    if once && too_long.is_some_and(|too_long| length >= too_long) || again.holds(slot) {
                        continue;
                    }
                    if most(counts, length) >= best.least() {
                        let facts = self.slots.facts(slot);
                        best.offer(slot, facts, score(counts, facts));
                    } else if once {
                        too_long = Some(length);
                    }
                }
            }
        }
    }
}
