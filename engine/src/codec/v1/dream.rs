//! Events about a dream.

use bilinc_core::{
    ActionOp, ActionRecord, ActionStatus, Candidate, ChangeInfo, ChangeOp, DreamFinished, DreamId, DreamOptions,
    DreamPageApplied, DreamStarted, Key, ReportWritten, Seq, Timestamp, Version,
};
use bincode::{BorrowDecode, Encode};

use super::keys;
use super::list::List;

#[derive(Encode, BorrowDecode)]
pub(in crate::codec) struct DreamStartedV1<'a> {
    dream: [u8; 16],
    limit: u32,
    prefix: Option<&'a str>,
    since: Option<i64>,
    include_reviewed: bool,
    candidates: List<(&'a str, [u8; 16])>,
    more: u64,
    forget_cap: u32,
    complete: bool,
}

impl<'a> From<&'a DreamStarted> for DreamStartedV1<'a> {
    fn from(event: &'a DreamStarted) -> Self {
        Self {
            dream: event.dream.as_u128().to_be_bytes(),
            limit: event.options.limit,
            prefix: event.options.prefix.as_deref(),
            since: event.options.since.map(Timestamp::micros),
            include_reviewed: event.options.include_reviewed,
            candidates: event
                .candidates
                .iter()
                .map(|candidate| (candidate.key.as_str(), candidate.version.as_u128().to_be_bytes()))
                .collect(),
            more: event.more,
            forget_cap: event.forget_cap,
            complete: event.complete,
        }
    }
}

impl From<DreamStartedV1<'_>> for DreamStarted {
    fn from(event: DreamStartedV1<'_>) -> Self {
        Self {
            dream: dream(event.dream),
            options: DreamOptions {
                limit: event.limit,
                prefix: event.prefix.map(String::from),
                since: event.since.map(Timestamp::from_micros),
                include_reviewed: event.include_reviewed,
            },
            candidates: event
                .candidates
                .iter()
                .map(|(key, bits)| Candidate { key: Key::from_recorded(key), version: version(*bits) })
                .collect(),
            more: event.more,
            forget_cap: event.forget_cap,
            complete: event.complete,
        }
    }
}

#[derive(Encode, BorrowDecode)]
pub(super) struct DreamPageAppliedV1<'a> {
    dream: [u8; 16],
    actions: List<ActionV1<'a>>,
}

#[derive(Encode, BorrowDecode)]
struct ActionV1<'a> {
    op: u8,
    key: &'a str,
    expected_version: Option<[u8; 16]>,
    merged_from: List<&'a str>,
    reason: &'a str,
    evidence_keys: List<&'a str>,
    status: StatusV1<'a>,
}

#[derive(Encode, BorrowDecode)]
enum StatusV1<'a> {
    Applied(Option<[u8; 16]>),
    Conflict(Option<[u8; 16]>, Option<ChangeV1<'a>>),
    Error(&'a str, &'a str),
}

/// A change as conflicts name it.
#[derive(Encode, BorrowDecode)]
pub(super) struct ChangeV1<'a> {
    op: u8,
    source: &'a str,
    at: i64,
    seq: u64,
}

impl<'a> From<&'a ChangeInfo> for ChangeV1<'a> {
    fn from(change: &'a ChangeInfo) -> Self {
        Self { op: change.op as u8, source: &change.source, at: change.at.micros(), seq: change.seq.get() }
    }
}

impl ChangeV1<'_> {
    pub(super) fn into_info(self) -> Result<ChangeInfo, String> {
        let op = ChangeOp::ALL.get(usize::from(self.op)).ok_or_else(|| format!("change number {}", self.op))?;
        Ok(ChangeInfo {
            op: *op,
            source: self.source.into(),
            at: Timestamp::from_micros(self.at),
            seq: Seq::new(self.seq),
        })
    }
}

