//! Rows 10 and 20: what a checkpoint saves.

use bilinc::RecallQuery;

use super::{Better, Measured, Spec};
use crate::Outcome;
use crate::bench::{Bench, builder, fill, with_checkpoints};
use crate::measure::timed;

const OPEN: Spec = Spec {
    row: "10",
    measure: "open with checkpoint, 1 M events over 100 k keys, time",
    anchor: "the product's own full replay",
    better: Better::Less,
    floor: Some(0.5),
    goal: Some(0.1),
};
const FIRST: Spec = Spec {
    row: "20",
    measure: "first recall of a new process, checkpoint there: whole time",
    anchor: "indexing those entries from the log",
    better: Better::Less,
    floor: Some(0.3),
    goal: Some(0.1),
};

/// Row 10. Both opens give the same store; the anchor does not look at the checkpoint.
pub(super) fn open(bench: &mut Bench) -> Outcome<Vec<Measured>> {
    let folder = bench.store(bench.scale.million / 10, bench.scale.million)?;
    let memory = with_checkpoints().open(&folder)?;
    memory.checkpoint()?.ok_or("no checkpoint was kept")?;
    memory.close();
    let mut measured = Measured::new(OPEN);
    let (mut opens, mut replays) = (Vec::new(), Vec::new());
    for _ in 0..bench.rounds {
        let (replay, memory) = timed(|| Ok(builder().open(&folder)?))?;
        drop(memory);
        let (open, memory) = timed(|| Ok(with_checkpoints().open(&folder)?))?;
        drop(memory);
        measured.push(open, replay);
        opens.push(open * 1e3);
        replays.push(replay * 1e3);
    }
    measured.show("product", &opens, "ms");
    measured.show("replay", &replays, "ms");
    Ok(vec![measured])
}

/// Row 20. The product opens its store and answers, both from checkpoints; of the anchor, which has none, only the
/// first recall is counted, not the open before it. The start of a process is not in it: handles share nothing.
pub(super) fn first_recall(bench: &mut Bench) -> Outcome<Vec<Measured>> {
    let entries = bench.scale.hundred_thousand;
    let folder = bench.path("first-recall");
    fill(&folder, entries, entries)?;
    let query = RecallQuery::new("topic");
    let memory = with_checkpoints().open(&folder)?;
    memory.recall(&query)?;
    memory.checkpoint()?.ok_or("no checkpoint was kept")?;
    memory.close();
    let mut measured = Measured::new(FIRST);
    let (mut firsts, mut indexings) = (Vec::new(), Vec::new());
    for _ in 0..bench.rounds {
        let memory = builder().open(&folder)?;
        let (indexing, expected) = timed(|| Ok(memory.recall(&query)?))?;
        drop(memory);
        let (first, (memory, found)) = timed(|| {
            let memory = with_checkpoints().open(&folder)?;
            let found = memory.recall(&query)?;
            Ok((memory, found))
        })?;
        drop(memory);
        if found.len() != expected.len() {
            return Err("the index that was kept finds something else".into());
        }
        measured.push(first, indexing);
        firsts.push(first * 1e3);
        indexings.push(indexing * 1e3);
    }
    measured.show("product", &firsts, "ms");
    measured.show("indexing", &indexings, "ms");
    Ok(vec![measured])
}
