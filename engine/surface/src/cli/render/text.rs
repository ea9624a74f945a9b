//! Stored text on a terminal.

use std::borrow::Cow;

use bilinc::Json;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Text with everything that could drive a terminal, or turn the order of its characters round, in
/// escapes: control characters, line and paragraph separators, direction overrides.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\n' => safe.push_str("\\n"),
            '\r' => safe.push_str("\\r"),
            '\t' => safe.push_str("\\t"),
            c if is_unsafe(c) => safe.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => safe.push(c),
        }
    }
    Cow::Owned(safe)
}

fn is_unsafe(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
}

/// A value on one line: a string itself, anything else as its JSON.
pub(crate) fn value_line(value: &Json) -> String {
    match value.as_plain_string() {
        Some(text) => escape(&text).into_owned(),
        None => escape(value.as_str()).into_owned(),
    }
}

/// A value over as many lines as it has; each is safe by itself.
pub(crate) fn value_lines(value: &Json) -> Vec<String> {
    match value.as_plain_string() {
        Some(text) => text.split('\n').map(|line| escape(line).into_owned()).collect(),
        None => vec![escape(value.as_str()).into_owned()],
    }
}

/// Text cut to so many columns of a terminal, with `…` where something was cut off.
pub(crate) fn cut(text: &str, columns: usize) -> Cow<'_, str> {
    if text.width() <= columns {
        return Cow::Borrowed(text);
    }
    let mut short = String::new();
    let mut used = 0;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used >= columns {
            break;
        }
        short.push(c);
    }
    short.push('…');
    Cow::Owned(short)
}

/// A number with the right form of its noun.
pub(crate) fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// A number of bytes for people.
pub(crate) fn bytes(number: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if number < 1024 {
        return count(number, "byte", "bytes");
    }
    #[allow(clippy::cast_precision_loss)]
    let mut scaled = number as f64 / 1024.0;
    let mut unit = "KiB";
    for next in UNITS.into_iter().skip(1) {
        if scaled < 1024.0 {
            break;
        }
        scaled /= 1024.0;
        unit = next;
    }
    format!("{scaled:.1} {unit}")
}

/// A word as a shell takes it.
pub(crate) fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ':' | '@' | '+' | ',' | '=');
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_text_can_never_drive_the_terminal() {
        assert_eq!(escape("a\u{1b}[31mred\u{7}\r\n\tb"), r"a\u{1b}[31mred\u{7}\r\n\tb");
        assert_eq!(escape("\u{9b}2J\u{7f}"), r"\u{9b}2J\u{7f}");
        assert_eq!(escape("\u{202e}cba\u{2028}"), r"\u{202e}cba\u{2028}");
        assert!(matches!(escape("Girişimci 日本語 👩‍👧"), Cow::Borrowed(_)));
    }

    #[test]
    fn every_control_character_is_escaped() {
        let all: String = (0..=0x10ffff).filter_map(char::from_u32).filter(|c| c.is_control()).collect();
        assert!(escape(&all).chars().all(|c| c.is_ascii_graphic()));
    }

    #[test]
    fn values_are_cut_by_what_a_terminal_shows() {
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("longer", 5), "long…");
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("日本語", 6), "日本語");
    }

    #[test]
    fn lines_of_a_value_are_kept_and_each_is_safe() {
        assert_eq!(value_lines(&Json::string("a\nb\u{1b}c")), ["a", r"b\u{1b}c"]);
        assert_eq!(value_line(&Json::from_recorded("[1.10]")), "[1.10]");
    }

    #[test]
    fn words_reach_a_shell_as_they_are() {
        assert_eq!(shell_word("a.b"), "a.b");
        assert_eq!(shell_word("it's"), r"'it'\''s'");
        assert_eq!(shell_word(""), "''");
    }

    #[test]
    fn sizes_read_well() {
        assert_eq!(bytes(1), "1 byte");
        assert_eq!(bytes(1023), "1023 bytes");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes(3 * 1024 * 1024), "3.0 MiB");
    }
}
