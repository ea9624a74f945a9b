//! What still stands of the events of one key.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;

use crate::event::{Event, RecordedEvent};
use crate::id::Seq;

/// The positions of a key's chain that are taken back: those that an undo took back and that undo
/// itself, unless the undo was itself taken back.
///
/// `extra` is taken as taken back already. Undos in `kept` are not looked through: they and what
/// they took back stay, because they are what is about to be undone.
///
/// An undo lies behind what it takes back, so one walk from the newest event decides each.
pub(super) fn taken_back(chain: &[Arc<RecordedEvent>], kept: &BTreeSet<Seq>, extra: &[Seq]) -> BTreeSet<Seq> {
    let mut taken: BTreeSet<Seq> = extra.iter().copied().collect();
    for event in chain.iter().rev() {
        let undoes = event.event.undoes();
        if !undoes.is_empty() && !taken.contains(&event.seq) && !kept.contains(&event.seq) {
            taken.insert(event.seq);
            taken.extend(undoes.iter().copied());
        }
    }
    taken
}

/// The newest forget of the chain that stands once `extra` is taken back, [`Seq::ZERO`] for none.
pub(super) fn standing_forget(chain: &[Arc<RecordedEvent>], extra: &[Seq]) -> Seq {
    let taken = taken_back(chain, &BTreeSet::new(), extra);
    chain
        .iter()
        .rev()
        .find(|event| matches!(event.event, Event::Forgotten(_)) && !taken.contains(&event.seq))
        .map_or(Seq::ZERO, |event| event.seq)
}
