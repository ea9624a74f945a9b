//! Which positions a selection names.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::sync::Arc;

use super::super::{Refusal, history};
use crate::command::Selection;
use crate::event::{Event, OperationKind, RecordedEvent};
use crate::history::History;
use crate::id::Seq;
use crate::rejection::Rejection;
use crate::state::State;

/// The positions that an undo of this selection takes back. Purges, snapshots and dream starts are
/// never among them, nor are reports, which the dream pass alone writes.
///
/// A dream and single positions cost what they name; every other selection reads the log, or its
/// part from the first position to the last.
pub(super) fn positions<H: History>(
    state: &State,
    from: &H,
    selection: &Selection,
) -> Result<BTreeSet<Seq>, Refusal<H::Error>> {
    let head = state.head();
    match selection {
        Selection::Dream(dream) => {
            let record = state.dream(*dream).ok_or(Rejection::DreamNotFound(*dream))?;
            Ok(record.own.iter().copied().collect())
        }
        Selection::Seqs(seqs) => single(from, seqs, head),
        Selection::Range(first, last) => scan(from, first.before(), (*last).min(head), |_| true),
        Selection::Time { after, before } => scan(from, Seq::ZERO, head, |event| {
            after.is_none_or(|after| event.operation.at > after)
                && before.is_none_or(|before| event.operation.at < before)
        }),
        Selection::Session(session) => {
            scan(from, Seq::ZERO, head, |event| event.session_id().is_some_and(|id| id == session))
        }
        Selection::Source(source) => scan(from, Seq::ZERO, head, |event| event.source() == source),
        Selection::Import(import) => {
            scan(from, Seq::ZERO, head, |event| event.operation.kind == OperationKind::Import(*import))
        }
    }
}

fn scan<H: History>(
    from: &H,
    after: Seq,
    through: Seq,
    matches: impl Fn(&RecordedEvent) -> bool,
) -> Result<BTreeSet<Seq>, Refusal<H::Error>> {
    let mut found = BTreeSet::new();
    from.between(after, through, &mut |event| {
        if can_be_undone(&event.event) && matches(event) {
            found.insert(event.seq);
        }
    })
    .map_err(history)?;
    Ok(found)
}

/// A position of an event that sums up its operation stands for the whole operation, so an undo is
/// redone, or a rollback or a page of a dream taken back, by one position.
fn single<H: History>(from: &H, seqs: &[Seq], head: Seq) -> Result<BTreeSet<Seq>, Refusal<H::Error>> {
    let mut found = BTreeSet::new();
    for seq in seqs {
        if !seq.is_some() || *seq > head {
            let message = format!("there is no position {seq}; the last one is {head}");
            return Err(Rejection::invalid("seqs", "out_of_range", message).into());
        }
        let event = from.event(*seq).map_err(history)?;
        match &event.event {
            Event::Undone(_) | Event::RolledBack(_) | Event::Imported(_) | Event::DreamPageApplied(_) => {
                found.extend(whole_operation(from, &event).map_err(history)?);
            }
            other if can_be_undone(other) => {
                found.insert(*seq);
            }
            Event::Lost(_) | Event::Salvaged(_) => {
                let message = format!("what was recorded at position {seq} is about damage of the log");
                return Err(Rejection::invalid("seqs", "not_undoable", message).into());
            }
            Event::Purged(_) | Event::PurgeCompleted(_) => {
                let message = format!("position {seq} is a purge, which cannot be undone");
                return Err(Rejection::invalid("seqs", "not_undoable", message).into());
            }
            _ => {
                let message = format!("position {seq} is a snapshot, a dream's start, its finish or its report");
                return Err(Rejection::invalid("seqs", "not_undoable", message).into());
            }
        }
    }
    Ok(found)
}

fn whole_operation<H: History>(from: &H, event: &Arc<RecordedEvent>) -> Result<BTreeSet<Seq>, H::Error> {
    let first = event.operation.first;
    let last = first.plus(u64::from(event.operation.count)).before();
    let mut found = BTreeSet::new();
    from.between(first.before(), last, &mut |event| {
        if can_be_undone(&event.event) {
            found.insert(event.seq);
        }
    })?;
    Ok(found)
}

/// Events about entries, and the summary of an undo: it stands for an undo that changed no entry.
fn can_be_undone(event: &Event) -> bool {
    match event {
        Event::Committed(_)
        | Event::Revised(_)
        | Event::Confirmed(_)
        | Event::Forgotten(_)
        | Event::Flagged(_)
        | Event::Unflagged(_)
        | Event::Restored(_)
        | Event::Removed(_)
        | Event::Reflagged(_)
        | Event::Undone(_) => true,
        Event::SnapshotTaken(_)
        | Event::DreamStarted(_)
        | Event::DreamPageApplied(_)
        | Event::DreamFinished(_)
        | Event::ReportWritten(_)
        | Event::RolledBack(_)
        | Event::Imported(_)
        | Event::Purged(_)
        | Event::PurgeCompleted(_)
        | Event::Lost(_)
        | Event::Salvaged(_) => false,
    }
}
