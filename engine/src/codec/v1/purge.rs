//! Events about erasing.

use bilinc_core::{Key, PurgeCompleted, Purged};
use bincode::{BorrowDecode, Encode};

use super::list::List;
use super::{keys, numbers, seqs};

#[derive(Encode, BorrowDecode)]
pub(super) struct PurgedV1<'a> {
    key: &'a str,
    reason: &'a str,
    bodies: List<u64>,
    events: u64,
    bytes: u64,
    also_in: List<&'a str>,
}

impl<'a> From<&'a Purged> for PurgedV1<'a> {
    fn from(event: &'a Purged) -> Self {
        Self {
            key: event.key.as_str(),
            reason: &event.reason,
            bodies: numbers(&event.bodies),
            events: event.events,
            bytes: event.bytes,
            also_in: event.also_in.iter().map(Key::as_str).collect(),
        }
    }
}

impl From<PurgedV1<'_>> for Purged {
    fn from(event: PurgedV1<'_>) -> Self {
        Self {
            key: Key::from_recorded(event.key),
            reason: event.reason.into(),
            bodies: seqs(&event.bodies),
            events: event.events,
            bytes: event.bytes,
            also_in: keys(&event.also_in),
        }
    }
}

#[derive(Encode, BorrowDecode)]
pub(super) struct PurgeCompletedV1 {
    purges: List<u64>,
}

impl From<&PurgeCompleted> for PurgeCompletedV1 {
    fn from(event: &PurgeCompleted) -> Self {
        Self { purges: numbers(&event.purges) }
    }
}

impl From<PurgeCompletedV1> for PurgeCompleted {
    fn from(event: PurgeCompletedV1) -> Self {
        Self { purges: seqs(&event.purges) }
    }
}
