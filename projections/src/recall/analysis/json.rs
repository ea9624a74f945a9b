//! The text inside a JSON value.

use alloc::string::String;
use core::str::Chars;

/// Appends the strings, member names and numbers of a JSON text to `out`, a line each.
///
/// It reads any text without failing: what is no JSON gives what looks like strings and numbers in it.
pub(crate) fn text_of(json: &str, out: &mut String) {
    let mut rest = json;
    while let Some(at) = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit()) {
        let found = rest.get(at..).unwrap_or_default();
        rest = match found.strip_prefix('"') {
            Some(inside) => string(inside, out),
            None => number(found, out),
        };
        out.push('\n');
    }
}

fn number<'a>(text: &'a str, out: &mut String) -> &'a str {
    let part = |c: char| matches!(c, '0'..='9' | '.' | 'e' | 'E' | '+' | '-');
    let end = text.find(|c| !part(c)).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    out.push_str(digits);
    rest
}

/// Reads up to the closing quote and gives what follows it.
fn string<'a>(mut text: &'a str, out: &mut String) -> &'a str {
    loop {
        let Some(end) = text.find(['"', '\\']) else {
            out.push_str(text);
            return "";
        };
        let (plain, rest) = text.split_at(end);
        out.push_str(plain);
        let mut chars = rest.chars();
        if chars.next() == Some('"') {
            return chars.as_str();
        }
        out.push(escape(&mut chars));
        text = chars.as_str();
    }
}

/// The character an escape stands for, the backslash being read.
fn escape(chars: &mut Chars<'_>) -> char {
    match chars.next() {
        Some('n' | 'r' | 't' | 'f' | 'b') | None => ' ',
        Some('u') => unicode(chars),
        Some(other) => other,
    }
}

fn unicode(chars: &mut Chars<'_>) -> char {
    let first = hex4(chars);
    if !(0xd800..0xdc00).contains(&first) {
        return char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER);
    }
    let mut ahead = chars.clone();
    if ahead.next() == Some('\\') && ahead.next() == Some('u') {
        let second = hex4(&mut ahead);
        if (0xdc00..0xe000).contains(&second) {
            *chars = ahead;
            let joined = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            return char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER);
        }
    }
    char::REPLACEMENT_CHARACTER
}

/// Up to four hexadecimal digits; stops in front of anything else, so that a closing quote is not eaten.
fn hex4(chars: &mut Chars<'_>) -> u32 {
    let mut value = 0;
    for _ in 0..4 {
        let mut ahead = chars.clone();
        let Some(digit) = ahead.next().and_then(|c| c.to_digit(16)) else {
            break;
        };
        value = value * 16 + digit;
        *chars = ahead;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::text_of;
    use alloc::string::String;

    fn text(json: &str) -> String {
        let mut out = String::new();
        text_of(json, &mut out);
        out
    }

    #[test]
    fn strings_names_and_numbers_are_text() {
        assert_eq!(text(r#"{"city":"İzmir","n":[1.10,-2e5,true,null]}"#), "city\nİzmir\nn\n1.10\n-2e5\n");
    }

    #[test]
    fn escapes_are_read() {
        assert_eq!(text(r#""a\nb\"c\\d\u0131\ud83d\ude00""#), "a b\"c\\dı😀\n");
        assert_eq!(text(r#""\ud83dx\u12" 7"#), "\u{fffd}x\u{12}\n7\n");
    }
}
