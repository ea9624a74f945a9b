//! A mixed load for a long time: do latencies, memory and disk stay what they are?
//!
//! The number of live entries is held level, and so is the number of keys that were ever used, because a store
//! remembers each key it has seen. What has to grow is the log, by what is written.

mod load;
mod show;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;

use self::load::{KINDS, Load};
use crate::Outcome;
use crate::bench::{Bench, builder, bytes_below};
use crate::measure::Latencies;
use crate::report::Kept;

/// One minute.
#[derive(Debug, Serialize)]
struct Minute {
    minute: f64,
    /// Of each kind that was there: name, how many, p50, p99 and longest in milliseconds.
    kinds: Vec<(&'static str, usize, f64, f64, f64)>,
    resident_mb: f64,
    disk_mb: f64,
    log_mb: f64,
    live: u64,
    events: u64,
}

/// The load for so many minutes on a store of so many entries.
pub(crate) fn run(bench: &mut Bench, minutes: f64, entries: u64, kept: &Kept) -> Outcome<()> {
    let folder = bench.store(entries, entries)?;
    let memory = builder().checkpoints(true).open(&folder)?;
    memory.recall(&bilinc::RecallQuery::new("warm up"))?;
    let load = Arc::new(Load::new(memory, entries));
    let stop = Arc::new(AtomicBool::new(false));
    let threads: Vec<_> = Load::WORKERS
        .iter()
        .map(|worker| {
            let (load, stop) = (Arc::clone(&load), Arc::clone(&stop));
            std::thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    if let Err(error) = worker(&load) {
                        stop.store(true, Ordering::Relaxed);
                        return Err(error.to_string());
                    }
                }
                Ok(())
            })
        })
        .collect();
    let begun = Instant::now();
    // A short run tells of ten stretches, too.
    let stretch = Duration::from_secs_f64((minutes * 6.0).min(60.0));
    let mut told: Vec<Minute> = Vec::new();
    while begun.elapsed().as_secs_f64() < minutes * 60.0 && !stop.load(Ordering::Relaxed) {
        std::thread::sleep(stretch);
        let minute = look(&load, &folder, begun.elapsed().as_secs_f64() / 60.0)?;
        eprintln!(
            "  {:.1} min, {:.0} MB resident, {:.0} MB on disk",
            minute.minute, minute.resident_mb, minute.disk_mb
        );
        told.push(minute);
        kept.json(&told)?;
    }
    stop.store(true, Ordering::Relaxed);
    for thread in threads {
        thread.join().map_err(|_| "a thread of the load panicked")??;
    }
    kept.file("svg", &show::memory(&told))?;
    kept.file("latencies.svg", &show::latencies(&told))?;
    kept.text(&format!("{}\n{}", show::table(&told), show::verdict(&told)), bench.below())
}

fn look(load: &Load, folder: &Path, minute: f64) -> Outcome<Minute> {
    let status = load.memory.status()?;
    let of_kind = |(name, mut latencies): (&'static str, Latencies)| {
        let millis = |seconds: f64| seconds * 1e3;
        let count = latencies.count();
        (name, count, millis(latencies.p50()), millis(latencies.p99()), millis(latencies.longest()))
    };
    let taken = KINDS.into_iter().zip(load.take());
    Ok(Minute {
        minute,
        kinds: taken.filter(|(_, latencies)| latencies.count() > 0).map(of_kind).collect(),
        resident_mb: resident()? as f64 / 1e6,
        // A checkpoint may be on its way while the folder is walked; then the size before stands in.
        disk_mb: bytes_below(folder).unwrap_or(status.log_bytes) as f64 / 1e6,
        log_mb: status.log_bytes as f64 / 1e6,
        live: status.counts.by_type.iter().sum(),
        events: status.head.seq.get(),
    })
}

/// Bytes of memory that this process has.
fn resident() -> Outcome<u64> {
    let told = std::fs::read_to_string("/proc/self/statm")?;
    let pages: u64 = told.split_whitespace().nth(1).ok_or("statm has another form")?.parse()?;
    Ok(pages * rustix::param::page_size() as u64)
}
