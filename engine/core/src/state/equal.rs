//! When two states are the same.

use super::State;
use crate::id::Seq;
use crate::key::Key;

/// In which order keys came does not count.
impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        // Named one by one, so that none that is added is forgotten.
        let Self {
            slots,
            names,
            review,
            tally,
            recorded_bytes,
            dreams,
            snapshots,
            idempotency,
            purges,
            losses,
            head,
            last_time,
        } = self;
        *slots == other.slots
            && *names == other.names
            && *review == other.review
            && self.waiting().eq(other.waiting())
            && *tally == other.tally
            && *recorded_bytes == other.recorded_bytes
            && *dreams == other.dreams
            && *snapshots == other.snapshots
            && *idempotency == other.idempotency
            && *purges == other.purges
            && *losses == other.losses
            && *head == other.head
            && *last_time == other.last_time
    }
}

impl State {
    fn waiting(&self) -> impl Iterator<Item = &Key> {
        self.changed_since(Seq::ZERO, true).map(|(key, _)| key)
    }
}
