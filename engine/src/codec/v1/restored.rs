//! Compensating events.

use bilinc_core::{FlagsEffect, Key, OpenFlag, Removed, Restored, Seq, Timestamp, Version};
use bincode::{BorrowDecode, Encode};

use super::facts::FactsV1;
use super::flags::FlagV1;
use super::list::List;
use super::{numbers, seqs};

#[derive(Encode, BorrowDecode)]
pub(super) struct RestoredV1<'a> {
    key: &'a str,
    created: bool,
    facts: FactsV1<'a>,
    created_at: i64,
    updated_at: Option<i64>,
    confirmed_at: Option<i64>,
    value_at: u64,
    metadata_at: u64,
    value_bytes: u32,
    metadata_bytes: u32,
    /// Absent: the flags stay.
    flags: Option<List<FlagV1<'a>>>,
    undoes: List<u64>,
    hidden_through: Option<u64>,
}

impl<'a> From<&'a Restored> for RestoredV1<'a> {
    fn from(event: &'a Restored) -> Self {
        Self {
            key: event.key.as_str(),
            created: event.created,
            facts: FactsV1::new(&event.facts, None),
            created_at: event.created_at.micros(),
            updated_at: event.updated_at.map(Timestamp::micros),
            confirmed_at: event.confirmed_at.map(Timestamp::micros),
            value_at: event.value_at.get(),
            metadata_at: event.metadata_at.get(),
            value_bytes: event.value_bytes,
            metadata_bytes: event.metadata_bytes,
            flags: match &event.flags {
                FlagsEffect::Keep => None,
                FlagsEffect::Set(flags) => Some(flags.iter().map(FlagV1::from).collect()),
            },
            undoes: numbers(&event.undoes),
            hidden_through: event.hidden_through.map(Seq::get),
        }
    }
}

impl RestoredV1<'_> {
    pub(super) fn into_event(self, version: Version) -> Result<Restored, String> {
        Ok(Restored {
            key: Key::from_recorded(self.key),
            created: self.created,
            facts: self.facts.into_facts(None)?,
            created_at: Timestamp::from_micros(self.created_at),
            updated_at: self.updated_at.map(Timestamp::from_micros),
            confirmed_at: self.confirmed_at.map(Timestamp::from_micros),
            version,
            value_at: Seq::new(self.value_at),
            metadata_at: Seq::new(self.metadata_at),
            value_bytes: self.value_bytes,
            metadata_bytes: self.metadata_bytes,
            flags: self
                .flags
                .map_or(FlagsEffect::Keep, |flags| FlagsEffect::Set(flags.into_iter().map(OpenFlag::from).collect())),
            undoes: seqs(&self.undoes),
            hidden_through: self.hidden_through.map(Seq::new),
        })
    }
}

#[derive(Encode, BorrowDecode)]
pub(super) struct RemovedV1<'a> {
    key: &'a str,
    undoes: List<u64>,
    hidden_through: Option<u64>,
}

impl<'a> From<&'a Removed> for RemovedV1<'a> {
    fn from(event: &'a Removed) -> Self {
        Self {
            key: event.key.as_str(),
            undoes: numbers(&event.undoes),
            hidden_through: event.hidden_through.map(Seq::get),
        }
    }
}

impl From<RemovedV1<'_>> for Removed {
    fn from(event: RemovedV1<'_>) -> Self {
        Self {
            key: Key::from_recorded(event.key),
            undoes: seqs(&event.undoes),
            hidden_through: event.hidden_through.map(Seq::new),
        }
    }
}
