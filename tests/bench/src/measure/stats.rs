//! Numbers about numbers.

use std::time::Duration;

/// How long each of many things took.
#[derive(Debug, Clone, Default)]
pub(crate) struct Latencies {
    seconds: Vec<f64>,
    sorted: bool,
    whole: f64,
}

impl Latencies {
    /// One more.
    pub(crate) fn push(&mut self, took: Duration) {
        self.seconds.push(took.as_secs_f64());
        self.sorted = false;
    }

    /// All of them took so long together.
    pub(crate) fn end(&mut self, whole: Duration) {
        self.whole = whole.as_secs_f64();
    }

    /// Those of another thread, too.
    pub(crate) fn join(&mut self, other: &Self) {
        self.seconds.extend_from_slice(&other.seconds);
        self.sorted = false;
        self.whole = self.whole.max(other.whole);
    }

    /// How many.
    pub(crate) fn count(&self) -> usize {
        self.seconds.len()
    }

    /// How many a second.
    pub(crate) fn rate(&self) -> f64 {
        self.seconds.len() as f64 / self.whole.max(1e-9)
    }

    /// The latency that this share stays below, in seconds.
    pub(crate) fn quantile(&mut self, share: f64) -> f64 {
        if !self.sorted {
            self.seconds.sort_by(f64::total_cmp);
            self.sorted = true;
        }
        let last = self.seconds.len().saturating_sub(1);
        let at = (last as f64 * share).round() as usize;
        self.seconds.get(at).copied().unwrap_or(f64::NAN)
    }

    /// The middle one, in seconds.
    pub(crate) fn p50(&mut self) -> f64 {
        self.quantile(0.5)
    }

    /// What one in a hundred exceeds, in seconds.
    pub(crate) fn p99(&mut self) -> f64 {
        self.quantile(0.99)
    }

    /// The longest, in seconds.
    pub(crate) fn longest(&mut self) -> f64 {
        self.quantile(1.0)
    }
}

/// The middle of some numbers; the mean of the two middle ones when they are even.
pub(crate) fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = (sorted.len().saturating_sub(1) / 2, sorted.len() / 2);
    match (sorted.get(low), sorted.get(high)) {
        (Some(low), Some(high)) => f64::midpoint(*low, *high),
        _ => f64::NAN,
    }
}

/// The least and the greatest of some numbers.
pub(crate) fn spread(numbers: &[f64]) -> (f64, f64) {
    let least = numbers.iter().copied().min_by(f64::total_cmp);
    let greatest = numbers.iter().copied().max_by(f64::total_cmp);
    (least.unwrap_or(f64::NAN), greatest.unwrap_or(f64::NAN))
}
