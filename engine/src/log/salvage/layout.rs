//! Which frames make up the log, and where there are none.

use std::sync::Arc;

use super::survey::{READ_BYTES, Run, Source};
use crate::log::error::LogError;
use crate::log::scan::{HeaderStep, Scanner};

/// Positions of which nothing is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gap {
    pub first: u64,
    pub last: u64,
    /// The file they were in, as far as that is known.
    pub source: Option<usize>,
}

/// A stretch of the log.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    Run(Run),
    Gap(Gap),
}

impl Part {
    pub(crate) fn last(&self) -> u64 {
        match self {
            Self::Run(run) => run.last,
            Self::Gap(gap) => gap.last,
        }
    }
}

/// Puts runs one after the other. A position that several files hold is taken from the one whose name
/// and header are sound. Behind everything that was ever durable a gap ends the log.
pub(super) fn lay_out(sources: &[Source], runs: &[Run], durable: u64) -> Result<Vec<Run>, LogError> {
    let mut runs: Vec<&Run> = runs.iter().collect();
    let is_sound = |run: &Run| sources.get(run.source).is_some_and(|source| source.sound);
    runs.sort_by_key(|run| (!is_sound(run), run.source, run.offset));
    let mut laid = Vec::new();
    let mut next = 1_u64;
    loop {
        let mut taken = None;
        for run in runs.iter().filter(|run| run.first <= next && next <= run.last) {
            taken = from(sources, run, next)?.filter(|run| run.first == next);
            if taken.is_some() {
                break;
            }
        }
        if let Some(run) = taken {
            next = run.last.saturating_add(1);
            laid.push(run);
            continue;
        }
        let mut start: Option<u64> = None;
        for run in runs.iter().filter(|run| run.last >= next) {
            let later = from(sources, run, next)?.map(|run| run.first);
            start = start.into_iter().chain(later).min();
        }
        match start.filter(|start| *start <= durable.saturating_add(1)) {
            Some(start) => next = start,
            None => return Ok(laid),
        }
    }
}

/// The part of a run from its first frame that begins at `next` or behind it.
fn from(sources: &[Source], run: &Run, next: u64) -> Result<Option<Run>, LogError> {
    if run.first >= next {
        return Ok(Some(run.clone()));
    }
    let Some(source) = sources.get(run.source) else { return Ok(None) };
    let mut scanner = Scanner::new(Arc::clone(&source.segment), run.offset, run.first, READ_BYTES);
    while scanner.offset() < run.end {
        if scanner.next_seq() >= next {
            return Ok(Some(Run { offset: scanner.offset(), first: scanner.next_seq(), ..run.clone() }));
        }
        match scanner.peek()? {
            HeaderStep::Header(header) => scanner.pass(&header),
            _ => return Ok(None),
        }
    }
    Ok(None)
}

/// The runs with the gaps between them and behind them.
pub(super) fn parts(sources: &[Source], laid: &[Run], durable: u64) -> Vec<Part> {
    let mut parts = Vec::new();
    let (mut next, mut before) = (1_u64, None);
    for run in laid {
        gaps(sources, &mut parts, (next, run.first), before, Some(run.source));
        parts.push(Part::Run(run.clone()));
        (next, before) = (run.last.saturating_add(1), Some(run.source));
    }
    gaps(sources, &mut parts, (next, durable.saturating_add(1)), before, None);
    parts
}

/// The gap from one position up to another; what belongs to the segment that follows is apart.
fn gaps(
    sources: &[Source],
    parts: &mut Vec<Part>,
    (next, until): (u64, u64),
    before: Option<usize>,
    after: Option<usize>,
) {
    if next >= until {
        return;
    }
    let within = before.filter(|_| before == after);
    let base = |at: usize| sources.get(at).filter(|source| source.sound).map(|source| source.segment.first_seq());
    let split = after.filter(|_| within.is_none()).and_then(base).filter(|base| (next..until).contains(base));
    let split = split.unwrap_or(until);
    if next < split {
        parts.push(Part::Gap(Gap { first: next, last: split.saturating_sub(1), source: within }));
    }
    if split < until {
        parts.push(Part::Gap(Gap { first: split, last: until.saturating_sub(1), source: after }));
    }
}
