//! One copy of each source and session id.

use alloc::sync::Arc;

use foldhash::quality::FixedState;
use hashbrown::HashSet;

use crate::entry::Entry;

/// The names that entries share, so that a name which a million entries have is held once.
///
/// No answer depends on it, and a state that was kept and taken up again has not those names that no
/// entry has any more: so it does not count when states are compared.
#[derive(Debug, Clone)]
pub(super) struct Names(HashSet<Arc<str>, FixedState>);

impl PartialEq for Names {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Names {
    pub(super) fn new(hasher: FixedState) -> Self {
        Self(HashSet::with_hasher(hasher))
    }

    /// Replaces the names in an entry by the copies that are there already, or makes them those copies.
    pub(super) fn share_of(&mut self, entry: &mut Entry) {
        self.share(&mut entry.facts.source);
        if let Some(session) = &mut entry.facts.session_id {
            self.share(session);
        }
    }

    fn share(&mut self, text: &mut Arc<str>) {
        let shared = self.0.get_or_insert_with(text.as_ref(), |_| Arc::clone(text));
        *text = Arc::clone(shared);
    }
}
