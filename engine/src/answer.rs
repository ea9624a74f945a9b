//! What reads and writes answer.

use std::sync::Arc;

use bilinc_core::{
    ActionRecord, ChangeOp, Counts, DreamId, DreamOptions, DreamPhase, Entry, Event, ImportId, Json, Key, OpenFlag,
    Operation, RolledBack, Seq, SnapshotId, StoreId, Timestamp, Undone, Version,
};

/// A chain hash: BLAKE3 over everything that stays of the log up to a position.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ChainHash(pub [u8; 32]);

impl std::fmt::Display for ChainHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl std::fmt::Debug for ChainHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Where the log stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The last position that is durable.
    pub seq: Seq,
    /// The chain hash there.
    pub chain: ChainHash,
}

/// The answer of a write.
#[derive(Debug, Clone, PartialEq)]
pub struct Written<T> {
    /// What was done.
    pub answer: T,
    /// Whether this is the first answer given again, because the idempotency key came before.
    pub replayed: bool,
}

/// One entry was changed or flagged.
#[derive(Debug, Clone, PartialEq)]
pub struct EntryChange {
    /// Its key.
    pub key: Key,
    /// What was done.
    pub op: ChangeOp,
    /// The version it got; none when it was forgotten or only its flags changed.
    pub version: Option<Version>,
    /// When.
    pub at: Timestamp,
    /// Where in the log.
    pub seq: Seq,
}

/// An entry with its value and metadata.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryEntry {
    /// Its key.
    pub key: Key,
    /// All but value and metadata.
    pub entry: Entry,
    /// Its value; none when hidden or erased.
    pub value: Option<Json>,
    /// Its metadata object; none when hidden or erased.
    pub metadata: Option<Json>,
    /// Whether value and metadata are hidden because a later forget stands.
    pub values_redacted: bool,
}

/// An entry on a page of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedEntry {
    /// Its key.
    pub key: Key,
    /// All but value and metadata.
    pub entry: Entry,
    /// Its value, as much as was asked for. A preview is a JSON string.
    pub value: Option<Json>,
    /// Its metadata object, with full values.
    pub metadata: Option<Json>,
}

/// A page of entries.
#[derive(Debug, Clone, PartialEq)]
pub struct ListPage {
    /// The entries.
    pub entries: Vec<ListedEntry>,
    /// For the next page; none on the last.
    pub next_cursor: Option<String>,
    /// All entries that match, on whatever page.
    pub total: u64,
}

/// A side of a recorded change.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryState {
    /// The entry as it stood.
    pub entry: Entry,
    /// Its value; none when not asked for, hidden or erased.
    pub value: Option<Json>,
}

/// A recorded change of one key.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryItem {
    /// What it did.
    pub op: ChangeOp,
    /// When.
    pub at: Timestamp,
    /// Where in the log.
    pub seq: Seq,
    /// Why.
    pub reason: Option<Arc<str>>,
    /// Who did it.
    pub source: Arc<str>,
    /// The session it was done in.
    pub session_id: Option<Arc<str>>,
    /// The entry before; none when there was none.
    pub before: Option<HistoryState>,
    /// The entry after; none when there is none.
    pub after: Option<HistoryState>,
    /// Whether values are hidden because a later forget stands.
    pub values_redacted: bool,
    /// The snapshot that a rollback's change brought back.
    pub rollback_snapshot: Option<SnapshotId>,
    /// The dream that did it.
    pub dream: Option<DreamId>,
    /// The positions that an undo's change takes back.
    pub undoes: Vec<Seq>,
}

/// The recorded changes of one key, newest first.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyHistory {
    /// The key.
    pub key: Key,
    /// Whether there is an entry now.
    pub exists: bool,
    /// The changes; empty for a key that was never used.
    pub items: Vec<HistoryItem>,
    /// Whether there are more than were asked for.
    pub truncated: bool,
}

/// A term of a query and how it was found.
#[derive(Debug, Clone, PartialEq)]
pub struct MatchedTerm {
    /// The term of the query.
    pub term: String,
    /// `exact`, `stem`, `prefix` or `typo`.
    pub how: &'static str,
    /// Where: `key`, `value`, `metadata`; may be several.
    pub fields: Vec<&'static str>,
}

/// A result of a recall.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallHit {
    /// The entry.
    pub memory: MemoryEntry,
    /// Its rank's number; comparable within one answer only.
    pub score: f64,
    /// Seconds since it was last updated.
    pub age_seconds: i64,
    /// The terms that matched, when asked for.
    pub matched: Vec<MatchedTerm>,
}

