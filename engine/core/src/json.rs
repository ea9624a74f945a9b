//! JSON kept exactly as it came, but for white space.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use core::fmt;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::limits::JSON_DEPTH;

/// A JSON value as compact text. Number text and the order of object members are those that came
/// in. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Json(Arc<str>);

/// Why a text is not a JSON value that can be kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidJson {
    /// Not JSON, or a string with a lone surrogate.
    #[error("not a JSON value: {0}")]
    Syntax(String),
    /// An object names a member twice.
    // The name is content, which no message repeats.
    #[error("an object names one of its members twice")]
    DuplicateMember(String),
    /// Nested deeper than [`JSON_DEPTH`] levels.
    #[error("nested deeper than {JSON_DEPTH} levels")]
    TooDeep,
    /// Larger than the limit of the place it is for.
    #[error("{bytes} bytes as compact JSON, the limit is {limit}")]
    TooLarge {
        /// Bytes of the compact text.
        bytes: usize,
        /// The limit, in bytes.
        limit: usize,
    },
    /// Something else than an object where one is asked for.
    #[error("not a JSON object")]
    NotAnObject,
}

impl InvalidJson {
    /// The name of this reason in error details.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Syntax(_) => "invalid_json",
            Self::DuplicateMember(_) => "duplicate_member",
            Self::TooDeep => "too_deep",
            Self::TooLarge { .. } => "too_large",
            Self::NotAnObject => "not_an_object",
        }
    }
}

impl Json {
    /// Reads a JSON text of at most `limit` bytes in its compact form.
    ///
    /// # Errors
    /// [`InvalidJson`] says what is wrong with it.
    pub fn parse(text: &str, limit: usize) -> Result<Self, InvalidJson> {
        let compact = compact(text.trim_matches(SPACES));
        if compact.len() > limit {
            return Err(InvalidJson::TooLarge { bytes: compact.len(), limit });
        }
        check_text(&compact)?;
        Ok(Self(Arc::from(&*compact)))
    }

    /// Reads a JSON object of at most `limit` bytes in its compact form.
    ///
    /// # Errors
    /// [`InvalidJson`] says what is wrong with it.
    pub fn parse_object(text: &str, limit: usize) -> Result<Self, InvalidJson> {
        let json = Self::parse(text, limit)?;
        if json.as_str().starts_with('{') { Ok(json) } else { Err(InvalidJson::NotAnObject) }
    }

    /// A plain string as JSON.
    #[must_use]
    pub fn string(text: &str) -> Self {
        Self::from_serialize(&text)
    }

    /// What serialises as JSON with unique member names and within the limits of its place.
    #[must_use]
    pub fn from_serialize(value: &impl Serialize) -> Self {
        // Serialising plain data to memory cannot fail; `null` would be a visible mistake, no panic.
        Self(Arc::from(serde_json::to_string(value).unwrap_or_else(|_| String::from("null"))))
    }

    /// A text that was checked when it was recorded.
    #[must_use]
    pub fn from_recorded(text: &str) -> Self {
        Self(Arc::from(text))
    }

    /// The compact text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text of a JSON string, `None` for any other value.
    #[must_use]
    pub fn as_plain_string(&self) -> Option<String> {
        if self.0.starts_with('"') { serde_json::from_str(&self.0).ok() } else { None }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match serde_json::from_str::<&RawValue>(&self.0) {
            Ok(raw) => raw.serialize(serializer),
            Err(error) => Err(serde::ser::Error::custom(error)),
        }
    }
}

/// With its text as it came, from a JSON text only.
impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <Box<RawValue>>::deserialize(deserializer)?;
        Self::parse(raw.get(), usize::MAX).map_err(serde::de::Error::custom)
    }
}

fn syntax(error: &serde_json::Error) -> InvalidJson {
    InvalidJson::Syntax(error.to_string())
}

/// White space between tokens.
const SPACES: [char; 4] = [' ', '\t', '\n', '\r'];

const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// The text without white space between tokens; itself where there is none. A text that is not JSON may come out
/// changed, but no such text passes the check that follows: dropping white space cannot join two tokens into a
/// valid text unless the rest was valid but for a missing separator, so number and word characters
/// keep one space between them.
fn compact(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let (mut out, mut taken, mut at) = (String::new(), 0, 0);
    let ahead = |at: usize| bytes.get(at..).unwrap_or_default();
    let piece = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    while let Some(next) = ahead(at).iter().position(|byte| *byte == b'"' || is_space(*byte)) {
        at += next;
        if bytes.get(at) == Some(&b'"') {
            at = string_end(bytes, at + 1);
            continue;
        }
        if taken == 0 {
            out.reserve(text.len());
        }
        out.push_str(piece(taken, at));
        at += ahead(at).iter().position(|byte| !is_space(*byte)).unwrap_or(ahead(at).len());
        taken = at;
        if out.bytes().next_back().is_some_and(joins) && bytes.get(at).copied().is_some_and(joins) {
            out.push(' ');
        }
    }
    if taken == 0 {
        return text.into();
    }
    out.push_str(piece(taken, bytes.len()));
    out.into()
}

