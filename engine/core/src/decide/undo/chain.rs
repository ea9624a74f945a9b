//! What still stands of the events of one key.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;

use crate::event::{Event, RecordedEvent};
use crate::id::Seq;

/// The positions of a key's chain that are taken back: those that an undo took back and that undo
/// itself, unless the undo was itself taken back.
///
/// `extra` is taken as taken back already. Undos in `kept` are about to be undone: they and what
/// they took back stay, unless all of that is in `kept`, too, and the two cancel out.
///
/// An undo lies behind what it takes back, so one walk from the newest event decides each.
pub(super) fn taken_back(chain: &[Arc<RecordedEvent>], kept: &BTreeSet<Seq>, extra: &[Seq]) -> BTreeSet<Seq> {
    let mut taken: BTreeSet<Seq> = extra.iter().copied().collect();
    for event in chain.iter().rev() {
        let undoes = event.event.undoes();
        let cancels = !kept.contains(&event.seq) || undoes.iter().all(|seq| kept.contains(seq));
        if !undoes.is_empty() && !taken.contains(&event.seq) && cancels {
            taken.insert(event.seq);
            taken.extend(undoes.iter().copied());
        }
    }
    taken
}

/// The first standing event behind `from` that ended the entry that was there, or made it anew, and
/// with it ended its flags; [`Seq::MAX`] while the entry lives on.
pub(super) fn end_of_entry(chain: &[Arc<RecordedEvent>], taken: &BTreeSet<Seq>, from: Seq) -> Seq {
    let ends = |event: &RecordedEvent| {
        matches!(event.event, Event::Forgotten(_) | Event::Removed(_) | Event::Purged(_)) || event.event.creates()
    };
    chain
        .iter()
        .find(|event| event.seq > from && ends(event) && !taken.contains(&event.seq))
        .map_or(Seq::MAX, |event| event.seq)
}

/// The newest forget or purge of the chain that stands once `extra` is taken back, [`Seq::ZERO`] for none.
/// What was lost may have been one.
pub(super) fn standing_forget(chain: &[Arc<RecordedEvent>], extra: &[Seq]) -> Seq {
    let taken = taken_back(chain, &BTreeSet::new(), extra);
    chain
        .iter()
        .rev()
        .find(|event| {
            matches!(event.event, Event::Forgotten(_) | Event::Purged(_) | Event::Lost(_))
                && !taken.contains(&event.seq)
        })
        .map_or(Seq::ZERO, |event| event.seq)
}
