//! The proof that a log is whole.

use bilinc::{ChainHash, CheckpointProof, Head, Seq, StoreId, Verified, VerifiedSince};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::salvage::SalvageRecordView;

/// What reading the whole log proved.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct VerifiedView {
    /// The store; none when there is no store yet.
    #[schema(value_type = Option<String>)]
    pub store_id: Option<StoreId>,
    /// The last position.
    #[schema(value_type = u64)]
    pub seq: Seq,
    /// The chain hash there, computed anew.
    pub root_hash: String,
    /// Both, as `verify --since-head` takes them.
    pub head: String,
    /// What was proved from a head that was noted earlier; none when none was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<SinceView>,
    /// Segments read.
    pub segments: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Operations read.
    pub operations: u64,
    /// Events read.
    pub events: u64,
    /// Bodies whose checksums and salted digests hold.
    pub bodies: u64,
    /// Bodies that were erased.
    pub erased_bodies: u64,
    /// Salvages of a damaged log, oldest first: what was lost then.
    pub salvages: Vec<SalvageRecordView>,
    /// Whether the state folded anew from the log equals the state that answers.
    pub state_equal: bool,
    /// The comparison of the checkpoint with the log; none when there is no checkpoint.
    pub checkpoint: Option<CheckpointView>,
    /// That of the checkpoint of the recall index.
    pub recall_checkpoint: Option<CheckpointView>,
}

/// A checkpoint that was compared with the log.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointView {
    /// The position that it was made at.
    #[schema(value_type = u64)]
    pub seq: Seq,
    /// Whether it equals what the log gives.
    pub equal: bool,
}

impl From<CheckpointProof> for CheckpointView {
    fn from(proof: CheckpointProof) -> Self {
        Self { seq: proof.position, equal: proof.equal }
    }
}

/// The history up to a head that was noted earlier is unchanged.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SinceView {
    /// Where the chain goes through the head.
    #[schema(value_type = u64)]
    pub seq: Seq,
    /// The head, with its position.
    pub head: String,
    /// How many events have come since.
    pub events_since: u64,
}

impl VerifiedView {
    /// What there is to prove where there is no store yet.
    #[must_use]
    pub fn nothing() -> Self {
        Self {
            store_id: None,
            seq: Seq::ZERO,
            root_hash: ChainHash([0; 32]).to_string(),
            head: Head { seq: Seq::ZERO, chain: ChainHash([0; 32]) }.to_string(),
            since: None,
            segments: 0,
            bytes: 0,
            operations: 0,
            events: 0,
            bodies: 0,
            erased_bodies: 0,
            salvages: Vec::new(),
            state_equal: true,
            checkpoint: None,
            recall_checkpoint: None,
        }
    }
}

impl From<&Verified> for VerifiedView {
    fn from(verified: &Verified) -> Self {
        Self {
            store_id: Some(verified.store),
            seq: verified.head.seq,
            root_hash: verified.head.chain.to_string(),
            head: verified.head.to_string(),
            since: None,
            segments: verified.segments,
            bytes: verified.bytes,
            operations: verified.operations,
            events: verified.events,
            bodies: verified.bodies,
            erased_bodies: verified.erased_bodies,
            salvages: verified.salvages.iter().map(SalvageRecordView::from).collect(),
            state_equal: verified.state_equal,
            checkpoint: verified.checkpoint.map(CheckpointView::from),
            recall_checkpoint: verified.recall_checkpoint.map(CheckpointView::from),
        }
    }
}

impl From<&VerifiedSince> for VerifiedView {
    fn from(proof: &VerifiedSince) -> Self {
        let (seq, head) = (proof.met.seq, proof.met.to_string());
        let since = SinceView { seq, head, events_since: proof.events_since };
        Self { since: Some(since), ..Self::from(&proof.verified) }
    }
}
