//! The arguments of a call, read from their raw text by the table that the schema comes from.

use std::collections::BTreeMap;

use bilinc::Rejection;
use serde_json::value::RawValue;

use super::numbers;
use super::schema::{Field, Kind};
use crate::wire::fields;
use crate::wire::requests::{Members, Read, beginning, members, wrong_type};

/// Most characters of a number that is shown in a refusal.
const NUMBER_CHARS: usize = 40;

/// The arguments of a call. Each is known, given once and of the right type.
#[derive(Debug)]
pub(super) struct Arguments<'a> {
    given: BTreeMap<&'static str, Given<'a>>,
}

#[derive(Debug, Clone, Copy)]
struct Given<'a> {
    kind: Kind,
    raw: &'a str,
}

impl<'a> Arguments<'a> {
    /// Reads the arguments of a tool.
    ///
    /// # Errors
    /// `invalid_request` that names the argument and the rule.
    pub(super) fn read(table: &'static [Field], raw: &'a str) -> Result<Self, Rejection> {
        let raw: &RawValue = serde_json::from_str(raw)
            .map_err(|error| Rejection::invalid("arguments", "invalid_json", format!("not JSON: {error}")))?;
        let members = if raw.get() == "null" { Vec::new() } else { members("arguments", raw)? };
        let mut given = BTreeMap::new();
        for (name, value) in members {
            let field = find(table, &name).ok_or_else(|| unknown(table, &name))?;
            // A null says that nothing is given, but for where any JSON is welcome.
            if value.get() == "null" && !matches!(field.kind, Kind::Any) {
                continue;
            }
            if let Some(number) = numbers::first_unkept(value.get()) {
                let number: String = number.chars().take(NUMBER_CHARS).collect();
                let message = format!(
                    "the number {number} cannot be kept here, because the protocol carries numbers of 64 bits only: \
                     give it as a string"
                );
                return Err(Rejection::invalid(field.name, "number_not_kept", message));
            }
            check(field, value)?;
            if given.insert(field.name, Given { kind: field.kind, raw: value.get() }).is_some() {
                return Err(Rejection::invalid(field.name, "duplicate_member", "given twice"));
            }
        }
        for field in table.iter().filter(|field| field.required) {
            if !given.contains_key(field.name) {
                return Err(Rejection::invalid(field.name, "required", field.about));
            }
        }
        Ok(Self { given })
    }

    /// The raw text of an argument.
    pub(super) fn raw(&self, name: &str) -> Option<&'a str> {
        self.given.get(name).map(|given| given.raw)
    }

    /// Whether it was given.
    pub(super) fn has(&self, name: &str) -> bool {
        self.given.contains_key(name)
    }

    /// A text.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        string(name, self.raw(name)?).ok()
    }

    /// Texts; none when they are not given.
    ///
    /// # Errors
    /// When they are no texts.
    pub(super) fn texts(&self, name: &str) -> Result<Vec<String>, Rejection> {
        self.raw(name).map_or(Ok(Vec::new()), |raw| strings(name, raw))
    }

    /// A whole number.
    pub(super) fn whole(&self, name: &str) -> Option<u64> {
        self.raw(name).and_then(numbers::whole)
    }

    /// The arguments as the request that every surface reads, in its one spelling.
    ///
    /// # Errors
    /// As reading it on any surface.
    pub(super) fn request<R: Read>(&self, changes: &[Change<'_>]) -> Result<R, Rejection> {
        let mut body = BTreeMap::new();
        for (name, given) in &self.given {
            body.insert(*name, one_spelling(name, *given)?);
        }
        for change in changes {
            match change {
                Change::Drop(name) => drop(body.remove(name)),
                Change::Set(name, number) => drop(body.insert(*name, number.to_string())),
                Change::Rename(from, to) => {
                    if let Some(raw) = body.remove(from) {
                        body.insert(*to, raw);
                    }
                }
            }
        }
        let members: Vec<_> =
            body.iter().map(|(name, raw)| format!("\"{}\":{raw}", fields::camel_case(name))).collect();
        R::read_all(Members::of_body(&format!("{{{}}}", members.join(",")))?)
    }
}

