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

/// What is taken back of each key before this undo and once it is recorded.
#[derive(Debug, Default)]
pub(super) struct Standing {
    keys: BTreeMap<Key, Taken>,
    /// Dreams that acted on a key which this undo changes.
    touched: BTreeSet<DreamId>,
    /// Dreams whose redo is undone.
    redone: BTreeSet<DreamId>,
}

#[derive(Debug)]
struct Taken {
    before: BTreeSet<Seq>,
    after: BTreeSet<Seq>,
}

/// Changes of a dream.
#[derive(Debug, Default)]
struct Tally {
    /// Taken back before this undo.
    before: usize,
    /// Taken back once it is recorded.
    after: usize,
    all: usize,
    /// Whether a flag that it set is open and stays so.
    flags: bool,
}

impl Standing {
    /// An undo is among what is undone.
    pub(super) fn undoes(&mut self, undone: &Undone) {
        let redone = undone.dreams.iter().filter(|(_, shift)| *shift == DreamShift::Redone);
        self.redone.extend(redone.map(|(dream, _)| *dream));
    }

    /// The key was judged; this undo takes back `now` of it.
    pub(super) fn judged(&mut self, key: &Key, chain: &[Arc<RecordedEvent>], now: &[Seq]) {
        if !now.is_empty() {
            self.touched.extend(chain.iter().filter_map(|event| event.dream()));
        }
        let none = BTreeSet::new();
        let taken = Taken { before: taken_back(chain, &none, &[]), after: taken_back(chain, &none, now) };
        self.keys.insert(key.clone(), taken);
    }

    fn tally<H: History>(&mut self, state: &State, from: &H, record: &DreamRecord) -> Result<Tally, H::Error> {
        let mut tally = Tally::default();
        for seq in &record.own {
            let event = from.event(*seq)?;
            let Some(key) = event.event.key() else {
                continue;
            };
            if !self.keys.contains_key(key) {
                let head = state.slot(key.as_str()).map_or(Seq::ZERO, |slot| slot.head);
                self.judged(key, &chain_of(from, head)?, &[]);
            }
            let Some(taken) = self.keys.get(key) else {
                continue;
            };
            if event.event.is_change() {
                tally.all += 1;
                tally.before += usize::from(taken.before.contains(seq));
                tally.after += usize::from(taken.after.contains(seq));
            } else {
                let entry = state.slot(key.as_str()).and_then(|slot| slot.entry.as_ref());
                let open = entry.is_some_and(|entry| entry.flags.iter().any(|flag| flag.seq == *seq));
                tally.flags |= open && !taken.after.contains(seq);
            }
        }
        Ok(tally)
    }
}

/// The dreams whose standing this undo changes, and how.
///
/// A dream that the selection names is undone. Any other is undone when nothing of its changes
/// stands any more and none of its flags is open, and stands again when the undo of its undo leaves
/// none of its changes taken back.
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
            let partly = !undone.conflicts.is_empty();
            // Trying the conflicts of an earlier undo again may change nothing.
            if !undone.restored.is_empty() || record.undo.is_none_or(|undo| undo.partly != partly) {
                shifts.push((dream, DreamShift::Undone { partly }));
            }
            continue;
        }
        let redo = record.undo.is_some_and(|undo| selected.contains(&undo.summary));
        let unredo = record.undo.is_none() && standing.redone.contains(&dream);
        if !redo && !unredo && !standing.touched.contains(&dream) {
            continue;
        }
        let Tally { before, after, all, flags } = standing.tally(state, from, record)?;
        let shift = match record.undo {
            None if unredo => Some(DreamShift::Undone { partly: after < all }),
            None => (before < after && after == all && !flags).then_some(DreamShift::Undone { partly: false }),
            Some(_) if after == 0 && (redo || after < before) => Some(DreamShift::Redone),
            Some(undo) if undo.partly => {
                (before < after && after == all).then_some(DreamShift::Undone { partly: false })
            }
            Some(_) => (after < before).then_some(DreamShift::Undone { partly: true }),
        };
        shifts.extend(shift.map(|shift| (dream, shift)));
    }
    Ok(shifts)
}
