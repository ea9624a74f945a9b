//! Blocks in turn, ratios, percentiles.

pub(crate) mod heap;
mod stats;

use std::time::{Duration, Instant};

pub(crate) use stats::{Latencies, median, spread};

use crate::Outcome;

/// How long something takes, in seconds, with what it gives.
pub(crate) fn timed<T>(work: impl FnOnce() -> Outcome<T>) -> Outcome<(f64, T)> {
    let begun = Instant::now();
    let done = work()?;
    Ok((begun.elapsed().as_secs_f64(), done))
}

/// Does something again and again for a while; the latencies.
pub(crate) fn repeat(block: Duration, mut work: impl FnMut() -> Outcome<()>) -> Outcome<Latencies> {
    let mut latencies = Latencies::default();
    let begun = Instant::now();
    let mut before = begun;
    while before.duration_since(begun) < block || latencies.count() < 3 {
        work()?;
        let now = Instant::now();
        latencies.push(now.duration_since(before));
        before = now;
    }
    latencies.end(before.duration_since(begun));
    Ok(latencies)
}
