//! What an undo does to one key.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::chain::{end_of_entry, standing_forget, taken_back};
use crate::entry::{Entry, Facts, OpenFlag};
use crate::event::{
    Event, FlagsEffect, RecordedEvent, Reflagged, Removed, Restored, UndoConflict, UndoConflictReason, UndoItem,
    Unflagged,
};
use crate::history::slot_at;
use crate::id::{Seq, Version};
use crate::key::Key;
use crate::slot::Slot;
use crate::state::State;
use crate::time::Timestamp;

/// How much of a removed entry comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Value, memory type, importance, source and creation time: the default of a dream's undo.
    Essentials,
    /// Everything.
    Whole,
}

/// What an undo does to one key: nothing when all parts are empty.
#[derive(Debug, Default)]
pub(super) struct KeyPlan {
    /// Compensating events, their versions still to be given.
    pub(super) events: Vec<Event>,
    pub(super) item: Option<UndoItem>,
    pub(super) conflict: Option<UndoConflict>,
}

impl Event {
    /// This compensating event with its version.
    pub(super) fn with_version(self, version: Version) -> Self {
        match self {
            Self::Restored(mut event) => {
                event.version = version;
                Self::Restored(event)
            }
            other => other,
        }
    }
}

pub(super) fn plan_key(
    state: &State,
    key: &Key,
    chain: &[Arc<RecordedEvent>],
    selected: &BTreeSet<Seq>,
    mode: Mode,
    now: Timestamp,
) -> KeyPlan {
    let taken = taken_back(chain, selected, &[]);
    let standing = || chain.iter().filter(|event| !taken.contains(&event.seq));
    let targets: Vec<&Arc<RecordedEvent>> = standing().filter(|event| selected.contains(&event.seq)).collect();
    let mut plan = KeyPlan::default();
    let Some(slot) = state.slot(key.as_str()) else {
        return plan;
    };
    // An entry that expired is not there for any write, and what is not there is left as it is.
    let expired = slot.entry.is_some() && slot.live(now).is_none();
    let Some(newest) = targets.last().filter(|_| !expired) else {
        return plan;
    };
    let (changes, flags): (Vec<&&Arc<RecordedEvent>>, Vec<_>) =
        targets.iter().partition(|event| event.event.is_change());

    if let Some(first) = changes.first() {
        let foreign = standing()
            .rev()
            .find(|event| event.seq > first.seq && event.event.is_change() && !selected.contains(&event.seq));
        if let Some(change) = foreign {
            // A purge is never undone, so it stays a foreign change, whatever came after it.
            let purged = slot.is_purged(first.seq);
            let reason = if purged { UndoConflictReason::Purged } else { UndoConflictReason::Changed };
            plan.conflict = Some(UndoConflict { key: key.clone(), reason, change: change.change_info() });
        } else if would_bring_back_lost(state, chain, slot, first) {
            let reason = UndoConflictReason::Lost;
            plan.conflict = Some(UndoConflict { key: key.clone(), reason, change: None });
        } else {
            let reopened = cleared_by(state, chain, &taken, &flags);
            let back = |flag: &OpenFlag| !selected.contains(&flag.seq) && !of_undone_dream(state, flag);
            let flags = flags_after(chain, slot.live(now), &changes, &reopened, back);
            plan.events.extend(compensate(key, chain, slot.live(now), &changes, flags, mode));
        }
    }
    if slot.live(now).is_some() && !plan.events.iter().any(|event| matches!(event, Event::Removed(_))) {
        plan.events.extend(clear_flags(key, slot, &flags));
        plan.events.extend(reopen_flags(key, slot, &cleared_by(state, chain, &taken, &flags)));
    }
    if plan.conflict.is_none() && !plan.events.is_empty() {
        let newest = changes.last().copied().unwrap_or(newest);
        plan.item =
            Some(UndoItem { key: key.clone(), undone: newest.seq, op: newest.command_op().into(), version: None });
    }
    plan
}

/// Whether what stood before this change is not known any more. A value that stays as it is does not
/// have to be brought back.
fn would_bring_back_lost(state: &State, chain: &[Arc<RecordedEvent>], slot: &Slot, first: &RecordedEvent) -> bool {
    if first.event.creates() {
        return false;
    }
    let before = slot_at(chain, first.seq.before());
    let Some(then) = &before.entry else { return before.is_unknown() };
    let stays =
        slot.entry.as_ref().is_some_and(|now| now.value_at == then.value_at && now.metadata_at == then.metadata_at);
    state.has_lost(then) && !stays
}

/// The event that brings the entry back to what it was before the first of these changes.
fn compensate(
    key: &Key,
    chain: &[Arc<RecordedEvent>],
    current: Option<&Entry>,
    changes: &[&&Arc<RecordedEvent>],
    flags: FlagsEffect,
    mode: Mode,
) -> Option<Event> {
    let first = changes.first()?;
    let undoes: Vec<Seq> = changes.iter().map(|event| event.seq).collect();
    let hidden_through = Some(standing_forget(chain, &undoes));
    let before = slot_at(chain, first.seq.before());
    let Some(before) = before.entry.filter(|_| !first.event.creates()) else {
        // There was none: the entry goes again, if it is there.
        return current.map(|_| Event::Removed(Removed { key: key.clone(), undoes, hidden_through }));
    };
    let essentials = current.is_none() && mode == Mode::Essentials;
    let only_confirmed = changes.iter().all(|event| matches!(event.event, Event::Confirmed(_)));
    Some(Event::Restored(Box::new(Restored {
        key: key.clone(),
        created: current.is_none(),
        facts: if essentials { essential_facts(&before.facts) } else { before.facts.clone() },
        created_at: before.created_at,
        updated_at: only_confirmed.then_some(before.updated_at),
        confirmed_at: before.confirmed_at.filter(|_| !essentials),
        version: Version::from_u128(0),
        value_at: before.value_at,
        metadata_at: if essentials { Seq::ZERO } else { before.metadata_at },
        value_bytes: before.value_bytes,
        metadata_bytes: if essentials { 0 } else { before.metadata_bytes },
        flags: if essentials { FlagsEffect::Set(Vec::new()) } else { flags },
        undoes,
        hidden_through,
    })))
}

