//! The members of a request, from a body or from a query string.
//!
//! Read by hand, because values must keep their text and a refusal has to name the very field.

use std::fmt;

use bilinc::{Json, Rejection, limits};
use serde::de::{Deserialize, DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::wire::fields::{camel_case, invalid_json};

/// Most characters of a name that nobody knows.
const UNKNOWN_CHARS: usize = 40;

/// Up to here every whole number has a float of its own.
const WHOLE: f64 = 9_007_199_254_740_992.0;

/// The text of one member.
#[derive(Debug, Clone)]
enum Given<'a> {
    /// From a body.
    Json(&'a RawValue),
    /// From a query string.
    Text(String),
}

/// The members of a request that nobody has taken yet.
#[derive(Debug)]
pub struct Members<'a>(Vec<(String, Given<'a>)>);

impl<'a> Members<'a> {
    /// The members of the object that a body is; none when it is empty.
    ///
    /// # Errors
    /// When it is no JSON object.
    pub fn of_body(text: &'a str) -> Result<Self, Rejection> {
        if text.trim().is_empty() {
            return Ok(Self(Vec::new()));
        }
        let raw: &RawValue = serde_json::from_str(text.trim())
            .map_err(|error| Rejection::invalid("body", "invalid_json", format!("not JSON: {error}")))?;
        let members = members("body", raw)?;
        Ok(Self(members.into_iter().map(|(name, value)| (name, Given::Json(value))).collect()))
    }

    /// The parameters of a query string, decoded.
    #[must_use]
    pub fn of_query(pairs: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(pairs.into_iter().map(|(name, text)| (name, Given::Text(text))).collect())
    }

    /// Adds a part of the path.
    #[must_use]
    pub fn with(mut self, name: &str, text: &str) -> Self {
        self.0.push((name.to_owned(), Given::Text(text.to_owned())));
        self
    }

    /// Takes out a member by its name in snake case.
    ///
    /// # Errors
    /// When it is not there and has to be, is there twice, or is of another type.
    pub fn take<T: Field>(&mut self, field: &str) -> Result<T, Rejection> {
        let field = field.trim_start_matches("r#");
        let name = camel_case(field);
        let Some(at) = self.0.iter().position(|(given, _)| *given == name) else { return T::missing(field) };
        let (_, given) = self.0.remove(at);
        if self.0.iter().any(|(other, _)| *other == name) {
            // Lists come as repeated parameters of a query.
            let mut texts = Vec::new();
            self.0.retain(|(other, more)| match more {
                Given::Text(text) if *other == name => {
                    texts.push(text.clone());
                    false
                }
                _ => true,
            });
            return match given {
                Given::Text(first) if !texts.is_empty() => {
                    texts.insert(0, first);
                    T::from_texts(field, texts)
                }
                _ => Err(duplicate(field)),
            };
        }
        match given {
            Given::Json(raw) => T::from_json(field, raw),
            Given::Text(text) => T::from_texts(field, vec![text]),
        }
    }

    /// Refuses what nobody knows.
    ///
    /// # Errors
    /// `unknown_field` for the first of them.
    pub fn finish(self, known: &[&str]) -> Result<(), Rejection> {
        let known: Vec<_> = known.iter().map(|name| camel_case(name.trim_start_matches("r#"))).collect();
        let Some((name, _)) = self.0.into_iter().find(|(name, _)| !known.contains(name)) else { return Ok(()) };
        let message = match known.as_slice() {
            [] => "unknown; nothing is taken here".to_owned(),
            known => format!("unknown; what is known here is {}", known.join(", ")),
        };
        Err(Rejection::invalid(beginning(&name), "unknown_field", message))
    }
}

/// What a member can be.
pub trait Field: Sized {
    /// Reads it from a body.
    ///
    /// # Errors
    /// When it is of another type.
    fn from_json(field: &str, raw: &RawValue) -> Result<Self, Rejection>;

    /// Reads it from the parameters of that name in a query string.
    ///
    /// # Errors
    /// When it is of another type.
    fn from_texts(field: &str, texts: Vec<String>) -> Result<Self, Rejection>;

    /// What stands for it when it is not there.
    ///
    /// # Errors
    /// When it has to be there.
    fn missing(field: &str) -> Result<Self, Rejection> {
        Err(Rejection::invalid(field, "required", "this is needed"))
    }
}

impl<T: Field> Field for Option<T> {
    fn from_json(field: &str, raw: &RawValue) -> Result<Self, Rejection> {
        if raw.get() == "null" { Ok(None) } else { T::from_json(field, raw).map(Some) }
    }

    fn from_texts(field: &str, texts: Vec<String>) -> Result<Self, Rejection> {
        T::from_texts(field, texts).map(Some)
    }

    fn missing(_: &str) -> Result<Self, Rejection> {
        Ok(None)
    }
}

impl Field for String {
    fn from_json(field: &str, raw: &RawValue) -> Result<Self, Rejection> {
        plain(field, raw, "a string")
    }

