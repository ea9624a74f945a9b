//! Dream passes in the model: each has one page, with at most one action on a key.

use std::collections::{BTreeMap, BTreeSet};

use bilinc::{DreamId, Timestamp, Version, limits};

use super::{Mem, Model, What};

#[derive(Debug, Clone)]
pub(crate) struct Pass {
    pub(crate) dream: DreamId,
    /// Keys that it changed or flagged.
    pub(crate) touched: BTreeSet<String>,
    pub(crate) until: Timestamp,
    pub(crate) undone: bool,
}

/// Keys taken back, kept as conflicts, and with nothing to do.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Taken {
    pub(crate) restored: Vec<String>,
    pub(crate) conflicts: Vec<String>,
    pub(crate) unchanged: Vec<String>,
}

impl Pass {
    pub(crate) fn new(dream: DreamId, touched: BTreeSet<String>, at: Timestamp) -> Self {
        Self { dream, touched, until: at.plus(limits::DREAM_MICROS), undone: false }
    }
}

impl Model {
    /// Takes a pass back; `versions` are those that the engine gave. With `whole`, removed entries come
    /// back with all that belonged to them.
    pub(crate) fn undo_pass(
        &mut self,
        pass: &Pass,
        whole: bool,
        now: Timestamp,
        versions: &BTreeMap<String, Version>,
    ) -> Taken {
        let mut taken = Taken::default();
        for name in &pass.touched {
            let list = match self.undo_key(name, pass.dream, whole, now, versions) {
                Some(true) => &mut taken.restored,
                Some(false) => &mut taken.unchanged,
                None => &mut taken.conflicts,
            };
            list.push(name.clone());
        }
        taken
    }

    /// `None` for a conflict, else whether anything was to do.
    fn undo_key(
        &mut self,
        name: &str,
        dream: DreamId,
        whole: bool,
        now: Timestamp,
        versions: &BTreeMap<String, Version>,
    ) -> Option<bool> {
        let mut cleared = false;
        if let Some(mem) = self.entries.get_mut(name) {
            let flags = mem.flags.len();
            mem.flags.retain(|flag| *flag != Some(dream));
            cleared = mem.flags.len() < flags;
        }
        let standing = self.standing.entry(name.to_owned()).or_default();
        let Some(first) = standing.iter().position(|change| change.dream == Some(dream)) else {
            return Some(cleared);
        };
        if standing[first..].iter().any(|change| change.dream != Some(dream)) {
            return None;
        }
        let popped = standing.split_off(first);
        let confirms = popped.iter().all(|change| change.what == What::Confirm);
        let before = popped.into_iter().next().and_then(|change| change.before).unwrap();
        let current = self.entries.get(name).map(|mem| mem.flags.clone());
        let removed = current.is_none();
        let flags = current.unwrap_or_else(|| self.standing_flags(&before));
        let version = self.fresh(versions[name]);
        let mut back = Mem { updated_at: if confirms { before.updated_at } else { now }, flags, version, ..before };
        if removed && !whole {
            back = back.bare();
        }
        self.put(name, Some(back));
        Some(true)
    }
}

impl Mem {
    /// What is left of a removed entry whose metadata is not asked for.
    fn bare(self) -> Self {
        let words: Vec<&str> = self.facts.split(", ").collect();
        let keep = |field: &str| words.iter().find(|word| word.contains(field)).copied().unwrap_or_default();
        let facts = format!(
            "{}, {}, {}, session_id: None, canonical: None, priority: None, ttl: None }}",
            keep("memory_type"),
            keep("importance"),
            keep("source")
        );
        Self {
            facts,
            metadata: "{}".into(),
            metadata_at: None,
            canonical: false,
            ttl: None,
            confirmed_at: None,
            flags: Vec::new(),
            ..self
        }
    }
}
