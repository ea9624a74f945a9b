//! Rows 8 and 9: the log read, proved and folded from end to end.

use std::collections::HashMap;
use std::fs::File;
use std::hint::black_box;
use std::io::{BufReader, BufWriter, Read, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use bilinc::LogQuery;
use bilinc_core::Seq;

use super::{Better, Measured, Spec};
use crate::Outcome;
use crate::bench::{Bench, builder};
use crate::data::Record;
use crate::measure::timed;

const READ: Spec = Spec {
    row: "8a",
    measure: "read and decode the log with its CRCs, rate",
    anchor: "crc32fast + bincode 1.3.3 in a loop",
    better: Better::More,
    floor: Some(0.85),
    goal: Some(1.2),
};
const VERIFY: Spec = Spec {
    row: "8b",
    measure: "full verify with chain, digests and fold, rate",
    anchor: "crc32fast + bincode 1.3.3 in a loop",
    better: Better::More,
    floor: Some(0.25),
    goal: Some(0.4),
};
const REPLAY: Spec = Spec {
    row: "9",
    measure: "open by full replay, 1 M random keys, rate",
    anchor: "crc + bincode 1.3.3 into a presized std HashMap",
    better: Better::More,
    floor: Some(0.8),
    goal: Some(1.2),
};

/// Row 8. The product reads frames, checks the CRCs of header, permanent part and body, decodes both and gives the
/// events one by one; it also joins segments and checks positions, and two threads share the work. The anchor reads
/// records one after another, checks one CRC and decodes. Both let go of what they made; both files are in the page
/// cache. Beside stands what it takes to look for events that are not there: headers and permanent parts alone, and
/// nothing is given.
pub(super) fn run(bench: &mut Bench) -> Outcome<Vec<Measured>> {
    let events = bench.scale.hundred_thousand * 3;
    let (store, file) = (bench.store(events, events)?, records(bench, events)?);
    let memory = builder().read_only(true).open(&store)?;
    let (mut read, mut verify) = (Measured::new(READ), Measured::new(VERIFY));
    let (mut reads, mut passes, mut verifies, mut anchors) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..bench.rounds {
        let (anchor, count) = timed(|| each(&file, &mut |record| drop(black_box(record))))?;
        let mut given = 0;
        let (product, ()) = timed(|| {
            memory.visit_recorded(Seq::ZERO, &mut |event| {
                drop(black_box(event));
                given += 1;
                ControlFlow::Continue(())
            })?;
            Ok(())
        })?;
        if given != count {
            return Err(format!("{given} events of {count} were read").into());
        }
        let nobodys = LogQuery { source: Some("nobody".to_owned()), oldest_first: true, ..LogQuery::default() };
        let (passed, _) = timed(|| Ok(memory.log(&nobodys)?))?;
        let (proved, _) = timed(|| Ok(memory.verify(&mut |_, _| {})?))?;
        read.push(1.0 / product, 1.0 / anchor);
        verify.push(1.0 / proved, 1.0 / anchor);
        let rate = |seconds: f64| count as f64 / seconds / 1e6;
        reads.push(rate(product));
        passes.push(rate(passed));
        verifies.push(rate(proved));
        anchors.push(rate(anchor));
    }
    read.show("product", &reads, "M/s");
    read.show("without bodies, none given", &passes, "M/s");
    read.show("loop", &anchors, "M/s");
    verify.show("product", &verifies, "M/s");
    Ok(vec![read, verify])
}

/// Row 9. The product opens its store without a checkpoint: all that it checks at an open, every event decoded and
/// folded into what reads need. The anchor puts whole records with their values into a map that never has to grow.
/// Letting go of what was made is not timed.
pub(super) fn replay(bench: &mut Bench) -> Outcome<Vec<Measured>> {
    let events = bench.scale.million;
    let (store, file) = (bench.store(events, events)?, records(bench, events)?);
    let mut measured = Measured::new(REPLAY);
    let (mut opens, mut anchors) = (Vec::new(), Vec::new());
    for _ in 0..bench.rounds {
        let (anchor, map) = timed(|| {
            let mut map = HashMap::with_capacity(usize::try_from(events)?);
            each(&file, &mut |record| drop(map.insert(record.key.clone(), record)))?;
            Ok(map)
        })?;
        drop(black_box(map));
        let (product, memory) = timed(|| Ok(builder().open(&store)?))?;
        drop(memory);
        measured.push(1.0 / product, 1.0 / anchor);
        opens.push(product);
        anchors.push(anchor);
    }
    measured.show("product", &opens, "s");
    measured.show("loop", &anchors, "s");
    Ok(vec![measured])
}

/// A file of so many records, each behind its length and its CRC; made once in a run.
fn records(bench: &Bench, events: u64) -> Outcome<PathBuf> {
    let path = bench.path(&format!("records-{events}"));
    if !path.exists() {
        let mut file = BufWriter::new(File::create(&path)?);
        for number in 0..events {
            let bytes = Record::new(number, 0).bytes()?;
            file.write_all(&u32::try_from(bytes.len())?.to_le_bytes())?;
            file.write_all(&crc32fast::hash(&bytes).to_le_bytes())?;
            file.write_all(&bytes)?;
        }
        file.flush()?;
        rustix::fs::sync();
    }
    Ok(path)
}

/// Reads such a file; how many there were.
fn each(path: &Path, take: &mut dyn FnMut(Record)) -> Outcome<u64> {
    let mut file = BufReader::with_capacity(256 * 1024, File::open(path)?);
    let (mut head, mut bytes, mut count) = ([0; 8], Vec::new(), 0);
    while file.read_exact(&mut head).is_ok() {
        let [a, b, c, d, e, f, g, h] = head;
        bytes.resize(u32::from_le_bytes([a, b, c, d]) as usize, 0);
        file.read_exact(&mut bytes)?;
        if crc32fast::hash(&bytes) != u32::from_le_bytes([e, f, g, h]) {
            return Err("a record is damaged".into());
        }
        take(bincode1::deserialize(&bytes)?);
        count += 1;
    }
    Ok(count)
}
