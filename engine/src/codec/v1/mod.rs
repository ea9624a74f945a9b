//! The first format of operations: what is frozen here is read for ever.
//!
//! The order of fields and of enum variants is the format; a test holds it. A change makes a second
//! format beside this one. Domain types may change freely as long as the conversions hold.
//!
//! Not written, because it follows: versions (from the operation's id and the event's index), and
//! keys of events within an operation that are positions of its own.

mod actors;
mod dream;
mod entry;
mod facts;
mod flags;
mod list;
mod purge;
pub(super) mod quick;
mod restored;
mod salvage;
mod undo;

use std::sync::Arc;

use bilinc_core::{
    Actor, Body, DreamId, Event, Fingerprint, ImportId, Json, Key, Operation, OperationId, OperationKind,
    RecordedEvent, Seq, SnapshotId, Timestamp,
};
use bincode::{BorrowDecode, Encode};

pub(super) use self::actors::Actors;
pub(super) use self::dream::DreamStartedV1;
pub(super) use self::facts::FactsV1;
pub(super) use self::flags::FlagV1;
pub(super) use self::list::List;

use self::dream::{DreamFinishedV1, DreamPageAppliedV1, ReportWrittenV1};
use self::entry::{CommittedV1, ConfirmedV1, ForgottenV1, RevisedV1};
use self::flags::{FlaggedV1, ReflaggedV1, UnflaggedV1};
use self::purge::{PurgeCompletedV1, PurgedV1};
use self::restored::{RemovedV1, RestoredV1};
use self::salvage::{LostV1, SalvagedV1};
use self::undo::{ImportedV1, RolledBackV1, SnapshotTakenV1, UndoneV1};

/// Where the frame puts an operation.
pub(super) struct Place {
    pub(super) first: Seq,
    pub(super) count: u32,
    pub(super) at: Timestamp,
    pub(super) clock_back: bool,
}

/// What is said once of all events of an operation. Their number follows, and then they do.
#[derive(Encode, BorrowDecode)]
pub(super) struct OperationV1<'a> {
    id: [u8; 16],
    kind: KindV1,
    source: &'a str,
    session_id: Option<&'a str>,
    idempotency: Option<&'a str>,
}

#[derive(Encode, BorrowDecode)]
enum KindV1 {
    Commit,
    Revise,
    Forget,
    Confirm,
    Flag,
    Unflag,
    Snapshot,
    Rollback([u8; 16]),
    Import([u8; 16]),
    DreamStart([u8; 16]),
    DreamApply([u8; 16]),
    DreamUndo([u8; 16]),
    Undo,
    PurgeCompletion,
    Salvage,
}

#[derive(Encode, BorrowDecode)]
pub(super) struct RecordV1<'a> {
    prev: u64,
    event: EventV1<'a>,
}

