//! Events about an entry.

use std::sync::Arc;

use bilinc_core::{
    Actor, Committed, Confirmed, DreamId, Facts, Flagged, FlagsEffect, Forgotten, ImportedTimes, Key, MemoryType,
    OpenFlag, Reflagged, Removed, Restored, Revised, Seq, Strategy, Timestamp, Unflagged, Version,
};
use bincode::{BorrowDecode, Encode};

/// What a writer says of an entry. The importance is left out where it is 1.
#[derive(Encode, BorrowDecode)]
pub(super) struct FactsV1<'a> {
    memory_type: u8,
    importance: Option<f64>,
    source: NameV1<'a>,
    session_id: NameV1<'a>,
    canonical: Option<bool>,
    priority: Option<f64>,
    ttl: Option<f64>,
}

/// A source or session id.
#[derive(Encode, BorrowDecode)]
enum NameV1<'a> {
    /// The acting writer's own.
    Actor,
    None,
    Other(&'a str),
}

impl<'a> NameV1<'a> {
    fn new(name: Option<&'a Arc<str>>, own: Option<&Arc<str>>) -> Self {
        match name {
            name if name == own => Self::Actor,
            None => Self::None,
            Some(name) => Self::Other(name),
        }
    }

    fn into_name(self, own: Option<&Arc<str>>) -> Option<Arc<str>> {
        match self {
            Self::Actor => own.cloned(),
            Self::None => None,
            Self::Other(name) => Some(name.into()),
        }
    }
}

impl<'a> FactsV1<'a> {
    fn new(facts: &'a Facts, actor: Option<&Actor>) -> Self {
        // Exactly 1 is the default and the one number left out.
        #[allow(clippy::float_cmp)]
        let importance = (facts.importance != 1.0).then_some(facts.importance);
        Self {
            memory_type: facts.memory_type as u8,
            importance,
            source: NameV1::new(Some(&facts.source), actor.map(|actor| &actor.source)),
            session_id: NameV1::new(facts.session_id.as_ref(), actor.and_then(|actor| actor.session_id.as_ref())),
            canonical: facts.canonical,
            priority: facts.priority,
            ttl: facts.ttl,
        }
    }

    fn into_facts(self, actor: Option<&Actor>) -> Result<Facts, String> {
        let memory_type = MemoryType::ALL
            .get(usize::from(self.memory_type))
            .ok_or_else(|| format!("memory type number {}", self.memory_type))?;
        Ok(Facts {
            memory_type: *memory_type,
            importance: self.importance.unwrap_or(1.0),
            source: self.source.into_name(actor.map(|actor| &actor.source)).unwrap_or_default(),
            session_id: self.session_id.into_name(actor.and_then(|actor| actor.session_id.as_ref())),
            canonical: self.canonical,
            priority: self.priority,
            ttl: self.ttl,
        })
    }
}

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
    merged_from: Vec<&'a str>,
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

#[derive(Encode, BorrowDecode)]
pub(super) struct FlaggedV1<'a> {
    key: &'a str,
    reason: &'a str,
    evidence_keys: Vec<&'a str>,
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
    cleared: Vec<u64>,
    reason: Option<&'a str>,
    undoes: Vec<u64>,
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
pub(super) struct FlagV1<'a> {
    seq: u64,
    dream: Option<[u8; 16]>,
    reason: &'a str,
    evidence_keys: Vec<&'a str>,
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
    flags: Option<Vec<FlagV1<'a>>>,
    undoes: Vec<u64>,
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
    undoes: Vec<u64>,
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

#[derive(Encode, BorrowDecode)]
pub(super) struct ReflaggedV1<'a> {
    key: &'a str,
    flags: Vec<FlagV1<'a>>,
    undoes: Vec<u64>,
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

pub(super) fn keys(texts: &[&str]) -> Vec<Key> {
    texts.iter().map(|text| Key::from_recorded(text)).collect()
}

pub(super) fn numbers(seqs: &[Seq]) -> Vec<u64> {
    seqs.iter().map(|seq| seq.get()).collect()
}

pub(super) fn seqs(numbers: &[u64]) -> Vec<Seq> {
    numbers.iter().copied().map(Seq::new).collect()
}
