//! Operations, who does them, and the erasable part of their events.

use alloc::sync::Arc;

use crate::id::{DreamId, ImportId, OperationId, Seq, SnapshotId};
use crate::json::Json;
use crate::time::Timestamp;

/// By what an idempotency key recognises its payload: a hash over the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint(pub [u8; 32]);

/// The erasable part of an event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Body {
    /// The value of the entry.
    pub value: Option<Json>,
    /// Its metadata object, when not `{}`.
    pub metadata: Option<Json>,
    /// On one event of an operation with an idempotency key: its payload's fingerprint.
    pub fingerprint: Option<Fingerprint>,
}

impl Body {
    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.value.is_none() && self.metadata.is_none() && self.fingerprint.is_none()
    }
}

/// Who acts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Actor {
    /// The writer's name; may be empty.
    pub source: Arc<str>,
    /// The session it acts in.
    pub session_id: Option<Arc<str>>,
}

/// A caller's name for a write, by which a repeated one is recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey {
    /// The name, 1 to [`crate::limits::IDEMPOTENCY_KEY_CHARS`] characters.
    pub name: Arc<str>,
    /// Its payload's fingerprint.
    pub fingerprint: Fingerprint,
}

/// What an operation did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationKind {
    /// A commit.
    Commit,
    /// A revise.
    Revise,
    /// A forget.
    Forget,
    /// A confirm.
    Confirm,
    /// A flag.
    Flag,
    /// An unflag.
    Unflag,
    /// A snapshot.
    Snapshot,
    /// A rollback to this snapshot.
    Rollback(SnapshotId),
    /// A part of this import.
    Import(ImportId),
    /// The start of this dream.
    DreamStart(DreamId),
    /// A page of this dream.
    DreamApply(DreamId),
    /// The undo of this dream.
    DreamUndo(DreamId),
    /// The undo of a set of events.
    Undo,
    /// The end of purges: the engine's own doing.
    PurgeCompletion,
    /// The salvage of a damaged log: the engine's own doing.
    Salvage,
}

impl OperationKind {
    /// The dream whose page this operation is.
    #[must_use]
    pub fn acting_dream(self) -> Option<DreamId> {
        if let Self::DreamApply(dream) = self { Some(dream) } else { None }
    }
}

/// One atomic batch of events: all of them are in the log or none is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// Its id.
    pub id: OperationId,
    /// When it was recorded.
    pub at: Timestamp,
    /// Whether the clock was seen to have stepped back.
    pub clock_back: bool,
    /// Who acted.
    pub actor: Actor,
    /// What it did.
    pub kind: OperationKind,
    /// The idempotency key that came with it.
    pub idempotency: Option<Arc<str>>,
    /// Position of its first event.
    pub first: Seq,
    /// How many events it has.
    pub count: u32,
}
