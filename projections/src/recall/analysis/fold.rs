//! Makes spellings meet that people take for the same word.

use alloc::string::String;
use unicode_normalization::UnicodeNormalization;

/// Words are cut here, in bytes: longer ones are data, and their beginning tells them apart.
const LONGEST: usize = 64;

/// Writes the folded form of `word` into `out`, which is emptied first.
///
/// Case, diacritics and compatibility forms are gone; dotted and dotless i are one letter.
pub(crate) fn fold(word: &str, out: &mut String) {
    out.clear();
    if word.is_ascii() {
        out.push_str(word);
        out.make_ascii_lowercase();
    } else {
        let plain = word.nfkd().filter(|&c| !is_diacritic(c));
        // Composed again, because decomposition took Hangul syllables and voiced kana apart.
        for c in plain.flat_map(char::to_lowercase).nfc() {
            match c {
                'ı' => out.push('i'),
                'ß' => out.push_str("ss"),
                'æ' => out.push_str("ae"),
                'œ' => out.push_str("oe"),
                'ø' => out.push('o'),
                'ł' => out.push('l'),
                'đ' | 'ð' => out.push('d'),
                'þ' => out.push_str("th"),
                'ς' => out.push('σ'),
                // Lower case can bring a mark of its own.
                c if is_diacritic(c) => {}
                c => out.push(c),
            }
        }
    }
    if out.len() > LONGEST {
        let end = out.floor_char_boundary(LONGEST);
        out.truncate(end);
    }
}

/// Marks that a reader may leave out. The vowel signs of Indic scripts are letters and not among them.
const fn is_diacritic(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{487}' | '\u{591}'..='\u{5bd}' | '\u{610}'..='\u{61a}'
        | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}' | '\u{fe00}'..='\u{fe0f}' | '\u{fe20}'..='\u{fe2f}')
}
