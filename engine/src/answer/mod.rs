//! What reads and writes answer.

mod backup;
mod dreams;
mod entries;
mod heads;
mod past;
mod salvage;
mod store;

pub use self::backup::BackedUp;
pub use self::dreams::{DreamApplied, DreamCandidate, DreamStarted, DreamSummary, DreamView, UndoAnswer};
pub use self::entries::{
    EntryChange, ImportSummary, ListPage, ListedEntry, MatchedTerm, MemoryEntry, PurgeSummary, RecallHit,
};
pub use self::heads::{HeadNotMet, InvalidHead, KnownHead, VerifiedSince};
pub use self::past::{
    Diff, DiffItem, HistoryItem, HistoryState, KeyHistory, LogItem, LogPage, RollbackAnswer, RollbackPreview,
    SnapshotInfo,
};
pub use self::salvage::{Kept, LostBody, LostPositions, SalvageRecord, SalvageReport};
pub use self::store::{ChainHash, CheckpointProof, Head, OpenDream, Status, Verified, Written};
