//! What a measurement came to.

use std::fmt;
use std::time::Duration;

/// One line of the report: what was measured, and the numbers with their names.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    /// What was measured.
    pub(crate) name: String,
    /// The numbers, each with its name.
    pub(crate) numbers: Vec<(&'static str, f64)>,
}

impl Row {
    /// Operations a second, by round.
    pub(super) fn rate(name: &str, rounds: &[f64]) -> Self {
        Self { name: format!("{name} [1/s]"), numbers: spread(rounds) }
    }

    /// Ratios, by round.
    pub(super) fn ratio(name: &str, rounds: &[f64]) -> Self {
        Self { name: format!("{name} [ratio]"), numbers: spread(rounds) }
    }

    /// How long operations took.
    pub(super) fn times(name: &str, mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |share: f64| {
            let last = times.len().saturating_sub(1);
            let place = (last as f64 * share).round() as usize;
            times.get(place).map_or(0.0, |time| time.as_secs_f64() * 1e3)
        };
        let numbers = vec![("p50", at(0.5)), ("p90", at(0.9)), ("p99", at(0.99)), ("max", at(1.0))];
        Self { name: format!("{name} [ms]"), numbers }
    }
}

fn spread(rounds: &[f64]) -> Vec<(&'static str, f64)> {
    let mut sorted = rounds.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let at = |place: usize| sorted.get(place).copied().unwrap_or_default();
    vec![("median", at(sorted.len() / 2)), ("least", at(0)), ("most", at(sorted.len().saturating_sub(1)))]
}

impl fmt::Display for Row {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:<72}", self.name)?;
        for (name, number) in &self.numbers {
            if number.abs() < 100.0 { write!(out, " {name} {number:.3}")? } else { write!(out, " {name} {number:.0}")? }
        }
        Ok(())
    }
}