    fn from_texts(field: &str, texts: Vec<String>) -> Result<Self, Rejection> {
        single(field, texts)
    }
}

impl Field for bool {
    fn from_json(field: &str, raw: &RawValue) -> Result<Self, Rejection> {
        plain(field, raw, "true or false")
    }

    fn from_texts(field: &str, texts: Vec<String>) -> Result<Self, Rejection> {
        match single(field, texts)?.as_str() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(wrong_type(field, "true or false")),
        }
    }
}

impl Field for u64 {
    fn from_json(field: &str, raw: &RawValue) -> Result<Self, Rejection> {
        // `30.0` is a whole number, too, as JSON counts.
        let is_whole = |number: &f64| number.fract() == 0.0 && (0.0..=WHOLE).contains(number);
        let number = serde_json::from_str(raw.get());
        number.or_else(|_| match serde_json::from_str::<f64>(raw.get()) {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            Ok(number) if is_whole(&number) => Ok(number as Self),
            _ => Err(wrong_type(field, "a whole number")),
        })
    }

    fn from_texts(field: &str, texts: Vec<String>) -> Result<Self, Rejection> {
        let text = single(field, texts)?;
        let number = text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
        number.ok_or_else(|| wrong_type(field, "a whole number"))
    }
}

impl Field for f64 {
    fn from_json(field: &str, raw: &RawValue) -> Result<Self, Rejection> {
        // Without the sign that a zero may have.
        plain::<Self>(field, raw, "a number").map(|number| number + 0.0)
    }

    fn from_texts(field: &str, texts: Vec<String>) -> Result<Self, Rejection> {
        let text = single(field, texts)?;
        let number = text.parse::<Self>().ok().filter(|number| number.is_finite());
        number.ok_or_else(|| wrong_type(field, "a number"))
    }
}

impl Field for Vec<String> {
    fn from_json(field: &str, raw: &RawValue) -> Result<Self, Rejection> {
        plain(field, raw, "an array of strings")
    }

    fn from_texts(_: &str, texts: Vec<String>) -> Result<Self, Rejection> {
        Ok(texts)
    }
}

impl Field for Vec<u64> {
    fn from_json(field: &str, raw: &RawValue) -> Result<Self, Rejection> {
        plain(field, raw, "an array of whole numbers")
    }

    fn from_texts(field: &str, texts: Vec<String>) -> Result<Self, Rejection> {
        texts.into_iter().map(|text| u64::from_texts(field, vec![text])).collect()
    }
}

/// Any JSON, with its text as it came.
impl Field for Json {
    fn from_json(field: &str, raw: &RawValue) -> Result<Self, Rejection> {
        Self::parse(raw.get(), limits::VALUE_BYTES).map_err(|error| invalid_json(field, &error))
    }

    fn from_texts(field: &str, texts: Vec<String>) -> Result<Self, Rejection> {
        let text = single(field, texts)?;
        Self::parse(&text, limits::VALUE_BYTES).map_err(|error| invalid_json(field, &error))
    }
}

/// JSON that is read further elsewhere.
impl Field for Box<RawValue> {
    fn from_json(_: &str, raw: &RawValue) -> Result<Self, Rejection> {
        Ok(raw.to_owned())
    }

    fn from_texts(field: &str, texts: Vec<String>) -> Result<Self, Rejection> {
        serde_json::from_str(&single(field, texts)?).map_err(|_| wrong_type(field, "JSON"))
    }
}

fn single(field: &str, texts: Vec<String>) -> Result<String, Rejection> {
    match <[String; 1]>::try_from(texts) {
        Ok([text]) => Ok(text),
        Err(_) => Err(duplicate(field)),
    }
}

fn duplicate(field: &str) -> Rejection {
    Rejection::invalid(field, "duplicate_member", "given twice")
}

fn plain<T: DeserializeOwned>(field: &str, raw: &RawValue, wanted: &str) -> Result<T, Rejection> {
    serde_json::from_str(raw.get()).map_err(|_| wrong_type(field, wanted))
}

/// The refusal of what is of another type.
pub(crate) fn wrong_type(field: &str, wanted: &str) -> Rejection {
    Rejection::invalid(field, "wrong_type", format!("{wanted} is wanted here"))
}

/// A name that nobody knows: it may be anything, and of any length.
pub(crate) fn beginning(name: &str) -> String {
    match name.char_indices().nth(UNKNOWN_CHARS) {
        Some((end, _)) => format!("{}…", name.get(..end).unwrap_or_default()),
        None => name.to_owned(),
    }
}

/// The members of an object, each with its raw text.
pub(crate) fn members<'a>(field: &str, raw: &'a RawValue) -> Result<Vec<(String, &'a RawValue)>, Rejection> {
    let Raw(members) = serde_json::from_str(raw.get()).map_err(|_| wrong_type(field, "an object"))?;
    Ok(members)
}

struct Raw<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Raw<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(RawVisitor).map(Raw)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Vec<(String, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(members)
    }
}
