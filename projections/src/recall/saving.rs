//! The index as bytes, made in steps, between which it may change.
//!
//! Slots and words are numbered in order of arrival and lists only grow, so what was there at the beginning is
//! found again at every step. What a document leaves behind once it is replaced or removed is left out: the words of
//! dead documents do not get into the bytes.

use alloc::vec::Vec;

use super::Recall;
use super::checkpoint::write_number;
use super::dictionary::Dictionary;
use super::postings::NO_SLOT;

/// So many slots, words or bytes of lists make a step: a millisecond or two.
const STEP: usize = if cfg!(test) { 4 } else { 8_192 };
const STEP_BYTES: usize = 128 * 1024;

/// An index on its way to bytes.
pub struct Saving {
    generation: u64,
    /// Slots and words that were there when this began; later ones are left out.
    used: usize,
    words: usize,
    /// The slot of each document in the bytes.
    moved: Vec<u32>,
    living: u32,
    slots: Vec<u8>,
    lists: Lists,
    dictionary: Option<Dictionary>,
}

/// The lists of those words that living documents hold.
#[derive(Default)]
struct Lists {
    /// Words that were looked at.
    done: usize,
    bytes: Vec<u8>,
    /// Words that have a list, each with the end of its list in the bytes.
    ends: Vec<(u32, usize)>,
}

/// How far a [`Saving`] has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saved {
    /// Further steps are to come.
    Partly,
    /// [`Saving::into_bytes`] has all that it needs.
    Whole,
    /// The index was compacted meanwhile: nothing comes of this.
    Outdated,
}

impl Recall {
    /// Begins to save the documents that are there. Steps follow.
    #[must_use]
    pub fn begin_saving(&self) -> Saving {
        Saving {
            generation: self.generation,
            used: self.slots.used(),
            words: self.dictionary.len(),
            moved: Vec::with_capacity(self.slots.used()),
            living: 0,
            slots: Vec::new(),
            lists: Lists::default(),
            dictionary: None,
        }
    }

    /// The next step of a saving: some milliseconds at most, however large the index is, but for one that copies
    /// the text of all words. The index may change between steps; documents that were replaced or removed meanwhile
    /// may be left out, none that came meanwhile gets in.
    pub fn go_on_saving(&self, saving: &mut Saving) -> Saved {
        if saving.generation != self.generation {
            return Saved::Outdated;
        }
        if saving.moved.len() < saving.used {
            saving.add_slots(self);
            Saved::Partly
        } else if saving.lists.done < saving.words {
            saving.add_lists(self);
            Saved::Partly
        } else {
            saving.dictionary.get_or_insert_with(|| self.dictionary.to_write());
            Saved::Whole
        }
    }

    /// The index as bytes, in one go. Nothing of a removed document gets into them.
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        let mut saving = self.begin_saving();
        while self.go_on_saving(&mut saving) == Saved::Partly {}
        saving.into_bytes()
    }
}

impl core::fmt::Debug for Saving {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Saving")
            .field("documents", &self.living)
            .field("words", &self.lists.ends.len())
            .finish_non_exhaustive()
    }
}

impl Saving {
    fn add_slots(&mut self, recall: &Recall) {
        let end = self.used.min(self.moved.len() + STEP);
        for slot in self.moved.len()..end {
            let written = u32::try_from(slot).is_ok_and(|slot| recall.slots.write(slot, &mut self.slots));
            self.moved.push(if written { self.living } else { NO_SLOT });
            self.living += u32::from(written);
        }
    }

    fn add_lists(&mut self, recall: &Recall) {
        let lists = &mut self.lists;
        let end = self.words.min(lists.done + STEP);
        let begun = lists.bytes.len();
        while lists.done < end && lists.bytes.len() - begun < STEP_BYTES {
            if let Ok(word) = u32::try_from(lists.done)
                && recall.postings.write(word, &self.moved, &mut lists.bytes)
            {
                lists.ends.push((word, lists.bytes.len()));
            }
            lists.done += 1;
        }
    }

    /// The bytes, for [`Recall::load`]. Looks at no index, so it may take its time; of no use before all steps were
    /// taken.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        let Some(mut dictionary) = self.dictionary else { return Vec::new() };
        let mut kept = alloc::vec![false; self.words];
        for (word, _) in &self.lists.ends {
            if let Some(kept) = kept.get_mut(*word as usize) {
                *kept = true;
            }
        }
        let (mut documents, mut words) = (Vec::with_capacity(self.slots.len() + 8), Vec::new());
        write_number(self.living.into(), &mut documents);
        documents.extend_from_slice(&self.slots);
        dictionary.write(&mut kept, &mut words);
        let kept_words = kept.iter().filter(|kept| **kept).count();
        let mut out = Vec::with_capacity(documents.len() + words.len() + self.lists.bytes.len() + kept_words);
        for number in [self.living as usize, kept_words, documents.len(), words.len()] {
            write_number(number as u64, &mut out);
        }
        out.append(&mut documents);
        out.append(&mut words);
        let (mut ends, mut start) = (self.lists.ends.iter().peekable(), 0);
        for (word, _) in (0_u32..).zip(&kept).filter(|(_, kept)| **kept) {
            match ends.next_if(|(of, _)| *of == word) {
                Some((_, end)) => {
                    out.extend_from_slice(self.lists.bytes.get(start..*end).unwrap_or_default());
                    start = *end;
                }
                // A stem that no document holds.
                None => write_number(0, &mut out),
            }
        }
        out
    }
}
