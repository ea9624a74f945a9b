//! Undo, from the whole entry before every change.

use std::collections::BTreeSet;

use bilinc_core::{Event, Seq, UndoConflictReason, Undone};

use super::{Mem, Naive, Op, Step, event};
use crate::harness::{Answer, Store};

/// What becomes of a key.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Restored,
    /// The newest foreign change, and whether a purge is among them.
    Conflict(Seq, bool),
    Unchanged,
}

/// How the steps of one key stand to an undo.
struct View<'a> {
    steps: Vec<&'a Step>,
    selected: &'a BTreeSet<Seq>,
}

impl View<'_> {
    /// Undos that are to be undone themselves. One whose targets are all selected, too, cancels out
    /// with them.
    fn kept(&self, step: &Step) -> bool {
        self.selected.contains(&step.seq) && !step.undoes.is_subset(self.selected)
    }

    fn dead(&self, seq: Seq) -> bool {
        self.steps.iter().any(|by| by.undoes.contains(&seq) && !self.kept(by) && !self.dead(by.seq))
    }

    /// What is left once every pair of a step and its undo is dropped.
    fn stands(&self, step: &Step) -> bool {
        !self.dead(step.seq) && (step.undoes.is_empty() || self.kept(step))
    }

    /// Whether the entry that was there at `seq` ended by `until`.
    fn ended(&self, seq: Seq, until: Seq) -> bool {
        self.steps.iter().any(|step| {
            let ends = matches!(step.op, Op::End | Op::Purge) || (step.op.is_change() && step.before.is_none());
            step.seq > seq && step.seq < until && ends && !self.whole_dead(step)
        })
    }

    fn whole_dead(&self, step: &Step) -> bool {
        self.dead(step.seq) || (!step.undoes.is_empty() && !self.kept(step))
    }
}

impl Naive {
    /// What is hidden of each key, and which dreams have nothing left.
    #[track_caller]
    pub(crate) fn agrees_on_what_is_taken_back(&self, store: &Store) {
        let none = BTreeSet::new();
        let view =
            |key: &str| View { steps: self.steps.iter().filter(|step| step.key == key).collect(), selected: &none };
        for key in crate::world::KEYS {
            let view = view(key);
            let forgets = view.steps.iter().rev().map(|step| step.seq);
            let mut forgets =
                forgets.filter(|seq| matches!(store.log.facts(*seq).event, Event::Forgotten(_) | Event::Purged(_)));
            let standing = forgets.find(|seq| !view.dead(*seq)).unwrap_or(Seq::ZERO);
            assert_eq!(store.hidden_through(key), standing, "what is hidden of `{key}`");
        }
        for dream in &self.dreams {
            let own = || self.steps.iter().filter(|step| step.dream == Some(dream.id));
            // A flag that was open when the last change went keeps the dream from being undone.
            if own().any(|step| !step.op.is_change()) {
                continue;
            }
            let dead: Vec<bool> = own().map(|step| view(&step.key).dead(step.seq)).collect();
            let undone = store.state.dream(dream.id).unwrap().undo.is_some();
            assert!(undone || dead.is_empty() || dead.contains(&false), "a dream with nothing left is undone");
        }
    }

    /// Undoes the selected positions, and compares the verdicts with the answer.
    #[track_caller]
    pub(crate) fn undo(&mut self, selected: &BTreeSet<Seq>, essentials: bool, answer: &Answer, undone: &Undone) {
        let keys: BTreeSet<String> =
            self.steps.iter().filter(|step| selected.contains(&step.seq)).map(|step| step.key.clone()).collect();
        for key in &keys {
            let verdict = self.undo_key(key, selected, essentials, answer);
            let (restored, conflicts, unchanged) = crate::harness::sorted(undone);
            let key = key.as_str();
            match verdict {
                Verdict::Restored => assert!(restored.contains(&key), "`{key}` is restored: {undone:?}"),
                Verdict::Unchanged => assert!(unchanged.contains(&key), "`{key}` is unchanged: {undone:?}"),
                Verdict::Conflict(seq, purged) => {
                    assert!(conflicts.contains(&key), "`{key}` is a conflict: {undone:?}");
                    let conflict = undone.conflicts.iter().find(|conflict| conflict.key.as_str() == key).unwrap();
                    assert_eq!(conflict.change.as_ref().unwrap().seq, seq, "the newest change by somebody else");
                    assert_eq!(conflict.reason == UndoConflictReason::Purged, purged, "why: {undone:?}");
                }
            }
        }
        let named = undone.restored.len() + undone.conflicts.len() + undone.unchanged.len();
        let reserved = undone.restored.iter().filter(|item| item.key.is_reserved()).count();
        assert_eq!(named - reserved, keys.len(), "no other key is named: {undone:?}");
    }

