//! The rows: one module each, or one for two that come from the same blocks.
//!
//! A row is a ratio of the product to an anchor that runs in the same process, in blocks that take turns, so that a
//! machine whose speed drifts drifts for both. The product keeps all that it promises; the anchor does what its row
//! says and no more.

mod checkpoint;
mod commit_burst;
mod commit_processes;
mod commit_relaxed;
mod dream;
mod get;
mod import;
mod raw;
mod recall;
mod scan;
mod size;

pub(crate) use commit_processes::child as commit_child;
pub(crate) use raw::Raw;

use serde::Serialize;

use crate::Outcome;
use crate::bench::Bench;
use crate::measure::{median, spread};

/// What is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Better {
    /// More is better: a rate.
    More,
    /// Less is better: a time or a size.
    Less,
}

/// What a row measures and how good that must be.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Spec {
    /// Its number in the design, with a letter where the design asks for more than one thing.
    pub(crate) row: &'static str,
    /// What is measured.
    pub(crate) measure: &'static str,
    /// What it is held against; empty where the number stands for itself.
    pub(crate) anchor: &'static str,
    /// What is good.
    pub(crate) better: Better,
    /// What must be reached.
    pub(crate) floor: Option<f64>,
    /// What is to be reached.
    pub(crate) goal: Option<f64>,
}

/// A number in its own unit, shown beside the ratio.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Beside {
    /// Of what.
    pub(crate) name: String,
    /// How much, the middle of all rounds.
    pub(crate) value: f64,
    /// The unit.
    pub(crate) unit: &'static str,
}

/// A row with its numbers, one of each round.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Measured {
    /// The row.
    #[serde(flatten)]
    pub(crate) spec: Spec,
    /// The ratios.
    pub(crate) rounds: Vec<f64>,
    /// Numbers beside.
    pub(crate) beside: Vec<Beside>,
}

/// How a row came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    /// As good as it is meant to be.
    Goal,
    /// Good enough.
    Floor,
    /// Not good enough.
    Below,
}

impl Measured {
    /// A row without numbers yet.
    pub(crate) fn new(spec: Spec) -> Self {
        Self { spec, rounds: Vec::new(), beside: Vec::new() }
    }

    /// The ratio of one more round.
    pub(crate) fn push(&mut self, product: f64, anchor: f64) {
        self.rounds.push(product / anchor);
    }

    /// The middle of some numbers, shown beside.
    pub(crate) fn show(&mut self, name: impl Into<String>, numbers: &[f64], unit: &'static str) {
        self.beside.push(Beside { name: name.into(), value: median(numbers), unit });
    }

    /// The middle of the rounds.
    pub(crate) fn result(&self) -> f64 {
        median(&self.rounds)
    }

    /// The least and the greatest of the rounds.
    pub(crate) fn spread(&self) -> (f64, f64) {
        spread(&self.rounds)
    }

    /// How it came out, by the middle.
    pub(crate) fn verdict(&self) -> Verdict {
        let reached = |wanted: f64| match self.spec.better {
            Better::More => self.result() >= wanted,
            Better::Less => self.result() <= wanted,
        };
        if !self.spec.floor.is_none_or(reached) {
            Verdict::Below
        } else if self.spec.goal.is_none_or(reached) {
            Verdict::Goal
        } else {
            Verdict::Floor
        }
    }
}

/// A module of rows.
pub(crate) struct Module {
    /// The numbers of its rows.
    pub(crate) rows: &'static [u8],
    /// Measures them.
    pub(crate) run: fn(&mut Bench) -> Outcome<Vec<Measured>>,
}

/// All of them. Those that write to a shared store come after those that only read it.
pub(crate) const MODULES: &[Module] = &[
    Module { rows: &[1, 2], run: commit_burst::one },
    Module { rows: &[3, 4], run: commit_burst::eight },
    Module { rows: &[5], run: commit_processes::run },
    Module { rows: &[6], run: import::run },
    Module { rows: &[7], run: commit_relaxed::run },
    Module { rows: &[8], run: scan::run },
    Module { rows: &[9], run: scan::replay },
    Module { rows: &[10], run: checkpoint::open },
    Module { rows: &[11], run: size::disk },
    Module { rows: &[12, 13], run: size::heap },
    Module { rows: &[14], run: get::run },
    Module { rows: &[15], run: recall::run },
    Module { rows: &[16], run: recall::find_own },
    Module { rows: &[20], run: checkpoint::first_recall },
    Module { rows: &[21], run: size::index },
    Module { rows: &[17], run: dream::start },
    Module { rows: &[18], run: dream::take_back },
];
