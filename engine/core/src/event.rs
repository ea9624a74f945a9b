//! Events: what happened, in the past tense, and the operations that carry them.
//!
//! An event holds the facts that stay for ever. What may be erased one day, that is values,
//! metadata objects and idempotency fingerprints, travels beside it in a [`Body`].

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use serde::Serialize;

use crate::command::{ActionOp, Selection, Strategy};
use crate::entry::{Facts, OpenFlag};
use crate::id::{DreamId, ImportId, OperationId, Seq, SnapshotId, Version};
use crate::json::Json;
use crate::key::Key;
use crate::time::Timestamp;

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
    /// Compensating: an entry stands again as it stood earlier.
    Restored(Restored),
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
}

impl Event {
    /// The names of all events, in the order of their declaration.
    pub const NAMES: [&str; 17] = [
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
            Self::SnapshotTaken(_)
            | Self::DreamStarted(_)
            | Self::DreamPageApplied(_)
            | Self::DreamFinished(_)
            | Self::Undone(_)
            | Self::RolledBack(_)
            | Self::Imported(_) => None,
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

    /// Whether it changed an entry: flags, snapshots and the events that sum up are no changes.
    #[must_use]
    pub fn is_change(&self) -> bool {
        match self {
            Self::Committed(_)
            | Self::Revised(_)
            | Self::Confirmed(_)
            | Self::Forgotten(_)
            | Self::Restored(_)
            | Self::Removed(_)
            | Self::ReportWritten(_) => true,
            Self::Flagged(_)
            | Self::Unflagged(_)
            | Self::Reflagged(_)
            | Self::SnapshotTaken(_)
            | Self::DreamStarted(_)
            | Self::DreamPageApplied(_)
            | Self::DreamFinished(_)
            | Self::Undone(_)
            | Self::RolledBack(_)
            | Self::Imported(_) => false,
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
            _ => None,
        }
    }
}

/// An entry was created or replaced.
#[derive(Debug, Clone, PartialEq)]
pub struct Committed {
    /// The entry's key.
    pub key: Key,
    /// Whether there was no entry before; else its creation time and flags stay.
    pub created: bool,
    /// What its writer said of it.
    pub facts: Facts,
    /// Times that an import brought along; else the operation's time counts.
    pub times: Option<ImportedTimes>,
    /// The entry's new version.
    pub version: Version,
    /// Bytes of the value in the body.
    pub value_bytes: u32,
    /// Bytes of the metadata object in the body; 0 where that is `{}`.
    pub metadata_bytes: u32,
}

/// Times of an imported entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportedTimes {
    /// When the entry was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When it was last confirmed.
    pub confirmed_at: Option<Timestamp>,
}

/// An entry got a new value.
#[derive(Debug, Clone, PartialEq)]
pub struct Revised {
    /// The entry's key.
    pub key: Key,
    /// Its new importance, if it got one.
    pub importance: Option<f64>,
    /// The strategy it was judged by.
    pub strategy: Strategy,
    /// Why.
    pub reason: Option<Arc<str>>,
    /// Duplicates folded into it.
    pub merged_from: Vec<Key>,
    /// The entry's new version.
    pub version: Version,
    /// Bytes of the value in the body.
    pub value_bytes: u32,
}

/// An entry was said to be still right.
#[derive(Debug, Clone, PartialEq)]
pub struct Confirmed {
    /// The entry's key.
    pub key: Key,
    /// Why.
    pub reason: Option<Arc<str>>,
    /// The entry's new version.
    pub version: Version,
}

/// An entry was taken out of use.
#[derive(Debug, Clone, PartialEq)]
pub struct Forgotten {
    /// The entry's key.
    pub key: Key,
    /// Why.
    pub reason: Arc<str>,
}

/// An entry was marked for a person.
#[derive(Debug, Clone, PartialEq)]
pub struct Flagged {
    /// The entry's key.
    pub key: Key,
    /// What is to be looked at.
    pub reason: Arc<str>,
    /// Entries that speak for it.
    pub evidence_keys: Vec<Key>,
}

/// Flags of an entry were cleared.
#[derive(Debug, Clone, PartialEq)]
pub struct Unflagged {
    /// The entry's key.
    pub key: Key,
    /// Which flags, by the positions at which they were set.
    pub cleared: Vec<Seq>,
    /// Why.
    pub reason: Option<Arc<str>>,
    /// When an undo cleared them: what it took back.
    pub undoes: Vec<Seq>,
}

/// What becomes of the flags of a restored entry.
#[derive(Debug, Clone, PartialEq)]
pub enum FlagsEffect {
    /// They stay as they are; an entry made anew has none.
    Keep,
    /// These are open, and no others.
    Set(Vec<OpenFlag>),
}

