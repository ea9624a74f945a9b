//! A walk over the strings of a JSON text that knows where it is.

use std::borrow::Cow;
use std::fmt::Write;

use super::FoundSecret;

/// Where a path would grow long, a member's name is cut after so many characters.
const NAME_CHARS: usize = 64;

/// An array or object that the walk is in. A list of these stands for recursion, so the depth of a
/// text costs memory, never stack.
enum Level<'a> {
    /// At this index.
    Array(usize),
    /// At the member of this name, as it is written between its quotes.
    Object(Option<&'a str>),
}

/// The first string that `scan` has a kind for. It is given the string and, for a value, the name of
/// the nearest member that it is in.
pub(super) fn find(json: &str, scan: impl Fn(&str, Option<&str>) -> Option<&'static str>) -> Option<FoundSecret> {
    let mut levels: Vec<Level<'_>> = Vec::new();
    let mut rest = json;
    while let Some(token) = rest.find(['"', '[', '{', ']', '}', ',']) {
        let byte = rest.as_bytes().get(token).copied();
        rest = rest.get(token + 1..).unwrap_or_default();
        match byte {
            Some(b'[') => levels.push(Level::Array(0)),
            Some(b'{') => levels.push(Level::Object(None)),
            Some(b']' | b'}') => drop(levels.pop()),
            Some(b',') => {
                if let Some(Level::Array(index)) = levels.last_mut() {
                    *index += 1;
                }
            }
            _ => {
                let end = string_end(rest);
                let raw = rest.get(..end).unwrap_or_default();
                rest = rest.get(end + 1..).unwrap_or_default();
                // Only a member's name is followed by a colon.
                if rest.trim_start().starts_with(':') {
                    if let Some(kind) = scan(&decoded(raw), None) {
                        levels.pop();
                        return Some(FoundSecret { kind, path: path(&levels) });
                    }
                    if let Some(Level::Object(name)) = levels.last_mut() {
                        *name = Some(raw);
                    }
                } else if let Some(kind) = scan(&decoded(raw), nearest_name(&levels)) {
                    return Some(FoundSecret { kind, path: path(&levels) });
                }
            }
        }
    }
    None
}

/// The bytes before the quote that ends the string, or all of a string that has no end.
fn string_end(text: &str) -> usize {
    let mut escaped = false;
    let end = text.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.unwrap_or(text.len())
}

/// The string with its escapes resolved. One that cannot be resolved is looked at as it is written.
fn decoded(raw: &str) -> Cow<'_, str> {
    if raw.contains('\\') {
        serde_json::from_str(&format!("\"{raw}\"")).map_or(Cow::Borrowed(raw), Cow::Owned)
    } else {
        Cow::Borrowed(raw)
    }
}

/// As it is written: to resolve its escapes for every string of a long array would be quadratic.
fn nearest_name<'a>(levels: &[Level<'a>]) -> Option<&'a str> {
    levels.iter().rev().find_map(|level| match level {
        Level::Object(name) => *name,
        Level::Array(_) => None,
    })
}

/// The names on it have been scanned before and hold no credential.
fn path(levels: &[Level<'_>]) -> String {
    let mut path = String::from("$");
    for level in levels {
        // Writing to a string cannot fail.
        let _ = match level {
            Level::Array(index) => write!(path, "[{index}]"),
            Level::Object(name) => write_name(&mut path, &decoded(name.unwrap_or_default())),
        };
    }
    path
}

fn write_name(path: &mut String, name: &str) -> std::fmt::Result {
    let plain = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
        && name.chars().count() <= NAME_CHARS;
    if plain {
        return write!(path, ".{name}");
    }
    let mut shown: String = name.chars().take(NAME_CHARS).collect();
    if shown.len() < name.len() {
        shown.push('…');
    }
    write!(path, "[{}]", bilinc_core::Json::string(&shown))
}