/// How a tool's arguments differ from the request that it makes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Change<'a> {
    /// This one is the tool's alone.
    Drop(&'a str),
    /// A whole number in its place.
    Set(&'a str, usize),
    /// It has another name there.
    Rename(&'a str, &'a str),
}

fn one_spelling(name: &str, given: Given<'_>) -> Result<String, Rejection> {
    let Given { kind, raw } = given;
    let as_json = |value: serde_json::Value| value.to_string();
    Ok(match kind {
        Kind::Whole(..) => numbers::whole(raw).map_or_else(|| raw.to_owned(), |number| number.to_string()),
        Kind::Wholes => wholes(raw).map_or_else(|| raw.to_owned(), |numbers| as_json(numbers.into())),
        Kind::Number(..) if raw.starts_with('"') => {
            numbers::number(raw).map_or_else(|| raw.to_owned(), |n| as_json(n.into()))
        }
        Kind::Flag => flag(raw).unwrap_or_default().to_string(),
        Kind::Texts | Kind::Words(_) => as_json(strings(name, raw)?.into()),
        Kind::Object | Kind::Actions | Kind::List(_) => unpacked(raw),
        Kind::Text | Kind::Word(_) | Kind::Number(..) | Kind::Any => raw.to_owned(),
    })
}

/// The field of this name in either spelling.
fn find(table: &'static [Field], name: &str) -> Option<&'static Field> {
    table.iter().find(|field| field.name == name || fields::camel_case(field.name) == name)
}

fn unknown(table: &[Field], name: &str) -> Rejection {
    let known: Vec<_> = table.iter().map(|field| field.name).collect();
    let message = match known.as_slice() {
        [] => "unknown; this tool takes no arguments".to_owned(),
        known => format!("unknown; this tool takes {}", known.join(", ")),
    };
    Rejection::invalid(beginning(name), "unknown_field", message)
}

/// Holds an argument to its kind.
fn check(field: &Field, value: &RawValue) -> Result<(), Rejection> {
    let (name, raw) = (field.name, value.get());
    let wrong = |wanted: &str| Err(wrong_type(name, wanted));
    let no_word = |words: &[&str]| {
        let message = format!("one of {} is wanted here", words.join(", "));
        Err(Rejection::invalid(name, "unknown_value", message))
    };
    match field.kind {
        Kind::Text => string(name, raw).map(|_| ()),
        Kind::Word(words) if words.contains(&string(name, raw)?.as_str()) => Ok(()),
        Kind::Word(words) => no_word(words),
        Kind::Texts => strings(name, raw).map(|_| ()),
        Kind::Words(words) if strings(name, raw)?.iter().all(|word| words.contains(&word.as_str())) => Ok(()),
        Kind::Words(words) => no_word(words),
        Kind::Whole(least, most) => match numbers::whole(raw) {
            Some(number) if (least..=most).contains(&number) => Ok(()),
            Some(_) if most == u64::MAX => out_of_range(name, &format!("{least} or more")),
            Some(_) => out_of_range(name, &format!("{least} to {most}")),
            None => wrong("a whole number"),
        },
        Kind::Wholes if wholes(raw).is_some() => Ok(()),
        Kind::Wholes => wrong("an array of whole numbers"),
        Kind::Number(..) if numbers::number(raw).is_none() => wrong("a number"),
        Kind::Number(least, Some(most)) => match numbers::number(raw) {
            Some(number) if (least..=most).contains(&number) => Ok(()),
            _ => out_of_range(name, &format!("{least:.1} to {most:.1}")),
        },
        Kind::Flag if flag(raw).is_none() => wrong("true or false"),
        Kind::Object if !unpacked(raw).trim_start().starts_with('{') => wrong("an object"),
        Kind::Actions if !unpacked(raw).trim_start().starts_with('[') => wrong("an array of actions"),
        Kind::List(_) if !unpacked(raw).trim_start().starts_with('[') => wrong("an array"),
        Kind::Number(..) | Kind::Flag | Kind::Any | Kind::Object | Kind::Actions | Kind::List(_) => Ok(()),
    }
}

fn out_of_range(name: &str, range: &str) -> Result<(), Rejection> {
    Err(Rejection::invalid(name, "out_of_range", format!("{range} is allowed here")))
}

fn string(name: &str, raw: &str) -> Result<String, Rejection> {
    serde_json::from_str(raw).map_err(|_| {
        let is_text = raw.starts_with('"');
        let (reason, message) = if is_text {
            ("invalid_json", "the text holds half a surrogate pair, which is no character")
        } else {
            ("wrong_type", "a string is wanted here")
        };
        Rejection::invalid(name, reason, message)
    })
}

fn strings(name: &str, raw: &str) -> Result<Vec<String>, Rejection> {
    let unpacked = unpacked(raw);
    if unpacked.trim_start().starts_with('[') {
        return serde_json::from_str(&unpacked).map_err(|_| wrong_type(name, "an array of strings"));
    }
    string(name, raw).map(|text| vec![text]).map_err(|_| wrong_type(name, "an array of strings"))
}

fn wholes(raw: &str) -> Option<Vec<u64>> {
    let unpacked = unpacked(raw);
    match serde_json::from_str::<Vec<&RawValue>>(&unpacked) {
        Ok(items) => items.iter().map(|item| numbers::whole(item.get())).collect(),
        Err(_) => numbers::whole(raw).map(|number| vec![number]),
    }
}

fn flag(raw: &str) -> Option<bool> {
    match raw {
        "true" | "\"true\"" => Some(true),
        "false" | "\"false\"" => Some(false),
        _ => None,
    }
}

/// Some models send an object or an array as a string that holds it.
pub(super) fn unpacked(raw: &str) -> String {
    match serde_json::from_str::<String>(raw) {
        Ok(text) if text.trim_start().starts_with(['{', '[']) => text,
        _ => raw.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const TABLE: &[Field] = &[
        Field::required("key", Kind::Text, "The key"),
        Field::optional("value", Kind::Any, "Any"),
        Field::optional("memory_type", Kind::Word(&["semantic", "working"]), "Type"),
        Field::optional("sources", Kind::Texts, "Sources"),
        Field::optional("limit", Kind::Whole(1, 100), "Limit"),
        Field::optional("seqs", Kind::Wholes, "Positions"),
        Field::optional("importance", Kind::Number(0.0, Some(1.0)), "Importance"),
        Field::optional("dry_run", Kind::Flag, "Dry run"),
        Field::optional("metadata", Kind::Object, "Metadata"),
    ];

    fn refused(raw: &str) -> (String, &'static str) {
        match Arguments::read(TABLE, raw).unwrap_err() {
            Rejection::Invalid { field, reason, .. } => (field, reason),
            other => (other.to_string(), "?"),
        }
    }

    #[test]
    fn a_refusal_names_the_argument_and_the_rule() {
        for (raw, field, reason) in [
            ("[]", "arguments", "wrong_type"),
            ("{}", "key", "required"),
            (r#"{"key":null}"#, "key", "required"),
            (r#"{"key":1}"#, "key", "wrong_type"),
            (r#"{"key":"\ud800"}"#, "key", "invalid_json"),
            (r#"{"key":"k","key":"k"}"#, "key", "duplicate_member"),
            (r#"{"key":"k","memory_type":"semantic","memoryType":"working"}"#, "memory_type", "duplicate_member"),
            (r#"{"key":"k","vaule":1}"#, "vaule", "unknown_field"),
            (r#"{"key":"k","memory_type":"x"}"#, "memory_type", "unknown_value"),
            (r#"{"key":"k","limit":0}"#, "limit", "out_of_range"),
            (r#"{"key":"k","limit":1.5}"#, "limit", "wrong_type"),
            (r#"{"key":"k","importance":1.5}"#, "importance", "out_of_range"),
            (r#"{"key":"k","dry_run":1}"#, "dry_run", "wrong_type"),
            (r#"{"key":"k","metadata":[]}"#, "metadata", "wrong_type"),
            (r#"{"key":"k","seqs":[1,"x"]}"#, "seqs", "wrong_type"),
            (r#"{"key":"k","value":{"a":[1e400]}}"#, "value", "number_not_kept"),
        ] {
            assert_eq!(refused(raw), (field.to_owned(), reason), "{raw}");
        }
    }

    #[test]
    fn arguments_come_in_the_spellings_of_models() {
        let raw = r#"{"key":"k","memoryType":"working","limit":"30","seqs":["1",2.0],"sources":"a",
            "importance":"0.5","dryRun":"true","metadata":"{\"a\":1.10}","value":{"b":1.10,"a":null}}"#;
        let arguments = Arguments::read(TABLE, raw).unwrap();
        let shown = |name| one_spelling(name, *arguments.given.get(name).unwrap()).unwrap();
        for (name, wanted) in [
            ("memory_type", "\"working\""),
            ("limit", "30"),
            ("seqs", "[1,2]"),
            ("sources", "[\"a\"]"),
            ("importance", "0.5"),
            ("dry_run", "true"),
            ("metadata", "{\"a\":1.10}"),
            ("value", "{\"b\":1.10,\"a\":null}"),
        ] {
            assert_eq!(shown(name), wanted, "{name}");
        }
    }

    #[test]
    fn a_null_is_a_value_only_where_any_json_is_welcome() {
        let arguments = Arguments::read(TABLE, r#"{"key":"k","value":null,"limit":null}"#).unwrap();
        assert!(arguments.has("value") && !arguments.has("limit"));
    }
}
