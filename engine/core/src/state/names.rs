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
pub(super) struct Names {
    all: HashSet<Arc<str>, FixedState>,
    source: Recent,
    session_id: Recent,
}

/// The name that came last, with its copy: one event after another has the same.
type Recent = Option<(Arc<str>, Arc<str>)>;

impl PartialEq for Names {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Names {
    pub(super) fn new(hasher: FixedState) -> Self {
        Self { all: HashSet::with_hasher(hasher), source: None, session_id: None }
    }

    /// Replaces the names in an entry by the copies that are there already, or makes them those copies.
    pub(super) fn share_of(&mut self, entry: &mut Entry) {
        share(&mut self.all, &mut self.source, &mut entry.facts.source);
        if let Some(session) = &mut entry.facts.session_id {
            share(&mut self.all, &mut self.session_id, session);
        }
    }

    /// Adds names that the entries of others share.
    pub(super) fn add(&mut self, others: Self) {
        self.all.extend(others.all);
    }
}

fn share(all: &mut HashSet<Arc<str>, FixedState>, recent: &mut Recent, text: &mut Arc<str>) {
    if let Some((came, copy)) = recent
        && (Arc::ptr_eq(came, text) || came == text)
    {
        *text = Arc::clone(copy);
        return;
    }
    let copy = Arc::clone(all.get_or_insert_with(text.as_ref(), |_| Arc::clone(text)));
    *recent = Some((core::mem::replace(text, Arc::clone(&copy)), copy));
}
