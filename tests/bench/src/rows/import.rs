//! Row 6: a thousand entries in one operation.

use std::fmt::Write as _;

use bilinc::ImportOptions;

use super::{Better, Measured, Spec};
use crate::Outcome;
use crate::bench::{Bench, builder, fill};
use crate::data::{Random, key_text, value_text};
use crate::measure::timed;
use crate::rivals::{Batch, Fjall, Redb, Rival, Sled, Sqlite};

const RATE: Spec = Spec {
    row: "6",
    measure: "import of 1,000 entries in one operation, 100 k there, rate",
    anchor: "best of SQLite FULL, redb, fjall",
    better: Better::More,
    floor: Some(0.6),
    goal: Some(1.0),
};
const BATCH: u64 = 1_000;

/// Keys at random, half of them there already. The product reads lines of JSON, checks and decides each entry and
/// keeps what it replaces; the rivals put keys and values of the same bytes into a table and forget what stood there.
/// Each answers when the batch is durable. sled is shown beside: its flush is no device flush.
pub(super) fn run(bench: &mut Bench) -> Outcome<Vec<Measured>> {
    let there = bench.scale.hundred_thousand;
    let folder = bench.path("import");
    fill(&folder, there, there)?;
    let memory = builder().open(&folder)?;
    let mut rivals: Vec<Box<dyn Rival>> = vec![
        Box::new(Sqlite::open(&bench.path("import.db"))?),
        Box::new(Redb::open(&bench.path("import.redb"))?),
        Box::new(Fjall::open(&bench.path("import.fjall"))?),
        Box::new(Sled::open(&bench.path("import.sled"))?),
    ];
    for rival in &mut rivals {
        rival.put(&(0..there).map(|number| (key_text(number), value_text(number, 0))).collect())?;
    }
    let mut random = Random::new(6);
    let mut measured = Measured::new(RATE);
    let (mut products, mut others) = (Vec::new(), vec![Vec::new(); rivals.len()]);
    for round in 0..bench.rounds as u64 {
        // A few batches a round, in turn: each is short.
        let mut sums = vec![0.0; rivals.len()];
        let mut product = 0.0;
        for turn in 1..=5 {
            let batch: Batch = (0..BATCH)
                .map(|_| random.below(there * 2))
                .map(|number| (key_text(number), value_text(number, 1 + round * 5 + turn)))
                .collect();
            let lines = lines(&batch)?;
            for (rival, sum) in rivals.iter_mut().zip(&mut sums) {
                *sum += timed(|| rival.put(&batch))?.0;
            }
            product += timed(|| Ok(memory.import(lines.as_bytes(), ImportOptions::default(), &mut |_, _| {})?))?.0;
        }
        let kept = rivals.iter().zip(&sums).filter(|(rival, _)| rival.name() != "sled");
        let best = kept.map(|(_, sum)| *sum).fold(f64::INFINITY, f64::min);
        measured.push(1.0 / product, 1.0 / best);
        products.push(product / 5.0 * 1e3);
        for (other, sum) in others.iter_mut().zip(&sums) {
            other.push(sum / 5.0 * 1e3);
        }
    }
    measured.show("product", &products, "ms");
    for (rival, times) in rivals.iter().zip(&others) {
        measured.show(rival.name(), times, "ms");
    }
    Ok(vec![measured])
}

/// A batch in the import format.
fn lines(batch: &Batch) -> Outcome<String> {
    let mut lines = String::new();
    for (key, value) in batch {
        writeln!(lines, "{{\"key\":{},\"value\":{value}}}", serde_json::to_string(key)?)?;
    }
    Ok(lines)
}
