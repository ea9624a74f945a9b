//! What an operation answers. Every answer can be made again from the recorded events, so a
//! repeated request gets the first answer without anything kept beside the log.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::event::{
    ActionRecord, ChangeOp, DreamStarted, Event, Imported, OperationKind, Purged, RecordedEvent, RolledBack,
    SnapshotTaken, Undone,
};
use crate::id::{DreamId, Seq, Version};
use crate::key::Key;
use crate::time::Timestamp;

/// The answer of an operation.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// One entry was changed or flagged.
    Entry {
        /// Its key.
        key: Key,
        /// What was done.
        op: ChangeOp,
        /// The version it got; none when it was forgotten or only its flags changed.
        version: Option<Version>,
        /// When.
        at: Timestamp,
        /// Where in the log.
        seq: Seq,
    },
    /// A key was purged.
    Purged {
        /// The event: what is erased, never what it was.
        purged: Purged,
        /// When.
        at: Timestamp,
        /// Where in the log.
        seq: Seq,
    },
    /// A snapshot was taken.
    Snapshot {
        /// The event.
        taken: SnapshotTaken,
        /// The position it names.
        seq: Seq,
        /// When.
        at: Timestamp,
    },
    /// A dream began; `None` when there was no candidate and nothing was written.
    DreamStarted(Option<DreamStarted>),
    /// A page of a dream was judged.
    Page {
        /// Which dream.
        dream: DreamId,
        /// Its actions with what became of them, in the order they were sent.
        actions: Vec<ActionRecord>,
    },
    /// A set of events was taken back.
    Undo {
        /// What became of each key.
        undone: Undone,
        /// Position of the event that sums it up; undoing that position is the redo. None when
        /// nothing was written.
        seq: Option<Seq>,
        /// Whether it had been done before and nothing was written now.
        already_undone: bool,
    },
    /// A snapshot's state was brought back.
    RolledBack {
        /// What was done.
        done: RolledBack,
        /// Position of the event that sums it up; undoing that position takes the rollback back.
        seq: Seq,
    },
    /// An operation of an import was written.
    Imported(Imported),
}

impl Outcome {
    /// The answer of the operation with these events; `None` for an empty list.
    #[must_use]
    pub fn of(events: &[Arc<RecordedEvent>]) -> Option<Self> {
        let first = events.first()?;
        let summing_up = events.iter().rev().find_map(|recorded| match &recorded.event {
            Event::SnapshotTaken(event) => {
                Some(Self::Snapshot { taken: event.clone(), seq: recorded.seq, at: recorded.operation.at })
            }
            Event::DreamStarted(event) => Some(Self::DreamStarted(Some(event.clone()))),
            Event::DreamPageApplied(event) => Some(Self::Page { dream: event.dream, actions: event.actions.clone() }),
            Event::Undone(event) => {
                Some(Self::Undo { undone: event.clone(), seq: Some(recorded.seq), already_undone: false })
            }
            Event::RolledBack(event) => Some(Self::RolledBack { done: event.clone(), seq: recorded.seq }),
            Event::Imported(event) => Some(Self::Imported(event.clone())),
            Event::Purged(event) => {
                Some(Self::Purged { purged: event.clone(), at: recorded.operation.at, seq: recorded.seq })
            }
            _ => None,
        });
        summing_up.or_else(|| {
            if let OperationKind::DreamApply(dream) = first.operation.kind {
                return Some(Self::Page { dream, actions: Vec::new() });
            }
            Some(Self::Entry {
                key: first.event.key()?.clone(),
                op: first.change_op()?,
                version: first.event.version(),
                at: first.operation.at,
                seq: first.seq,
            })
        })
    }
}
