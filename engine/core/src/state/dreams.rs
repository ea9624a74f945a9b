//! The dreams of a store.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::event::{ActionRecord, DreamShift, DreamStarted};
use crate::id::{DreamId, Seq};
use crate::key::Key;
use crate::limits::DREAM_MICROS;
use crate::time::Timestamp;

/// Where a dream is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DreamPhase {
    /// It may act, and was not finished.
    Open,
    /// It was finished.
    Finished,
    /// All its changes were taken back.
    Undone,
    /// Its changes were taken back but for conflicts.
    PartlyUndone,
}

impl DreamPhase {
    /// The name that surfaces use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Finished => "finished",
            Self::Undone => "undone",
            Self::PartlyUndone => "partly_undone",
        }
    }
}

/// The undo of a dream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DreamUndoRecord {
    /// Position of the event that sums it up.
    pub summary: Seq,
    /// Positions of its operation.
    pub first: Seq,
    /// How many events that has.
    pub count: u32,
    /// When it was done.
    pub at: Timestamp,
    /// Whether conflicts remain.
    pub partly: bool,
}

/// One dream.
#[derive(Debug, Clone, PartialEq)]
pub struct DreamRecord {
    /// Position of its start.
    pub started: Seq,
    /// When it started.
    pub started_at: Timestamp,
    /// What it was started with.
    pub start: Arc<DreamStarted>,
    /// Positions of its pages.
    pub pages: Vec<Seq>,
    /// Positions of its own changes and flags, in order.
    pub own: Vec<Seq>,
    /// When its last page was applied.
    pub last_page_at: Option<Timestamp>,
    /// Position of its first finish.
    pub finished: Option<Seq>,
    /// When it was finished last.
    pub finished_at: Option<Timestamp>,
    /// Forgets it has carried out.
    pub forgets: u32,
    /// Its undo, if it stands.
    pub undo: Option<DreamUndoRecord>,
}

impl DreamRecord {
    /// Where it is in its life.
    #[must_use]
    pub fn phase(&self) -> DreamPhase {
        match (&self.undo, self.finished_at) {
            (Some(undo), _) if undo.partly => DreamPhase::PartlyUndone,
            (Some(_), _) => DreamPhase::Undone,
            (None, Some(_)) => DreamPhase::Finished,
            (None, None) => DreamPhase::Open,
        }
    }

    /// The last moment at which it can be undone by `dream_undo`.
    #[must_use]
    pub fn undo_until(&self) -> Timestamp {
        self.finished_at.max(self.last_page_at).unwrap_or(self.started_at).plus(DREAM_MICROS)
    }

    /// The last moment at which it takes actions.
    #[must_use]
    pub fn acts_until(&self) -> Timestamp {
        self.started_at.plus(DREAM_MICROS)
    }

    /// Whether the key is one of its candidates.
    #[must_use]
    pub fn has_candidate(&self, key: &Key) -> bool {
        self.start.candidates.iter().any(|candidate| candidate.key == *key)
    }
}

/// All dreams of a store.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct DreamBook {
    by_id: BTreeMap<DreamId, DreamRecord>,
    /// In the order of their starts.
    order: Vec<DreamId>,
}

impl DreamBook {
    pub(super) fn get(&self, dream: DreamId) -> Option<&DreamRecord> {
        self.by_id.get(&dream)
    }

    /// Newest first.
    pub(super) fn newest_first(&self) -> impl Iterator<Item = (DreamId, &DreamRecord)> {
        self.order.iter().rev().filter_map(|dream| Some((*dream, self.by_id.get(dream)?)))
    }

    /// Whether the dream is finished and not undone.
    pub(super) fn stands(&self, dream: DreamId) -> bool {
        self.get(dream).is_some_and(|record| record.phase() == DreamPhase::Finished)
    }

    /// Whether the dream stands and had started when the change at `changed` was there already.
    pub(super) fn stands_since(&self, dream: DreamId, changed: Seq) -> bool {
        self.stands(dream) && self.get(dream).is_some_and(|record| changed <= record.started)
    }

    /// Starts of standing dreams that left nothing out, latest first.
    pub(super) fn complete(&self) -> impl Iterator<Item = Seq> {
        self.newest_first()
            .filter(|(dream, record)| record.start.complete && self.stands(*dream))
            .map(|(_, record)| record.started)
    }

    /// The latest of them that can be relied on.
    ///
    /// What a dream passes over rests on the dreams that stood when it started: the mark they gave
    /// and the entries they had looked at. When one of those is undone its candidates come back, so
    /// what rested on it is no mark any more.
    pub(super) fn mark(&self) -> Option<Seq> {
        let undone: Vec<(Seq, Seq)> =
            self.by_id.values().filter_map(|record| Some((record.finished?, record.undo?.summary))).collect();
        let rests = |start: Seq| undone.iter().any(|(finished, undo)| *finished < start && start < *undo);
        self.complete().find(|start| !rests(*start))
    }

    pub(super) fn started(&mut self, event: &DreamStarted, seq: Seq, at: Timestamp) {
        self.order.push(event.dream);
        self.by_id.insert(
            event.dream,
            DreamRecord {
                started: seq,
                started_at: at,
                start: Arc::new(event.clone()),
                pages: Vec::new(),
                own: Vec::new(),
                last_page_at: None,
                finished: None,
                finished_at: None,
                forgets: 0,
                undo: None,
            },
        );
    }

    /// Takes up a dream; they come in the order of their starts.
    pub(super) fn take_up(&mut self, record: DreamRecord) {
        let dream = record.start.dream;
        self.order.push(dream);
        self.by_id.insert(dream, record);
    }

    /// In the order of their starts.
    pub(super) fn oldest_first(&self) -> impl Iterator<Item = &DreamRecord> {
        self.order.iter().filter_map(|dream| self.by_id.get(dream))
    }

    pub(super) fn acted(&mut self, dream: DreamId, seq: Seq) {
        if let Some(record) = self.by_id.get_mut(&dream) {
            record.own.push(seq);
        }
    }

    pub(super) fn page_applied(&mut self, dream: DreamId, actions: &[ActionRecord], seq: Seq, at: Timestamp) {
        if let Some(record) = self.by_id.get_mut(&dream) {
            record.pages.push(seq);
            record.last_page_at = Some(at);
            let forgets = actions.iter().filter(|action| action.is_applied_forget()).count();
            record.forgets = record.forgets.saturating_add(u32::try_from(forgets).unwrap_or(u32::MAX));
        }
    }

    pub(super) fn finished(&mut self, dream: DreamId, seq: Seq, at: Timestamp) {
        if let Some(record) = self.by_id.get_mut(&dream) {
            record.finished.get_or_insert(seq);
            record.finished_at = Some(at);
        }
    }

    pub(super) fn shifted(&mut self, dream: DreamId, shift: DreamShift, undo: DreamUndoRecord) {
        if let Some(record) = self.by_id.get_mut(&dream) {
            record.undo = match shift {
                DreamShift::Undone { partly } => Some(DreamUndoRecord { partly, ..undo }),
                DreamShift::Redone => None,
            };
        }
    }
}
