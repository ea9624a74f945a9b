//! Points of the log, and entries as they stood there.

use std::sync::Arc;

use bilinc_core::{Entry, Key, RecordedEvent, Rejection, Seq, Slot, Timestamp, chain_of, slot_at};

use super::Memory;
use crate::answer::MemoryEntry;
use crate::error::Error;
use crate::query::At;
use crate::store::{LogHistory, Text};

/// A point resolved: a position, and the moment by which expiry is judged there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    pub(super) seq: Seq,
    pub(super) time: Timestamp,
}

/// All events of a key, and the key as it is now.
#[derive(Debug, Default)]
pub(super) struct KeyThen {
    chain: Vec<Arc<RecordedEvent>>,
    pub(super) present: Slot,
}

impl KeyThen {
    /// The key as it stood at a position.
    pub(super) fn at(&self, seq: Seq) -> Slot {
        slot_at(&self.chain, seq)
    }
}

impl Memory {
    /// The entry of a key.
    ///
    /// # Errors
    /// When the key is malformed or the log cannot be read.
    pub fn get(&self, key: &str) -> Result<Option<MemoryEntry>, Error> {
        self.store.refresh()?;
        let now = self.now();
        let find = |text: &str| {
            let published = self.store.published();
            published.state.key_and_slot(text).map(|(key, slot)| (key.clone(), slot.live(now).cloned()))
        };
        // A text that is a key as it stands, as nearly all are, need not be made one.
        let found = match find(key) {
            Some(found) => Some(found),
            None => find(parse_key(key)?.as_str()),
        };
        let Some((key, Some(entry))) = found else { return Ok(None) };
        self.shown(key, entry, false).map(Some)
    }

    /// The entry of a key as it stood at a point. Its value is hidden when a later forget stands.
    ///
    /// Costs what the key has been through, whatever the size of the log.
    ///
    /// # Errors
    /// When the key is malformed, the point is not there, or the log cannot be read.
    pub fn get_at(&self, key: &str, at: At) -> Result<Option<MemoryEntry>, Error> {
        if at == At::Now {
            return self.get(key);
        }
        let key = parse_key(key)?;
        let point = self.point(at, "as_of")?;
        let head = self.store.published().head();
        let chain = self.key_then(&LogHistory::new(&self.store, head), &key)?;
        let then = chain.at(point.seq);
        let Some(entry) = then.live(point.time) else { return Ok(None) };
        self.shown(key, entry.clone(), chain.present.hides_entry(entry)).map(Some)
    }

    /// The chain of a key, for looking at it as it stood.
    pub(super) fn key_then(&self, history: &LogHistory<'_>, key: &Key) -> Result<KeyThen, Error> {
        let present = self.store.published().state.slot(key.as_str()).cloned().unwrap_or_default();
        Ok(KeyThen { chain: chain_of(history, present.head)?, present })
    }

    /// An entry with its value and metadata, or without them when they are hidden.
    pub(super) fn shown(&self, key: Key, entry: Entry, hidden: bool) -> Result<MemoryEntry, Error> {
        let text = if hidden { Text::default() } else { self.store.text(&entry)? };
        let lost = !hidden && self.store.published().state.has_lost(&entry);
        // A purge that came since the look at the entry may have erased a part of it already.
        let values_redacted = !lost && (text.value.is_none() || text.metadata.is_none());
        let Text { value, metadata } = if values_redacted { Text::default() } else { text };
        Ok(MemoryEntry { key, entry, value, metadata, values_redacted, lost })
    }

    /// Resolves a point; `field` is the part of the request that it came in.
    pub(super) fn point(&self, at: At, field: &'static str) -> Result<Point, Error> {
        self.store.refresh()?;
        let head = self.store.published().head();
        match at {
            At::Now => Ok(Point { seq: head, time: self.now() }),
            At::Position(seq) if seq > head => {
                let message = format!("there is no position {seq} yet; the last one is {head}");
                Err(Rejection::invalid(field, "out_of_range", message).into())
            }
            At::Position(seq) => Ok(Point { seq, time: self.time_of(seq)? }),
            At::Time(time) => {
                let seq = self.store.log.position_at(time.micros(), head.get());
                Ok(Point { seq: Seq::new(seq.map_err(crate::EngineError::from)?), time })
            }
            At::Snapshot(id) => {
                let published = self.store.published();
                let snapshot = published.state.snapshot(id).ok_or(Rejection::SnapshotNotFound(id))?;
                Ok(Point { seq: snapshot.seq, time: snapshot.at })
            }
        }
    }

    fn time_of(&self, seq: Seq) -> Result<Timestamp, Error> {
        if !seq.is_some() {
            return Ok(Timestamp::MIN);
        }
        let frame = self.store.log.frame_at(seq.get()).map_err(crate::EngineError::from)?;
        Ok(Timestamp::from_micros(frame.time()))
    }
}

/// Reads the key of a request.
pub(super) fn parse_key(text: &str) -> Result<Key, Rejection> {
    Key::new(text).map_err(|error| Rejection::invalid("key", "invalid_key", error.to_string()))
}