/// Where the string ends whose first character is at `at`: behind its quotation mark.
fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(found) = memchr::memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default()) {
        at += found + 1;
        if bytes.get(at - 1) == Some(&b'"') {
            return at;
        }
        // Whatever is behind a backslash is none that ends the string.
        at += 1;
    }
    bytes.len()
}

/// Whether a byte may be the end or the beginning of a token beside which another may not stand.
const fn joins(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.' | b'"' | 0x80..)
}

/// Checks a text of which nothing is known.
fn check_text(text: &str) -> Result<(), InvalidJson> {
    let checked = check(text, 1);
    // What is found in a nested value is looked at in the order of the text, and mistakes of syntax behind it come
    // first all the same.
    if checked.is_err() || !text.starts_with(NESTED) {
        serde_json::from_str::<&RawValue>(text).map_err(|error| syntax(&error))?;
    }
    checked
}

const NESTED: [char; 2] = ['{', '['];

/// Checks the syntax of an object or array, its members and its strings; of another value, of which the syntax was
/// checked, only a string. Each level parses its text once more, so the cost is size times depth, and the depth is
/// limited.
fn check(text: &str, depth: usize) -> Result<(), InvalidJson> {
    if text.starts_with('"') {
        // Nothing but an escape can be wrong with a string whose syntax is not.
        return if text.contains("\\u") {
            serde_json::from_str::<Cow<'_, str>>(text).map(drop).map_err(|error| syntax(&error))
        } else {
            Ok(())
        };
    }
    if !text.starts_with(NESTED) {
        return Ok(());
    }
    if depth > JSON_DEPTH {
        return Err(InvalidJson::TooDeep);
    }
    let mut found = None;
    let level = Level { depth, found: &mut found };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let read = deserializer.deserialize_any(level).and_then(|()| deserializer.end());
    match found {
        Some(invalid) => Err(invalid),
        None => read.map_err(|error| syntax(&error)),
    }
}

/// The name of a member, borrowed where it holds no escape.
#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(transparent)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

struct Level<'a> {
    depth: usize,
    found: &'a mut Option<InvalidJson>,
}

impl Level<'_> {
    fn stop<E: serde::de::Error>(self, invalid: InvalidJson) -> Result<(), E> {
        *self.found = Some(invalid);
        Err(E::custom("refused"))
    }
}

