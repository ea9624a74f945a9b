//! Events at their positions.

use alloc::sync::Arc;

use super::{Body, ChangeInfo, ChangeOp, Event, Operation, OperationKind};
use crate::id::{DreamId, Seq};

/// An event at its position.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedEvent {
    /// Where it is.
    pub seq: Seq,
    /// The previous event of its key, [`Seq::ZERO`] for the first and for events without a key.
    pub prev: Seq,
    /// The operation it belongs to.
    pub operation: Arc<Operation>,
    /// The facts.
    pub event: Event,
    /// The erasable part, where it was read and is not erased.
    pub body: Option<Body>,
}

impl RecordedEvent {
    /// The dream whose own doing this is.
    #[must_use]
    pub fn dream(&self) -> Option<DreamId> {
        self.operation.kind.acting_dream()
    }

    /// Who wrote it: the entry's own source for a commit, else the actor.
    #[must_use]
    pub fn source(&self) -> &Arc<str> {
        match &self.event {
            Event::Committed(event) => &event.facts.source,
            _ => &self.operation.actor.source,
        }
    }

    /// The session it was written in: the entry's own for a commit that names one, else the actor's.
    #[must_use]
    pub fn session_id(&self) -> Option<&Arc<str>> {
        let own = match &self.event {
            Event::Committed(event) => event.facts.session_id.as_ref(),
            _ => None,
        };
        own.or(self.operation.actor.session_id.as_ref())
    }

    /// What it did in the words of a history; none for events without a key.
    #[must_use]
    pub fn change_op(&self) -> Option<ChangeOp> {
        let rollback = matches!(self.operation.kind, OperationKind::Rollback(_));
        Some(match &self.event {
            Event::Committed(event) if event.created => ChangeOp::Create,
            Event::Committed(_) | Event::Revised(_) => ChangeOp::Update,
            Event::ReportWritten(event) => {
                if event.created {
                    ChangeOp::Create
                } else {
                    ChangeOp::Update
                }
            }
            Event::Confirmed(_) => ChangeOp::Confirm,
            Event::Forgotten(_) => ChangeOp::Forget,
            Event::Purged(_) => ChangeOp::Purge,
            Event::Lost(event) if event.key.is_some() => ChangeOp::Lost,
            Event::Flagged(_) => ChangeOp::Flag,
            Event::Unflagged(event) if event.undoes.is_empty() => ChangeOp::Unflag,
            Event::Restored(event) if rollback => {
                if event.created {
                    ChangeOp::Create
                } else {
                    ChangeOp::Update
                }
            }
            Event::Removed(_) if rollback => ChangeOp::Delete,
            Event::Unflagged(_) | Event::Restored(_) | Event::Removed(_) | Event::Reflagged(_) => ChangeOp::Restore,
            Event::SnapshotTaken(_)
            | Event::DreamStarted(_)
            | Event::DreamPageApplied(_)
            | Event::DreamFinished(_)
            | Event::Undone(_)
            | Event::RolledBack(_)
            | Event::Imported(_)
            | Event::PurgeCompleted(_)
            | Event::Lost(_)
            | Event::Salvaged(_) => return None,
        })
    }

    /// What it did in the words of its command, as the answer of an undo names it.
    #[must_use]
    pub fn command_op(&self) -> &'static str {
        match &self.event {
            Event::Revised(_) => "revise",
            _ => self.change_op().map_or("none", ChangeOp::name),
        }
    }

    /// This change as conflicts name it.
    #[must_use]
    pub fn change_info(&self) -> Option<ChangeInfo> {
        self.change_op().map(|op| ChangeInfo {
            op,
            source: Arc::clone(self.source()),
            at: self.operation.at,
            seq: self.seq,
        })
    }
}
