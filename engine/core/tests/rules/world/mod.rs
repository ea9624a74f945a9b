//! Commands drawn at random, run on the store and on the naive model side by side.

mod dreams;
mod entries;
mod undo;

use std::collections::BTreeSet;

use bilinc_core::{
    Action, Command, Confirmation, DreamApply, DreamStart, DreamUndo, Event, Forget, Json, MemoryType, Outcome,
    Rejection, Rollback, Selection, Seq, Undone, Version,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::harness::{
    Act, Answer, DAY, HOUR, SECOND, Store, commit, confirm, flag, forget, revise, undo_dream, undo_of, unflag,
};
use crate::naive::{Dream, Naive, Op, event};

pub(crate) const KEYS: [&str; 7] = ["a", "b", "c", "d", "e", "f", "g"];
const ACTORS: [&str; 3] = ["ada", "bob", "eve"];

/// A command, with picks that are looked up in what is there.
#[derive(Debug, Clone)]
pub(crate) enum Do {
    Commit {
        key: usize,
        ttl: Option<u8>,
        rich: bool,
        if_absent: bool,
    },
    Revise {
        key: usize,
        importance: Option<u8>,
        stale: bool,
    },
    Forget {
        key: usize,
    },
    Purge {
        key: usize,
    },
    Confirm {
        key: usize,
    },
    Flag {
        key: usize,
    },
    Unflag {
        key: usize,
    },
    Step(i64),
    Actor(usize),
    Start {
        limit: u32,
        prefix: bool,
        since: Option<i64>,
        include_reviewed: bool,
    },
    Page {
        dream: usize,
        acts: Vec<(usize, u8, u8)>,
        finish: bool,
    },
    DreamUndo {
        dream: usize,
        restore_metadata: bool,
        dry_run: bool,
    },
    DreamRetry {
        dream: usize,
    },
    /// Counted from the end of the log.
    UndoSeq(usize),
    UndoRange(usize, usize),
    UndoSource(usize),
    /// The newest undo, or the one before.
    Redo(usize),
    Snapshot,
    Rollback(usize),
}

pub(crate) fn any_do() -> impl Strategy<Value = Do> {
    let key = || 0..KEYS.len();
    let ttl = || prop::option::weighted(0.15, 1..6_u8);
    let since = || prop::option::weighted(0.2, prop::sample::select(vec![-30 * DAY, -DAY, -SECOND, 0, HOUR]));
    let clock = vec![1, SECOND, 2 * SECOND, HOUR, DAY, 4 * DAY, 7 * DAY, -HOUR, -30 * DAY];
    prop_oneof![
        5 => (key(), ttl(), any::<bool>(), prop::bool::weighted(0.2))
            .prop_map(|(key, ttl, rich, if_absent)| Do::Commit { key, ttl, rich, if_absent }),
        4 => (key(), prop::option::of(0..10_u8), prop::bool::weighted(0.1))
            .prop_map(|(key, importance, stale)| Do::Revise { key, importance, stale }),
        2 => key().prop_map(|key| Do::Forget { key }),
        1 => key().prop_map(|key| Do::Purge { key }),
        2 => key().prop_map(|key| Do::Confirm { key }),
        2 => key().prop_map(|key| Do::Flag { key }),
        1 => key().prop_map(|key| Do::Unflag { key }),
        3 => prop::sample::select(clock).prop_map(Do::Step),
        2 => (0..ACTORS.len()).prop_map(Do::Actor),
        4 => (1..9_u32, prop::bool::weighted(0.1), since(), any::<bool>())
            .prop_map(|(limit, prefix, since, include_reviewed)| Do::Start { limit, prefix, since, include_reviewed }),
        6 => (0..3_usize, vec((key(), 0..4_u8, 0..8_u8), 0..6), any::<bool>())
            .prop_map(|(dream, acts, finish)| Do::Page { dream, acts, finish }),
        3 => (0..3_usize, any::<bool>(), prop::bool::weighted(0.1))
            .prop_map(|(dream, restore_metadata, dry_run)| Do::DreamUndo { dream, restore_metadata, dry_run }),
        1 => (0..3_usize).prop_map(|dream| Do::DreamRetry { dream }),
        3 => (0..20_usize).prop_map(Do::UndoSeq),
        1 => (0..20_usize, 0..6_usize).prop_map(|(from, length)| Do::UndoRange(from, length)),
        1 => (0..ACTORS.len()).prop_map(Do::UndoSource),
        2 => (0..2_usize).prop_map(Do::Redo),
        1 => Just(Do::Snapshot),
        1 => (0..3_usize).prop_map(Do::Rollback),
    ]
}

pub(crate) struct World {
    pub(crate) store: Store,
    pub(crate) naive: Naive,
    values: u32,
}

impl World {
    pub(crate) fn new() -> Self {
        Self { store: Store::new(), naive: Naive::default(), values: 0 }
    }

    pub(super) fn fresh(&mut self) -> String {
        self.values += 1;
        format!("value {}", self.values)
    }

    #[track_caller]
    pub(crate) fn apply(&mut self, step: &Do) {
        self.naive.clock(&self.store);
        match step {
            Do::Commit { key, ttl, rich, if_absent } => self.commit(*key, *ttl, *rich, *if_absent),
            Do::Revise { key, importance, stale } => self.revise(*key, *importance, *stale),
            Do::Forget { key } => self.on_one(*key, Op::End),
            Do::Purge { key } => self.purge(*key),
            Do::Confirm { key } => self.on_one(*key, Op::Confirm),
            Do::Flag { key } => self.on_one(*key, Op::Flag),
            Do::Unflag { key } => self.on_one(*key, Op::Unflag),
            Do::Step(micros) => drop(self.store.step(*micros)),
            Do::Actor(actor) => drop(self.store.by(ACTORS[*actor])),
            Do::Start { limit, prefix, since, include_reviewed } => {
                let since = since.map(|micros| self.store.now.plus(micros));
                let prefix = prefix.then(|| KEYS[0].to_owned());
                self.start(DreamStart { limit: *limit, prefix, since, include_reviewed: *include_reviewed });
            }
            Do::Page { dream, acts, finish } => self.page(*dream, acts, *finish),
            Do::DreamUndo { dream, restore_metadata, dry_run } => {
                self.dream_undo(*dream, *restore_metadata, *dry_run);
            }
            Do::DreamRetry { dream } => {
                if let Some(dream) = self.pick_dream(*dream) {
                    let selected = self.own(dream);
                    self.undo(Selection::Dream(self.naive.dreams[dream].id), &selected);
                }
            }
            Do::UndoSeq(back) => {
                if let Some(seq) = self.back(*back) {
                    self.undo_seq(seq);
                }
            }
            Do::UndoRange(back, length) => {
                if let Some(first) = self.back(*back) {
                    let last = first.plus(*length as u64);
                    self.undo(Selection::Range(first, last), &self.steps(|seq, _| seq >= first && seq <= last));
                }
            }
            Do::UndoSource(actor) => {
                let source = ACTORS[*actor];
                let selected = self.steps(|_, event| event.source().as_ref() == source);
                self.undo(Selection::Source(source.into()), &selected);
            }
            Do::Redo(back) => {
                let undos = self.store.log.all().filter(|event| matches!(event.event, Event::Undone(_)));
                let undos: Vec<Seq> = undos.map(|event| event.seq).collect();
                if let Some(seq) = undos.iter().rev().nth(*back) {
                    self.undo_seq(*seq);
                }
            }
            Do::Snapshot => {
                let id = self.store.snapshot();
                self.naive.snapshot(id);
            }
            Do::Rollback(back) => self.rollback(*back),
        }
        self.naive.agrees(&self.store);
        self.naive.agrees_on_what_is_taken_back(&self.store);
    }
}

#[track_caller]
pub(super) fn undone_of(answer: &Answer) -> Undone {
    match &answer.outcome {
        Outcome::Undo { undone, .. } => undone.clone(),
        other => panic!("{other:?}"),
    }
}
