//! Reads of a run: the present, the past, and the whole store told again.

use std::collections::BTreeMap;

use bilinc::{At, DiffItem, DiffQuery, ImportOptions, ListQuery, MemoryEntry, Order, RecallQuery, Seq, Version};

use super::run::Run;
use crate::model::{Mem, content_of};
use crate::support::*;

const REASON: &str = "back to then";

fn assert_same(entry: &MemoryEntry, mem: &Mem, what: &str) {
    assert_eq!(content_of(entry), mem.content(), "{what}");
    let inner = &entry.entry;
    assert_eq!((inner.version, inner.updated_at), (mem.version, mem.updated_at), "{what}");
    assert_eq!(inner.flags.iter().map(|flag| flag.dream).collect::<Vec<_>>(), mem.flags, "{what}");
}

impl Run {
    /// The present through both handles.
    pub(super) fn check(&self) {
        let now = self.now();
        for memory in &self.handles {
            for (_, name) in Self::keys() {
                match (memory.get(name).unwrap(), self.model.live(name, now)) {
                    (Some(entry), Some(mem)) => assert_same(&entry, mem, name),
                    (None, None) => {}
                    (entry, mem) => panic!("{name}: {entry:?} should be {mem:?}"),
                }
            }
        }
    }

    pub(super) fn as_of(&self, pick: usize) {
        if self.model.past.is_empty() {
            return;
        }
        let past = &self.model.past[pick % self.model.past.len()];
        // As of its time is as of the last position of that time.
        let last = self.model.past.iter().rev().find(|other| other.at == past.at).unwrap();
        for (_, name) in Self::keys() {
            let points = [(At::Position(past.seq), past), (At::Time(past.at), last)];
            for (at, past) in points {
                let entry = self.memory().get_at(name, at).unwrap();
                match (entry, past.live(name, past.at)) {
                    (Some(entry), Some(mem)) => {
                        assert_eq!(entry.entry.version, mem.version, "{name} at {at:?}");
                        let hidden = self.model.is_hidden(name, mem);
                        assert_eq!(entry.values_redacted, hidden, "{name} at {at:?}");
                        assert_eq!(entry.value.is_none() && entry.metadata.is_none(), hidden);
                        if !hidden {
                            assert_same(&entry, mem, name);
                        }
                    }
                    (None, None) => {}
                    (entry, mem) => panic!("{name} at {at:?}: {entry:?} should be {mem:?}"),
                }
            }
        }
    }

    pub(super) fn diff(&self, from: usize, to: usize) {
        let past = &self.model.past;
        if past.is_empty() {
            return;
        }
        let (from, to) = (&past[from % past.len()], &past[to % past.len()]);
        let query = DiffQuery {
            from: At::Position(from.seq),
            to: to.snapshot.map_or(At::Position(to.seq), At::Snapshot),
            include_values: true,
            limit: 100,
        };
        let diff = self.memory().diff(&query).unwrap();
        let keys = |items: &[DiffItem]| {
            items.iter().map(|item| item.key.to_string()).filter(|key| !key.starts_with("bilinc:")).collect::<Vec<_>>()
        };
        assert_eq!([keys(&diff.added), keys(&diff.modified), keys(&diff.removed)], from.diff(to), "{query:?}");
    }

    pub(super) fn roll_back(&mut self, pick: usize) {
        let snapshots: Vec<_> = self.model.past.iter().filter(|past| past.snapshot.is_some()).cloned().collect();
        let Some(past) = snapshots.get(pick % snapshots.len().max(1)) else { return };
        let (id, now) = (past.snapshot.unwrap(), self.now());
        let plan = self.model.plan(past, now);
        let preview = self.memory().rollback_preview(id, REASON, 100).unwrap();
        let names = |keys: &[bilinc::Key]| keys.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!([&preview.create_keys, &preview.update_keys, &preview.remove_keys].map(|keys| names(keys)), plan);
        self.nothing_written();
        let answer = self.memory().rollback(id, REASON, &preview.confirmation_token).unwrap().answer;
        assert_eq!([answer.done.created, answer.done.updated, answer.done.deleted], preview.counts);
        let versions: BTreeMap<String, Version> =
            plan[..2].iter().flatten().map(|name| (name.clone(), self.version_at(name))).collect();
        let through = self.head();
        self.model.roll_back(past, now, through, &versions);
        self.model.keep(through, now, None);
        let used = self.memory().rollback(id, REASON, &preview.confirmation_token).unwrap_err();
        assert_eq!(used.code(), "state_changed_since_preview");
    }