impl<'a> From<&'a DreamPageApplied> for DreamPageAppliedV1<'a> {
    fn from(event: &'a DreamPageApplied) -> Self {
        Self { dream: event.dream.as_u128().to_be_bytes(), actions: event.actions.iter().map(ActionV1::from).collect() }
    }
}

impl DreamPageAppliedV1<'_> {
    pub(super) fn into_event(self) -> Result<DreamPageApplied, String> {
        let actions = self.actions.into_iter().map(ActionV1::into_record).collect::<Result<_, _>>()?;
        Ok(DreamPageApplied { dream: dream(self.dream), actions })
    }
}

impl<'a> From<&'a ActionRecord> for ActionV1<'a> {
    fn from(action: &'a ActionRecord) -> Self {
        let bits = |version: Version| version.as_u128().to_be_bytes();
        Self {
            op: action.op as u8,
            key: action.key.as_str(),
            expected_version: action.expected_version.map(bits),
            merged_from: action.merged_from.iter().map(Key::as_str).collect(),
            reason: &action.reason,
            evidence_keys: action.evidence_keys.iter().map(Key::as_str).collect(),
            status: match &action.status {
                ActionStatus::Applied { version } => StatusV1::Applied(version.map(bits)),
                ActionStatus::Conflict { current, change } => {
                    StatusV1::Conflict(current.map(bits), change.as_ref().map(ChangeV1::from))
                }
                ActionStatus::Error { code, message } => StatusV1::Error(code, message),
            },
        }
    }
}

impl ActionV1<'_> {
    fn into_record(self) -> Result<ActionRecord, String> {
        let op = ActionOp::ALL.get(usize::from(self.op)).ok_or_else(|| format!("action number {}", self.op))?;
        Ok(ActionRecord {
            op: *op,
            key: Key::from_recorded(self.key),
            expected_version: self.expected_version.map(version),
            merged_from: keys(&self.merged_from),
            reason: self.reason.into(),
            evidence_keys: keys(&self.evidence_keys),
            status: match self.status {
                StatusV1::Applied(bits) => ActionStatus::Applied { version: bits.map(version) },
                StatusV1::Conflict(current, change) => ActionStatus::Conflict {
                    current: current.map(version),
                    change: change.map(ChangeV1::into_info).transpose()?,
                },
                StatusV1::Error(code, message) => ActionStatus::Error { code: code.into(), message: message.into() },
            },
        })
    }
}

#[derive(Encode, BorrowDecode)]
pub(super) struct DreamFinishedV1 {
    dream: [u8; 16],
}

impl From<&DreamFinished> for DreamFinishedV1 {
    fn from(event: &DreamFinished) -> Self {
        Self { dream: event.dream.as_u128().to_be_bytes() }
    }
}

impl From<DreamFinishedV1> for DreamFinished {
    fn from(event: DreamFinishedV1) -> Self {
        Self { dream: dream(event.dream) }
    }
}

#[derive(Encode, BorrowDecode)]
pub(super) struct ReportWrittenV1<'a> {
    key: &'a str,
    dream: [u8; 16],
    created: bool,
    value_bytes: u32,
}

impl<'a> From<&'a ReportWritten> for ReportWrittenV1<'a> {
    fn from(event: &'a ReportWritten) -> Self {
        Self {
            key: event.key.as_str(),
            dream: event.dream.as_u128().to_be_bytes(),
            created: event.created,
            value_bytes: event.value_bytes,
        }
    }
}

impl ReportWrittenV1<'_> {
    pub(super) fn into_event(self, version: Version) -> ReportWritten {
        ReportWritten {
            key: Key::from_recorded(self.key),
            dream: dream(self.dream),
            created: self.created,
            version,
            value_bytes: self.value_bytes,
        }
    }
}

pub(super) fn dream(bits: [u8; 16]) -> DreamId {
    DreamId::from_u128(u128::from_be_bytes(bits))
}

pub(super) fn version(bits: [u8; 16]) -> Version {
    Version::from_u128(u128::from_be_bytes(bits))
}
