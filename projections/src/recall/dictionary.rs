//! The words of the index, each with a number.
//!
//! Words are stored once, in one string. Three ways lead to them: by text, by beginning, and by stem. A
//! word is stemmed once, when it is first seen, not at each occurrence.

use alloc::string::String;
use alloc::vec::Vec;
use hashbrown::HashTable;
use rust_stemmers::{Algorithm, Stemmer};

use super::analysis::base_form;
use super::checkpoint::{Reader, write_bytes, write_number};
use super::grow;
use super::guide::{Guide, beginning};
use super::hash::hash;

/// Says that there is no word.
const NONE: u32 = u32::MAX;

/// In place of a next sibling, with the number of the stem that they all have. Numbers of words are below.
const LAST: u32 = 1 << 31;

/// Of larger families a word is stemmed again rather than walked to its stem.
const FAMILY: usize = 64;

/// So many new words wait in order in a list of their own: sorting each in among all would cost a move of half of
/// them. More of them, as a store's first reading brings, wait in no order.
/// Few in tests, so that they meet all of it.
const WAITING: usize = if cfg!(test) { 4 } else { 512 };

/// One word. A stem is a word too, though no document may hold it.
#[derive(Clone, Debug)]
struct Word {
    start: u32,
    len: u16,
    /// Whether it is known to be its own stem.
    is_own_stem: bool,
    /// The first of the words that have this one as their stem.
    child: u32,
    /// The next of the words that have the same stem as this one, or [`LAST`] with that stem.
    sibling: u32,
}

/// All words, numbered from 0 in order of arrival.
pub(super) struct Dictionary {
    seed: u64,
    text: String,
    words: Vec<Word>,
    by_text: HashTable<u32>,
    /// Numbers in byte order of their words, but for those in `recent`.
    sorted: Vec<u32>,
    guide: Guide,
    /// In the same order as long as there are no more than [`WAITING`].
    recent: Vec<u32>,
    stemmer: Stemmer,
}

