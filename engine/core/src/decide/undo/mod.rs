//! Undo: one mechanism for a dream, a session, a source, an import, a range or single positions.
//!
//! A selection names positions. Each key they touch is judged on its own chain of events
//! ([`chain`]) into compensating events or a conflict, and the event [`Undone`] sums up.

mod chain;
mod plan;
mod select;
mod shift;

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use self::plan::{KeyPlan, Mode};
use self::shift::Standing;
use super::batch::Batch;
use super::dream::recorded_actions;
use super::{Refusal, history, report};
use crate::command::{DreamUndo, Selection, Undo};
use crate::event::{DreamShift, Event, Undone};
use crate::history::{History, chain_of};
use crate::id::{DreamId, Seq};
use crate::key::Key;
use crate::outcome::Outcome;
use crate::rejection::Rejection;
use crate::state::DreamUndoRecord;

/// `Some` is the answer when nothing is to be written.
type Decided<H> = Result<Option<Outcome>, Refusal<<H as History>::Error>>;

pub(super) fn undo_dream<H: History>(batch: &mut Batch<'_, H>, command: &DreamUndo) -> Decided<H> {
    let dream = batch.state.dream(command.dream).ok_or(Rejection::DreamNotFound(command.dream))?;
    if let Some(answer) = first_answer(batch, dream.undo)? {
        return Ok(Some(answer));
    }
    let until = dream.undo_until();
    if batch.now() > until {
        return Err(Rejection::UndoWindowExpired { dream: command.dream, until }.into());
    }
    let mode = if command.restore_metadata { Mode::Whole } else { Mode::Essentials };
    take_back(batch, Selection::Dream(command.dream), true, mode, command.dry_run)
}

pub(super) fn undo<H: History>(batch: &mut Batch<'_, H>, command: &Undo) -> Decided<H> {
    if let Selection::Dream(dream) = command.selection {
        // Keys that were kept as conflicts are tried again; without any there is nothing to try.
        let done = batch.state.dream(dream).and_then(|record| record.undo).filter(|undo| !undo.partly);
        if let Some(answer) = first_answer(batch, done)? {
            return Ok(Some(answer));
        }
    }
    take_back(batch, command.selection.clone(), false, Mode::Whole, command.dry_run)
}

/// The answer that the undo of a dream gave when it was done, if it was.
fn first_answer<H: History>(batch: &Batch<'_, H>, done: Option<DreamUndoRecord>) -> Decided<H> {
    let Some(done) = done else { return Ok(None) };
    let summary = batch.history().event(done.summary).map_err(history)?;
    Ok(match &summary.event {
        Event::Undone(undone) => {
            Some(Outcome::Undo { undone: undone.clone(), seq: Some(done.summary), already_undone: true })
        }
        _ => None,
    })
}

fn take_back<H: History>(
    batch: &mut Batch<'_, H>,
    selection: Selection,
    dream_undo: bool,
    mode: Mode,
    dry_run: bool,
) -> Decided<H> {
    let selected = select::positions(batch.state, batch.history(), &selection)?;
    let mut standing = Standing::default();
    let mut undone = Undone {
        selection,
        dream_undo,
        restored: Vec::new(),
        conflicts: Vec::new(),
        unchanged: Vec::new(),
        metadata_restored: mode == Mode::Whole,
        dreams: Vec::new(),
    };
    for key in keys_of(batch.history(), &selected, &mut standing).map_err(history)? {
        let Some(slot) = batch.state.slot(key.as_str()) else {
            continue;
        };
        let chain = chain_of(batch.history(), slot.head).map_err(history)?;
        let KeyPlan { events, item, conflict } =
            plan::plan_key(batch.state, &key, &chain, &selected, mode, batch.now());
        let (mut version, mut taken) = (None, Vec::new());
        for event in events {
            let event = event.with_version(batch.next_version());
            version = event.version().or(version);
            taken.extend_from_slice(event.undoes());
            batch.push(event);
        }
        standing.judged(&key, &chain, &taken);
        let current = batch.entry(&key).map(|entry| entry.version);
        match (item, conflict) {
            (_, Some(conflict)) => undone.conflicts.push(conflict),
            (Some(mut item), None) => {
                item.version = version.or(current);
                undone.restored.push(item);
            }
            (None, None) => undone.unchanged.push(key),
        }
    }
    undone.dreams = shift::shifts(batch.state, batch.history(), &undone, &selected, &mut standing).map_err(history)?;
    if dry_run || (batch.is_empty() && undone.dreams.is_empty()) {
        return Ok(Some(Outcome::Undo { undone, seq: None, already_undone: false }));
    }
    for (dream, shift) in undone.dreams.clone() {
        rewrite_report(batch, dream, shift, &undone)?;
    }
    batch.push(Event::Undone(undone));
    Ok(None)
}

/// The keys that the selected positions are about, in order. Undos among them are told to `standing`.
fn keys_of<H: History>(from: &H, selected: &BTreeSet<Seq>, standing: &mut Standing) -> Result<BTreeSet<Key>, H::Error> {
    let mut keys = BTreeSet::new();
    for seq in selected {
        match &from.event(*seq)?.event {
            Event::Undone(undone) => standing.undoes(undone),
            event => keys.extend(event.key().cloned()),
        }
    }
    Ok(keys)
}

/// The report tells the outcome; where there is no report, there is nothing to tell it in.
fn rewrite_report<H: History>(
    batch: &mut Batch<'_, H>,
    dream: DreamId,
    shift: DreamShift,
    undone: &Undone,
) -> Result<(), Refusal<H::Error>> {
    let state = batch.state;
    let there = batch.entry(&super::dream::report_key(dream)).is_some();
    let Some(record) = state.dream(dream).filter(|_| there) else {
        return Ok(());
    };
    let actions = recorded_actions(batch.history(), record).map_err(history)?;
    let times = report::Times {
        started_at: record.started_at,
        finished_at: record.finished_at,
        undo_until: record.undo_until(),
    };
    let outcome = matches!(shift, DreamShift::Undone { .. }).then_some(undone);
    report::write(batch, dream, &times, &actions, None, outcome)
}
