//! The proof that a log is whole.

use bilinc::{ChainHash, Seq, StoreId, Verified};
use serde::Serialize;

use super::salvage::SalvageRecordView;

/// What reading the whole log proved.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VerifiedView {
    /// The store; none when there is no store yet.
    pub store_id: Option<StoreId>,
    /// The last position.
    pub seq: Seq,
    /// The chain hash there, computed anew.
    pub root_hash: String,
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
}

impl VerifiedView {
    /// What there is to prove where there is no store yet.
    #[must_use]
    pub fn nothing() -> Self {
        Self {
            store_id: None,
            seq: Seq::ZERO,
            root_hash: ChainHash([0; 32]).to_string(),
            segments: 0,
            bytes: 0,
            operations: 0,
            events: 0,
            bodies: 0,
            erased_bodies: 0,
            salvages: Vec::new(),
            state_equal: true,
        }
    }
}

impl From<&Verified> for VerifiedView {
    fn from(verified: &Verified) -> Self {
        Self {
            store_id: Some(verified.store),
            seq: verified.head.seq,
            root_hash: verified.head.chain.to_string(),
            segments: verified.segments,
            bytes: verified.bytes,
            operations: verified.operations,
            events: verified.events,
            bodies: verified.bodies,
            erased_bodies: verified.erased_bodies,
            salvages: verified.salvages.iter().map(SalvageRecordView::from).collect(),
            state_equal: verified.state_equal,
        }
    }
}
