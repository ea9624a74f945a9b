//! Commands: what a caller asks for, in the imperative.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::Serialize;

use crate::entry::MemoryType;
use crate::id::{DreamId, ImportId, Seq, SnapshotId, Version};
use crate::json::Json;
use crate::key::Key;
use crate::time::Timestamp;

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

/// Creates or replaces an entry; what is not given takes its default.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Commit {
    /// The entry's key.
    pub key: Key,
    /// Its value.
    pub value: Json,
    /// Its metadata object; `{}` when absent.
    pub metadata: Option<Json>,
    /// What kind of memory it is; semantic when absent.
    pub memory_type: Option<MemoryType>,
    /// 0.0 to 1.0; 1.0 when absent.
    pub importance: Option<f64>,
    /// Who saves it; the actor's source when absent.
    pub source: Option<Arc<str>>,
    /// The session it is saved in; the actor's when absent.
    pub session_id: Option<Arc<str>>,
    /// Whether it is the agreed truth.
    pub canonical: Option<bool>,
    /// 0.0 to 1.0.
    pub priority: Option<f64>,
    /// Seconds to live, above 0.
    pub ttl: Option<f64>,
    /// Refuse when the key exists.
    pub if_absent: bool,
    /// Refuse when the entry has another version.
    pub expected_version: Option<Version>,
}

impl Commit {
    /// A commit with every default.
    #[must_use]
    pub fn new(key: Key, value: Json) -> Self {
        Self {
            key,
            value,
            metadata: None,
            memory_type: None,
            importance: None,
            source: None,
            session_id: None,
            canonical: None,
            priority: None,
            ttl: None,
            if_absent: false,
            expected_version: None,
        }
    }
}

/// When a revise gives way to what is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// Always replaces.
    Recency,
    /// Refused when the new importance is below the stored.
    Importance,
    /// Refused when the stored entry is canonical and the new importance is below the stored.
    #[default]
    Entrenchment,
    /// Refused when the stored entry was confirmed since its last change and the new importance is
    /// below the stored.
    Verification,
}

impl Strategy {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Recency, Self::Importance, Self::Entrenchment, Self::Verification];

    /// The name that surfaces use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Recency => "recency",
            Self::Importance => "importance",
            Self::Entrenchment => "entrenchment",
            Self::Verification => "verification",
        }
    }
}

/// Replaces the value of an entry, and its importance when given.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Revise {
    /// The entry's key.
    pub key: Key,
    /// Its new value.
    pub value: Json,
    /// Its new importance, 0.0 to 1.0; kept when absent.
    pub importance: Option<f64>,
    /// When to give way.
    pub strategy: Strategy,
    /// Why.
    pub reason: Option<String>,
    /// Refuse when the entry has another version.
    pub expected_version: Option<Version>,
}

/// Takes an entry out of use.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Forget {
    /// The entry's key.
    pub key: Key,
    /// Why.
    pub reason: String,
    /// Refuse when the entry has another version.
    pub expected_version: Option<Version>,
}

/// Says that an entry is still right.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Confirm {
    /// The entry's key.
    pub key: Key,
    /// Why.
    pub reason: Option<String>,
    /// Refuse when the entry has another version.
    pub expected_version: Option<Version>,
}

/// Marks an entry for a person.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Flag {
    /// The entry's key.
    pub key: Key,
    /// What is to be looked at.
    pub reason: String,
    /// Entries that speak for it.
    pub evidence_keys: Vec<Key>,
    /// Refuse when the entry has another version.
    pub expected_version: Option<Version>,
}

/// Clears the open flags of an entry.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Unflag {
    /// The entry's key.
    pub key: Key,
    /// Why.
    pub reason: Option<String>,
    /// Refuse when the entry has another version.
    pub expected_version: Option<Version>,
}

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

/// Starts a dream pass.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DreamStart {
    /// Most candidates, 1 to [`crate::limits::DREAM_CANDIDATES`].
    pub limit: u32,
    /// Only keys that begin so.
    pub prefix: Option<String>,
    /// Begin of the window; the mark when absent.
    pub since: Option<Timestamp>,
    /// Also entries that an earlier dream has looked at.
    pub include_reviewed: bool,
}

impl Default for DreamStart {
    fn default() -> Self {
        Self { limit: crate::limits::DREAM_CANDIDATES, prefix: None, since: None, include_reviewed: false }
    }
}

/// What one action of a dream does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionOp {
    /// Replaces the value.
    Revise,
    /// Takes the entry out of use.
    Forget,
    /// Says it is still right.
    Confirm,
    /// Marks it for a person.
    Flag,
}

impl ActionOp {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Revise, Self::Forget, Self::Confirm, Self::Flag];

    /// The name that surfaces use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Revise => "revise",
            Self::Forget => "forget",
            Self::Confirm => "confirm",
            Self::Flag => "flag",
        }
    }
}

/// Why an action cannot be carried out, found before the dream judged it: a value too large or a
/// credential in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ActionRefusal {
    /// The error code.
    pub code: String,
    /// What is wrong, without the value.
    pub message: String,
}

/// One action of a dream.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Action {
    /// What to do.
    pub op: ActionOp,
    /// To which candidate.
    pub key: Key,
    /// The version that was looked at; required but for `flag`.
    pub expected_version: Option<Version>,
    /// The value of a revise.
    pub new_value: Option<Json>,
    /// Duplicates folded into this entry.
    pub merged_from: Vec<Key>,
    /// Why.
    pub reason: String,
    /// Entries that speak for it.
    pub evidence_keys: Vec<Key>,
    /// Set when the action was found impossible already.
    pub refused: Option<ActionRefusal>,
}

/// Judges and applies one page of a dream.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DreamApply {
    /// Which dream.
    pub dream: DreamId,
    /// At most [`crate::limits::PAGE_ACTIONS`].
    pub actions: Vec<Action>,
    /// Free text or JSON, stored when the dream finishes.
    pub report: Option<Json>,
    /// Whether this page finishes the dream.
    pub finish: bool,
    /// Judge and write nothing.
    pub dry_run: bool,
}

/// Takes back a whole dream pass.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DreamUndo {
    /// Which dream.
    pub dream: DreamId,
    /// Show the answer and write nothing.
    pub dry_run: bool,
    /// Bring back all metadata of removed entries.
    pub restore_metadata: bool,
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
