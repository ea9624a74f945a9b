//! Dreams and undos.

use bilinc_core::{ActionRecord, Candidate, DreamId, DreamOptions, DreamPhase, Json, Seq, Timestamp, Undone};

use super::MemoryEntry;

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
    pub candidates: Vec<Candidate>,
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
