//! Commands: what a caller asks for, in the imperative.

mod dream;
mod entry;
mod set;

use serde::Serialize;

pub use self::dream::{Action, ActionOp, ActionRefusal, DreamApply, DreamStart, DreamUndo};
pub use self::entry::{Commit, Confirm, Flag, Forget, Revise, Strategy, Unflag};
pub use self::set::{Confirmation, ImportEntry, ImportPage, Rollback, Selection, Snapshot, Undo};

/// Everything that can be asked to be written.
///
/// Serialises for one purpose: the fingerprint by which an idempotency key recognises its payload.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum Command {
    /// Creates or replaces an entry.
    Commit(Commit),
    /// Replaces the value of an entry that exists.
    Revise(Revise),
    /// Takes an entry out of use.
    Forget(Forget),
    /// Says that an entry is still right.
    Confirm(Confirm),
    /// Marks an entry for a person.
    Flag(Flag),
    /// Clears the open flags of an entry.
    Unflag(Unflag),
    /// Names the present position.
    Snapshot(Snapshot),
    /// Brings back the state of a snapshot.
    Rollback(Rollback),
    /// Writes one operation of an import.
    Import(ImportPage),
    /// Starts a dream pass.
    DreamStart(DreamStart),
    /// Judges and applies one page of a dream.
    DreamApply(DreamApply),
    /// Takes back a whole dream pass.
    DreamUndo(DreamUndo),
    /// Takes back any set of events.
    Undo(Undo),
}

impl Command {
    /// The names of all commands, in the order of their declaration.
    pub const NAMES: [&str; 13] = [
        "Commit",
        "Revise",
        "Forget",
        "Confirm",
        "Flag",
        "Unflag",
        "Snapshot",
        "Rollback",
        "Import",
        "DreamStart",
        "DreamApply",
        "DreamUndo",
        "Undo",
    ];

    /// The command that this one is the dry run of; `None` when it is none.
    #[must_use]
    pub fn in_earnest(&self) -> Option<Self> {
        match self {
            Self::DreamApply(command) if command.dry_run => {
                Some(Self::DreamApply(DreamApply { dry_run: false, ..command.clone() }))
            }
            Self::DreamUndo(command) if command.dry_run => {
                Some(Self::DreamUndo(DreamUndo { dry_run: false, ..command.clone() }))
            }
            Self::Undo(command) if command.dry_run => Some(Self::Undo(Undo { dry_run: false, ..command.clone() })),
            _ => None,
        }
    }

    /// Whether it asks for content to be erased.
    #[must_use]
    pub const fn is_purge(&self) -> bool {
        matches!(self, Self::Forget(Forget { purge: true, .. }))
    }

    /// The name of this command, one of [`Self::NAMES`].
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Commit(_) => "Commit",
            Self::Revise(_) => "Revise",
            Self::Forget(_) => "Forget",
            Self::Confirm(_) => "Confirm",
            Self::Flag(_) => "Flag",
            Self::Unflag(_) => "Unflag",
            Self::Snapshot(_) => "Snapshot",
            Self::Rollback(_) => "Rollback",
            Self::Import(_) => "Import",
            Self::DreamStart(_) => "DreamStart",
            Self::DreamApply(_) => "DreamApply",
            Self::DreamUndo(_) => "DreamUndo",
            Self::Undo(_) => "Undo",
        }
    }
}