impl Dictionary {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            seed,
            text: String::new(),
            words: Vec::new(),
            by_text: HashTable::new(),
            sorted: Vec::new(),
            guide: Guide::default(),
            recent: Vec::new(),
            stemmer: Stemmer::create(Algorithm::English),
        }
    }

    /// The number of a word, and whether it is there.
    pub(super) fn find(&self, word: &str) -> Option<u32> {
        let hash = hash(self.seed, word.as_bytes());
        self.by_text.find(hash, |&id| self.text(id) == word).copied()
    }

    /// The word with this number.
    pub(super) fn text(&self, id: u32) -> &str {
        slice(&self.text, &self.words, id)
    }

    /// The number of a word, added with its stem when it is new. None when the dictionary is full.
    pub(super) fn intern(&mut self, word: &str) -> Option<u32> {
        if let Some(id) = self.find(word) {
            return Some(id);
        }
        let id = self.add(word)?;
        let stem = stem(&self.stemmer, word);
        if stem.is_none()
            && let Some(word) = self.words.get_mut(id as usize)
        {
            word.is_own_stem = true;
        }
        if let Some(stem) = stem {
            let parent = match self.find(&stem) {
                Some(parent) => parent,
                None => self.add(&stem)?,
            };
            let eldest =
                self.words.get_mut(parent as usize).map_or(NONE, |parent| core::mem::replace(&mut parent.child, id));
            if let Some(word) = self.words.get_mut(id as usize) {
                word.sibling = if eldest == NONE { LAST | parent } else { eldest };
            }
        }
        Some(id)
    }

    fn add(&mut self, word: &str) -> Option<u32> {
        let id = u32::try_from(self.words.len()).ok().filter(|&id| id < LAST - 1)?;
        let start = u32::try_from(self.text.len()).ok()?;
        let len = u16::try_from(word.len()).ok()?;
        if self.text.capacity() - self.text.len() < word.len() {
            self.text.reserve_exact(word.len().max(self.text.len() / 4));
        }
        self.text.push_str(word);
        grow(&mut self.words, 1);
        self.words.push(Word { start, len, is_own_stem: false, child: NONE, sibling: NONE });
        let (seed, text, words) = (self.seed, &self.text, &self.words);
        let hash_of = |id: &u32| hash(seed, slice(text, words, *id).as_bytes());
        self.by_text.insert_unique(hash_of(&id), id, hash_of);
        if self.recent.len() < WAITING {
            let at = self.recent.partition_point(|&other| slice(text, words, other) < word);
            self.recent.insert(at, id);
        } else {
            self.recent.push(id);
        }
        // Each time as many again, so that all sorting in takes no longer than one sort.
        if self.recent.len() > self.sorted.len().max(WAITING) {
            self.sort_in();
        }
        Some(id)
    }

    /// Brings the words into the order that a search walks fastest.
    pub(super) fn settle(&mut self) {
        if self.recent.len() > WAITING {
            self.sort_in();
        }
    }

    fn sort_in(&mut self) {
        let (text, words) = (&self.text, &self.words);
        let word = |id: u32| slice(text, words, id);
        let mut recent: Vec<(u64, u32)> = self.recent.iter().map(|&id| (beginning(word(id)), id)).collect();
        recent.sort_unstable_by(|left, right| left.0.cmp(&right.0).then_with(|| word(left.1).cmp(word(right.1))));
        let mut merged = Vec::with_capacity(self.sorted.len() + recent.len());
        let mut rest = self.sorted.as_slice();
        for (_, id) in recent {
            let before = gallop(rest, |other| word(other) < word(id));
            let (lower, upper) = rest.split_at_checked(before).unwrap_or((rest, &[]));
            merged.extend_from_slice(lower);
            merged.push(id);
            rest = upper;
        }
        merged.extend_from_slice(rest);
        self.guide = Guide::new(merged.len(), |at| merged.get(at).map_or("", |&id| word(id)));
        self.sorted = merged;
        self.recent = Vec::new();
    }

    /// What stands for a word in comparisons of meaning: its stem, else itself.
    pub(super) fn stem(&self, word: &str) -> Option<String> {
        let known = self.find(word).and_then(|id| self.words.get(id as usize));
        if known.is_some_and(|word| word.is_own_stem) {
            return None;
        }
        // A word that was stemmed when it came need not be stemmed again.
        let mut next = known.map(|word| word.sibling).filter(|&next| next != NONE);
        for _ in 0..FAMILY {
            let Some(link) = next else { break };
            if link >= LAST {
                return Some(self.text(link - LAST).into());
            }
            next = self.words.get(link as usize).map(|word| word.sibling).filter(|&next| next != NONE);
        }
        stem(&self.stemmer, word)
    }

    /// The words with the same stem as `word`, which has that stem, itself left out, in byte order.
    pub(super) fn relatives(&self, word: &str, stem: Option<&str>) -> Vec<u32> {
        let parent = self.find(stem.unwrap_or(word));
        let child = |id: u32| self.words.get(id as usize).map(|word| word.child);
        let sibling = |id: &u32| self.words.get(*id as usize).map(|word| word.sibling);
        let next = parent.and_then(child).filter(|&id| id != NONE);
        let mut found: Vec<u32> = core::iter::successors(next, |id| sibling(id).filter(|&id| id < LAST))
            // Links that came as bytes could run in a circle.
            .take(self.words.len())
            .chain(parent)
            .filter(|&id| self.text(id) != word)
            .collect();
        found.sort_unstable_by_key(|&id| self.text(id));
        found.dedup();
        found
    }

    /// The words that begin with `prefix` and are longer, in byte order. Lazy, because a store whose keys are
    /// numbered has very many that begin alike.
    pub(super) fn completions<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = u32> + 'a {
        let begins = move |&id: &u32| self.text(id).starts_with(prefix);
        let before = |ids: &[u32]| ids.partition_point(|&id| self.text(id) < prefix);
        let from = |ids: &'a [u32], from: usize| ids.get(from..).unwrap_or_default().iter().copied();
        let recent: Vec<u32> = if self.recent.len() > WAITING {
            let mut recent: Vec<u32> = self.recent.iter().copied().filter(begins).collect();
            recent.sort_unstable_by_key(|&id| self.text(id));
            recent
        } else {
            from(&self.recent, before(&self.recent)).take_while(begins).collect()
        };
        let mut recent = recent.into_iter().peekable();
        let around = self.guide.around(prefix);
        let around = around.start..around.end.min(self.sorted.len());
        let first = around.start + before(self.sorted.get(around).unwrap_or_default());
        let mut sorted = from(&self.sorted, first).take_while(begins).peekable();
        core::iter::from_fn(move || match (sorted.peek(), recent.peek()) {
            (Some(&old), Some(&new)) if self.text(new) < self.text(old) => recent.next(),
            (None, _) => recent.next(),
            _ => sorted.next(),
        })
        .filter(|&id| self.text(id).len() > prefix.len())
    }

    /// A copy to be written, which finds nothing.
    pub(super) fn to_write(&self) -> Self {
        Self {
            text: self.text.clone(),
            words: self.words.clone(),
            sorted: self.sorted.clone(),
            recent: self.recent.clone(),
            ..Self::new(self.seed)
        }
    }

    /// Writes those of the first words that are to be kept, and the stems of these, which it adds to them.
    /// [`Dictionary::read`] gives them back, numbered from 0 in the same order.
    pub(super) fn write(&mut self, kept: &mut [bool], out: &mut Vec<u8>) {
        self.sort_in();
        let families = self.families();
        for &(parent, child) in &families {
            if is_kept(kept, child)
                && let Some(parent) = kept.get_mut(parent as usize)
            {
                *parent = true;
            }
        }
        let mut count = 0;
        let mut number = |&kept: &bool| {
            count += u32::from(kept);
            if kept { count - 1 } else { NONE }
        };
        let numbers: Vec<u32> = kept.iter().map(&mut number).collect();
        // The first of the children of each word, and the next of its siblings.
        let mut links = alloc::vec![(NONE, NONE); kept.len()];
        let mut before: Option<(u32, u32)> = None;
        for (parent, child) in
            families.into_iter().filter(|&(parent, child)| is_kept(kept, parent) && is_kept(kept, child))
        {
            let link = match before {
                Some((of, sibling)) if of == parent => links.get_mut(sibling as usize).map(|links| &mut links.1),
                _ => links.get_mut(parent as usize).map(|links| &mut links.0),
            };
            if let (Some(link), Some(&number)) = (link, numbers.get(child as usize)) {
                *link = number;
            }
            before = Some((parent, child));
        }
        // No word is written as 0, which is shortest and commonest.
        let link = |id: u32| u64::from(id.wrapping_add(1));
        let mut text = String::new();
        write_number(count.into(), out);
        for (id, (child, sibling)) in (0_u32..).zip(links).filter(|(id, _)| is_kept(kept, *id)) {
            let word = self.text(id);
            text.push_str(word);
            write_number(word.len() as u64, out);
            write_number(link(child), out);
            write_number(link(sibling), out);
        }
        write_bytes(text.as_bytes(), out);
        let sorted = self.sorted.iter().filter_map(|&id| numbers.get(id as usize).filter(|&&number| number != NONE));
        sorted.for_each(|&number| write_number(number.into(), out));
    }

    /// Each stem with each of the words that have it, in the order of their links.
    fn families(&self) -> Vec<(u32, u32)> {
        let mut families = Vec::new();
        // Links that came as bytes could run in a circle.
        let mut met = alloc::vec![false; self.words.len()];
        for (parent, word) in (0_u32..).zip(&self.words) {
            let mut next = word.child;
            while let (Some(met), Some(child)) = (met.get_mut(next as usize), self.words.get(next as usize)) {
                if core::mem::replace(met, true) {
                    break;
                }
                families.push((parent, next));
                next = child.sibling;
            }
        }
        families
    }

    pub(super) fn read(seed: u64, reader: &mut Reader<'_>) -> Option<Self> {
        let mut dictionary = Self::new(seed);
        let count = reader.count().filter(|&count| count < LAST as usize)?;
        dictionary.words.reserve_exact(count);
        let mut start = 0_u32;
        for _ in 0..count {
            let len: u16 = reader.number()?;
            let mut link = || reader.number().map(|id: u32| id.wrapping_sub(1));
            let (child, sibling) = (link()?, link()?);
            dictionary.words.push(Word { start, len, is_own_stem: false, child, sibling });
            start = start.checked_add(len.into())?;
        }
        dictionary.text.push_str(reader.text().filter(|text| text.len() == start as usize)?);
        dictionary.sorted.reserve_exact(count);
        for _ in 0..count {
            let id = reader.number().filter(|&id: &u32| (id as usize) < count)?;
            dictionary.sorted.push(id);
        }
        for (parent, child) in dictionary.families() {
            if let Some(last) = dictionary.words.get_mut(child as usize).filter(|child| child.sibling == NONE) {
                last.sibling = LAST | parent;
            }
        }
        let (text, words, sorted) = (&dictionary.text, &dictionary.words, &dictionary.sorted);
        dictionary.guide = Guide::new(sorted.len(), |at| sorted.get(at).map_or("", |&id| slice(text, words, id)));
        let hash_of = |id: &u32| hash(seed, slice(text, words, *id).as_bytes());
        dictionary.by_text.reserve(count, hash_of);
        for id in 0..u32::try_from(count).ok()? {
            dictionary.by_text.insert_unique(hash_of(&id), id, hash_of);
        }
        Some(dictionary)
    }

    pub(super) fn len(&self) -> usize {
        self.words.len()
    }
}

/// As `partition_point`, fastest where the point is near.
fn gallop(ids: &[u32], before: impl Fn(u32) -> bool) -> usize {
    let (mut known, mut step) = (0, 1);
    while ids.get(known + step - 1).is_some_and(|&id| before(id)) {
        known += step;
        step *= 2;
    }
    let rest = ids.get(known..ids.len().min(known + step)).unwrap_or_default();
    known + rest.partition_point(|&id| before(id))
}

fn is_kept(kept: &[bool], id: u32) -> bool {
    kept.get(id as usize).copied().unwrap_or_default()
}

fn slice<'a>(text: &'a str, words: &[Word], id: u32) -> &'a str {
    words
        .get(id as usize)
        .and_then(|word| {
            let start = word.start as usize;
            text.get(start..start + usize::from(word.len))
        })
        .unwrap_or_default()
}

/// The English stem of a word, when it has one other than itself.
fn stem(stemmer: &Stemmer, word: &str) -> Option<String> {
    if word.len() < 3 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return None;
    }
    let base = base_form(word);
    let stem = stemmer.stem(base.unwrap_or(word));
    (stem != word && !stem.is_empty()).then(|| stem.into_owned())
}
