//! Events: what happened, in the past tense, and the operations that carry them.
//!
//! An event holds the facts that stay for ever. What may be erased one day, that is values,
//! metadata objects and idempotency fingerprints, travels beside it in a [`Body`].

mod change;
mod dream;
mod entry;
mod operation;
mod purge;
mod recorded;
mod salvage;
mod undo;

pub use self::change::{ChangeInfo, ChangeOp};
pub use self::dream::{
    ActionRecord, ActionStatus, Candidate, DreamFinished, DreamOptions, DreamPageApplied, DreamStarted, ReportWritten,
};
pub use self::entry::{
    Committed, Confirmed, Flagged, FlagsEffect, Forgotten, ImportedTimes, Reflagged, Removed, Restored, Revised,
    Unflagged,
};
pub use self::operation::{Actor, Body, Fingerprint, IdempotencyKey, Operation, OperationKind};
pub use self::purge::{PurgeCompleted, Purged};
pub use self::recorded::RecordedEvent;
pub use self::salvage::{Lost, LostRange, Salvaged};
pub use self::undo::{
    DreamShift, Imported, RolledBack, SkippedKey, SnapshotTaken, UndoConflict, UndoConflictReason, UndoItem, Undone,
};

use alloc::boxed::Box;

use crate::id::{Seq, Version};
use crate::key::Key;

/// One recorded change.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// An entry was created or replaced. Body: value, metadata.
    Committed(Committed),
    /// An entry got a new value. Body: value.
    Revised(Revised),
    /// An entry was said to be still right.
    Confirmed(Confirmed),
    /// An entry was taken out of use.
    Forgotten(Forgotten),
    /// An entry was marked for a person.
    Flagged(Flagged),
    /// Flags of an entry were cleared.
    Unflagged(Unflagged),
    /// Compensating: an entry stands again as it stood earlier. The largest by far and rare, so it lies apart.
    Restored(Box<Restored>),
    /// Compensating: an entry is gone again, as it was earlier.
    Removed(Removed),
    /// Compensating: flags are open again.
    Reflagged(Reflagged),
    /// A position got a name.
    SnapshotTaken(SnapshotTaken),
    /// A dream began with these candidates.
    DreamStarted(DreamStarted),
    /// A page of a dream was judged.
    DreamPageApplied(DreamPageApplied),
    /// A dream was finished, for the first time or again.
    DreamFinished(DreamFinished),
    /// The report entry of a dream was written. Body: value.
    ReportWritten(ReportWritten),
    /// A set of events was taken back; sums up the compensating events of its operation.
    Undone(Undone),
    /// The state of a snapshot was brought back; sums up the compensating events of its operation.
    RolledBack(RolledBack),
    /// An operation of an import was written; sums up the commits of its operation.
    Imported(Imported),
    /// A key was purged: its entry ended, and what was recorded of its content is to be erased.
    Purged(Purged),
    /// What purges named is erased.
    PurgeCompleted(PurgeCompleted),
    /// What was recorded here was lost with damage of the log.
    Lost(Lost),
    /// A damaged log was put in order; sums up what was lost.
    Salvaged(Salvaged),
}

impl Event {
    /// The names of all events, in the order of their declaration.
    pub const NAMES: [&str; 21] = [
        "Committed",
        "Revised",
        "Confirmed",
        "Forgotten",
        "Flagged",
        "Unflagged",
        "Restored",
        "Removed",
        "Reflagged",
        "SnapshotTaken",
        "DreamStarted",
        "DreamPageApplied",
        "DreamFinished",
        "ReportWritten",
        "Undone",
        "RolledBack",
        "Imported",
        "Purged",
        "PurgeCompleted",
        "Lost",
        "Salvaged",
    ];

