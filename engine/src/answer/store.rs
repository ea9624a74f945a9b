//! How a store is.

use bilinc_core::{Counts, DreamId, DreamPhase, Seq, StoreId};

use super::SalvageRecord;

/// A chain hash: BLAKE3 over everything that stays of the log up to a position.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ChainHash(pub [u8; 32]);

impl std::fmt::Display for ChainHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl std::fmt::Debug for ChainHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Where the log stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The last position that is durable.
    pub seq: Seq,
    /// The chain hash there.
    pub chain: ChainHash,
}

/// The answer of a write.
#[derive(Debug, Clone, PartialEq)]
pub struct Written<T> {
    /// What was done.
    pub answer: T,
    /// Whether this is the first answer given again, because the idempotency key came before.
    pub replayed: bool,
}

/// What a comparison of the checkpoint with the log gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckpointProof {
    /// The position that it was made at.
    pub position: Seq,
    /// Whether it equals the fold of the log through there. One that does not is set aside.
    pub equal: bool,
}

/// What reading the whole log proved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// The store.
    pub store: StoreId,
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
    pub salvages: Vec<SalvageRecord>,
    /// The last position and the chain hash there, computed anew.
    pub head: Head,
    /// Whether the state folded anew from the log equals the state that answers.
    pub state_equal: bool,
    /// The checkpoint of the state, if one is kept and could be read.
    pub checkpoint: Option<CheckpointProof>,
    /// That of the recall index; an index made anew was compared with it.
    pub recall_checkpoint: Option<CheckpointProof>,
}

/// An open dream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenDream {
    /// Its id.
    pub dream: DreamId,
    /// Where it is in its life.
    pub phase: DreamPhase,
    /// Days left to undo it, a day begun counts.
    pub days_left: i64,
}

/// How a store is.
#[derive(Debug, Clone, PartialEq)]
pub struct Status {
    /// The store.
    pub store: StoreId,
    /// Where the log stands.
    pub head: Head,
    /// Sums over what is there.
    pub counts: Counts,
    /// Bytes that the log takes on disk.
    pub log_bytes: u64,
    /// Segments of the log.
    pub segments: u64,
    /// Snapshots taken.
    pub snapshots: u64,
    /// Dreams that can be undone or still act.
    pub dreams: Vec<OpenDream>,
    /// The position of the checkpoint that the next open can begin with, if one is kept.
    pub checkpoint: Option<Seq>,
    /// `durable` or `relaxed`.
    pub durability: &'static str,
    /// Why the store takes no writes, if it takes none.
    pub read_only: Option<String>,
    /// What an open cut off the end of the log and kept in `quarantine/`, in words.
    pub recovered: Option<String>,
    /// Events, and bodies of other events, that were lost with damage of the log.
    pub lost: (u64, u64),
}
