//! The dream pass, from the list of everything that happened.

use std::collections::BTreeSet;

use bilinc_core::{Action, ActionOp, ActionRecord, ActionStatus, DreamId, DreamPhase, DreamStart, Seq, Timestamp};

use super::{Naive, Op};
use crate::harness::{Answer, DAY, Store};

#[derive(Debug, Clone)]
pub(crate) struct Dream {
    pub(crate) id: DreamId,
    pub(crate) started: Seq,
    pub(crate) started_at: Timestamp,
    pub(crate) candidates: Vec<String>,
    pub(crate) complete: bool,
    /// Position of the first finish.
    pub(crate) finished: Option<Seq>,
    pub(crate) forgets: usize,
}

impl Dream {
    fn stands(&self, store: &Store) -> bool {
        store.phase(self.id) == DreamPhase::Finished
    }

    pub(crate) fn cap(&self) -> usize {
        (self.candidates.len() * 3 / 10).min(20)
    }
}

impl Naive {
    /// The position of the last change of an entry that counts for dreams.
    fn last_change(&self, key: &str, store: &Store) -> Seq {
        let own = |dream: DreamId| self.dreams.iter().any(|other| other.id == dream && other.stands(store));
        let counts =
            self.steps.iter().rev().find(|step| step.key == key && step.op.is_change() && !step.dream.is_some_and(own));
        counts.map_or(Seq::ZERO, |step| step.seq)
    }

    fn mark(&self, store: &Store) -> Seq {
        let week = store.now.plus(-7 * DAY - 1);
        // An undone dream counts as never finished: what a later dream passed over because of it
        // comes back.
        let rests = |start: Seq| {
            self.dreams.iter().any(|other| {
                let undo = store.state.dream(other.id).unwrap().undo;
                other.finished.is_some_and(|finished| finished < start) && undo.is_some_and(|undo| start < undo.summary)
            })
        };
        let complete = self.dreams.iter().rev().filter(|dream| dream.complete && dream.stands(store));
        let starts: Vec<Seq> = complete.map(|dream| dream.started).collect();
        let relied = starts.iter().copied().find(|start| !rests(*start));
        let fallback = || position_at(store, week).min(starts.first().copied().unwrap_or(Seq::MAX));
        relied.unwrap_or_else(fallback)
    }

    /// Candidates, how many more there are, and whether nothing is left out.
    pub(crate) fn candidates(&self, start: &DreamStart, store: &Store) -> (Vec<String>, usize, bool) {
        let mark = self.mark(store);
        let window = start.since.map_or(mark, |since| position_at(store, since.plus(-1)));
        let reviewed = |key: &String, changed: Seq| {
            self.dreams
                .iter()
                .any(|dream| dream.stands(store) && dream.candidates.contains(key) && changed <= dream.started)
        };
        let mut found: Vec<(Seq, &String)> = (self.entries.iter())
            .filter(|(_, mem)| !mem.expired(store.now))
            .map(|(key, _)| (self.last_change(key, store), key))
            .filter(|(changed, _)| *changed > window)
            .filter(|(changed, key)| start.include_reviewed || !reviewed(key, *changed))
            .filter(|(_, key)| start.prefix.as_ref().is_none_or(|prefix| key.starts_with(prefix.as_str())))
            .collect();
        found.sort();
        let keys: Vec<String> = found.into_iter().rev().map(|(_, key)| key.clone()).collect();
        let given: Vec<String> = keys.iter().take(start.limit as usize).cloned().collect();
        let more = keys.len() - given.len();
        (given, more, start.prefix.is_none() && window <= mark && more == 0)
    }

    /// Judges a page and compares each result; the store accepted it.
    #[track_caller]
    pub(crate) fn page(&mut self, dream: usize, actions: &[Action], records: &[ActionRecord], answer: &Answer) {
        assert_eq!(actions.len(), records.len());
        self.dream = Some(self.dreams[dream].id);
        let mut used = BTreeSet::new();
        for (action, record) in actions.iter().zip(records) {
            let key = action.key.as_str();
            let live = self.live(key).map(|mem| mem.version);
            let named = action.expected_version;
            let candidate = self.dreams[dream].candidates.iter().any(|candidate| candidate == key);
            if !candidate || (named.is_none() && action.op != ActionOp::Flag) {
                assert!(matches!(record.status, ActionStatus::Error { .. }), "{record:?}");
                continue;
            }
            if live.is_none() || named.is_some_and(|named| Some(named) != live) {
                let ActionStatus::Conflict { current, change } = &record.status else { panic!("{record:?}") };
                assert_eq!(*current, live);
                let last = self.steps.iter().rev().find(|step| step.key == key && step.op.is_change()).unwrap();
                let expired = live.is_none() && self.entries.contains_key(key);
                assert_eq!(change.as_ref().map(|change| change.seq), (!expired).then_some(last.seq));
                continue;
            }
            let ActionStatus::Applied { version } = record.status else { panic!("{record:?}") };
            let op = [Op::Revise, Op::End, Op::Confirm, Op::Flag][action.op as usize];
            // The events of one key and kind come in the order of the actions.
            let (seq, _) = events(answer, key, op).find(|(seq, _)| used.insert(*seq)).unwrap();
            match action.op {
                ActionOp::Revise => {
                    let value = action.new_value.as_ref().unwrap().as_plain_string().unwrap();
                    self.revise(key, &value, None, seq, version.unwrap());
                }
                ActionOp::Forget => {
                    self.forget(key, seq);
                    self.dreams[dream].forgets += 1;
                }
                ActionOp::Confirm => self.confirm(key, seq, version.unwrap()),
                ActionOp::Flag => self.flag(key, seq),
            }
        }
        self.dream = None;
    }
}

fn events(answer: &Answer, key: &str, op: Op) -> impl Iterator<Item = (Seq, Op)> {
    use bilinc_core::Event;
    (answer.events.iter())
        .filter(move |recorded| recorded.event.key().is_some_and(|other| other.as_str() == key))
        .filter_map(|recorded| {
            let op = match recorded.event {
                Event::Revised(_) => Op::Revise,
                Event::Forgotten(_) => Op::End,
                Event::Confirmed(_) => Op::Confirm,
                Event::Flagged(_) => Op::Flag,
                _ => return None,
            };
            Some((recorded.seq, op))
        })
        .filter(move |(_, other)| *other == op)
}

fn position_at(store: &Store, time: Timestamp) -> Seq {
    let last = store.log.all().filter(|event| event.operation.at <= time).last();
    last.map_or(Seq::ZERO, |event| event.seq)
}
