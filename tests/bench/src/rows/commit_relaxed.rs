//! Row 7: commits that need not survive a power cut.

use bilinc::Durability;

use super::{Better, Measured, Raw, Spec};
use crate::Outcome;
use crate::bench::{Bench, builder};
use crate::data;
use crate::measure::timed;

const RATE: Spec = Spec {
    row: "7",
    measure: "commit in relaxed durability, one at a time, rate",
    anchor: "one write() per record",
    better: Better::More,
    floor: Some(0.15),
    goal: Some(0.25),
};

/// The product decides, encodes, checksums, chains and appends each commit of a new entry; the anchor is a `write()`
/// of bytes that are there. The commits are made before the clock runs, as the anchor's bytes are.
pub(super) fn run(bench: &mut Bench) -> Outcome<Vec<Measured>> {
    let memory = builder().durability(Durability::Relaxed).open(bench.path("relaxed"))?;
    let mut raw = Raw::growing(&bench.path("raw-w"))?;
    let mut measured = Measured::new(RATE);
    let (mut rates, mut rates_raw) = (Vec::new(), Vec::new());
    let count = bench.scale.operations;
    for round in 0..bench.rounds as u64 {
        let commits = (0..count).map(|number| data::commit(round * count + number, 0)).collect::<Outcome<Vec<_>>>()?;
        let (anchor, ()) = timed(|| (0..count).try_for_each(|_| raw.write()))?;
        let (product, ()) = timed(|| {
            for commit in commits {
                memory.commit(commit)?;
            }
            Ok(())
        })?;
        measured.push(1.0 / product, 1.0 / anchor);
        rates.push(count as f64 / product);
        rates_raw.push(count as f64 / anchor);
    }
    measured.show("product", &rates, "/s");
    measured.show("write()", &rates_raw, "/s");
    Ok(vec![measured])
}
