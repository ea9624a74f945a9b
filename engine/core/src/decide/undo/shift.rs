//! What an undo means for dreams.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::chain::taken_back;
use crate::command::Selection;
use crate::event::{DreamShift, RecordedEvent, Undone};
use crate::history::{History, chain_of};
use crate::id::{DreamId, Seq};
use crate::key::Key;
use crate::state::{DreamRecord, State};

/// What is taken back of each key once this undo is recorded.
#[derive(Debug, Default)]
pub(super) struct Standing {
    /// Taken back by this undo.
    now: BTreeMap<Key, Vec<Seq>>,
    /// All that is taken back then, for the keys that were looked at.
    taken: BTreeMap<Key, BTreeSet<Seq>>,
}

impl Standing {
    pub(super) fn compensated(&mut self, key: &Key, undoes: &[Seq]) {
        self.now.entry(key.clone()).or_default().extend_from_slice(undoes);
    }

    pub(super) fn judged(&mut self, key: &Key, chain: &[Arc<RecordedEvent>]) {
        let now = self.now.get(key).map_or(&[][..], Vec::as_slice);
        let taken = taken_back(chain, &BTreeSet::new(), now);
        self.taken.insert(key.clone(), taken);
    }

    fn is_taken_back<H: History>(&mut self, state: &State, from: &H, event: &RecordedEvent) -> Result<bool, H::Error> {
        let Some(key) = event.event.key() else {
            return Ok(false);
        };
        if !self.taken.contains_key(key) {
            let head = state.slot(key.as_str()).map_or(Seq::ZERO, |slot| slot.head);
            let chain = chain_of(from, head)?;
            self.judged(key, &chain);
        }
        Ok(self.taken.get(key).is_some_and(|taken| taken.contains(&event.seq)))
    }
}

/// The dreams whose standing this undo changes, and how.
///
/// A dream that the selection names is undone. Any other is undone when nothing of its changes
/// stands any more, and stands again when the undo of its undo leaves none of them taken back.
pub(super) fn shifts<H: History>(
    state: &State,
    from: &H,
    undone: &Undone,
    selected: &BTreeSet<Seq>,
    standing: &mut Standing,
) -> Result<Vec<(DreamId, DreamShift)>, H::Error> {
    let mut shifts = Vec::new();
    for (dream, record) in state.dreams() {
        if undone.selection == Selection::Dream(dream) {
            shifts.push((dream, DreamShift::Undone { partly: !undone.conflicts.is_empty() }));
            continue;
        }
        let own = record.own.iter().any(|seq| selected.contains(seq));
        let redo = redoes(record, selected);
        if !own && !redo {
            continue;
        }
        let (taken, all) = tally(state, from, record, standing)?;
        match record.undo {
            Some(_) if redo && taken == 0 => shifts.push((dream, DreamShift::Redone)),
            Some(undo) if !undo.partly && taken < all => {
                shifts.push((dream, DreamShift::Undone { partly: true }));
            }
            Some(undo) if undo.partly && taken == all => shifts.push((dream, DreamShift::Undone { partly: false })),
            None if own && taken == all && all > 0 => shifts.push((dream, DreamShift::Undone { partly: false })),
            Some(_) | None => {}
        }
    }
    Ok(shifts)
}

/// Whether the selection names a part of the undo of this dream.
fn redoes(record: &DreamRecord, selected: &BTreeSet<Seq>) -> bool {
    record.undo.is_some_and(|undo| {
        let end = undo.first.plus(u64::from(undo.count));
        selected.range(undo.first..end).next().is_some()
    })
}

/// How many of the dream's changes are taken back, and how many there are.
fn tally<H: History>(
    state: &State,
    from: &H,
    record: &DreamRecord,
    standing: &mut Standing,
) -> Result<(usize, usize), H::Error> {
    let (mut taken, mut all) = (0, 0);
    for seq in &record.own {
        let event = from.event(*seq)?;
        if event.event.is_change() {
            all += 1;
            taken += usize::from(standing.is_taken_back(state, from, &event)?);
        }
    }
    Ok((taken, all))
}