#[derive(Encode, BorrowDecode)]
enum EventV1<'a> {
    Committed(CommittedV1<'a>),
    Revised(RevisedV1<'a>),
    Confirmed(ConfirmedV1<'a>),
    Forgotten(ForgottenV1<'a>),
    Flagged(FlaggedV1<'a>),
    Unflagged(UnflaggedV1<'a>),
    Restored(RestoredV1<'a>),
    Removed(RemovedV1<'a>),
    Reflagged(ReflaggedV1<'a>),
    SnapshotTaken(SnapshotTakenV1<'a>),
    DreamStarted(DreamStartedV1<'a>),
    DreamPageApplied(DreamPageAppliedV1<'a>),
    DreamFinished(DreamFinishedV1),
    ReportWritten(ReportWrittenV1<'a>),
    Undone(UndoneV1<'a>),
    RolledBack(RolledBackV1<'a>),
    Imported(ImportedV1),
    Purged(PurgedV1<'a>),
    PurgeCompleted(PurgeCompletedV1),
    Lost(LostV1<'a>),
    Salvaged(SalvagedV1<'a>),
}

/// The erasable part.
#[derive(Encode, BorrowDecode)]
pub(super) struct BodyV1<'a> {
    value: Option<&'a str>,
    metadata: Option<&'a str>,
    fingerprint: Option<[u8; 32]>,
}

impl<'a> OperationV1<'a> {
    pub(super) fn of(operation: &'a Operation) -> Self {
        Self {
            id: operation.id.as_u128().to_be_bytes(),
            kind: KindV1::from(operation.kind),
            source: &operation.actor.source,
            session_id: operation.actor.session_id.as_deref(),
            idempotency: operation.idempotency.as_deref(),
        }
    }

    pub(super) fn into_operation(self, place: &Place, actors: &mut Actors) -> Operation {
        Operation {
            id: OperationId::from_u128(u128::from_be_bytes(self.id)),
            at: place.at,
            clock_back: place.clock_back,
            actor: actors.actor(self.source, self.session_id),
            kind: self.kind.into(),
            idempotency: self.idempotency.map(Arc::from),
            first: place.first,
            count: place.count,
        }
    }
}

impl<'a> RecordV1<'a> {
    pub(super) fn list(operation: &'a Operation, events: &'a [RecordedEvent]) -> List<Self> {
        let record = |event: &'a RecordedEvent| Self {
            prev: event.prev.get(),
            event: EventV1::from_event(&event.event, &operation.actor),
        };
        events.iter().map(record).collect()
    }

    pub(super) fn into_event(self, operation: &Arc<Operation>, index: u32) -> Result<RecordedEvent, String> {
        let seq = operation.first.plus(u64::from(index));
        if self.prev >= seq.get() {
            return Err(format!("position {seq} names {} as the event before it", self.prev));
        }
        Ok(RecordedEvent {
            seq,
            prev: Seq::new(self.prev),
            event: self.event.into_event(operation, index)?,
            operation: Arc::clone(operation),
            body: None,
        })
    }
}

impl<'a> EventV1<'a> {
    fn from_event(event: &'a Event, actor: &Actor) -> Self {
        match event {
            Event::Committed(event) => Self::Committed(CommittedV1::from_event(event, actor)),
            Event::Revised(event) => Self::Revised(event.into()),
            Event::Confirmed(event) => Self::Confirmed(event.into()),
            Event::Forgotten(event) => Self::Forgotten(event.into()),
            Event::Flagged(event) => Self::Flagged(event.into()),
            Event::Unflagged(event) => Self::Unflagged(event.into()),
            Event::Restored(event) => Self::Restored(event.as_ref().into()),
            Event::Removed(event) => Self::Removed(event.into()),
            Event::Reflagged(event) => Self::Reflagged(event.into()),
            Event::SnapshotTaken(event) => Self::SnapshotTaken(event.into()),
            Event::DreamStarted(event) => Self::DreamStarted(event.into()),
            Event::DreamPageApplied(event) => Self::DreamPageApplied(event.into()),
            Event::DreamFinished(event) => Self::DreamFinished(event.into()),
            Event::ReportWritten(event) => Self::ReportWritten(event.into()),
            Event::Undone(event) => Self::Undone(event.into()),
            Event::RolledBack(event) => Self::RolledBack(event.into()),
            Event::Imported(event) => Self::Imported(event.into()),
            Event::Purged(event) => Self::Purged(event.into()),
            Event::PurgeCompleted(event) => Self::PurgeCompleted(event.into()),
            Event::Lost(event) => Self::Lost(event.into()),
            Event::Salvaged(event) => Self::Salvaged(event.into()),
        }
    }

    fn into_event(self, operation: &Operation, index: u32) -> Result<Event, String> {
        let version = bilinc_core::Version::of(operation.id, index);
        Ok(match self {
            Self::Committed(event) => Event::Committed(event.into_event(&operation.actor, version)?),
            Self::Revised(event) => Event::Revised(event.into_event(version)?),
            Self::Confirmed(event) => Event::Confirmed(event.into_event(version)),
            Self::Forgotten(event) => Event::Forgotten(event.into()),
            Self::Flagged(event) => Event::Flagged(event.into()),
            Self::Unflagged(event) => Event::Unflagged(event.into()),
            Self::Restored(event) => Event::Restored(Box::new(event.into_event(version)?)),
            Self::Removed(event) => Event::Removed(event.into()),
            Self::Reflagged(event) => Event::Reflagged(event.into()),
            Self::SnapshotTaken(event) => Event::SnapshotTaken(event.into()),
            Self::DreamStarted(event) => Event::DreamStarted(event.into()),
            Self::DreamPageApplied(event) => Event::DreamPageApplied(event.into_event()?),
            Self::DreamFinished(event) => Event::DreamFinished(event.into()),
            Self::ReportWritten(event) => Event::ReportWritten(event.into_event(version)),
            Self::Undone(event) => Event::Undone(event.into_event()?),
            Self::RolledBack(event) => Event::RolledBack(event.into()),
            Self::Imported(event) => Event::Imported(event.into()),
            Self::Purged(event) => Event::Purged(event.into()),
            Self::PurgeCompleted(event) => Event::PurgeCompleted(event.into()),
            Self::Lost(event) => Event::Lost(event.into()),
            Self::Salvaged(event) => Event::Salvaged(event.into()),
        })
    }
}

impl From<OperationKind> for KindV1 {
    fn from(kind: OperationKind) -> Self {
        match kind {
            OperationKind::Commit => Self::Commit,
            OperationKind::Revise => Self::Revise,
            OperationKind::Forget => Self::Forget,
            OperationKind::Confirm => Self::Confirm,
            OperationKind::Flag => Self::Flag,
            OperationKind::Unflag => Self::Unflag,
            OperationKind::Snapshot => Self::Snapshot,
            OperationKind::Rollback(id) => Self::Rollback(id.as_u128().to_be_bytes()),
            OperationKind::Import(id) => Self::Import(id.as_u128().to_be_bytes()),
            OperationKind::DreamStart(id) => Self::DreamStart(id.as_u128().to_be_bytes()),
            OperationKind::DreamApply(id) => Self::DreamApply(id.as_u128().to_be_bytes()),
            OperationKind::DreamUndo(id) => Self::DreamUndo(id.as_u128().to_be_bytes()),
            OperationKind::Undo => Self::Undo,
            OperationKind::PurgeCompletion => Self::PurgeCompletion,
            OperationKind::Salvage => Self::Salvage,
        }
    }
}

impl From<KindV1> for OperationKind {
    fn from(kind: KindV1) -> Self {
        match kind {
            KindV1::Commit => Self::Commit,
            KindV1::Revise => Self::Revise,
            KindV1::Forget => Self::Forget,
            KindV1::Confirm => Self::Confirm,
            KindV1::Flag => Self::Flag,
            KindV1::Unflag => Self::Unflag,
            KindV1::Snapshot => Self::Snapshot,
            KindV1::Rollback(id) => Self::Rollback(SnapshotId::from_u128(u128::from_be_bytes(id))),
            KindV1::Import(id) => Self::Import(ImportId::from_u128(u128::from_be_bytes(id))),
            KindV1::DreamStart(id) => Self::DreamStart(DreamId::from_u128(u128::from_be_bytes(id))),
            KindV1::DreamApply(id) => Self::DreamApply(DreamId::from_u128(u128::from_be_bytes(id))),
            KindV1::DreamUndo(id) => Self::DreamUndo(DreamId::from_u128(u128::from_be_bytes(id))),
            KindV1::Undo => Self::Undo,
            KindV1::PurgeCompletion => Self::PurgeCompletion,
            KindV1::Salvage => Self::Salvage,
        }
    }
}

impl<'a> From<&'a Body> for BodyV1<'a> {
    fn from(body: &'a Body) -> Self {
        Self {
            value: body.value.as_ref().map(Json::as_str),
            metadata: body.metadata.as_ref().map(Json::as_str),
            fingerprint: body.fingerprint.map(|fingerprint| fingerprint.0),
        }
    }
}

impl From<BodyV1<'_>> for Body {
    fn from(body: BodyV1<'_>) -> Self {
        Self {
            value: body.value.map(Json::from_recorded),
            metadata: body.metadata.map(Json::from_recorded),
            fingerprint: body.fingerprint.map(Fingerprint),
        }
    }
}

fn keys(texts: &[&str]) -> Vec<Key> {
    texts.iter().map(|text| Key::from_recorded(text)).collect()
}

fn numbers(seqs: &[Seq]) -> List<u64> {
    seqs.iter().map(|seq| seq.get()).collect()
}

fn seqs(numbers: &[u64]) -> Vec<Seq> {
    numbers.iter().copied().map(Seq::new).collect()
}
