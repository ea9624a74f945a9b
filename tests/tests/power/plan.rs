//! Which cases are tried.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::told::Told;
use super::workloads::{WORKLOADS, Workload};

/// One place at which something fails, and the chance of what is left then.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case {
    pub(super) workload: &'static Workload,
    pub(super) call: u64,
    pub(super) seed: u64,
}

impl std::fmt::Debug for Workload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Case {
    /// How to try it again.
    pub(super) fn what(self, how: &str) -> String {
        let Self { workload, call, seed } = self;
        format!("{how} (BILINC_POWER_WORKLOAD={workload:?} BILINC_POWER_CALL={call} BILINC_POWER_SEED={seed})")
    }

    /// A number that differs from case to case and follows none of its parts.
    pub(super) fn mixed(self) -> u64 {
        let mixed = (self.call << 32 ^ self.seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 17
    }

    /// Whether this is one of so many that are picked: fewer in the usual form, and always when it is
    /// asked for.
    pub(super) fn is_picked(self, plan: &Plan, of: u64) -> bool {
        plan.call.is_some() || self.mixed().is_multiple_of(if plan.is_full() { 3 } else { of })
    }
}

pub(super) struct Plan {
    seeds: Option<u64>,
    workload: Option<String>,
    call: Option<u64>,
    seed: Option<u64>,
}

impl Plan {
    pub(super) fn from_env() -> Self {
        let number = |name: &str| std::env::var(name).ok().map(|text| text.parse().unwrap());
        Self {
            seeds: number("BILINC_POWER_SEEDS"),
            workload: std::env::var("BILINC_POWER_WORKLOAD").ok(),
            call: number("BILINC_POWER_CALL"),
            seed: number("BILINC_POWER_SEED"),
        }
    }

    /// Whether everything is wanted rather than what fits a usual run.
    pub(super) fn is_full(&self) -> bool {
        self.seeds.is_some() || self.call.is_some()
    }

    /// Every call; unless everything is wanted, every so many of a heavy workload only.
    pub(super) fn calls(&self, workload: &Workload, last: u64) -> Vec<u64> {
        self.calls_by(if workload.heavy { 17 } else { 1 }, last)
    }

    /// As [`Plan::calls`], of the calls that only look, which are many.
    pub(super) fn looks(&self, workload: &Workload, last: u64) -> Vec<u64> {
        self.calls_by(if workload.heavy { 61 } else { 3 }, last)
    }

    fn calls_by(&self, step: u64, last: u64) -> Vec<u64> {
        let step = if self.is_full() { 1 } else { step };
        (1..=last).filter(|call| self.call.map_or(call % step == 0, |only| only == *call)).collect()
    }

    /// Many seeds for every call, or one that differs from call to call.
    pub(super) fn seeds(&self, workload: &Workload, call: u64) -> Vec<u64> {
        match (self.seed, self.seeds) {
            (Some(seed), _) => vec![seed],
            (None, Some(seeds)) => (0..if workload.heavy { seeds.div_ceil(10) } else { seeds }).collect(),
            (None, None) => vec![call],
        }
    }

    /// As [`Plan::seeds`], where a seed also chooses among so many ways: at most four times each.
    pub(super) fn seeds_of(&self, workload: &Workload, call: u64, ways: usize) -> Vec<u64> {
        let most = u64::try_from(ways).unwrap() * 4;
        self.seeds(workload, call).into_iter().filter(|seed| self.seeds.is_none() || *seed < most).collect()
    }

    /// Hands every workload to `check`, two at a time; says how many cases it counted.
    pub(super) fn each(&self, check: impl Fn(&'static Workload, &Told) -> usize + Sync) -> usize {
        let (next, cases) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let take = || {
            while let Some(workload) = WORKLOADS.get(next.fetch_add(1, Ordering::SeqCst)) {
                if self.workload.as_ref().is_none_or(|only| only == workload.name) {
                    cases.fetch_add(check(workload, &Told::of(workload)), Ordering::SeqCst);
                }
            }
        };
        thread::scope(|scope| {
            scope.spawn(take);
            take();
        });
        cases.into_inner()
    }
}
