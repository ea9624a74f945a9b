//! What a decision looks at.

use alloc::vec::Vec;

use crate::command::Command;
use crate::key::Key;

/// The part of the state that the decision on a command reads and its events change.
///
/// Commands whose footprints do not meet can be decided in any order with the same result, so a
/// writer may decide on what is durable while other frames are still on their way to the disk, as
/// long as their footprints do not meet its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Footprint {
    /// These keys, and nothing else of the state but the idempotency key of the request.
    Keys(Vec<Key>),
    /// Anything.
    Everything,
}

impl Command {
    /// What the decision on this command looks at.
    #[must_use]
    pub fn footprint(&self) -> Footprint {
        match self {
            Self::Commit(command) => Footprint::Keys([command.key.clone()].into()),
            Self::Revise(command) => Footprint::Keys([command.key.clone()].into()),
            // A purge also looks at who folded the key in, and at the operations of its values.
            Self::Forget(command) if command.purge => Footprint::Everything,
            Self::Forget(command) => Footprint::Keys([command.key.clone()].into()),
            Self::Confirm(command) => Footprint::Keys([command.key.clone()].into()),
            Self::Flag(command) => Footprint::Keys([command.key.clone()].into()),
            Self::Unflag(command) => Footprint::Keys([command.key.clone()].into()),
            Self::Import(page) => Footprint::Keys(page.entries.iter().map(|entry| entry.commit.key.clone()).collect()),
            Self::Snapshot(_)
            | Self::Rollback(_)
            | Self::DreamStart(_)
            | Self::DreamApply(_)
            | Self::DreamUndo(_)
            | Self::Undo(_) => Footprint::Everything,
        }
    }
}
