//! `get`: one memory, in parts where it is too long for one answer.

use bilinc::{Json, Rejection};
use serde::Serialize;

use super::Tool;
use crate::catalogue;
use crate::mcp::arguments::{Arguments, Change};
use crate::mcp::errors::Failure;
use crate::mcp::limits::{self, Omitted, Shorten, Shortened, escaped_chars};
use crate::mcp::outputs;
use crate::mcp::reply::{Making, Reply};
use crate::mcp::schema::{Field, Kind};
use crate::mcp::store::Handle;
use crate::wire::entries::EntryView;
use crate::wire::requests::GetRequest;

/// Characters of JSON that a part of a value, and one of metadata, takes at most. With both, short
/// flags and all names at their limits, an answer still fits.
const VALUE_PART: usize = 30_000;
const METADATA_PART: usize = 8_000;

pub(in crate::mcp) const GET: Tool = Tool {
    name: "get",
    title: catalogue::GET.summary,
    about: "Show one memory by its exact key, now or as it was. A value too long for one answer comes in parts: call \
            again with value_offset set to nextValueOffset until there is none. Parts of what is no string are parts \
            of its JSON text.",
    operations: &[catalogue::GET],
    idempotent: true,
    fields: &[
        Field::required("key", Kind::Text, "The memory's key, exactly"),
        Field::optional(
            "as_of",
            Kind::Text,
            "As it was: at a position such as @120, a time in RFC 3339, or a snapshot's id",
        ),
        Field::optional("value_offset", Kind::Whole(0, u64::MAX), "The character of the value to go on from"),
        Field::optional("metadata_offset", Kind::Whole(0, u64::MAX), "The character of the metadata to go on from"),
    ],
    output: outputs::entry,
    run: |call| {
        let handle = call.store.read()?;
        let changes = [Change::Drop("value_offset"), Change::Drop("metadata_offset")];
        let found = call.carry_out::<GetRequest>(&handle, &changes)?.answer;
        shown(&handle, found, &call.arguments)
    },
};

/// An entry with how its parts go on.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Parts {
    #[serde(flatten)]
    entry: EntryView,
    /// How many characters the whole value has.
    #[serde(skip_serializing_if = "Option::is_none")]
    value_chars: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_value_offset: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_metadata_offset: Option<usize>,
}

/// The whole entry where it fits and nothing else is asked for, else parts of it.
fn shown(handle: &Handle, entry: EntryView, arguments: &Arguments<'_>) -> Result<Reply, Failure> {
    let offset = |name| arguments.whole(name).map(|offset| usize::try_from(offset).unwrap_or(usize::MAX));
    let (value_offset, metadata_offset) = (offset("value_offset"), offset("metadata_offset"));
    let parts = value_offset.is_some() || metadata_offset.is_some() || limits::written(&entry).is_none();
    // The room that the envelope takes.
    let parts = parts || limits::written(&(&entry, " ".repeat(1_000))).is_none();
    if !parts {
        return Making::of(handle).with_notice().whole(&entry);
    }
    let mut view = Parts { entry, value_chars: None, next_value_offset: None, next_metadata_offset: None };
    if let Some(value) = view.entry.value.take() {
        let part = Part::of("value_offset", &value, value_offset.unwrap_or(0), VALUE_PART)?;
        view.entry.value_truncated |= !part.whole;
        view.value_chars = Some(part.chars);
        view.next_value_offset = part.next;
        view.entry.value = Some(part.json);
    }
    if let Some(metadata) = view.entry.metadata.take() {
        let part = Part::of("metadata_offset", &metadata, metadata_offset.unwrap_or(0), METADATA_PART)?;
        view.next_metadata_offset = part.next;
        view.entry.metadata = Some(part.json);
    }
    let mut omitted = Omitted::default();
    if limits::written(&(&view, " ".repeat(1_000))).is_none() {
        let metadata = view.entry.metadata.take();
        view.entry.drop_extras(&mut omitted);
        view.entry.metadata = metadata;
    }
    Making::of(handle).with_notice().whole(&Shortened { view, omitted })
}

/// A part of a value.
struct Part {
    json: Json,
    /// Characters of the whole.
    chars: usize,
    /// Whether this is all.
    whole: bool,
    /// Where the next one begins.
    next: Option<usize>,
}

impl Part {
    fn of(field: &str, json: &Json, offset: usize, room: usize) -> Result<Self, Rejection> {
        let text = json.as_plain_string().unwrap_or_else(|| json.as_str().to_owned());
        let chars = text.chars().count();
        if offset > chars {
            let message = format!("there are {chars} characters, so nothing begins at {offset}");
            return Err(Rejection::invalid(field, "out_of_range", message));
        }
        let mut left = room;
        let part: String = (text.chars().skip(offset))
            .take_while(|c| {
                let fits = left >= escaped_chars(*c);
                left = left.saturating_sub(escaped_chars(*c));
                fits
            })
            .collect();
        let end = offset + part.chars().count();
        let whole = offset == 0 && end == chars;
        let json = if whole { json.clone() } else { Json::string(&part) };
        Ok(Self { json, chars, whole, next: (end < chars).then_some(end) })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn parts_put_together_are_the_whole() {
        let text = "a\"ğ\n\u{1}".repeat(50);
        for json in [Json::string(&text), Json::from_recorded(&format!("[{}]", Json::string(&text).as_str()))] {
            let (mut read, mut offset) = (String::new(), Some(0));
            while let Some(from) = offset {
                let part = Part::of("value_offset", &json, from, 40).unwrap();
                assert!(part.json.as_str().chars().count() <= 42);
                read.push_str(&part.json.as_plain_string().unwrap());
                offset = part.next;
            }
            assert_eq!(read, json.as_plain_string().unwrap_or_else(|| json.as_str().to_owned()));
        }
    }

    #[test]
    fn a_value_that_fits_keeps_its_type_and_a_place_behind_the_end_is_refused() {
        let json = Json::from_recorded("[1,2]");
        let part = Part::of("value_offset", &json, 0, 40).unwrap();
        assert_eq!((part.json.as_str(), part.whole, part.next), ("[1,2]", true, None));
        assert!(Part::of("value_offset", &json, 5, 40).is_ok_and(|part| part.next.is_none()));
        assert!(Part::of("value_offset", &json, 6, 40).is_err());
    }
}
