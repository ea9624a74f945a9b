//! Answers that fit into a model's context.
//!
//! An answer is written under a limit, and once more a step shorter when it does not fit: first the
//! values lose their ends, then metadata and flags go, then items of the lists. Each step is marked
//! where it cut. Writing stops at the limit, so a step costs no more than an answer that fits.

use std::collections::BTreeMap;
use std::io::{self, Write};

use bilinc::{Json, Rejection};
use serde::Serialize;

use super::errors::Failure;
use crate::wire::diffs::DiffEntry;
use crate::wire::dreams::CandidateView;
use crate::wire::entries::{EntryView, FlagView};
use crate::wire::fields::cut_value;
use crate::wire::history::HistoryEntry;
use crate::wire::recall::RecallResult;
use crate::wire::snapshots::SnapshotView;

/// The text of an answer stays under this many characters.
pub(super) const ANSWER_CHARS: usize = 50_000;

/// How long values may be, step by step.
const VALUE_CHARS: [usize; 8] = [20_000, 10_000, 5_000, 2_000, 1_000, 500, 200, 80];
/// From here on, metadata and flags go as well.
const EXTRAS_CHARS: usize = 500;
/// Most flags of an entry, and most characters of a reason, once they are cut.
const FLAGS: usize = 3;
const REASON_CHARS: usize = 80;

/// How far an answer is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    /// Most characters of a value; all when none.
    chars: Option<usize>,
    /// Most items of each list.
    pub(super) items: usize,
}

impl Cut {
    /// Nothing but lists of that many items.
    pub(super) const fn items(items: usize) -> Self {
        Self { chars: None, items }
    }

    /// The steps for an answer whose longest list has that many items.
    fn steps(items: usize) -> impl Iterator<Item = Self> {
        let values = VALUE_CHARS.into_iter().map(move |chars| Self { chars: Some(chars), items });
        let last = VALUE_CHARS.last().copied();
        let fewer = std::iter::successors(Some(items), |items| Some(items / 4 * 3 + items % 4 / 2));
        let fewer = fewer.skip(1).take_while(|items| *items > 0).map(move |items| Self { chars: last, items });
        std::iter::once(Self::items(items)).chain(values).chain(fewer)
    }

    /// Cuts what is shown of entries: a list of that name.
    pub(super) fn entries<T: Shorten>(self, name: &'static str, entries: &mut Vec<T>, omitted: &mut Omitted) {
        self.list(name, entries, omitted);
        let Some(chars) = self.chars else { return };
        for entry in entries {
            entry.cut_value(chars);
            if chars <= EXTRAS_CHARS {
                entry.drop_extras(omitted);
            }
        }
    }

    /// Cuts a list, and notes under its name how many items were left out.
    pub(super) fn list<T>(self, name: &'static str, list: &mut Vec<T>, omitted: &mut Omitted) {
        omitted.add(name, list.len().saturating_sub(self.items));
        list.truncate(self.items);
    }
}

