//! What a salvage found, kept and lost.

use bilinc::{Key, LostBody, LostPositions, SalvageRecord, SalvageReport, Seq, StoreId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Time;

/// What a salvage did, or would do.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SalvageView {
    /// The store; none when there is no store yet.
    #[schema(value_type = Option<String>)]
    pub store_id: Option<StoreId>,
    /// Whether nothing was written because only a preview was asked for.
    pub preview: bool,
    /// Whether there was anything to salvage; otherwise nothing was changed.
    pub needed: bool,
    /// Whether a salvage that had been interrupted was finished first.
    pub finished_earlier: bool,
    /// What was found damaged, in words.
    pub damage: Vec<String>,
    /// What is kept.
    pub kept: KeptView,
    /// How many events are lost.
    pub lost_events: u64,
    /// Where they stood.
    pub lost: Vec<LostView>,
    /// Events whose facts are kept and whose values are lost.
    pub lost_bodies: Vec<LostBodyView>,
    /// Operations that are kept although nothing proves them any more.
    #[schema(value_type = Vec<u64>)]
    pub unproven: Vec<Seq>,
    /// Keys with a gap in their past.
    #[schema(value_type = Vec<String>)]
    pub incomplete_keys: Vec<Key>,
    /// The last position that the log had.
    #[schema(value_type = u64)]
    pub last_seq: Seq,
    /// Where the damaged files lie now, in the store's folder.
    pub quarantined: Vec<String>,
}

/// What of a damaged log is whole.
#[derive(Debug, Serialize, ToSchema)]
pub struct KeptView {
    /// Operations.
    pub operations: u64,
    /// Their events.
    pub events: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Positions that were lost.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LostView {
    /// The first.
    #[schema(value_type = u64)]
    pub first_seq: Seq,
    /// The last.
    #[schema(value_type = u64)]
    pub last_seq: Seq,
    /// Bytes that were found there and could not be read.
    pub bytes: u64,
    /// What was found.
    pub reason: String,
    /// Keys that lost an event here, as far as later events tell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<String>)]
    pub keys: Vec<Key>,
}

/// An event that lost its value.
#[derive(Debug, Serialize, ToSchema)]
pub struct LostBodyView {
    /// Where it is.
    #[schema(value_type = u64)]
    pub seq: Seq,
    /// The key that it is about.
    #[schema(value_type = Option<String>)]
    pub key: Option<Key>,
    /// What was found.
    pub reason: String,
}

/// A salvage as the log records it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SalvageRecordView {
    /// Where it is recorded.
    #[schema(value_type = u64)]
    pub seq: Seq,
    /// When it was done.
    pub at: Time,
    /// Events that were lost.
    pub lost: Vec<LostView>,
    /// Positions of events that lost their values.
    #[schema(value_type = Vec<u64>)]
    pub lost_bodies: Vec<Seq>,
    /// Operations that were kept unproven.
    #[schema(value_type = Vec<u64>)]
    pub unproven: Vec<Seq>,
    /// What was found damaged, in words.
    pub damage: Vec<String>,
    /// The last position that the log had.
    #[schema(value_type = u64)]
    pub seq_before: Seq,
    /// The chain hash there, as far as it was known.
    pub root_hash_before: String,
}

impl SalvageView {
    /// What there is to salvage where there is no store yet.
    #[must_use]
    pub fn nothing(preview: bool) -> Self {
        Self {
            store_id: None,
            preview,
            needed: false,
            finished_earlier: false,
            damage: Vec::new(),
            kept: KeptView { operations: 0, events: 0, bytes: 0 },
            lost_events: 0,
            lost: Vec::new(),
            lost_bodies: Vec::new(),
            unproven: Vec::new(),
            incomplete_keys: Vec::new(),
            last_seq: Seq::ZERO,
            quarantined: Vec::new(),
        }
    }
}

impl From<&SalvageReport> for SalvageView {
    fn from(report: &SalvageReport) -> Self {
        let kept = &report.kept;
        Self {
            store_id: Some(report.store),
            preview: report.preview,
            needed: report.is_needed(),
            finished_earlier: report.finished_earlier,
            damage: report.damage.clone(),
            kept: KeptView { operations: kept.operations, events: kept.events, bytes: kept.bytes },
            lost_events: report.lost_events(),
            lost: report.lost.iter().map(LostView::from).collect(),
            lost_bodies: report.lost_bodies.iter().map(LostBodyView::from).collect(),
            unproven: report.unproven.clone(),
            incomplete_keys: report.incomplete.clone(),
            last_seq: report.before.seq,
            quarantined: report.quarantined.clone(),
        }
    }
}

impl From<&LostPositions> for LostView {
    fn from(lost: &LostPositions) -> Self {
        let LostPositions { first, last, bytes, reason, keys } = lost;
        Self { first_seq: *first, last_seq: *last, bytes: *bytes, reason: reason.clone(), keys: keys.clone() }
    }
}

impl From<&LostBody> for LostBodyView {
    fn from(body: &LostBody) -> Self {
        Self { seq: body.seq, key: body.key.clone(), reason: body.reason.clone() }
    }
}

impl From<&SalvageRecord> for SalvageRecordView {
    fn from(record: &SalvageRecord) -> Self {
        Self {
            seq: record.seq,
            at: record.at.into(),
            lost: record.lost.iter().map(LostView::from).collect(),
            lost_bodies: record.bodies.clone(),
            unproven: record.unproven.clone(),
            damage: record.damage.clone(),
            seq_before: record.before.seq,
            root_hash_before: record.before.chain.to_string(),
        }
    }
}