    /// The name of this event, one of [`Self::NAMES`].
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Committed(_) => "Committed",
            Self::Revised(_) => "Revised",
            Self::Confirmed(_) => "Confirmed",
            Self::Forgotten(_) => "Forgotten",
            Self::Flagged(_) => "Flagged",
            Self::Unflagged(_) => "Unflagged",
            Self::Restored(_) => "Restored",
            Self::Removed(_) => "Removed",
            Self::Reflagged(_) => "Reflagged",
            Self::SnapshotTaken(_) => "SnapshotTaken",
            Self::DreamStarted(_) => "DreamStarted",
            Self::DreamPageApplied(_) => "DreamPageApplied",
            Self::DreamFinished(_) => "DreamFinished",
            Self::ReportWritten(_) => "ReportWritten",
            Self::Undone(_) => "Undone",
            Self::RolledBack(_) => "RolledBack",
            Self::Imported(_) => "Imported",
            Self::Purged(_) => "Purged",
            Self::PurgeCompleted(_) => "PurgeCompleted",
            Self::Lost(_) => "Lost",
            Self::Salvaged(_) => "Salvaged",
        }
    }

    /// The key that the event is about, if it is about one.
    #[must_use]
    pub fn key(&self) -> Option<&Key> {
        match self {
            Self::Committed(event) => Some(&event.key),
            Self::Revised(event) => Some(&event.key),
            Self::Confirmed(event) => Some(&event.key),
            Self::Forgotten(event) => Some(&event.key),
            Self::Flagged(event) => Some(&event.key),
            Self::Unflagged(event) => Some(&event.key),
            Self::Restored(event) => Some(&event.key),
            Self::Removed(event) => Some(&event.key),
            Self::Reflagged(event) => Some(&event.key),
            Self::ReportWritten(event) => Some(&event.key),
            Self::Purged(event) => Some(&event.key),
            Self::Lost(event) => event.key.as_ref(),
            Self::SnapshotTaken(_)
            | Self::DreamStarted(_)
            | Self::DreamPageApplied(_)
            | Self::DreamFinished(_)
            | Self::Undone(_)
            | Self::RolledBack(_)
            | Self::Imported(_)
            | Self::PurgeCompleted(_)
            | Self::Salvaged(_) => None,
        }
    }

    /// The version that the event gave its entry, if it gave one.
    #[must_use]
    pub fn version(&self) -> Option<Version> {
        match self {
            Self::Committed(event) => Some(event.version),
            Self::Revised(event) => Some(event.version),
            Self::Confirmed(event) => Some(event.version),
            Self::Restored(event) => Some(event.version),
            Self::ReportWritten(event) => Some(event.version),
            _ => None,
        }
    }

    /// Bytes of value and metadata that its body was recorded with.
    #[must_use]
    pub fn body_bytes(&self) -> u64 {
        match self {
            Self::Committed(event) => u64::from(event.value_bytes) + u64::from(event.metadata_bytes),
            Self::Revised(event) => u64::from(event.value_bytes),
            Self::ReportWritten(event) => u64::from(event.value_bytes),
            _ => 0,
        }
    }

    /// Whether it changed an entry: flags, snapshots and the events that sum up are no changes. What was
    /// lost may have been one.
    #[must_use]
    pub fn is_change(&self) -> bool {
        match self {
            Self::Committed(_)
            | Self::Revised(_)
            | Self::Confirmed(_)
            | Self::Forgotten(_)
            | Self::Restored(_)
            | Self::Removed(_)
            | Self::ReportWritten(_)
            | Self::Purged(_)
            | Self::Lost(_) => true,
            Self::Flagged(_)
            | Self::Unflagged(_)
            | Self::Reflagged(_)
            | Self::SnapshotTaken(_)
            | Self::DreamStarted(_)
            | Self::DreamPageApplied(_)
            | Self::DreamFinished(_)
            | Self::Undone(_)
            | Self::RolledBack(_)
            | Self::Imported(_)
            | Self::PurgeCompleted(_)
            | Self::Salvaged(_) => false,
        }
    }

    /// Whether it is recorded that no entry was there just before. Every other change was made to an
    /// entry that was there by the clock of its decision, whatever time was recorded.
    #[must_use]
    pub fn creates(&self) -> bool {
        match self {
            Self::Committed(event) => event.created,
            Self::Restored(event) => event.created,
            Self::ReportWritten(event) => event.created,
            _ => false,
        }
    }

    /// The positions that this compensating event takes back; empty for any other.
    #[must_use]
    pub fn undoes(&self) -> &[Seq] {
        match self {
            Self::Restored(event) => &event.undoes,
            Self::Removed(event) => &event.undoes,
            Self::Unflagged(event) => &event.undoes,
            Self::Reflagged(event) => &event.undoes,
            _ => &[],
        }
    }

    /// Why, in the words of the writer.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Revised(event) => event.reason.as_deref(),
            Self::Confirmed(event) => event.reason.as_deref(),
            Self::Forgotten(event) => Some(&event.reason),
            Self::Flagged(event) => Some(&event.reason),
            Self::Unflagged(event) => event.reason.as_deref(),
            Self::RolledBack(event) => Some(&event.reason),
            Self::Purged(event) => Some(&event.reason),
            _ => None,
        }
    }
}
