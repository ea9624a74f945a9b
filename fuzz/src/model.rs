//! What a store must hold: a map of values, and nothing of how the engine comes to it.

use std::collections::{BTreeMap, BTreeSet};

use bilinc::{Event, ListQuery, Memory, Seq};
use bilinc_core::RecordedEvent;

use crate::steps::Asked;

/// An entry as far as the model knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Held {
    /// None when it is hidden.
    value: Option<String>,
    /// It has a time to live, so it may go by itself.
    mortal: bool,
}

#[derive(Debug, Default)]
pub struct Model {
    entries: BTreeMap<String, Held>,
    snapshots: BTreeMap<Seq, BTreeMap<String, Held>>,
    /// Keys that were purged at some time, and the values that were in them.
    purged: BTreeSet<String>,
    written: BTreeMap<String, Vec<String>>,
    pub erased: Vec<String>,
}

impl Model {
    /// An operation was answered that recorded these events; `memory` shows what came of it.
    pub fn done(&mut self, asked: &Asked, events: &[RecordedEvent], memory: &Memory) {
        let held = |value: &bilinc::Json, mortal| Held { value: Some(value.as_str().to_owned()), mortal };
        let touched: BTreeSet<&str> = events.iter().filter_map(|event| Some(event.event.key()?.as_str())).collect();
        let alone = |key: &bilinc::Key| assert!(touched.iter().all(|name| *name == key.as_str()), "{touched:?}");
        for (key, value) in asked.values() {
            self.written.entry(key).or_default().push(value);
        }
        match asked {
            Asked::Commit(commit) => {
                alone(&commit.key);
                self.entries.insert(commit.key.to_string(), held(&commit.value, commit.ttl.is_some()));
            }
            Asked::Revise(revise) => {
                alone(&revise.key);
                let before = self.entries.get(revise.key.as_str()).expect("only what is there is revised");
                let after = held(&revise.value, before.mortal);
                self.entries.insert(revise.key.to_string(), after);
            }
            Asked::Forget(forget) => {
                alone(&forget.key);
                let name = forget.key.to_string();
                self.entries.remove(&name);
                if forget.purge {
                    self.erased.append(self.written.entry(name.clone()).or_default());
                    self.purged.insert(name);
                }
            }
            Asked::Confirm(_) | Asked::Flag(_) | Asked::Unflag(_) | Asked::DreamStart(_) => {}
            Asked::Snapshot(_) => {}
            Asked::Rollback { snapshot, .. } => {
                self.look(&touched, memory);
                self.hold_against(*snapshot);
            }
            Asked::Import(..) | Asked::DreamApply { .. } | Asked::DreamUndo(_) | Asked::Undo(_) => {
                self.look(&touched, memory);
            }
        }
        for event in events.iter().filter(|event| matches!(event.event, Event::SnapshotTaken(_))) {
            self.snapshots.insert(event.seq, self.entries.clone());
        }
    }

    /// Takes over what the store shows of keys that an operation has to do with: no others may change.
    fn look(&mut self, touched: &BTreeSet<&str>, memory: &Memory) {
        for name in touched {
            match memory.get(name).expect("a read") {
                Some(found) => {
                    let value = found.value.map(|value| value.as_str().to_owned());
                    let mortal = found.entry.facts.ttl.is_some();
                    self.entries.insert((*name).to_owned(), Held { value, mortal });
                }
                None => drop(self.entries.remove(*name)),
            }
        }
    }

    /// What a rollback leaves is what was there, but for what was purged or went by itself. It leaves the reports of
    /// dreams alone.
    fn hold_against(&self, snapshot: Seq) {
        let Some(then) = self.snapshots.get(&snapshot) else { return };
        let lasting = |entries: &BTreeMap<String, Held>| {
            let keep = |(name, held): &(&String, &Held)| {
                !held.mortal && !self.purged.contains(*name) && !name.starts_with(bilinc::DREAM_PREFIX)
            };
            entries.iter().filter(keep).map(|(name, held)| (name.clone(), held.clone())).collect::<Vec<_>>()
        };
        assert_eq!(lasting(&self.entries), lasting(then), "a rollback brought back something else");
    }

    /// The store shows exactly this.
    pub fn assert_shown(&self, memory: &Memory) {
        let page = memory.list(&ListQuery { limit: Some(1_000), ..ListQuery::default() }).expect("a list");
        let mut shown = BTreeSet::new();
        for entry in page.entries {
            let name = entry.key.to_string();
            let value = entry.value.map(|value| value.as_str().to_owned());
            let held = self.entries.get(&name).unwrap_or_else(|| panic!("{name} should be gone"));
            assert_eq!(value, held.value, "{name} has another value");
            shown.insert(name);
        }
        let lost = self.entries.iter().find(|(name, held)| !held.mortal && !shown.contains(*name));
        assert_eq!(lost, None, "an answered write is lost");
    }
}
