//! Four processes that do everything at once on one folder, some killed at any moment and replaced.
//!
//! `BILINC_KILLS` says how many kills there are in all, `BILINC_SEED` which ones.

use std::io::Write;
use std::path::Path;
use std::process::ChildStdin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use bilinc::Memory;

use super::chance::Chance;
use super::left::Left;
use super::said::{Acknowledged, Said};
use super::worker::Life;
use crate::other::Other;
use crate::support::*;

const WORKERS: u64 = 4;

/// How long and how hard the work is.
#[derive(Debug, Clone, Copy)]
struct Plan {
    seed: u64,
    /// Operations of each worker, at least.
    operations: u64,
    /// Kills of each worker.
    kills: u64,
}

/// The ways to tell the workers what others did; none while one is being replaced.
struct Ways {
    inputs: Vec<Mutex<Option<ChildStdin>>>,
    told: AtomicU64,
    working: AtomicU64,
}

impl Ways {
    fn new() -> Self {
        let inputs = (0..WORKERS).map(|_| Mutex::new(None)).collect();
        Self { inputs, told: AtomicU64::new(0), working: AtomicU64::new(WORKERS) }
    }

    fn set(&self, worker: u64, input: Option<ChildStdin>) {
        *self.inputs[usize::try_from(worker).unwrap()].lock().unwrap() = input;
    }

    /// Whoever was killed just now does not hear it.
    fn tell(&self, worker: u64, done: &Acknowledged) {
        let mut input = self.inputs[usize::try_from(worker).unwrap()].lock().unwrap();
        if input.as_mut().is_some_and(|input| writeln!(input, "{}", done.to_line()).is_ok()) {
            self.told.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// The last one to be done ends them all.
    fn is_done(&self) {
        if self.working.fetch_sub(1, Ordering::SeqCst) == 1 {
            for input in &self.inputs {
                *input.lock().unwrap() = None;
            }
        }
    }
}

/// One worker through all its lives.
struct Slot<'a> {
    plan: Plan,
    worker: u64,
    folder: &'a Path,
    ways: &'a Ways,
    chance: Chance,
    /// The next number of an operation.
    next: u64,
    again: Option<(String, String, u64)>,
    left: Left,
}

impl Slot<'_> {
    fn run(mut self) -> Left {
        for killed in 1..=self.plan.kills {
            self.live(self.plan.kills - killed + 1);
        }
        self.live(0);
        self.left
    }

    /// One life; it ends by a kill while any are left to come.
    fn live(&mut self, kills: u64) {
        // Half the kills come from within, at any call of the storage, the others from outside.
        let (within, moment) = (self.chance.below(2) == 0, self.chance.below(60) + 1);
        let life = Life {
            worker: self.worker,
            seed: self.chance.next(),
            from: self.next,
            to: if kills > 0 { u64::MAX } else { self.plan.operations.max(self.next) },
            dies_at: if kills > 0 && within { moment } else { 0 },
            again: self.again.take(),
        };
        let outside = (kills > 0 && !within).then_some(moment);
        let mut other = Other::start("works", self.folder, &life.to_words());
        self.ways.set(self.worker, Some(other.take_input()));
        let mut lines = 0;
        while let Some(line) = other.hear() {
            self.heard(Said::from_line(&line));
            lines += 1;
            if outside == Some(lines) {
                other.kill();
            }
        }
        let well = other.ended_well();
        assert_eq!(well, kills == 0, "seed {}: {life:?}", self.plan.seed);
        self.ways.set(self.worker, None);
        self.left.kills += u64::from(kills > 0);
    }

    fn heard(&mut self, said: Said) {
        match said {
            Said::Begins { name, again } => {
                self.again = again.map(|(key, size)| (name, key, size));
                self.next += 1;
                self.left.operations += 1;
            }
            Said::Acknowledged(done) => {
                self.again = None;
                self.ways.tell((self.worker + 1 + self.chance.below(WORKERS - 1)) % WORKERS, &done);
                self.left.acknowledged.push(done);
            }
            Said::Repeated { replayed } => self.left.repeated[usize::from(replayed)] += 1,
            Said::Refused { name } => {
                self.again = None;
                self.left.refused.push(name);
            }
            Said::Saw(_) => self.left.seen += 1,
            Said::Done => self.ways.is_done(),
        }
    }
}

fn work_side_by_side(plan: Plan) {
    let folder = tempfile::tempdir().unwrap();
    let watching = Memory::open(folder.path()).unwrap();
    let mut seeds = Chance::new(plan.seed);
    let ways = Ways::new();
    let left = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS)
            .map(|worker| {
                let slot = Slot {
                    plan,
                    worker,
                    folder: folder.path(),
                    ways: &ways,
                    chance: Chance::new(seeds.next()),
                    next: 0,
                    again: None,
                    left: Left::default(),
                };
                scope.spawn(|| slot.run())
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).fold(Left::default(), Left::and)
    });
    let told = ways.told.into_inner();
    if plan.kills == 0 {
        assert_eq!(left.seen, told, "each sees what the others were answered");
    }
    let events = left.assert_there(&watching, &format!("seed {}", plan.seed));
    let fresh = Memory::open(folder.path()).unwrap();
    assert_eq!(left.assert_there(&fresh, &format!("seed {}, opened anew", plan.seed)), events);
    assert!(fresh.is_same_state(&watching).unwrap(), "seed {}", plan.seed);
    let after = fresh.commit(commit("after", "all")).unwrap().answer.seq;
    assert_eq!(after.get(), events + 1, "seed {}", plan.seed);
    assert_sound(&fresh);
    assert_sound(&watching);
    println!("{plan:?}: {events} events, {}, {told} told to others", left.summary());
}

fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

fn seed() -> u64 {
    from_environment("BILINC_SEED").unwrap_or(1)
}

#[test]
fn four_processes_that_do_everything_at_once_lose_nothing_and_see_each_other() {
    work_side_by_side(Plan { seed: seed(), operations: 500, kills: 0 });
}

#[test]
fn nothing_acknowledged_is_lost_or_done_twice_when_processes_are_killed_at_any_moment() {
    let kills = from_environment("BILINC_KILLS").unwrap_or(16);
    work_side_by_side(Plan { seed: seed(), operations: 60, kills: kills.div_ceil(WORKERS) });
}