/// What a dream's undo brings back of a removed entry without being asked for more.
fn essential_facts(facts: &Facts) -> Facts {
    Facts {
        memory_type: facts.memory_type,
        importance: facts.importance,
        source: Arc::clone(&facts.source),
        session_id: None,
        canonical: None,
        priority: None,
        ttl: None,
    }
}

/// Flags survive every change but the end of an entry. Where one of the changes ended it, the flags
/// that were open just before come back, and those that were cleared before it by what is taken
/// back, too; but only those that `back` lets back.
fn flags_after(
    chain: &[Arc<RecordedEvent>],
    current: Option<&Entry>,
    changes: &[&&Arc<RecordedEvent>],
    reopened: &[Cleared],
    back: impl Fn(&OpenFlag) -> bool,
) -> FlagsEffect {
    let ended = changes.iter().find(|event| matches!(event.event, Event::Forgotten(_) | Event::Removed(_)));
    let Some(ended) = ended else {
        return FlagsEffect::Keep;
    };
    let mut flags: Vec<OpenFlag> = slot_at(chain, ended.seq.before()).entry.map_or_else(Vec::new, |entry| entry.flags);
    let earlier = reopened.iter().filter(|cleared| cleared.until >= ended.seq && cleared.by < ended.seq);
    flags.extend(earlier.flat_map(|cleared| cleared.flags.iter().cloned()));
    flags.retain(back);
    flags.extend(current.into_iter().flat_map(|entry| entry.flags.iter().cloned()));
    FlagsEffect::Set(in_order(flags))
}

/// What was taken back with its dream does not return with the entry that it was on.
fn of_undone_dream(state: &State, flag: &OpenFlag) -> bool {
    flag.dream.and_then(|dream| state.dream(dream)).is_some_and(|dream| dream.undo.is_some())
}

fn in_order(mut flags: Vec<OpenFlag>) -> Vec<OpenFlag> {
    flags.sort_by_key(|flag| flag.seq);
    flags.dedup_by_key(|flag| flag.seq);
    flags
}

/// Clears those of the selected flags that are still open.
fn clear_flags(key: &Key, slot: &Slot, events: &[&&Arc<RecordedEvent>]) -> Option<Event> {
    let open = slot.entry.as_ref().map_or(&[][..], |entry| &entry.flags);
    let (mut cleared, mut undoes) = (Vec::new(), Vec::new());
    for event in events {
        let set: Vec<Seq> = match &event.event {
            Event::Flagged(_) => [event.seq].into(),
            Event::Reflagged(reflagged) => reflagged.flags.iter().map(|flag| flag.seq).collect(),
            _ => Vec::new(),
        };
        let mut still_open = set.into_iter().filter(|seq| open.iter().any(|flag| flag.seq == *seq)).peekable();
        if still_open.peek().is_some() {
            undoes.push(event.seq);
        }
        cleared.extend(still_open);
    }
    cleared.sort();
    cleared.dedup();
    (!cleared.is_empty()).then(|| Event::Unflagged(Unflagged { key: key.clone(), cleared, reason: None, undoes }))
}

/// Flags that one of the selected events cleared.
struct Cleared {
    by: Seq,
    /// The event that ended the entry they were on, [`Seq::MAX`] while it lives on.
    until: Seq,
    flags: Vec<OpenFlag>,
}

fn cleared_by(
    state: &State,
    chain: &[Arc<RecordedEvent>],
    taken: &BTreeSet<Seq>,
    events: &[&&Arc<RecordedEvent>],
) -> Vec<Cleared> {
    let cleared = |event: &&&Arc<RecordedEvent>| {
        let Event::Unflagged(unflagged) = &event.event else {
            return None;
        };
        let mut flags = slot_at(chain, event.seq.before()).entry.map_or_else(Vec::new, |entry| entry.flags);
        flags.retain(|flag| unflagged.cleared.contains(&flag.seq) && !taken.contains(&flag.seq));
        // An undo that cleared the flags of its dream opens them again when it is undone itself.
        flags.retain(|flag| !unflagged.undoes.is_empty() || !of_undone_dream(state, flag));
        Some(Cleared { by: event.seq, until: end_of_entry(chain, taken, event.seq), flags })
    };
    events.iter().filter_map(cleared).collect()
}

/// Opens again what the selected events cleared on the entry that is there.
fn reopen_flags(key: &Key, slot: &Slot, cleared: &[Cleared]) -> Option<Event> {
    let open = slot.entry.as_ref().map_or(&[][..], |entry| &entry.flags);
    let (mut flags, mut undoes): (Vec<OpenFlag>, _) = (Vec::new(), Vec::new());
    for cleared in cleared.iter().filter(|cleared| cleared.until == Seq::MAX) {
        let closed = |flag: &&OpenFlag| !open.iter().any(|other| other.seq == flag.seq);
        let mut closed = cleared.flags.iter().filter(closed).peekable();
        if closed.peek().is_some() {
            undoes.push(cleared.by);
        }
        flags.extend(closed.cloned());
    }
    (!flags.is_empty()).then(|| Event::Reflagged(Reflagged { key: key.clone(), flags: in_order(flags), undoes }))
}
