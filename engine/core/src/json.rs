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
        let compact = compact(text.trim_matches([' ', '\t', '\n', '\r']));
        if compact.len() > limit {
            return Err(InvalidJson::TooLarge { bytes: compact.len(), limit });
        }
        let raw: &RawValue = serde_json::from_str(&compact).map_err(|error| {
            // serde_json stops at 128 levels, which is past our own limit.
            if error.to_string().contains("recursion limit") { InvalidJson::TooDeep } else { syntax(&error) }
        })?;
        check(raw.get(), 1)?;
        Ok(Self(Arc::from(compact)))
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

/// The text without white space between tokens. A text that is not JSON comes out changed, but no
/// such text passes the check that follows: dropping white space cannot join two tokens into a
/// valid text unless the rest was valid but for a missing separator, so number and word characters
/// keep one space between them.
fn compact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut in_string, mut escaped, mut space) = (false, false, false);
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
        if matches!(c, ' ' | '\t' | '\n' | '\r') {
            space = true;
            continue;
        }
        if space && joins(c) && out.chars().next_back().is_some_and(joins) {
            out.push(' ');
        }
        space = false;
        in_string = c == '"';
        out.push(c);
    }
    out
}

fn joins(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '+' | '-' | '.' | '"')
}

/// Checks the members and the strings of a text whose syntax was checked. Each level parses its
/// text once more, so the cost is size times depth, and the depth is limited.
fn check(text: &str, depth: usize) -> Result<(), InvalidJson> {
    let nested = text.starts_with(['{', '[']);
    if nested && depth > JSON_DEPTH {
        return Err(InvalidJson::TooDeep);
    }
    if text.starts_with('"') {
        return serde_json::from_str::<Cow<'_, str>>(text).map(drop).map_err(|error| syntax(&error));
    }
    if !nested {
        return Ok(());
    }
    let mut found = None;
    let level = Level { depth, found: &mut found };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    match (deserializer.deserialize_any(level), found) {
        (_, Some(invalid)) => Err(invalid),
        (Err(error), None) => Err(syntax(&error)),
        (Ok(()), None) => Ok(()),
    }
}

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
        while let Some(name) = map.next_key::<String>()? {
            if names.contains(&name) {
                return self.stop(InvalidJson::DuplicateMember(name));
            }
            names.insert(name);
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
