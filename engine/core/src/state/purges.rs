//! Purges: which are not finished, and what all of them erased.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::event::{PurgeCompleted, Purged};
use crate::id::Seq;

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct PurgeBook {
    /// Purges whose bodies may still be there, in part or whole, with those bodies.
    unfinished: BTreeMap<Seq, Vec<Seq>>,
    /// Bytes of values and metadata objects that are or will be erased.
    pub(super) bytes: u64,
}

impl PurgeBook {
    pub(super) fn purged(&mut self, seq: Seq, purged: &Purged) {
        self.bytes = self.bytes.saturating_add(purged.bytes);
        self.unfinished.insert(seq, purged.bodies.clone());
    }

    pub(super) fn completed(&mut self, completed: &PurgeCompleted) {
        for purge in &completed.purges {
            self.unfinished.remove(purge);
        }
    }

    pub(super) fn unfinished(&self) -> &BTreeMap<Seq, Vec<Seq>> {
        &self.unfinished
    }

    /// Takes up a purge that is not finished.
    pub(super) fn take_up(&mut self, seq: Seq, bodies: Vec<Seq>) {
        self.unfinished.insert(seq, bodies);
    }
}