    fn undo_key(&mut self, key: &str, selected: &BTreeSet<Seq>, essentials: bool, answer: &Answer) -> Verdict {
        let current = self.live(key).cloned();
        if self.entries.contains_key(key) && current.is_none() {
            return Verdict::Unchanged;
        }
        let steps: Vec<Step> = self.steps.iter().filter(|step| step.key == key).cloned().collect();
        let view = View { steps: steps.iter().collect(), selected };
        let targets: Vec<&Step> =
            steps.iter().filter(|step| selected.contains(&step.seq) && view.stands(step)).collect();
        let (changes, marks): (Vec<&Step>, Vec<&Step>) = targets.iter().partition(|step| step.op.is_change());
        let foreign = changes.first().and_then(|first| {
            steps.iter().rev().find(|step| {
                step.seq > first.seq && step.op.is_change() && !selected.contains(&step.seq) && view.stands(step)
            })
        });
        let mut verdict = Verdict::Unchanged;
        let mut now = current.clone();
        match (changes.first(), foreign) {
            (Some(first), Some(foreign)) => {
                let purged = steps.iter().any(|step| step.seq > first.seq && step.op == Op::Purge);
                verdict = Verdict::Conflict(foreign.seq, purged);
            }
            (Some(first), None) => {
                now = self.back(first, &current, &changes, &marks, &view, essentials);
                if now != current {
                    verdict = Verdict::Restored;
                    let op = if now.is_some() { Op::Restore } else { Op::End };
                    let (seq, version) = event(answer, key, op);
                    if let (Some(mem), Some(version)) = (&mut now, version) {
                        mem.version = version;
                    }
                    let undoes = changes.iter().map(|step| step.seq).collect();
                    self.put(key, op, seq, now.clone()).undoes = undoes;
                }
            }
            (None, _) => {}
        }
        if let (Some(current), Some(now)) = (current, now)
            && self.unmark(key, &current, now, &marks, &view, answer)
            && verdict == Verdict::Unchanged
        {
            verdict = Verdict::Restored;
        }
        verdict
    }

    /// The entry as it was before the first of the changes.
    fn back(
        &self,
        first: &Step,
        current: &Option<Mem>,
        changes: &[&Step],
        marks: &[&Step],
        view: &View<'_>,
        essentials: bool,
    ) -> Option<Mem> {
        let mut mem = first.before.clone()?;
        if !changes.iter().all(|step| step.op == Op::Confirm) {
            mem.updated_at = self.at;
        }
        mem.flags.clear();
        if let Some(end) = changes.iter().find(|step| step.op == Op::End) {
            mem.flags.extend(&end.before.as_ref().unwrap().flags);
            let same_life = |mark: &&&Step| mark.seq < end.seq && !view.ended(mark.seq, end.seq);
            for mark in marks.iter().filter(|mark| mark.op == Op::Unflag).filter(same_life) {
                mem.flags.extend(mark.flags.iter().filter(|flag| !view.dead(**flag)));
            }
            mem.flags.retain(|flag| !view.selected.contains(flag) && !self.went_with_its_dream(*flag));
        }
        mem.flags.extend(current.iter().flat_map(|current| &current.flags));
        if essentials && current.is_none() {
            (mem.session, mem.canonical, mem.priority, mem.ttl, mem.confirmed_at) = (None, None, None, None, None);
            mem.metadata = "{}".into();
            mem.flags.clear();
        }
        Some(mem)
    }

    /// Whether the flag was set by a dream that is undone now.
    fn went_with_its_dream(&self, flag: Seq) -> bool {
        let set = self.steps.iter().find(|step| step.seq == flag).unwrap();
        set.dream.is_some_and(|dream| self.undone.contains(&dream))
    }

    /// Clears the flags that were set, opens again those that were cleared.
    fn unmark(
        &mut self,
        key: &str,
        current: &Mem,
        mut now: Mem,
        marks: &[&Step],
        view: &View<'_>,
        answer: &Answer,
    ) -> bool {
        let mut done = false;
        for (op, undone) in [(Op::Unflag, [Op::Flag, Op::Reflag].as_slice()), (Op::Reflag, &[Op::Unflag])] {
            let alive = |mark: &&&Step| op == Op::Unflag || !view.ended(mark.seq, Seq::MAX);
            let (mut flags, mut undoes) = (BTreeSet::new(), BTreeSet::new());
            for mark in marks.iter().filter(|mark| undone.contains(&mark.op)).filter(alive) {
                let by_dream = |flag| mark.undoes.is_empty() && self.went_with_its_dream(flag);
                let gone = |flag: Seq| op == Op::Reflag && (by_dream(flag) || view.dead(flag));
                let open = mark.flags.iter().filter(|flag| current.flags.contains(flag) == (op == Op::Unflag));
                let open = open.filter(|flag| !gone(**flag));
                let open: Vec<Seq> = open.copied().collect();
                if !open.is_empty() {
                    undoes.insert(mark.seq);
                }
                flags.extend(open);
            }
            if flags.is_empty() {
                continue;
            }
            done = true;
            match op {
                Op::Unflag => now.flags.retain(|flag| !flags.contains(flag)),
                _ => now.flags.extend(&flags),
            }
            let (seq, _) = event(answer, key, op);
            let step = self.put(key, op, seq, Some(now.clone()));
            (step.flags, step.undoes) = (flags, undoes);
        }
        done
    }
}
