//! Commands about sets of entries: snapshots, rollbacks, imports, undos.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::Serialize;

use super::Commit;
use crate::id::{DreamId, ImportId, Seq, SnapshotId};
use crate::json::Json;
use crate::time::Timestamp;

/// Names the present position.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Snapshot {
    /// What a person calls it.
    pub label: Option<String>,
    /// A JSON object kept with it.
    pub metadata: Option<Json>,
}

/// What the confirmation token of a rollback turned out to be. The token itself is a keyed hash,
/// which the caller of the core checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Confirmation {
    /// Good, and given for this head of the log.
    Valid {
        /// The last position when the preview was made.
        head: Seq,
    },
    /// Good, but too old.
    Expired,
    /// Not a token for this store, snapshot and reason.
    Mismatch,
}

/// Brings back the state of a snapshot.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rollback {
    /// Which snapshot.
    pub snapshot: SnapshotId,
    /// Why.
    pub reason: String,
    /// What its token was worth. Not part of the fingerprint: a repeated request may come with an
    /// expired token and still gets the first answer.
    #[serde(skip)]
    pub confirmation: Confirmation,
}

/// One line of an import.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ImportEntry {
    /// What to write; `if_absent` and `expected_version` are not looked at.
    pub commit: Commit,
    /// Kept when not in the future.
    pub created_at: Option<Timestamp>,
    /// Kept when not in the future.
    pub updated_at: Option<Timestamp>,
    /// Kept when not in the future.
    pub confirmed_at: Option<Timestamp>,
}

/// One operation of an import.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ImportPage {
    /// Shared by all operations of the import. Not part of the fingerprint: a repeated import is
    /// recognised by what it holds.
    #[serde(skip)]
    pub import: ImportId,
    /// Leave entries that exist alone instead of replacing them.
    pub if_absent: bool,
    /// At most [`crate::limits::IMPORT_ENTRIES`].
    pub entries: Vec<ImportEntry>,
}

/// Takes back any set of events.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Undo {
    /// Which events.
    pub selection: Selection,
    /// Show the answer and write nothing.
    pub dry_run: bool,
}

/// A set of events.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum Selection {
    /// The own changes of a dream.
    Dream(DreamId),
    /// What was written in a session.
    Session(Arc<str>),
    /// What a writer wrote.
    Source(Arc<str>),
    /// What an import wrote.
    Import(ImportId),
    /// Positions from the first to the second, both included.
    Range(Seq, Seq),
    /// What was recorded after the first time and before the second, both excluded.
    Time {
        /// Exclusive; from the beginning when absent.
        after: Option<Timestamp>,
        /// Exclusive; to the end when absent.
        before: Option<Timestamp>,
    },
    /// Single positions.
    Seqs(Vec<Seq>),
}
