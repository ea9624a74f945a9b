//! Whether two indexes hold the same, however their documents came.

use alloc::vec::Vec;

use super::Recall;
use super::postings::Counts;

impl Recall {
    /// Whether both hold the same documents under the same words, so that no search can tell them apart. The
    /// order in which documents came, and what is left of removed ones, does not count.
    ///
    /// Takes time in proportion to both.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.len() == other.len() && self.has_documents_of(other) && {
            let (these, those) = (self.lists(), other.lists());
            these.len() == those.len() && these.iter().all(|(word, list)| other.holds(word, list))
        }
    }

    fn has_documents_of(&self, other: &Self) -> bool {
        (0..other.slots.used()).filter_map(|slot| u32::try_from(slot).ok()).all(|slot| {
            let Some((key, there)) = other.slots.slot(slot).and_then(|there| Some((there.key.as_deref()?, there)))
            else {
                return true;
            };
            let here = self.slots.find(key).and_then(|own| Some((self.slots.slot(own)?, self.slots.facts(own))));
            here.is_some_and(|(here, facts)| {
                facts == other.slots.facts(slot)
                    && here.importance.to_bits() == there.importance.to_bits()
                    && here.changed == there.changed
            })
        })
    }

    /// The words that living documents have, each with those documents.
    fn lists(&self) -> Vec<(&str, Vec<(&str, Counts)>)> {
        let words = (0..self.dictionary.len()).filter_map(|id| u32::try_from(id).ok());
        let living = words.map(|id| (self.dictionary.text(id), self.living(id)));
        living.filter(|(_, list)| !list.is_empty()).collect()
    }

    fn living(&self, word: u32) -> Vec<(&str, Counts)> {
        let living = self.postings.iter(word).filter_map(|(slot, counts)| {
            let key = self.slots.slot(slot)?.key.as_deref()?;
            Some((key, counts))
        });
        let mut list: Vec<_> = living.collect();
        list.sort_unstable_by_key(|(key, _)| *key);
        list
    }

    fn holds(&self, word: &str, list: &[(&str, Counts)]) -> bool {
        self.dictionary.find(word).is_some_and(|id| self.living(id) == list)
    }
}
