//! Events about an entry.

use std::sync::Arc;

use bilinc_core::{Actor, Committed, Confirmed, Forgotten, ImportedTimes, Key, Revised, Strategy, Timestamp, Version};
use bincode::{BorrowDecode, Encode};

use super::facts::FactsV1;
use super::keys;
use super::list::List;

#[derive(Encode, BorrowDecode)]
pub(super) struct CommittedV1<'a> {
    key: &'a str,
    created: bool,
    facts: FactsV1<'a>,
    times: Option<TimesV1>,
    value_bytes: u32,
    metadata_bytes: u32,
}

#[derive(Encode, BorrowDecode)]
struct TimesV1 {
    created_at: i64,
    updated_at: i64,
    confirmed_at: Option<i64>,
}

impl<'a> CommittedV1<'a> {
    pub(super) fn from_event(event: &'a Committed, actor: &Actor) -> Self {
        Self {
            key: event.key.as_str(),
            created: event.created,
            facts: FactsV1::new(&event.facts, Some(actor)),
            times: event.times.map(|times| TimesV1 {
                created_at: times.created_at.micros(),
                updated_at: times.updated_at.micros(),
                confirmed_at: times.confirmed_at.map(Timestamp::micros),
            }),
            value_bytes: event.value_bytes,
            metadata_bytes: event.metadata_bytes,
        }
    }

    pub(super) fn into_event(self, actor: &Actor, version: Version) -> Result<Committed, String> {
        Ok(Committed {
            key: Key::from_recorded(self.key),
            created: self.created,
            facts: self.facts.into_facts(Some(actor))?,
            times: self.times.map(|times| ImportedTimes {
                created_at: Timestamp::from_micros(times.created_at),
                updated_at: Timestamp::from_micros(times.updated_at),
                confirmed_at: times.confirmed_at.map(Timestamp::from_micros),
            }),
            version,
            value_bytes: self.value_bytes,
            metadata_bytes: self.metadata_bytes,
        })
    }
}

#[derive(Encode, BorrowDecode)]
pub(super) struct RevisedV1<'a> {
    key: &'a str,
    importance: Option<f64>,
    strategy: u8,
    reason: Option<&'a str>,
    merged_from: List<&'a str>,
    value_bytes: u32,
}

impl<'a> From<&'a Revised> for RevisedV1<'a> {
    fn from(event: &'a Revised) -> Self {
        Self {
            key: event.key.as_str(),
            importance: event.importance,
            strategy: event.strategy as u8,
            reason: event.reason.as_deref(),
            merged_from: event.merged_from.iter().map(Key::as_str).collect(),
            value_bytes: event.value_bytes,
        }
    }
}

impl RevisedV1<'_> {
    pub(super) fn into_event(self, version: Version) -> Result<Revised, String> {
        let strategy = Strategy::ALL
            .get(usize::from(self.strategy))
            .ok_or_else(|| format!("revise strategy number {}", self.strategy))?;
        Ok(Revised {
            key: Key::from_recorded(self.key),
            importance: self.importance,
            strategy: *strategy,
            reason: self.reason.map(Arc::from),
            merged_from: keys(&self.merged_from),
            version,
            value_bytes: self.value_bytes,
        })
    }
}

#[derive(Encode, BorrowDecode)]
pub(super) struct ConfirmedV1<'a> {
    key: &'a str,
    reason: Option<&'a str>,
}

impl<'a> From<&'a Confirmed> for ConfirmedV1<'a> {
    fn from(event: &'a Confirmed) -> Self {
        Self { key: event.key.as_str(), reason: event.reason.as_deref() }
    }
}

impl ConfirmedV1<'_> {
    pub(super) fn into_event(self, version: Version) -> Confirmed {
        Confirmed { key: Key::from_recorded(self.key), reason: self.reason.map(Arc::from), version }
    }
}

#[derive(Encode, BorrowDecode)]
pub(super) struct ForgottenV1<'a> {
    key: &'a str,
    reason: &'a str,
}

impl<'a> From<&'a Forgotten> for ForgottenV1<'a> {
    fn from(event: &'a Forgotten) -> Self {
        Self { key: event.key.as_str(), reason: &event.reason }
    }
}

impl From<ForgottenV1<'_>> for Forgotten {
    fn from(event: ForgottenV1<'_>) -> Self {
        Self { key: Key::from_recorded(event.key), reason: event.reason.into() }
    }
}
