//! Text to words, the same way for what is stored and for what is asked.
//!
//! Words follow Unicode's rules for word boundaries; identifiers fall into their parts; scripts written
//! without spaces are taken by pairs of characters.

mod dates;
mod fold;
mod irregular;
mod json;
mod stop;

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

use dates::Dates;
use fold::fold;
pub(crate) use irregular::base_form;
pub(crate) use json::text_of;
pub(crate) use stop::is_stop_word;

/// Which side of a search the text is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Stored text. A run of unspaced script also gives its last character alone, so that every character
    /// of it begins some word.
    Stored,
    /// A query.
    Query,
}

/// Calls `emit` with each folded word of `text`, in order, repeated as often as it stands there.
pub(crate) fn each_word(text: &str, side: Side, emit: &mut dyn FnMut(&str)) {
    let mut words = Words { side, emit, buffer: String::new(), dates: Dates::default() };
    if text.is_ascii() {
        words.spaced(text);
        return;
    }
    let text: Cow<'_, str> = text.nfkc().collect::<String>().into();
    let mut rest: &str = &text;
    while let Some(first) = rest.chars().next() {
        let unspaced = is_unspaced(first);
        let end = rest.find(|c| is_unspaced(c) != unspaced).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        if unspaced {
            words.unspaced(run);
        } else {
            words.spaced(run);
        }
        rest = after;
    }
}

/// Scripts whose writing does not part words by spaces, or, as Korean, glues particles to them.
pub(crate) const fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{eff}' // Thai, Lao
        | '\u{1000}'..='\u{109f}' // Myanmar
        | '\u{1100}'..='\u{11ff}' // Hangul letters
        | '\u{1780}'..='\u{17ff}' // Khmer
        | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{30fa}' | '\u{30fc}'..='\u{318f}'
        | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

struct Words<'a> {
    side: Side,
    emit: &'a mut dyn FnMut(&str),
    buffer: String,
    dates: Dates,
}

impl Words<'_> {
    fn word(&mut self, word: &str) {
        fold(word, &mut self.buffer);
        if !self.buffer.is_empty() {
            (self.emit)(&self.buffer);
            let date = self.dates.next(&self.buffer);
            for word in [date.day, date.month].into_iter().flatten() {
                (self.emit)(&word);
            }
        }
    }

    /// Pairs of neighbouring characters; a character without neighbours alone.
    fn unspaced(&mut self, run: &str) {
        let mut start = 0;
        let mut before = None;
        for (at, c) in run.char_indices() {
            let end = at + c.len_utf8();
            if let Some(previous) = before {
                self.word(run.get(previous..end).unwrap_or_default());
            }
            start = at;
            before = Some(at);
        }
        if start == 0 || self.side == Side::Stored {
            self.word(run.get(start..).unwrap_or_default());
        }
    }

    fn spaced(&mut self, text: &str) {
        for word in text.unicode_words() {
            if word.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
                self.cased(word);
            } else if word.starts_with(|c: char| c.is_ascii_digit()) && self.number(word) {
                // Done.
            } else {
                // What Unicode keeps inside a word and people write between words.
                for part in word.split(['.', ',', ':', ';', '_', '·', '․', '‿', '⁀']) {
                    self.apostrophe(part);
                }
            }
        }
    }

    /// `1.10` is one word, `12,000` is `12000`; lists like `1,2` are no number.
    fn number(&mut self, word: &str) -> bool {
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        let (whole, fraction) = word.split_once('.').unwrap_or((word, "0"));
        let mut groups = whole.split(',');
        let first = groups.next().unwrap_or_default();
        let grouped = groups.all(|group| digits(group) && group.len() == 3);
        if !(digits(first) && grouped && fraction.split('.').all(digits)) {
            return false;
        }
        if whole.len() == first.len() {
            self.word(word);
        } else {
            self.word(&word.replace(',', ""));
        }
        true
    }

    /// `Caroline's` is `Caroline`, `don't` is `dont`, `İstanbul'da` is `İstanbul` and `da`.
    ///
    /// A loop, and joined only where short: a stored text may hold any number of apostrophes.
    fn apostrophe(&mut self, part: &str) {
        let mut part = part;
        while let Some((head, tail)) = part.split_once(['\'', '’', '‘', 'ʼ']) {
            match tail {
                "s" | "S" | "m" | "M" | "d" | "D" | "ll" | "re" | "ve" | "" => {
                    self.cased(head);
                    return;
                }
                "t" | "T" => {
                    self.word(&[head, tail].concat());
                    return;
                }
                // `O'Brien` is also written `OBrien`.
                _ if head.chars().count() == 1 && tail.len() <= JOINED_BYTES => self.word(&[head, tail].concat()),
                _ => self.cased(head),
            }
            part = tail;
        }
        self.cased(part);
    }

    /// `authToken` is `auth`, `token` and `authtoken`.
    fn cased(&mut self, word: &str) {
        let mut start = 0;
        for end in humps(word) {
            self.word(word.get(start..end).unwrap_or_default());
            start = end;
        }
        if start > 0 {
            self.word(word.get(start..).unwrap_or_default());
        }
        self.word(word);
    }
}

/// A name behind a prefix such as `O'` is at most so long, in bytes.
const JOINED_BYTES: usize = 64;

/// Where a new part begins inside a word of mixed case: `HTTPServer` has one, before `Server`.
fn humps(word: &str) -> Vec<usize> {
    let mut found = Vec::new();
    // Nearly all words: nothing in upper case after the first letter.
    if !word.chars().skip(1).any(char::is_uppercase) {
        return found;
    }
    let mut chars = word.char_indices().peekable();
    let mut before: Option<char> = None;
    while let Some((at, c)) = chars.next() {
        let after = chars.peek().map(|&(_, next)| next);
        if let Some(before) = before
            && c.is_uppercase()
        {
            let rest = word.get(at + c.len_utf8()..).unwrap_or_default();
            // The plural of an abbreviation, `PRs`, is no new part.
            let ends_capitals = before.is_uppercase() && after.is_some_and(char::is_lowercase) && rest != "s";
            if before.is_lowercase() || ends_capitals {
                found.push(at);
            }
        }
        before = Some(c);
    }
    found
}