/// Compensating: an entry stands again as it stood earlier. Names the positions of the bodies that
/// it brings back and copies nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Restored {
    /// The entry's key.
    pub key: Key,
    /// Whether there was no entry just before.
    pub created: bool,
    /// What is said of the entry.
    pub facts: Facts,
    /// When the entry was created.
    pub created_at: Timestamp,
    /// When it last changed; the operation's time when absent.
    pub updated_at: Option<Timestamp>,
    /// When it was last confirmed.
    pub confirmed_at: Option<Timestamp>,
    /// The entry's new version.
    pub version: Version,
    /// The event whose body holds the value.
    pub value_at: Seq,
    /// The event whose body holds the metadata object, [`Seq::ZERO`] for `{}`.
    pub metadata_at: Seq,
    /// Bytes of the value there.
    pub value_bytes: u32,
    /// Bytes of the metadata object there.
    pub metadata_bytes: u32,
    /// What becomes of its flags.
    pub flags: FlagsEffect,
    /// What it takes back; empty for a rollback.
    pub undoes: Vec<Seq>,
    /// Position of the newest forget of this key that stands, if the undo changed it.
    pub hidden_through: Option<Seq>,
}

/// Compensating: an entry is gone again, as it was earlier.
#[derive(Debug, Clone, PartialEq)]
pub struct Removed {
    /// The entry's key.
    pub key: Key,
    /// What it takes back; empty for a rollback.
    pub undoes: Vec<Seq>,
    /// Position of the newest forget of this key that stands, if the undo changed it.
    pub hidden_through: Option<Seq>,
}

/// Compensating: flags are open again.
#[derive(Debug, Clone, PartialEq)]
pub struct Reflagged {
    /// The entry's key.
    pub key: Key,
    /// The flags.
    pub flags: Vec<OpenFlag>,
    /// What it takes back.
    pub undoes: Vec<Seq>,
}

/// A position got a name.
#[derive(Debug, Clone, PartialEq)]
pub struct SnapshotTaken {
    /// Its id.
    pub snapshot: SnapshotId,
    /// What a person calls it.
    pub label: Option<Arc<str>>,
    /// A JSON object kept with it.
    pub metadata: Option<Json>,
    /// Entries that were there, by memory type in the order of its declaration.
    pub by_type: [u64; 5],
}

/// What a dream was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct DreamOptions {
    /// Most candidates.
    pub limit: u32,
    /// Only keys that begin so.
    pub prefix: Option<String>,
    /// Begin of the window, when given.
    pub since: Option<Timestamp>,
    /// Also entries that an earlier dream had looked at.
    pub include_reviewed: bool,
}

/// An entry that a dream was given, at the version it had then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its key.
    pub key: Key,
    /// Its version at the start.
    pub version: Version,
}

/// A dream began.
#[derive(Debug, Clone, PartialEq)]
pub struct DreamStarted {
    /// Its id.
    pub dream: DreamId,
    /// What it was asked for.
    pub options: DreamOptions,
    /// Its candidates, newest change first.
    pub candidates: Vec<Candidate>,
    /// How many more entries matched, exact up to [`crate::limits::DREAM_MORE_EXACT`].
    pub more: u64,
    /// Most entries that it may forget.
    pub forget_cap: u32,
    /// Whether it leaves nothing out, so that its start becomes the mark once it is finished.
    pub complete: bool,
}

/// What became of an action.
#[derive(Debug, Clone, PartialEq)]
pub enum ActionStatus {
    /// Carried out.
    Applied {
        /// The entry's version afterwards; none when it was forgotten.
        version: Option<Version>,
    },
    /// The entry changed, or went, since the named version, and was left alone.
    Conflict {
        /// Its version now; none when it is gone.
        current: Option<Version>,
        /// The change that came between; none when the entry expired.
        change: Option<ChangeInfo>,
    },
    /// Could not be carried out.
    Error {
        /// The error code.
        code: Arc<str>,
        /// What is wrong, without the value.
        message: Arc<str>,
    },
}

/// An action with what became of it. The value of a revise is in the body of its event.
#[derive(Debug, Clone, PartialEq)]
pub struct ActionRecord {
    /// What was to be done.
    pub op: ActionOp,
    /// To which entry.
    pub key: Key,
    /// The version that was named.
    pub expected_version: Option<Version>,
    /// Duplicates folded in.
    pub merged_from: Vec<Key>,
    /// Why.
    pub reason: Arc<str>,
    /// Entries that spoke for it.
    pub evidence_keys: Vec<Key>,
    /// What became of it.
    pub status: ActionStatus,
}

impl ActionRecord {
    /// Whether the action took an entry out of use.
    #[must_use]
    pub fn is_applied_forget(&self) -> bool {
        self.op == ActionOp::Forget && matches!(self.status, ActionStatus::Applied { .. })
    }
}

/// A page of a dream was judged.
#[derive(Debug, Clone, PartialEq)]
pub struct DreamPageApplied {
    /// Which dream.
    pub dream: DreamId,
    /// Its actions, in the order they were sent.
    pub actions: Vec<ActionRecord>,
}

