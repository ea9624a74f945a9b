//! One line of an export.

use std::borrow::Cow;

use bilinc_core::{Commit, ImportEntry, Json, Key, MemoryType, Rejection, Timestamp, limits};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::answer::MemoryEntry;
use crate::error::{EngineError, Error};

/// An entry as a line of JSON. `entryVersion`, `expiresAt` and `flags` are read and not looked at,
/// so that what `get` and `list` print can be imported.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Line<'a> {
    #[serde(borrow)]
    key: Cow<'a, str>,
    #[serde(borrow)]
    value: &'a RawValue,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    memory_type: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    importance: Option<f64>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    source: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    session_id: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    canonical: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    priority: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ttl: Option<f64>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    created_at: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    updated_at: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    confirmed_at: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing)]
    #[expect(dead_code, reason = "accepted, see above")]
    entry_version: Option<&'a RawValue>,
    #[serde(borrow, default, skip_serializing)]
    #[expect(dead_code, reason = "accepted, see above")]
    expires_at: Option<&'a RawValue>,
    #[serde(borrow, default, skip_serializing)]
    #[expect(dead_code, reason = "accepted, see above")]
    flags: Option<&'a RawValue>,
}

impl<'a> Line<'a> {
    /// The line of an entry, without its line break. Times have microseconds, so that an import
    /// gives equal entries.
    pub(super) fn of(memory: &'a MemoryEntry) -> Result<String, Error> {
        let failed = |error: serde_json::Error| {
            Error::Engine(EngineError::Stream { doing: "write an entry as JSON", source: error.into() })
        };
        let raw = |json: &'a Option<Json>| -> Result<Option<&'a RawValue>, Error> {
            json.as_ref().map(|json| serde_json::from_str(json.as_str()).map_err(failed)).transpose()
        };
        let null: &RawValue = serde_json::from_str("null").map_err(failed)?;
        let entry = &memory.entry;
        let facts = &entry.facts;
        let line = Line {
            key: Cow::Borrowed(memory.key.as_str()),
            value: raw(&memory.value)?.unwrap_or(null),
            memory_type: Some(Cow::Borrowed(facts.memory_type.name())),
            importance: Some(facts.importance),
            metadata: raw(&memory.metadata)?.filter(|metadata| metadata.get() != "{}"),
            source: Some(Cow::Borrowed(&facts.source)),
            session_id: facts.session_id.as_deref().map(Cow::Borrowed),
            canonical: facts.canonical,
            priority: facts.priority,
            ttl: facts.ttl,
            created_at: Some(Cow::Owned(precise(entry.created_at))),
            updated_at: Some(Cow::Owned(precise(entry.updated_at))),
            confirmed_at: entry.confirmed_at.map(|at| Cow::Owned(precise(at))),
            entry_version: None,
            expires_at: None,
            flags: None,
        };
        serde_json::to_string(&line).map_err(failed)
    }

    /// Reads a line.
    pub(super) fn parse(text: &'a str) -> Result<ImportEntry, Rejection> {
        if !text.trim_start().starts_with('{') {
            let message = "each line is one JSON object, an entry; an array of them is none";
            return Err(Rejection::invalid("entry", "not_an_object", message));
        }
        let line: Line<'_> = serde_json::from_str(text).map_err(|error| unreadable(&error))?;
        let key = Key::new(&line.key).map_err(|error| Rejection::invalid("key", "invalid_key", error.to_string()))?;
        let value = Json::parse(line.value.get(), limits::VALUE_BYTES)
            .map_err(|error| Rejection::invalid("value", error.reason(), error.to_string()))?;
        let metadata = line
            .metadata
            .map(|raw| Json::parse_object(raw.get(), limits::METADATA_BYTES))
            .transpose()
            .map_err(|error| Rejection::invalid("metadata", error.reason(), error.to_string()))?;
        let memory_type = line.memory_type.as_deref().map(memory_type).transpose()?;
        let mut commit = Commit::new(key, value);
        commit.metadata = metadata;
        commit.memory_type = memory_type;
        commit.importance = line.importance;
        commit.source = line.source.as_deref().map(Into::into);
        commit.session_id = line.session_id.as_deref().map(Into::into);
        commit.canonical = line.canonical;
        commit.priority = line.priority;
        commit.ttl = line.ttl;
        Ok(ImportEntry {
            commit,
            created_at: time("createdAt", line.created_at.as_deref())?,
            updated_at: time("updatedAt", line.updated_at.as_deref())?,
            confirmed_at: time("confirmedAt", line.confirmed_at.as_deref())?,
        })
    }
}

/// What is wrong with a line, in words that hold nothing of a value.
fn unreadable(error: &serde_json::Error) -> Rejection {
    let message = error.to_string();
    let reason = match () {
        () if message.starts_with("unknown field") => {
            // The parser repeats the name, which may be anything, and of any length.
            let known = message.rsplit_once(", expected ").map_or("", |(_, known)| known);
            let known = known.split(" at line ").next().unwrap_or_default();
            return Rejection::invalid(
                "entry",
                "unknown_field",
                format!("a member that is {known}").replace("is one of", "is none of"),
            );
        }
        () if message.starts_with("duplicate field") => "duplicate_member",
        () if message.starts_with("missing field") => "required",
        () if message.starts_with("invalid type") || message.starts_with("invalid value") => {
            // The parser names what it found, which may be anything.
            let expected = message.rsplit_once(", expected ").map_or("", |(_, expected)| expected);
            return Rejection::invalid(
                "entry",
                "invalid_type",
                format!("a part of the wrong type, expected {expected}"),
            );
        }
        () => "invalid_json",
    };
    Rejection::invalid("entry", reason, message)
}

fn memory_type(name: &str) -> Result<MemoryType, Rejection> {
    MemoryType::from_name(name).ok_or_else(|| {
        let names: Vec<_> = MemoryType::ALL.iter().map(|kind| kind.name()).collect();
        Rejection::invalid("memoryType", "unknown_value", format!("one of {}", names.join(", ")))
    })
}

fn time(field: &str, text: Option<&str>) -> Result<Option<Timestamp>, Rejection> {
    text.map(Timestamp::parse).transpose().map_err(|error| Rejection::invalid(field, "invalid_time", error.to_string()))
}

/// RFC 3339 with microseconds.
fn precise(time: Timestamp) -> String {
    let time = chrono::DateTime::<chrono::Utc>::from_timestamp_micros(time.micros()).unwrap_or_default();
    time.to_rfc3339_opts(chrono::SecondsFormat::Micros, true)
}
