//! Steps of a run, as small numbers that shrink well.

use bilinc::{ActionOp, Strategy as ReviseStrategy};
use proptest::collection::vec;
use proptest::prelude::*;

/// Keys of ordinary entries; entries under the last one have a time to live.
pub(crate) const KEYS: [&str; 8] = ["k.a", "k.b", "k.ç", "k.d", "k.e", "k.f", "k.g", "t.short"];

pub(crate) const SHORT: usize = 7;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Expected {
    None,
    Current,
    Stale,
}

#[derive(Debug, Clone)]
pub(crate) enum Step {
    Commit {
        key: usize,
        rich: bool,
        if_absent: bool,
        expected: Expected,
        named: bool,
    },
    Revise {
        key: usize,
        importance: Option<f64>,
        strategy: ReviseStrategy,
        expected: Expected,
    },
    Forget {
        key: usize,
        expected: Expected,
    },
    Confirm {
        key: usize,
        expected: Expected,
    },
    Flag {
        key: usize,
    },
    Unflag {
        key: usize,
    },
    Snapshot,
    Rollback {
        pick: usize,
    },
    Import {
        keys: Vec<usize>,
        if_absent: bool,
    },
    /// Undo of the newest change of a key.
    Undo {
        key: usize,
        dry_run: bool,
    },
    /// A dream with one page.
    Dream {
        actions: Vec<(usize, ActionOp, Expected)>,
        finish: bool,
        dry_run: bool,
    },
    DreamUndo {
        pick: usize,
        restore_metadata: bool,
        dry_run: bool,
    },
    /// The same named commit again.
    Repeat {
        pick: usize,
        other_payload: bool,
    },
    Pass {
        seconds: i64,
    },
    /// From now on through the other handle on the store.
    Switch,
    Reopen,
    Diff {
        from: usize,
        to: usize,
    },
    AsOf {
        pick: usize,
    },
    List {
        limit: usize,
    },
    Recall,
}

fn expected() -> impl Strategy<Value = Expected> {
    prop_oneof![4 => Just(Expected::None), 3 => Just(Expected::Current), 1 => Just(Expected::Stale)]
}

fn op() -> impl Strategy<Value = ActionOp> {
    prop::sample::select(ActionOp::ALL.to_vec())
}

/// A store in which every key is used, so that dreams may forget some.
pub(crate) fn first_steps() -> Vec<Step> {
    let commit =
        |key| Step::Commit { key, rich: key % 2 == 0, if_absent: true, expected: Expected::None, named: false };
    (0..KEYS.len()).map(commit).collect()
}

fn step() -> impl Strategy<Value = Step> {
    let key = 0..KEYS.len();
    let importance = prop::option::of(prop::sample::select(vec![0.0, 0.5, 1.0]));
    let revise = (key.clone(), importance, prop::sample::select(ReviseStrategy::ALL.to_vec()), expected());
    let actions = vec((0..SHORT, op(), expected()), 1..4);
    let commit = (key.clone(), any::<bool>(), prop::bool::weighted(0.2), expected(), prop::bool::weighted(0.2));
    prop_oneof![
        6 => commit.prop_map(|(key, rich, if_absent, expected, named)| {
            Step::Commit { key, rich, if_absent, expected, named }
        }),
        4 => revise.prop_map(|(key, importance, strategy, expected)| {
            Step::Revise { key, importance, strategy, expected }
        }),
        3 => (key.clone(), expected()).prop_map(|(key, expected)| Step::Forget { key, expected }),
        2 => (key.clone(), expected()).prop_map(|(key, expected)| Step::Confirm { key, expected }),
        3 => key.clone().prop_map(|key| Step::Flag { key }),
        1 => key.clone().prop_map(|key| Step::Unflag { key }),
        2 => Just(Step::Snapshot),
        2 => any::<prop::sample::Index>().prop_map(|pick| Step::Rollback { pick: pick.index(64) }),
        1 => (vec(key.clone(), 0..4), any::<bool>()).prop_map(|(keys, if_absent)| Step::Import { keys, if_absent }),
        3 => (0..SHORT, prop::bool::weighted(0.2)).prop_map(|(key, dry_run)| Step::Undo { key, dry_run }),
        3 => (actions, prop::bool::weighted(0.7), prop::bool::weighted(0.15)).prop_map(|(actions, finish, dry_run)| {
            Step::Dream { actions, finish, dry_run }
        }),
        2 => (0..64_usize, any::<bool>(), prop::bool::weighted(0.2)).prop_map(|(pick, restore_metadata, dry_run)| {
            Step::DreamUndo { pick, restore_metadata, dry_run }
        }),
        1 => (0..64_usize, any::<bool>()).prop_map(|(pick, other_payload)| Step::Repeat { pick, other_payload }),
        3 => prop::sample::select(vec![0, 1, 30, 3_600, 90_000, 300_000])
            .prop_map(|seconds| Step::Pass { seconds }),
        2 => Just(Step::Switch),
        1 => Just(Step::Reopen),
        2 => (0..64_usize, 0..64_usize).prop_map(|(from, to)| Step::Diff { from, to }),
        3 => (0..64_usize).prop_map(|pick| Step::AsOf { pick }),
        2 => (1..7_usize).prop_map(|limit| Step::List { limit }),
        1 => Just(Step::Recall),
    ]
}

pub(crate) fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    vec(step(), 1..most)
}