    pub(super) fn list(&self, limit: usize) {
        let now = self.now();
        let live = || self.model.entries.iter().filter(|(_, mem)| mem.is_live(now));
        for order in [Order::Key, Order::Newest, Order::Oldest] {
            let mut query = ListQuery { limit: Some(limit), order, ..ListQuery::default() };
            let mut listed = Vec::new();
            loop {
                let page = self.memory().list(&query).unwrap();
                let all = page.entries.len();
                assert!(all == limit || page.next_cursor.is_none(), "only the last page is short");
                listed.extend(page.entries);
                match page.next_cursor {
                    Some(cursor) => query.cursor = Some(cursor),
                    None => break,
                }
            }
            listed.retain(|entry| !entry.key.is_reserved());
            let keys: Vec<_> = listed.iter().map(|entry| entry.key.to_string()).collect();
            let mut expected: Vec<_> = live().map(|(name, mem)| (mem.updated_at, name.clone())).collect();
            match order {
                Order::Key => expected.sort_by(|a, b| a.1.cmp(&b.1)),
                Order::Oldest => expected.sort(),
                Order::Newest => expected.sort_by(|a, b| b.cmp(a)),
            }
            assert_eq!(keys, expected.into_iter().map(|(_, name)| name).collect::<Vec<_>>(), "{order:?}");
        }
    }

    /// Everything that costs more than a look.
    pub(super) fn check_all(&self) {
        self.bench.assert_sound();
        for memory in &self.handles {
            assert!(memory.is_same_state(&self.bench.memory).unwrap(), "two handles on one store stand apart");
        }
        (0..self.model.past.len()).for_each(|index| self.as_of(index));
        self.list(2);
        if let Some(past) = self.model.past.get(self.model.past.len() / 2) {
            let then = self.bench.memory.replayed_through(past.seq).unwrap();
            for (_, name) in Self::keys() {
                let told = then.get(name).unwrap().map(|entry| entry.entry.version);
                assert_eq!(told, past.live(name, past.at).map(|mem| mem.version), "{name} replayed");
            }
        }
        self.check_recall();
        self.check_transfer();
        let events = self.bench.memory.recorded(Seq::ZERO).unwrap();
        assert!(events.iter().zip(1_u64..).all(|(event, seq)| event.seq.get() == seq), "positions have no gap");
        let mut versions: Vec<_> = events.iter().filter_map(|event| event.event.version()).collect();
        let all = versions.len();
        versions.sort_unstable();
        versions.dedup();
        assert_eq!(versions.len(), all, "versions repeat");
    }

    /// Every entry is found by its own value, as it is now, and nothing that is not there is found.
    pub(super) fn check_recall(&self) {
        let now = self.now();
        for memory in &self.handles {
            for (name, mem) in self.model.entries.iter().filter(|(_, mem)| mem.is_live(now)) {
                let query = RecallQuery { limit: 100, ..RecallQuery::new(mem.value.trim_matches('"')) };
                let hits = memory.recall(&query).unwrap();
                let hit = hits.iter().find(|hit| hit.memory.key.as_str() == name);
                assert_same(&hit.unwrap_or_else(|| panic!("{name} is not found")).memory, mem, name);
                for hit in &hits {
                    assert!(self.model.live(hit.memory.key.as_str(), now).is_some(), "{} is gone", hit.memory.key);
                }
            }
        }
    }

    fn check_transfer(&self) {
        let mut text = Vec::new();
        self.bench.memory.export(&mut text, &mut |_, _| {}).unwrap();
        let target = {
            let bench = Bench::new();
            bench.clock.set(self.now());
            bench.memory
        };
        target.import(&text[..], ImportOptions::default(), &mut |_, _| {}).unwrap();
        let now = self.now();
        for (_, name) in Self::keys() {
            let there = target.get(name).unwrap();
            let mem = self.model.live(name, now);
            assert_eq!(there.as_ref().map(content_of), mem.map(Mem::content), "{name} imported");
            assert_eq!(there.map(|entry| entry.entry.updated_at), mem.map(|mem| mem.updated_at));
        }
    }
}
