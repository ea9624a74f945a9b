//! What a query asks for: words, and the words of the index that answer to each.

use alloc::string::String;
use alloc::vec::Vec;

use super::analysis::{self, Side};
use super::dictionary::Dictionary;
use super::search::{SearchOptions, Step};

/// Characters of a query that are read.
const LONGEST_QUERY: usize = 4_096;
/// Characters a word needs before words that begin with it are found.
const SHORTEST_PREFIX: usize = 3;
/// Documents that fill any page of results: behind them, words that only begin alike come too late.
const ENOUGH: usize = 1_000;
/// Characters a stem needs to be looked for in place of its word.
const SHORTEST_STEM: usize = 4;
/// Characters a word needs before a slip in it is forgiven.
const SHORTEST_TYPO: usize = 5;

/// How a word of a document answers to a word of the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    /// The same word, after folding.
    Exact,
    /// A word with the same stem.
    Stem,
    /// A word that begins with it.
    Prefix,
    /// A word one slip away.
    Typo,
}

/// A word of the query.
#[derive(Debug)]
pub(super) struct Term {
    pub(super) word: String,
    /// Its stem, where it has another one than itself and stems are looked for.
    stem: Option<String>,
    /// What a part of an unspaced script is found by when it stands alone.
    lone_part: bool,
}

/// The distinct words of a query in their order, without stop words unless there is nothing else.
pub(super) fn terms(query: &str, options: &SearchOptions, dictionary: &Dictionary) -> Vec<Term> {
    let end = query.char_indices().nth(LONGEST_QUERY).map_or(query.len(), |(at, _)| at);
    let mut words: Vec<String> = Vec::new();
    analysis::each_word(query.get(..end).unwrap_or_default(), Side::Query, &mut |word| words.push(word.into()));
    if options.takes(Step::StopWords) && !words.iter().all(|word| analysis::is_stop_word(word)) {
        words.retain(|word| !analysis::is_stop_word(word));
    }
    // `paint` and `painting` ask the same, and must not count twice.
    let mut seen = alloc::collections::BTreeSet::new();
    let stemmed = words.into_iter().map(|word| {
        let stem = if options.takes(Step::Stems) { dictionary.stem(&word) } else { None };
        let mut chars = word.chars();
        let lone_part = chars.next().is_some_and(analysis::is_unspaced) && chars.next().is_none();
        Term { word, stem, lone_part }
    });
    stemmed.filter(|term| seen.insert(term.stem.as_ref().unwrap_or(&term.word).clone())).collect()
}

impl Term {
    /// Words that answer fully: itself, and in `Balanced` its relatives, in an order that does not depend on
    /// how the dictionary came about.
    pub(super) fn same(&self, options: &SearchOptions, dictionary: &Dictionary) -> Vec<(u32, How)> {
        let itself = dictionary.find(&self.word).map(|id| (id, How::Exact));
        let stem = self.stem.as_deref();
        let relatives = if options.takes(Step::Stems) { dictionary.relatives(&self.word, stem) } else { Vec::new() };
        itself.into_iter().chain(relatives.into_iter().map(|id| (id, How::Stem))).collect()
    }

    /// The beginning of further words that answer loosely, and at how many documents no further one is
    /// looked at.
    pub(super) fn beginning(&self, options: &SearchOptions) -> Option<(&str, usize)> {
        if self.lone_part {
            return Some((&self.word, usize::MAX));
        }
        // Beginnings of numbers mean nothing.
        let wanted = options.takes(Step::Beginnings)
            && self.word.chars().nth(SHORTEST_PREFIX - 1).is_some()
            && !self.has_digit()
            && !self.word.starts_with(analysis::is_unspaced);
        let stem = self.stem.as_deref().filter(|stem| stem.len() >= SHORTEST_STEM);
        wanted.then(|| (stem.unwrap_or(&self.word), ENOUGH))
    }

    fn has_digit(&self) -> bool {
        self.word.bytes().any(|byte| byte.is_ascii_digit())
    }

    /// Words of the dictionary one slip away: a character wrong, missing, too many, or two swapped. The first
    /// character must be right, which people nearly always get right and which keeps `walk` from `talk`.
    pub(super) fn misspelt(&self, options: &SearchOptions, dictionary: &Dictionary) -> Vec<u32> {
        let letters: Vec<char> = self.word.chars().collect();
        let forgiven = options.takes(Step::Slips)
            && letters.len() >= SHORTEST_TYPO
            && !self.has_digit()
            && !letters.iter().copied().any(analysis::is_unspaced);
        if !forgiven {
            return Vec::new();
        }
        let alphabet = alphabet(&letters);
        let mut found = Vec::new();
        let mut buffer = String::new();
        let mut look_up = |before: &[char], between: &[char], after: &[char]| {
            buffer.clear();
            buffer.extend(before.iter().chain(between).chain(after));
            found.extend(dictionary.find(&buffer).filter(|_| buffer != self.word));
        };
        for at in 1..=letters.len() {
            let (before, after) = letters.split_at(at);
            for &letter in &alphabet {
                look_up(before, &[letter], after);
            }
            let [this, rest @ ..] = after else { continue };
            look_up(before, &[], rest);
            for &letter in &alphabet {
                look_up(before, &[letter], rest);
            }
            if let [next, rest @ ..] = rest {
                look_up(before, &[*next, *this], rest);
            }
        }
        found.sort_unstable_by_key(|&id| dictionary.text(id));
        found.dedup();
        found
    }
}

/// The letters that may stand in place of another: those of the writing the word is in.
fn alphabet(letters: &[char]) -> Vec<char> {
    let mut blocks: Vec<u32> = letters.iter().map(|&c| c as u32 >> 8).collect();
    blocks.sort_unstable();
    blocks.dedup();
    blocks
        .into_iter()
        .take(2)
        .flat_map(|block| {
            let letters = if block == 0 { 'a' as u32..='z' as u32 } else { block << 8..=(block << 8) + 0xff };
            letters.filter_map(char::from_u32).filter(|c| c.is_alphabetic() && !c.is_uppercase())
        })
        .collect()
}