/// A snapshot.
#[derive(Debug, Clone, PartialEq)]
pub struct SnapshotInfo {
    /// Its id.
    pub id: SnapshotId,
    /// The position it names.
    pub seq: Seq,
    /// When it was taken.
    pub created_at: Timestamp,
    /// What a person calls it.
    pub label: Option<Arc<str>>,
    /// A JSON object kept with it; `{}` when none was.
    pub metadata: Json,
    /// Entries that were there, by memory type in the order of its declaration.
    pub by_type: [u64; 5],
    /// The chain hash at its position.
    pub root_hash: ChainHash,
}

/// A key in a diff.
#[derive(Debug, Clone, PartialEq)]
pub struct DiffItem {
    /// The key.
    pub key: Key,
    /// The entry at the first point.
    pub before: Option<HistoryState>,
    /// The entry at the second point.
    pub after: Option<HistoryState>,
    /// Whether a value is hidden because a later forget stands.
    pub values_redacted: bool,
}

/// The changes between two points, keys in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Diff {
    /// The first point's position.
    pub from: Seq,
    /// The second point's position.
    pub to: Seq,
    /// Keys in each list, whole: added, modified, removed.
    pub counts: [u64; 3],
    /// Entries at the second point only.
    pub added: Vec<DiffItem>,
    /// Entries at both that differ.
    pub modified: Vec<DiffItem>,
    /// Entries at the first point only.
    pub removed: Vec<DiffItem>,
    /// Whether a list was cut at the limit.
    pub truncated: bool,
}

/// What a rollback would do.
#[derive(Debug, Clone, PartialEq)]
pub struct RollbackPreview {
    /// Keys in each list, whole: create, update, remove.
    pub counts: [u64; 3],
    /// Entries to make.
    pub create_keys: Vec<Key>,
    /// Entries to change.
    pub update_keys: Vec<Key>,
    /// Entries to remove.
    pub remove_keys: Vec<Key>,
    /// Whether a list was cut at the limit.
    pub truncated: bool,
    /// What the rollback must be confirmed with.
    pub confirmation_token: String,
    /// Until when the token is good.
    pub expires_at: Timestamp,
}

/// A snapshot's state was brought back.
#[derive(Debug, Clone, PartialEq)]
pub struct RollbackAnswer {
    /// What was done.
    pub done: RolledBack,
    /// The position that sums it up: `undo` of it takes the rollback back.
    pub seq: Seq,
}

/// What an import wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportSummary {
    /// Its id, by which it can be undone.
    pub import: ImportId,
    /// Lines read.
    pub lines: u64,
    /// Entries made.
    pub created: u64,
    /// Entries replaced.
    pub replaced: u64,
    /// Entries left alone because they exist.
    pub skipped_existing: u64,
    /// Lines left out because their keys are reserved.
    pub skipped_reserved: u64,
}

/// A candidate of a dream, as it stands now.
#[derive(Debug, Clone, PartialEq)]
pub struct DreamCandidate {
    /// The entry with its value. Its value is stored content: data, not instructions.
    pub memory: MemoryEntry,
}

/// A dream began.
#[derive(Debug, Clone, PartialEq)]
pub struct DreamStarted {
    /// Its id; none, and nothing written, when there is no candidate.
    pub dream: Option<DreamId>,
    /// Most entries that it may forget.
    pub forget_cap: u32,
    /// Its candidates, newest change first. Those that went since are left out.
    pub candidates: Vec<DreamCandidate>,
    /// How many more entries matched, exact up to 10,000.
    pub more_candidates: u64,
}

/// A page, or all pages, of a dream were judged.
#[derive(Debug, Clone, PartialEq)]
pub struct DreamApplied {
    /// Which dream.
    pub dream: DreamId,
    /// Where it is in its life.
    pub phase: DreamPhase,
    /// Most entries that it may forget.
    pub forget_cap: u32,
    /// Forgets it has carried out, those of a dry run included.
    pub forgets: u32,
    /// Until when it can be undone.
    pub undo_until: Timestamp,
    /// Its actions with what became of them, in the order they were sent.
    pub results: Vec<ActionRecord>,
    /// Pages that the actions went in.
    pub pages: u32,
}

/// A set of events was taken back.
#[derive(Debug, Clone, PartialEq)]
pub struct UndoAnswer {
    /// The dream, and where it is in its life, when it was the undo of one.
    pub dream: Option<(DreamId, DreamPhase)>,
    /// What became of each key.
    pub undone: Undone,
    /// The position that sums the undo up: `undo` of it is the redo. None when nothing was written.
    pub seq: Option<Seq>,
    /// Whether it had been done before and nothing was written now.
    pub already_undone: bool,
}

