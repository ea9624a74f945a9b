//! The file of the official memory server: JSON Lines of entities and relations.

use std::collections::HashMap;
use std::io::{self, BufRead};

use bilinc::{Json, Rejection};
use serde::{Deserialize, Serialize};

use super::graph::{Entity, Node, Relation};

/// Longest line, in bytes: no entity that can be kept is longer.
const LINE_BYTES: u64 = 16 * 1024 * 1024;

/// What a file holds, as lines that every import reads. Each stands on the line that it came from.
#[derive(Debug, Default)]
pub struct AsLines {
    lines: Vec<Option<String>>,
}

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Serialize)]
struct Imported<'a> {
    key: &'a str,
    value: &'a Json,
    metadata: Order,
}

/// The order of the file, since an import creates all at one moment.
#[derive(Serialize)]
struct Order {
    order: usize,
}

/// Why a file cannot be read.
#[derive(Debug)]
pub enum Unreadable {
    /// The file itself.
    File(io::Error),
    /// A line of it.
    Line(Rejection),
}

fn bad(number: usize, reason: &'static str, message: impl Into<String>) -> Unreadable {
    Unreadable::Line(Rejection::invalid(format!("line {number}"), reason, message))
}

/// Reads a file of the official memory server.
///
/// An entity that stands there twice has the observations of both, under the type of the first.
///
/// # Errors
/// For the first line that is no entity and no relation.
pub fn lines_of(mut input: impl BufRead) -> Result<AsLines, Unreadable> {
    let mut found = AsLines::default();
    let mut entities: HashMap<String, (usize, Entity)> = HashMap::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        let number = found.lines.len() + 1;
        let read = io::Read::take(&mut input, LINE_BYTES).read_until(b'\n', &mut line).map_err(Unreadable::File)?;
        if read == 0 {
            break;
        }
        if read as u64 == LINE_BYTES {
            return Err(bad(number, "too_large", "the line is longer than any entity"));
        }
        let text =
            std::str::from_utf8(&line).map_err(|error| bad(number, "invalid_utf8", format!("not UTF-8: {error}")))?;
        let text = text.trim_start_matches('\u{feff}').trim();
        found.lines.push(None);
        if text.is_empty() {
            continue;
        }
        let invalid = |error: serde_json::Error| bad(number, "invalid_json", error.to_string());
        match serde_json::from_str::<Line>(text).map_err(invalid)?.kind.as_str() {
            "entity" => {
                let entity: Entity = serde_json::from_str(text).map_err(invalid)?;
                let (first, whole) = entities
                    .entry(entity.name.clone())
                    .or_insert_with(|| (number, Entity { observations: Vec::new(), ..entity.clone() }));
                let new: Vec<_> = entity
                    .observations
                    .into_iter()
                    .filter(|it| *first == number || !whole.observations.contains(it))
                    .collect();
                whole.observations.extend(new);
                let (first, whole) = (*first, whole.clone());
                found.set(first, &whole)?;
            }
            "relation" => found.set(number, &serde_json::from_str::<Relation>(text).map_err(invalid)?)?,
            other => {
                let other: String = other.chars().take(40).collect();
                return Err(bad(number, "unknown_type", format!("`{other}` is neither entity nor relation")));
            }
        }
    }
    Ok(found)
}

impl AsLines {
    fn set(&mut self, number: usize, node: &impl Node) -> Result<(), Unreadable> {
        let key = node.key().map_err(|error| bad(number, "invalid_key", error.to_string()))?;
        let line = Imported { key: key.as_str(), value: &node.value(), metadata: Order { order: number } };
        let line = serde_json::to_string(&line).map_err(|error| bad(number, "invalid_json", error.to_string()))?;
        if let Some(place) = number.checked_sub(1).and_then(|place| self.lines.get_mut(place)) {
            *place = Some(line);
        }
        Ok(())
    }

    /// The text that an import reads.
    #[must_use]
    pub fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{}\n", line.as_deref().unwrap_or_default())).collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn each_thing_stands_on_its_line_and_a_repeated_entity_is_one() {
        let file = concat!(
            "{\"type\":\"entity\",\"name\":\"a\",\"entityType\":\"t\",\"observations\":[\"1\"]}\n",
            "\n",
            "{\"type\":\"relation\",\"from\":\"a\",\"to\":\"b\",\"relationType\":\"knows\"}\n",
            "{\"type\":\"entity\",\"name\":\"a\",\"entityType\":\"u\",\"observations\":[\"1\",\"2\"]}",
        );
        let text = lines_of(file.as_bytes()).unwrap().text();
        let lines: Vec<_> = text.split('\n').collect();
        assert!(lines[0].contains(r#""observations":["1","2"]"#) && lines[0].contains(r#""entityType":"t""#), "{text}");
        assert_eq!((lines[1], lines[3]), ("", ""));
        assert!(lines[2].contains(r#""metadata":{"order":3}"#), "{text}");
    }

    #[test]
    fn a_line_that_is_neither_is_refused_with_its_number() {
        for (file, wanted) in [
            ("\n{\"type\":\"x\"}", "line 2"),
            ("[]", "line 1"),
            ("{\"type\":\"entity\"}", "line 1"),
            ("\u{1}", "line 1"),
        ] {
            match lines_of(file.as_bytes()).unwrap_err() {
                Unreadable::Line(Rejection::Invalid { field, .. }) => assert_eq!(field, wanted, "{file}"),
                other => unreachable!("{other:?}"),
            }
        }
    }
}
