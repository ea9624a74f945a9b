//! Rows 17 and 18: dreams in a large store against the same in a small one.

use bilinc::{Durability, Memory};

use super::{Better, Measured, Spec};
use crate::Outcome;
use crate::bench::{Bench, builder};
use crate::measure::{median, timed};
use crate::work::{dream_of, undo};

const START: Spec = Spec {
    row: "17",
    measure: "dream_start with 200 candidates, 1 M entries, time",
    anchor: "its time at 10 k entries",
    better: Better::Less,
    floor: Some(3.0),
    goal: Some(1.2),
};
const UNDO: Spec = Spec {
    row: "18",
    measure: "undo of a dream of 100 changes, 1 M events, time",
    anchor: "its time at 10 k events",
    better: Better::Less,
    floor: Some(3.0),
    goal: Some(1.2),
};
/// Times in each block: one alone is short.
const TIMES: usize = 5;

/// Row 17. All entries are candidates, none was reviewed. Relaxed, so that the disk's sync, which is the same for
/// both, does not hide the difference.
pub(super) fn start(bench: &mut Bench) -> Outcome<Vec<Measured>> {
    let (million, few) = (bench.scale.million, bench.scale.ten_thousand);
    let large = relaxed(bench, million, million)?;
    let small = relaxed(bench, few, few)?;
    let mut measured = Measured::new(START);
    let (mut larges, mut smalls) = (Vec::new(), Vec::new());
    for _ in 0..bench.rounds {
        let (small, large) = (start_time(&small)?, start_time(&large)?);
        measured.push(large, small);
        larges.push(large * 1e3);
        smalls.push(small * 1e3);
    }
    measured.show("large", &larges, "ms");
    measured.show("small", &smalls, "ms");
    Ok(vec![measured])
}

fn start_time(memory: &Memory) -> Outcome<f64> {
    let mut times = Vec::new();
    for _ in 0..TIMES {
        let (took, started) = timed(|| Ok(memory.dream_start(bilinc::DreamStart::default())?))?;
        if started.answer.candidates.len() != 200 {
            return Err("a dream did not get its 200 candidates".into());
        }
        times.push(took);
    }
    Ok(median(&times))
}

/// Row 18. A dream revises a hundred entries and is taken back; only that is timed. Relaxed, as row 17.
pub(super) fn take_back(bench: &mut Bench) -> Outcome<Vec<Measured>> {
    let (million, few) = (bench.scale.million, bench.scale.ten_thousand);
    let large = relaxed(bench, million / 10, million)?;
    let small = relaxed(bench, few / 10, few)?;
    let mut measured = Measured::new(UNDO);
    let (mut larges, mut smalls) = (Vec::new(), Vec::new());
    for _ in 0..bench.rounds {
        let (small, large) = (undo_time(&small)?, undo_time(&large)?);
        measured.push(large, small);
        larges.push(large * 1e3);
        smalls.push(small * 1e3);
    }
    measured.show("large", &larges, "ms");
    measured.show("small", &smalls, "ms");
    Ok(vec![measured])
}

fn undo_time(memory: &Memory) -> Outcome<f64> {
    let mut times = Vec::new();
    for _ in 0..TIMES {
        let (dream, changes) = dream_of(memory, 100)?;
        if changes != 100 {
            return Err("a dream did not revise its 100 entries".into());
        }
        times.push(timed(|| undo(memory, dream))?.0);
    }
    Ok(median(&times))
}

fn relaxed(bench: &mut Bench, keys: u64, events: u64) -> Outcome<Memory> {
    let folder = bench.store(keys, events)?;
    Ok(builder().durability(Durability::Relaxed).open(folder)?)
}