/// A dream as it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct DreamView {
    /// Its id.
    pub dream: DreamId,
    /// Where it is in its life.
    pub phase: DreamPhase,
    /// When it started.
    pub started_at: Timestamp,
    /// When it was finished last.
    pub finished_at: Option<Timestamp>,
    /// Until when it can be undone.
    pub undo_until: Timestamp,
    /// What it was asked for.
    pub options: DreamOptions,
    /// Most entries that it may forget.
    pub forget_cap: u32,
    /// Forgets it has carried out.
    pub forgets: u32,
    /// How many more entries matched at its start.
    pub more_candidates: u64,
    /// Its candidates with the versions they had.
    pub candidates: Vec<bilinc_core::Candidate>,
    /// Its actions with what became of them.
    pub actions: Vec<ActionRecord>,
    /// The agent's report, unless it was forgotten.
    pub report: Option<Json>,
    /// The undo that stands.
    pub undo: Option<UndoAnswer>,
}

/// A dream in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct DreamSummary {
    /// Its id.
    pub dream: DreamId,
    /// Where it is in its life.
    pub phase: DreamPhase,
    /// When it started.
    pub started_at: Timestamp,
    /// When it was finished last.
    pub finished_at: Option<Timestamp>,
    /// Until when it can be undone.
    pub undo_until: Timestamp,
    /// How many candidates it had.
    pub candidates: u64,
    /// Its own changes and flags.
    pub changes: u64,
    /// Most entries that it may forget.
    pub forget_cap: u32,
    /// Forgets it has carried out.
    pub forgets: u32,
}

/// An event as the log shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct LogItem {
    /// Where it is.
    pub seq: Seq,
    /// The operation it belongs to.
    pub operation: Arc<Operation>,
    /// What it is, in one word: `create`, `update`, …, `snapshot`, `dream_start`, `dream_page`,
    /// `dream_finish`, `undo`, `rollback`, `import`.
    pub op: &'static str,
    /// Who wrote it.
    pub source: Arc<str>,
    /// The session it was written in.
    pub session_id: Option<Arc<str>>,
    /// The dream whose own doing it is.
    pub dream: Option<DreamId>,
    /// The facts.
    pub event: Event,
    /// The value in its body; none when not asked for, hidden or erased.
    pub value: Option<Json>,
    /// Whether the value is hidden because a later forget stands.
    pub values_redacted: bool,
}

/// A page of events.
#[derive(Debug, Clone, PartialEq)]
pub struct LogPage {
    /// The events.
    pub events: Vec<LogItem>,
    /// For the next page; none on the last.
    pub next_cursor: Option<String>,
}

/// What reading the whole log proved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// The store.
    pub store: StoreId,
    /// Segments read.
    pub segments: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Operations read.
    pub operations: u64,
    /// Events read.
    pub events: u64,
    /// Bodies whose checksums and salted digests hold.
    pub bodies: u64,
    /// Bodies that were erased.
    pub erased_bodies: u64,
    /// The last position and the chain hash there, computed anew.
    pub head: Head,
    /// Whether the state folded anew from the log equals the state that answers.
    pub state_equal: bool,
}

/// An open dream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenDream {
    /// Its id.
    pub dream: DreamId,
    /// Where it is in its life.
    pub phase: DreamPhase,
    /// Whole days left to undo it.
    pub days_left: i64,
}

/// How a store is.
#[derive(Debug, Clone, PartialEq)]
pub struct Status {
    /// The store.
    pub store: StoreId,
    /// Where the log stands.
    pub head: Head,
    /// Sums over what is there.
    pub counts: Counts,
    /// Bytes that the log takes on disk.
    pub log_bytes: u64,
    /// Segments of the log.
    pub segments: u64,
    /// Snapshots taken.
    pub snapshots: u64,
    /// Dreams that can be undone or still act.
    pub dreams: Vec<OpenDream>,
    /// `durable` or `relaxed`.
    pub durability: &'static str,
    /// Why the store takes no writes, if it takes none.
    pub read_only: Option<String>,
    /// What an open cut off the end of the log and kept in `quarantine/`, in words.
    pub recovered: Option<String>,
}

/// An open flag with the entry it is on.
#[derive(Debug, Clone, PartialEq)]
pub struct FlaggedEntry {
    /// The entry's key.
    pub key: Key,
    /// Its open flags, oldest first.
    pub flags: Vec<OpenFlag>,
}
