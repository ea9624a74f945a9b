//! Row 14: an entry and its value by key.

use std::collections::HashMap;
use std::hint::black_box;

use super::{Better, Measured, Spec};
use crate::Outcome;
use crate::bench::{Bench, builder};
use crate::data::{Random, Record, key_text};
use crate::measure::timed;

const GET: Spec = Spec {
    row: "14",
    measure: "get by key with its value, rate",
    anchor: "std HashMap get",
    better: Better::More,
    floor: Some(0.15),
    goal: Some(0.4),
};

/// The product looks at the mark, finds the entry, and gives a copy of it with the value and metadata, which are not
/// in memory of their own accord; the anchor gives a reference to a record in its map. Keys at random, all of them
/// alike.
pub(super) fn run(bench: &mut Bench) -> Outcome<Vec<Measured>> {
    let entries = bench.scale.hundred_thousand;
    let memory = builder().open(bench.store(entries, entries)?)?;
    let mut map = HashMap::new();
    for number in 0..entries {
        let record = Record::new(number, 0);
        map.insert(record.key.clone(), record);
    }
    let mut random = Random::new(14);
    let mut measured = Measured::new(GET);
    let (mut times, mut anchors) = (Vec::new(), Vec::new());
    for _ in 0..bench.rounds {
        let asked: Vec<String> = (0..bench.scale.operations * 5).map(|_| key_text(random.below(entries))).collect();
        let (anchor, ()) = timed(|| {
            asked.iter().try_for_each(|key| black_box(map.get(key)).map(drop).ok_or_else(|| "a key is missing".into()))
        })?;
        let (product, ()) = timed(|| {
            for key in &asked {
                let entry = memory.get(key)?.ok_or("a key is missing")?;
                black_box(entry.value.ok_or("a value is missing")?);
            }
            Ok(())
        })?;
        measured.push(1.0 / product, 1.0 / anchor);
        times.push(product / asked.len() as f64 * 1e9);
        anchors.push(anchor / asked.len() as f64 * 1e9);
    }
    measured.show("product", &times, "ns");
    measured.show("HashMap", &anchors, "ns");
    Ok(vec![measured])
}
