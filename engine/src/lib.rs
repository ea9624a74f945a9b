//! Bilinc: an embedded, event-sourced memory engine for AI agents.
//!
//! Every change is an event appended to a log; state is a projection of it. An agent tidies its
//! memory in a *dream pass* that names the versions it read, and one step takes the whole pass back.
//!
//! ```
//! use bilinc::{Commit, DreamStart, DreamUndo, Json, Key, Memory};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let memory = Memory::in_memory()?;
//! let key = Key::new("project.test_command")?;
//! memory.commit(Commit::new(key.clone(), Json::string("cargo test --workspace")))?;
//! let entry = memory.get("project.test_command")?.ok_or("it was just committed")?;
//! assert_eq!(entry.value, Some(Json::string("cargo test --workspace")));
//! # Ok(())
//! # }
//! ```
//!
//! [`Memory::open`] keeps the log in a folder that several processes may share.

mod answer;
mod checkpoint;
mod clock;
mod codec;
mod drawn;
mod error;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
pub mod log;
mod memory;
mod query;
mod secrets;
pub mod storage;
mod store;

pub use answer::*;
pub use clock::{Clock, CountingIds, Ids, ManualClock, SystemClock, TimeOrderedIds};
pub use error::{DreamApplyError, EngineError, Error};
pub use log::Durability;
pub use memory::{ImportOptions, Memory, MemoryBuilder};
pub use query::*;
pub use secrets::{FoundSecret, find_secret, find_secret_in_text};

pub use bilinc_core::{
    Action, ActionOp, ActionRecord, ActionRefusal, ActionStatus, Actor, Candidate, ChangeInfo, ChangeOp, Commit,
    Confirm, Counts, DREAM_PREFIX, DreamApply, DreamClosedReason, DreamId, DreamOptions, DreamPhase, DreamShift,
    DreamStart, DreamUndo, Entry, Event, Facts, Flag, Forget, ImportId, InvalidId, InvalidJson, InvalidKey,
    InvalidTime, Json, Key, MemoryType, OpenFlag, Operation, OperationId, OperationKind, Rejection, Revise, RolledBack,
    Selection, Seq, Snapshot, SnapshotId, StoreId, Strategy, Timestamp, Undo, UndoConflict, UndoConflictReason,
    UndoItem, Undone, Unflag, Version, limits,
};
