//! An index over every value that the log holds: what a deep recall searches.
//!
//! It has a document for each value that was ever recorded under a key, also for the present ones, so that
//! how rare a word is, and with it a score, means about the same as in the index of the present entries.
//! Which of them may be shown is asked when they are found.

use std::ops::ControlFlow;
use std::sync::{Arc, PoisonError};

use bilinc_core::{Json, RecordedEvent, Seq};
use bilinc_projections::recall::{Document, Recall};

use super::Store;
use crate::codec::Bodies;
use crate::error::EngineError;

/// The index, and how far the log was read for it.
#[derive(Debug)]
pub(crate) struct EarlierValues {
    index: Recall,
    through: Seq,
}

impl EarlierValues {
    pub(crate) fn new(seed: u64) -> Self {
        Self { index: Recall::new(seed), through: Seq::ZERO }
    }

    /// The index, ready to be searched.
    pub(crate) fn index(&mut self) -> &Recall {
        self.index.settle();
        &self.index
    }

    /// Adds the value that an event recorded, if it did. A body that is erased or cannot be read adds nothing.
    pub(crate) fn learn(&mut self, event: &RecordedEvent) {
        let Some(key) = event.event.key().filter(|_| event.event.is_change()) else { return };
        let Some(body) = event.body.as_ref() else { return };
        let Some(value) = body.value.as_ref() else { return };
        self.index.put(Document {
            key: name_of(key.as_str(), event.seq),
            value_json: value.as_str(),
            metadata_json: body.metadata.as_ref().map_or("{}", Json::as_str),
            // Both are asked of the present entry.
            memory_type: 0,
            importance: 0.0,
            changed: event.seq.get(),
        });
    }
}

impl Store {
    /// Searches the values recorded so far, read first as far as they are published.
    pub(crate) fn with_earlier<T>(&self, search: impl FnOnce(&Recall) -> T) -> Result<T, EngineError> {
        let mut earlier = self.earlier.lock().unwrap_or_else(PoisonError::into_inner);
        let head = self.published().head();
        let after = earlier.through;
        let read = self.visit(after, head, Bodies::Readable, &mut |event| {
            earlier.learn(event);
            ControlFlow::Continue(())
        });
        if let Err(error) = read {
            *earlier = EarlierValues::new(self.hash_seed);
            return Err(error);
        }
        earlier.through = head;
        Ok(search(earlier.index()))
    }

    /// Takes all words of earlier values out of memory.
    pub(super) fn forget_earlier(&self) {
        let mut earlier = self.earlier.lock().unwrap_or_else(PoisonError::into_inner);
        *earlier = EarlierValues::new(self.hash_seed);
    }
}

/// Stands between a key and a position in the name of a document. Neither it nor what follows can stand in
/// a key, and none of it is a word, so that a document ranks by its key as the present entry does.
const MARK: char = '\u{1f}';

/// A value's name in the index: its key, and the position in control characters, four bits each.
fn name_of(key: &str, at: Seq) -> Arc<str> {
    let digits = (0..16).rev().map(|place| ((at.get() >> (4 * place)) & 0xf) as u8);
    let digits = digits.map(|digit| char::from(digit + 1));
    key.chars().chain([MARK]).chain(digits).collect::<String>().into()
}

/// The key and the position in a value's name.
pub(crate) fn named_by(name: &str) -> Option<(&str, Seq)> {
    let (key, digits) = name.rsplit_once(MARK)?;
    let at = digits.bytes().fold(0_u64, |at, digit| (at << 4) | u64::from(digit.wrapping_sub(1) & 0xf));
    Some((key, Seq::new(at)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_gives_back_its_key_and_position_and_adds_no_word() {
        for at in [1, 15, 16, 5433, u64::MAX] {
            let name = name_of("db.port", Seq::new(at));
            assert_eq!(named_by(&name), Some(("db.port", Seq::new(at))));
            assert!(name.chars().skip("db.port".len()).all(char::is_control), "{name:?}");
        }
    }
}
