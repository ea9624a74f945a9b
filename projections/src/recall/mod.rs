//! Ranked search over the words of current entries.
//!
//! The index holds words and counts, never texts. It is a fold like the others: what a search gives
//! depends on the documents that are there, not on how and in what order they came; the property tests
//! hold it to that against an index built anew and against a scorer without any index.

mod analysis;
mod answer;
mod best;
mod checkpoint;
mod dictionary;
mod guide;
mod hash;
mod marks;
mod math;
mod postings;
mod query;
mod rank;
mod same;
mod saving;
mod search;
mod singles;
mod slots;
mod sums;
#[cfg(test)]
mod tests;

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use analysis::Side;
pub use checkpoint::Both;
use dictionary::Dictionary;
pub use postings::Field;
use postings::{Counts, Postings};
pub use query::How;
pub use saving::{Saved, Saving};
pub use search::{Hit, MatchedTerm, Profile, SearchOptions, Step};
use slots::{Facts, Slot, Slots};

/// Fewer dead documents than this are never worth a compaction.
const FEW_DEAD: usize = 1_024;

/// One entry, as the index reads it. Nothing of the texts is kept but their words.
#[derive(Clone, Debug)]
pub struct Document<'a> {
    /// The entry's key; shared, not copied.
    pub key: Arc<str>,
    /// The value as JSON text.
    pub value_json: &'a str,
    /// The metadata as JSON text.
    pub metadata_json: &'a str,
    /// The memory type as a number from 0 to 7, for [`SearchOptions::memory_types`].
    pub memory_type: u8,
    /// Decides between equal scores, higher first.
    pub importance: f64,
    /// The position of the last change: decides between equal importance, newer first.
    pub changed: u64,
}

/// The recall projection: an inverted index over key, value and metadata.
pub struct Recall {
    seed: u64,
    /// How often it was compacted.
    generation: u64,
    slots: Slots,
    dictionary: Dictionary,
    postings: Postings,
}

impl core::fmt::Debug for Recall {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Recall")
            .field("documents", &self.slots.living())
            .field("words", &self.dictionary.len())
            .finish_non_exhaustive()
    }
}

impl Recall {
    /// The projection's name in checkpoints.
    pub const NAME: &'static str = "recall";
    /// Rises whenever the same documents would give other words, another ranking or other bytes.
    pub const VERSION: u32 = 2;

    /// An empty index. The seed guards its hash tables against chosen keys and changes no result.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            generation: 0,
            slots: Slots::new(seed),
            dictionary: Dictionary::new(seed),
            postings: Postings::default(),
        }
    }

    /// Living documents.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.living()
    }

    /// Whether there is no document.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a document, in place of the one with the same key.
    pub fn put(&mut self, document: Document<'_>) {
        self.slots.remove(&document.key);
        let mut text = String::new();
        let mut words: Vec<(u32, Field)> = Vec::with_capacity(64);
        let key_len = self.read(&document.key, Field::Key, &mut words);
        analysis::text_of(document.value_json, &mut text);
        let value_len = self.read(&text, Field::Value, &mut words);
        text.clear();
        analysis::text_of(document.metadata_json, &mut text);
        self.read(&text, Field::Metadata, &mut words);

        let facts = Facts::new(&document.key, document.memory_type, value_len, key_len);
        let added = self.slots.add(
            Slot {
                key: Some(document.key),
                // Keeps the order of ties total.
                importance: if document.importance.is_finite() { document.importance } else { 0.0 },
                changed: document.changed,
            },
            facts,
        );
        if let Some(slot) = added {
            words.sort_unstable();
            for same in words.chunk_by(|(left, _), (right, _)| left == right) {
                let mut counts = Counts::default();
                same.iter().for_each(|&(_, field)| counts.add(field));
                if let Some(&(word, _)) = same.first() {
                    self.postings.push(word, slot, counts);
                }
            }
        }
        self.compact_if_due();
    }

    /// Takes the words of a text into the dictionary and notes them; gives how many there were.
    fn read(&mut self, text: &str, field: Field, words: &mut Vec<(u32, Field)>) -> usize {
        let mut len = 0;
        analysis::each_word(text, Side::Stored, &mut |word| {
            len += 1;
            words.extend(self.dictionary.intern(word).map(|id| (id, field)));
        });
        self.postings.grow(self.dictionary.len());
        len
    }

    /// Makes the next searches fast after many documents were put. Changes nothing that they find.
    pub fn settle(&mut self) {
        self.dictionary.settle();
    }

    /// Removes the document of a key, if there is one.
    ///
    /// Searches no longer show it at once. Its words leave memory with the next compaction, which comes by
    /// itself once a third of all documents is dead, or with [`Recall::compact`].
    pub fn remove(&mut self, key: &str) {
        self.slots.remove(key);
        self.compact_if_due();
    }

    fn compact_if_due(&mut self) {
        let dead = self.dead();
        if dead > FEW_DEAD && dead > self.slots.living() / 2 {
            self.compact();
        }
    }

    /// How often this was compacted.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// How many documents are dead: what was replaced or removed and is still in memory.
    #[must_use]
    pub fn dead(&self) -> usize {
        self.slots.used() - self.slots.living()
    }

    /// Builds the index anew from what is alive, so that no word of a removed document stays in it.
    ///
    /// Takes time and, while it runs, memory in proportion to the whole index.
    pub fn compact(&mut self) {
        let mut old = core::mem::replace(self, Self::new(self.seed));
        self.generation = old.generation.wrapping_add(1);
        let mut moved = alloc::vec![None; old.slots.used()];
        for (from, slot, facts) in core::mem::replace(&mut old.slots, Slots::new(self.seed)).into_living() {
            if let Some(to) = moved.get_mut(from as usize) {
                *to = self.slots.add(slot, facts);
            }
        }
        for id in (0..old.dictionary.len()).filter_map(|id| u32::try_from(id).ok()) {
            // Slots keep their order, so the new list rises as the old one did.
            let mut living = old.postings.iter(id).filter_map(|(slot, counts)| {
                let slot = moved.get(slot as usize).copied().flatten()?;
                Some((slot, counts))
            });
            let Some(first) = living.next() else { continue };
            let Some(word) = self.dictionary.intern(old.dictionary.text(id)) else { continue };
            self.postings.grow(self.dictionary.len());
            for (slot, counts) in core::iter::once(first).chain(living) {
                self.postings.push(word, slot, counts);
            }
        }
    }
}

/// Makes room for `more`, by a quarter of what is there at least: doubling would leave a third of the index empty.
fn grow<T>(list: &mut Vec<T>, more: usize) {
    if list.capacity() - list.len() < more {
        list.reserve_exact(more.max(list.len() / 4).max(4));
    }
}
