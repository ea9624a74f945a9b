//! A long run as a table, charts and a verdict.

use super::Minute;
use super::load::KINDS;
use crate::report::{Chart, Line, Table, number};

/// Memory that rises by less than this share from the second third of a run to the last has levelled off.
const LEVEL: f64 = 1.02;

pub(super) fn table(minutes: &[Minute]) -> String {
    let columns = ["minute", "resident MB", "disk MB", "log MB", "live", "events"].map(str::to_owned);
    let kinds = KINDS.map(|kind| format!("{kind}: n, p50 / p99 / longest ms"));
    let mut table = Table::new(columns.into_iter().chain(kinds));
    for minute in minutes {
        let first = [
            number(minute.minute),
            number(minute.resident_mb),
            number(minute.disk_mb),
            number(minute.log_mb),
            minute.live.to_string(),
            minute.events.to_string(),
        ];
        let kinds = KINDS.map(|kind| {
            let found = minute.kinds.iter().find(|of| of.0 == kind);
            found.map_or_else(String::new, |(_, count, p50, p99, longest)| {
                format!("{count}, {} / {} / {}", number(*p50), number(*p99), number(*longest))
            })
        });
        table.row(first.into_iter().chain(kinds));
    }
    table.to_string()
}

/// Whether memory, and the disk beside the log, level off: the mean of the last third against that of the third
/// before it. The log holds all that was written, so it grows.
pub(super) fn verdict(minutes: &[Minute]) -> String {
    let of = [
        ("Memory", (|minute| minute.resident_mb) as fn(&Minute) -> f64),
        ("The disk beside the log", |minute| minute.disk_mb - minute.log_mb),
    ];
    of.map(|(what, size)| verdict_on(minutes, what, size)).join("\n")
}

fn verdict_on(minutes: &[Minute], what: &str, size: fn(&Minute) -> f64) -> String {
    let third = minutes.len() / 3;
    let mean = |minutes: &[Minute]| minutes.iter().map(size).sum::<f64>() / minutes.len() as f64;
    let (Some(last), Some(middle)) =
        (minutes.len().checked_sub(third).and_then(|at| minutes.get(at..)), minutes.get(third..third * 2))
    else {
        return "too short to judge".to_owned();
    };
    if middle.is_empty() {
        return "too short to judge".to_owned();
    }
    let growth = mean(last) / mean(middle);
    let levels = if growth <= LEVEL { "levels off" } else { "does NOT level off" };
    format!("{what} {levels}: {} MB in the second third, {} MB in the last.", number(mean(middle)), number(mean(last)))
}

pub(super) fn memory(minutes: &[Minute]) -> String {
    let line = |name: &str, of: fn(&Minute) -> f64| Line {
        name: name.to_owned(),
        points: minutes.iter().map(|minute| (minute.minute, of(minute))).collect(),
    };
    let lines = [
        line("resident memory", |minute| minute.resident_mb),
        line("disk", |minute| minute.disk_mb),
        line("log", |minute| minute.log_mb),
    ];
    Chart { title: "Memory and disk under load", right: "minutes", up: "MB", logarithmic: false, lines: &lines }.svg()
}

pub(super) fn latencies(minutes: &[Minute]) -> String {
    let lines: Vec<Line> = KINDS
        .into_iter()
        .map(|kind| {
            let of = |minute: &Minute| {
                let found = minute.kinds.iter().find(|of| of.0 == kind)?;
                Some((minute.minute, found.3))
            };
            Line { name: format!("{kind}, p99"), points: minutes.iter().filter_map(of).collect() }
        })
        .collect();
    Chart { title: "Latency under load", right: "minutes", up: "ms", logarithmic: true, lines: &lines }.svg()
}
