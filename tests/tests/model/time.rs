//! Points of the past, and going back to one.

use std::collections::{BTreeMap, BTreeSet};

use bilinc::{Seq, Timestamp, Version};

use super::{Mem, Model, Past, Standing, What};

/// Keys only at the second point, at both and different, only at the first.
pub(crate) type Lists = [Vec<String>; 3];

impl Past {
    pub(crate) fn live(&self, name: &str, time: Timestamp) -> Option<&Mem> {
        self.entries.get(name).filter(|mem| mem.is_live(time))
    }

    /// What lies between this point and another.
    pub(crate) fn diff(&self, other: &Past) -> Lists {
        let mut lists = Lists::default();
        let names: BTreeSet<&String> = self.entries.keys().chain(other.entries.keys()).collect();
        for name in names {
            let which = match (self.live(name, self.at), other.live(name, other.at)) {
                (None, Some(_)) => 0,
                (Some(then), Some(now)) if then.content() != now.content() => 1,
                (Some(_), None) => 2,
                _ => continue,
            };
            lists[which].push(name.clone());
        }
        lists
    }
}

impl Model {
    /// What a rollback to a past state would create, update and remove.
    pub(crate) fn plan(&self, past: &Past, now: Timestamp) -> Lists {
        let mut lists = Lists::default();
        let names: BTreeSet<&String> = past.entries.keys().chain(self.entries.keys()).collect();
        for name in names {
            let which = match (past.live(name, past.at), self.live(name, now)) {
                (Some(_), None) => 0,
                (Some(then), Some(current)) if then.content() != current.content() => 1,
                (None, Some(_)) => 2,
                _ => continue,
            };
            lists[which].push(name.clone());
        }
        lists
    }

    /// Goes back, with the versions that the engine gave.
    pub(crate) fn roll_back(
        &mut self,
        past: &Past,
        now: Timestamp,
        through: Seq,
        versions: &BTreeMap<String, Version>,
    ) {
        let [create, update, remove] = self.plan(past, now);
        let standing = |before| Standing { seq: None, through, dream: None, what: What::Other, before };
        for name in create.iter().chain(&update) {
            let then = past.entries[name].clone();
            let version = self.fresh(versions[name]);
            let current = self.live(name, now).cloned();
            let flags = current.as_ref().map_or_else(Vec::new, |mem| mem.flags.clone());
            let mem = Mem { updated_at: now, version, flags, ..then };
            self.change(name, standing(current), |_| Some(mem));
        }
        for name in &remove {
            let current = self.live(name, now).cloned();
            self.change(name, standing(current), |_| None);
        }
    }
}