/// A dream was finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DreamFinished {
    /// Which dream.
    pub dream: DreamId,
}

/// The report entry of a dream was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportWritten {
    /// The entry's key, `bilinc:dream:<id>`.
    pub key: Key,
    /// Which dream.
    pub dream: DreamId,
    /// Whether there was no entry just before.
    pub created: bool,
    /// The entry's new version.
    pub version: Version,
    /// Bytes of the value in the body.
    pub value_bytes: u32,
}

/// What a change did, in the words of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeOp {
    /// Made an entry.
    Create,
    /// Replaced or revised one.
    Update,
    /// Confirmed one.
    Confirm,
    /// Took one out of use.
    Forget,
    /// Flagged one.
    Flag,
    /// Cleared flags.
    Unflag,
    /// An undo's change.
    Restore,
    /// A rollback's removal.
    Delete,
}

impl ChangeOp {
    /// All of them, in the order of their declaration.
    pub const ALL: [Self; 8] = [
        Self::Create,
        Self::Update,
        Self::Confirm,
        Self::Forget,
        Self::Flag,
        Self::Unflag,
        Self::Restore,
        Self::Delete,
    ];

    /// The name that surfaces use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Confirm => "confirm",
            Self::Forget => "forget",
            Self::Flag => "flag",
            Self::Unflag => "unflag",
            Self::Restore => "restore",
            Self::Delete => "delete",
        }
    }
}

impl fmt::Display for ChangeOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A change as conflicts name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeInfo {
    /// What it did.
    pub op: ChangeOp,
    /// Who did it.
    pub source: Arc<str>,
    /// When.
    pub at: Timestamp,
    /// Where in the log.
    pub seq: Seq,
}

/// A key that an undo took back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoItem {
    /// The key.
    pub key: Key,
    /// What was undone: the newest of the changes taken back.
    pub undone: Seq,
    /// What that change was, in the words of its command.
    pub op: Arc<str>,
    /// The entry's version now; none when it is gone again.
    pub version: Option<Version>,
}

/// Why an undo left a key as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UndoConflictReason {
    /// Somebody else changed it since.
    Changed,
    /// The value to bring back was erased.
    Purged,
}

impl UndoConflictReason {
    /// The name that surfaces use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Purged => "purged",
        }
    }
}

/// A key that an undo left as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoConflict {
    /// The key.
    pub key: Key,
    /// Why.
    pub reason: UndoConflictReason,
    /// The newest change by somebody else.
    pub change: Option<ChangeInfo>,
}

/// What an undo means for a dream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DreamShift {
    /// It was taken back, wholly or but for conflicts.
    Undone {
        /// Whether conflicts remain.
        partly: bool,
    },
    /// Its undo was taken back: it is finished, or open, as it was.
    Redone,
}

/// A set of events was taken back.
#[derive(Debug, Clone, PartialEq)]
pub struct Undone {
    /// What was asked for.
    pub selection: Selection,
    /// Whether it is the undo of a dream in the sense of the seven days' rule.
    pub dream_undo: bool,
    /// Keys taken back.
    pub restored: Vec<UndoItem>,
    /// Keys left as they are.
    pub conflicts: Vec<UndoConflict>,
    /// Keys with nothing to do.
    pub unchanged: Vec<Key>,
    /// Whether removed entries came back with all their metadata.
    pub metadata_restored: bool,
    /// What it means for dreams.
    pub dreams: Vec<(DreamId, DreamShift)>,
}

/// A key that a rollback could not bring back because its value was erased.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedKey {
    /// The key.
    pub key: Key,
}

/// The state of a snapshot was brought back.
#[derive(Debug, Clone, PartialEq)]
pub struct RolledBack {
    /// Which snapshot.
    pub snapshot: SnapshotId,
    /// Why.
    pub reason: Arc<str>,
    /// Entries made.
    pub created: u64,
    /// Entries changed.
    pub updated: u64,
    /// Entries removed.
    pub deleted: u64,
    /// Keys that could not be brought back.
    pub skipped: Vec<SkippedKey>,
}

/// An operation of an import was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// Which import.
    pub import: ImportId,
    /// Entries made.
    pub created: u64,
    /// Entries replaced.
    pub replaced: u64,
    /// Entries left alone because they exist.
    pub skipped_existing: u64,
    /// Lines left out because their keys are reserved.
    pub skipped_reserved: u64,
}

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
    /// On the first event of an operation with an idempotency key: its payload's fingerprint.
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

    /// The session it was written in: the entry's own for a commit, else the actor's.
    #[must_use]
    pub fn session_id(&self) -> Option<&Arc<str>> {
        match &self.event {
            Event::Committed(event) => event.facts.session_id.as_ref(),
            _ => self.operation.actor.session_id.as_ref(),
        }
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
            | Event::Imported(_) => return None,
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
