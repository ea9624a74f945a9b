//! Events about flags.

use std::sync::Arc;

use bilinc_core::{DreamId, Flagged, Key, OpenFlag, Reflagged, Seq, Timestamp, Unflagged};
use bincode::{BorrowDecode, Encode};

use super::list::List;
use super::{keys, numbers, seqs};

#[derive(Encode, BorrowDecode)]
pub(super) struct FlaggedV1<'a> {
    key: &'a str,
    reason: &'a str,
    evidence_keys: List<&'a str>,
}

impl<'a> From<&'a Flagged> for FlaggedV1<'a> {
    fn from(event: &'a Flagged) -> Self {
        Self {
            key: event.key.as_str(),
            reason: &event.reason,
            evidence_keys: event.evidence_keys.iter().map(Key::as_str).collect(),
        }
    }
}

impl From<FlaggedV1<'_>> for Flagged {
    fn from(event: FlaggedV1<'_>) -> Self {
        Self {
            key: Key::from_recorded(event.key),
            reason: event.reason.into(),
            evidence_keys: keys(&event.evidence_keys),
        }
    }
}

#[derive(Encode, BorrowDecode)]
pub(super) struct UnflaggedV1<'a> {
    key: &'a str,
    cleared: List<u64>,
    reason: Option<&'a str>,
    undoes: List<u64>,
}

impl<'a> From<&'a Unflagged> for UnflaggedV1<'a> {
    fn from(event: &'a Unflagged) -> Self {
        Self {
            key: event.key.as_str(),
            cleared: numbers(&event.cleared),
            reason: event.reason.as_deref(),
            undoes: numbers(&event.undoes),
        }
    }
}

impl From<UnflaggedV1<'_>> for Unflagged {
    fn from(event: UnflaggedV1<'_>) -> Self {
        Self {
            key: Key::from_recorded(event.key),
            cleared: seqs(&event.cleared),
            reason: event.reason.map(Arc::from),
            undoes: seqs(&event.undoes),
        }
    }
}

#[derive(Encode, BorrowDecode)]
pub(in crate::codec) struct FlagV1<'a> {
    seq: u64,
    dream: Option<[u8; 16]>,
    reason: &'a str,
    evidence_keys: List<&'a str>,
    at: i64,
}

impl<'a> From<&'a OpenFlag> for FlagV1<'a> {
    fn from(flag: &'a OpenFlag) -> Self {
        Self {
            seq: flag.seq.get(),
            dream: flag.dream.map(|dream| dream.as_u128().to_be_bytes()),
            reason: &flag.reason,
            evidence_keys: flag.evidence_keys.iter().map(Key::as_str).collect(),
            at: flag.at.micros(),
        }
    }
}

impl From<FlagV1<'_>> for OpenFlag {
    fn from(flag: FlagV1<'_>) -> Self {
        Self {
            seq: Seq::new(flag.seq),
            dream: flag.dream.map(|dream| DreamId::from_u128(u128::from_be_bytes(dream))),
            reason: flag.reason.into(),
            evidence_keys: keys(&flag.evidence_keys),
            at: Timestamp::from_micros(flag.at),
        }
    }
}

#[derive(Encode, BorrowDecode)]
pub(super) struct ReflaggedV1<'a> {
    key: &'a str,
    flags: List<FlagV1<'a>>,
    undoes: List<u64>,
}

impl<'a> From<&'a Reflagged> for ReflaggedV1<'a> {
    fn from(event: &'a Reflagged) -> Self {
        Self {
            key: event.key.as_str(),
            flags: event.flags.iter().map(FlagV1::from).collect(),
            undoes: numbers(&event.undoes),
        }
    }
}

impl From<ReflaggedV1<'_>> for Reflagged {
    fn from(event: ReflaggedV1<'_>) -> Self {
        Self {
            key: Key::from_recorded(event.key),
            flags: event.flags.into_iter().map(OpenFlag::from).collect(),
            undoes: seqs(&event.undoes),
        }
    }
}