impl<'de> Visitor<'de> for Level<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or an array")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut names = BTreeSet::new();
        while let Some(name) = map.next_key::<Name<'de>>()? {
            if let Some(Name(name)) = names.replace(name) {
                return self.stop(InvalidJson::DuplicateMember(name.into_owned()));
            }
            let value = map.next_value::<&RawValue>()?;
            if let Err(invalid) = check(value.get(), self.depth + 1) {
                return self.stop(invalid);
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while let Some(value) = seq.next_element::<&RawValue>()? {
            if let Err(invalid) = check(value.get(), self.depth + 1) {
                return self.stop(invalid);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    const LIMIT: usize = 1024 * 1024;

    fn nested(levels: usize) -> String {
        "[".repeat(levels) + &"]".repeat(levels)
    }

    #[test]
    fn numbers_member_order_and_strings_come_back_as_they_came() {
        let text = r#"{"z":1.10,"a":[12345678901234567890,1e400,-0.0],"s":"a  b\u00e9\" ,"}"#;
        assert_eq!(Json::parse(text, LIMIT).unwrap().as_str(), text);
        assert_eq!(Json::parse(" { \"a\" : [ 1 , 2 ] }\n", LIMIT).unwrap().as_str(), r#"{"a":[1,2]}"#);
    }

    /// Character by character, as the rule says it.
    fn naive_compact(text: &str) -> String {
        let (mut out, mut in_string, mut escaped, mut space) = (String::new(), false, false, false);
        for c in text.chars() {
            if in_string {
                out.push(c);
                match c {
                    _ if escaped => escaped = false,
                    '\\' => escaped = true,
                    '"' => in_string = false,
                    _ => {}
                }
                continue;
            }
            if SPACES.contains(&c) {
                space = true;
                continue;
            }
            let joins = |c: char| u8::try_from(c).is_ok_and(joins) || !c.is_ascii();
            if core::mem::take(&mut space) && joins(c) && out.chars().next_back().is_some_and(joins) {
                out.push(' ');
            }
            in_string = c == '"';
            out.push(c);
        }
        out
    }

    /// The syntax of all of it first, then one level after the other with names and strings that are copied.
    fn naive_check(text: &str, depth: usize) -> Result<(), InvalidJson> {
        let syntax = |error| InvalidJson::Syntax(ToString::to_string(&error));
        let raw: &RawValue = serde_json::from_str(text).map_err(|error: serde_json::Error| syntax(error))?;
        let text = raw.get();
        if text.starts_with(NESTED) && depth > JSON_DEPTH {
            return Err(InvalidJson::TooDeep);
        }
        if text.starts_with('"') {
            return serde_json::from_str::<String>(text).map(drop).map_err(syntax);
        }
        if text.starts_with('[') {
            let values: Vec<&RawValue> = serde_json::from_str(text).map_err(syntax)?;
            return values.iter().try_for_each(|value| naive_check(value.get(), depth + 1));
        }
        if text.starts_with('{') {
            let mut names = Vec::new();
            return members(text).map_err(syntax)?.into_iter().try_for_each(|(name, value)| {
                if names.contains(&name) {
                    return Err(InvalidJson::DuplicateMember(name));
                }
                names.push(name);
                naive_check(value.get(), depth + 1)
            });
        }
        Ok(())
    }

    /// The members of an object in their order, those of the same name too.
    fn members(text: &str) -> Result<Vec<(String, Box<RawValue>)>, serde_json::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Vec<(String, Box<RawValue>)>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                core::iter::from_fn(|| map.next_entry().transpose()).collect()
            }
        }
        serde_json::Deserializer::from_str(text).deserialize_map(Members)
    }

    proptest! {
        /// Pieces of JSON in any order: some make a value, most nearly do.
        #[test]
        fn a_text_is_kept_or_refused_as_the_rule_says_it_character_by_character(
            pieces in proptest::collection::vec(
                proptest::sample::select(vec![
                    "{", "}", "[", "]", ":", ",", " ", "\n", "\t", "\"", "\\", "\"a\"", "\"\\u0061\"", "\"b\":", "\"a\":1,", "\"a\" : [",
                    "\\u", "\\ud800", "\"\\ud83d\\ude00\"", "\"\\ud800\"", "1", "1.50", "-", "1e400", "true", "nul", "null", "é", "\u{1f600}", "\u{7}",
                    "{\"a\":", "\"\"", "\"x y\"", "[1, 2]", "{ \"k\" : \"v\" }",
                ]),
                0..8,
            ),
            wrap in 0_usize..4,
        ) {
            let text = alloc::format!("{}{}{}", "[".repeat(wrap), pieces.concat(), "]".repeat(wrap));
            let compacted = naive_compact(text.trim_matches(SPACES));
            prop_assert_eq!(compact(text.trim_matches(SPACES)), compacted.as_str());
            let naive = naive_check(&compacted, 1);
            let parsed = Json::parse(&text, LIMIT);
            match (&parsed, &naive) {
                (Err(InvalidJson::Syntax(_)), Err(InvalidJson::Syntax(_))) => {}
                _ => prop_assert_eq!(parsed.clone().map(drop), naive),
            }
            if let Ok(json) = parsed {
                prop_assert_eq!(json.as_str(), compacted);
            }
        }
    }

    #[test]
    fn white_space_never_joins_two_values_into_one() {
        for text in ["1 2", "tr ue", "1 .5", "- 1", "\"a\" \"b\"", "{} {}", "", "nul"] {
            assert!(matches!(Json::parse(text, LIMIT), Err(InvalidJson::Syntax(_))), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_kept_is_refused() {
        let duplicate = Json::parse(r#"[{"a":{"b":1,"\u0062":2}}]"#, LIMIT);
        assert_eq!(duplicate, Err(InvalidJson::DuplicateMember("b".into())));
        assert!(matches!(Json::parse(r#"["\ud800"]"#, LIMIT), Err(InvalidJson::Syntax(_))));
        assert!(matches!(Json::parse(r#"{"\udc00x":1}"#, LIMIT), Err(InvalidJson::Syntax(_))));
        assert!(Json::parse(r#""\ud83d\ude00""#, LIMIT).is_ok());
        assert!(Json::parse(&nested(100), LIMIT).is_ok());
        assert_eq!(Json::parse(&nested(101), LIMIT), Err(InvalidJson::TooDeep));
        assert_eq!(Json::parse(&nested(5000), LIMIT), Err(InvalidJson::TooDeep));
        assert_eq!(Json::parse("\"abc\"", 4), Err(InvalidJson::TooLarge { bytes: 5, limit: 4 }));
        assert_eq!(Json::parse_object("[]", LIMIT), Err(InvalidJson::NotAnObject));
    }
}
