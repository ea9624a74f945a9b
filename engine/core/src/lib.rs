//! Vocabulary and rules of Bilinc, pure.
//!
//! A [`Command`] is judged by [`State::decide`] into [`Event`]s; [`State::evolve`] folds recorded
//! events into the state; [`replay`] does so from nothing. The clock, ids and the actor come in
//! through [`Context`], what was recorded earlier through [`History`].
//!
//! What this package deliberately does not know: files, locks, threads, clocks, randomness, the
//! bytes of the log, and how any surface spells a request or an answer. `no_std` lets the compiler
//! hold it to that.
#![no_std]

extern crate alloc;

mod command;
mod decide;
mod entry;
mod event;
mod footprint;
mod history;
mod id;
mod json;
mod key;
pub mod limits;
mod outcome;
mod rejection;
mod slot;
mod state;
mod time;

pub use command::{
    Action, ActionOp, ActionRefusal, Command, Commit, Confirm, Confirmation, DreamApply, DreamStart, DreamUndo, Flag,
    Forget, ImportEntry, ImportPage, Revise, Rollback, Selection, Snapshot, Strategy, Undo, Unflag,
};
pub use decide::{Context, Decision, Refusal, RollbackPlan, complete_purges, rollback_plan};
pub use entry::{Entry, Facts, MemoryType, OpenFlag};
pub use event::{
    ActionRecord, ActionStatus, Actor, Body, Candidate, ChangeInfo, ChangeOp, Committed, Confirmed, DreamFinished,
    DreamOptions, DreamPageApplied, DreamShift, DreamStarted, Event, Fingerprint, Flagged, FlagsEffect, Forgotten,
    IdempotencyKey, Imported, ImportedTimes, Lost, LostRange, Operation, OperationKind, PurgeCompleted, Purged,
    RecordedEvent, Reflagged, Removed, ReportWritten, Restored, Revised, RolledBack, Salvaged, SkippedKey,
    SnapshotTaken, UndoConflict, UndoConflictReason, UndoItem, Undone, Unflagged,
};
pub use footprint::Footprint;
pub use history::{History, chain_of, slot_at};
pub use id::{DreamId, ImportId, InvalidId, OperationId, Seq, SnapshotId, StoreId, Version};
pub use json::{InvalidJson, Json};
pub use key::{DREAM_PREFIX, InvalidKey, Key};
pub use outcome::Outcome;
pub use rejection::{DreamClosedReason, Rejection};
pub use slot::Slot;
pub use state::{
    Change, Counts, DreamPhase, DreamRecord, DreamUndoRecord, FrozenSlots, IdempotencyRecord, Row, SharedNames,
    SlotBlock, SlotBlocks, SnapshotRecord, State, StateRows, replay,
};
pub use time::{InvalidTime, Timestamp, recorded_time};