/// How many items of which lists were left out.
#[derive(Debug, Default, Serialize)]
#[serde(transparent)]
pub(super) struct Omitted(BTreeMap<&'static str, usize>);

impl Omitted {
    /// Notes under a name that so many were left out.
    pub(super) fn add(&mut self, name: &'static str, left_out: usize) {
        if left_out > 0 {
            *self.0.entry(name).or_default() += left_out;
        }
    }

    /// Whether all is there.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A view with what was left out of its lists.
#[derive(Debug, Serialize)]
pub(super) struct Shortened<T: Serialize> {
    #[serde(flatten)]
    pub(super) view: T,
    #[serde(skip_serializing_if = "Omitted::is_empty")]
    pub(super) omitted: Omitted,
}

/// The first of the steps whose answer fits.
///
/// # Errors
/// Those of building it; `response_too_large` when nothing is short enough.
pub(super) fn fit<T: Serialize>(items: usize, build: impl FnMut(Cut) -> Result<T, Failure>) -> Result<String, Failure> {
    first_that_fits(items, build, written)
}

/// The same, laid out for reading.
///
/// # Errors
/// As [`fit`].
pub(super) fn fit_pretty<T: Serialize>(
    items: usize,
    build: impl FnMut(Cut) -> Result<T, Failure>,
) -> Result<String, Failure> {
    first_that_fits(items, build, |answer| {
        let mut out = Bounded::default();
        serde_json::to_writer_pretty(&mut out, answer).ok()?;
        String::from_utf8(out.bytes).ok()
    })
}

fn first_that_fits<T>(
    items: usize,
    mut build: impl FnMut(Cut) -> Result<T, Failure>,
    written: impl Fn(&T) -> Option<String>,
) -> Result<String, Failure> {
    for cut in Cut::steps(items) {
        if let Some(text) = written(&build(cut)?) {
            return Ok(text);
        }
    }
    let message = "the answer does not fit into 50,000 characters, however far it is cut";
    Err(Rejection::invalid("limit", "response_too_large", message).into())
}

/// An answer as JSON, if it fits.
pub(super) fn written(answer: &impl Serialize) -> Option<String> {
    let mut out = Bounded::default();
    serde_json::to_writer(&mut out, answer).ok()?;
    String::from_utf8(out.bytes).ok()
}

/// How many characters of JSON a character takes inside a string.
pub(super) fn escaped_chars(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        _ => 1,
    }
}

#[derive(Default)]
struct Bounded {
    bytes: Vec<u8>,
    chars: usize,
}

impl Write for Bounded {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        // A character begins with every byte that goes on none.
        self.chars += buf.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
        if self.chars >= ANSWER_CHARS {
            return Err(io::Error::other("too long"));
        }
        self.bytes.extend_from_slice(buf);
        Ok(buf.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What can be shown shorter.
pub(super) trait Shorten {
    /// Cuts values to that many characters, and marks it.
    fn cut_value(&mut self, chars: usize);

    /// Drops metadata and all but the beginning of flags, and counts what went.
    fn drop_extras(&mut self, _omitted: &mut Omitted) {}
}

fn shorten_flags(flags: &mut Vec<FlagView>, omitted: &mut Omitted) {
    omitted.add("flags", flags.len().saturating_sub(FLAGS));
    flags.truncate(FLAGS);
    for flag in flags {
        omitted.add("evidenceKeys", flag.evidence_keys.len());
        flag.evidence_keys.clear();
        if let Some((end, _)) = flag.reason.char_indices().nth(REASON_CHARS) {
            flag.reason.truncate(end);
            flag.reason.push('…');
        }
    }
}

fn drop_metadata(metadata: &mut Option<Json>, omitted: &mut Omitted) {
    // An empty object takes no room.
    omitted.add("metadata", metadata.take_if(|json| json.as_str() != "{}").iter().count());
}

impl Shorten for EntryView {
    fn cut_value(&mut self, chars: usize) {
        self.value_truncated |= cut_value(&mut self.value, chars);
    }

    fn drop_extras(&mut self, omitted: &mut Omitted) {
        drop_metadata(&mut self.metadata, omitted);
        shorten_flags(&mut self.flags, omitted);
    }
}

impl Shorten for RecallResult {
    fn cut_value(&mut self, chars: usize) {
        self.value_truncated |= cut_value(&mut self.value, chars);
    }

    fn drop_extras(&mut self, omitted: &mut Omitted) {
        drop_metadata(&mut self.metadata, omitted);
        shorten_flags(&mut self.flags, omitted);
        omitted.add("matched", self.matched.len());
        self.matched.clear();
    }
}

impl Shorten for CandidateView {
    fn cut_value(&mut self, chars: usize) {
        self.value_truncated |= cut_value(&mut self.value, chars);
    }

    fn drop_extras(&mut self, omitted: &mut Omitted) {
        shorten_flags(&mut self.flags, omitted);
    }
}

impl Shorten for SnapshotView {
    fn cut_value(&mut self, _: usize) {}

    fn drop_extras(&mut self, omitted: &mut Omitted) {
        let empty = Json::from_recorded("{}");
        omitted.add("metadata", usize::from(self.metadata != empty));
        self.metadata = empty;
    }
}

impl Shorten for HistoryEntry {
    fn cut_value(&mut self, chars: usize) {
        self.value_truncated |= cut_value(&mut self.before, chars) | cut_value(&mut self.after, chars);
    }
}

impl Shorten for DiffEntry {
    fn cut_value(&mut self, chars: usize) {
        self.value_truncated |= cut_value(&mut self.before, chars) | cut_value(&mut self.after, chars);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn the_steps_get_shorter_down_to_one_item() {
        let steps: Vec<_> = Cut::steps(200).collect();
        assert_eq!(steps.first(), Some(&Cut { chars: None, items: 200 }));
        assert!(steps.windows(2).skip(1).all(|pair| (pair[1].chars, pair[1].items) < (pair[0].chars, pair[0].items)));
        assert_eq!(steps.last().unwrap().items, 1);
        assert_eq!(Cut::steps(0).last().unwrap().items, 0);
    }

    #[test]
    fn an_answer_is_counted_in_characters_and_stays_under_the_limit() {
        assert!(written(&"ğ".repeat(ANSWER_CHARS - 3)).is_some());
        assert!(written(&"ğ".repeat(ANSWER_CHARS - 2)).is_none());
        for c in ['a', '"', '\\', '\n', '\u{1}', '\u{7f}', 'ğ'] {
            let json = serde_json::to_string(&c.to_string()).unwrap();
            assert_eq!(json.chars().count() - 2, escaped_chars(c), "{c:?}");
        }
    }
}
