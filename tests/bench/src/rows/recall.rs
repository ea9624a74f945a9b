//! Rows 15 and 16: ranked search, and finding what was just committed.

use std::time::Duration;

use bilinc::{Memory, RecallQuery};

use super::{Better, Measured, Raw, Spec};
use crate::Outcome;
use crate::bench::{Bench, builder};
use crate::data::{self, Random};
use crate::measure::{Latencies, repeat, timed};
use crate::rivals::{Fts5, Tantivy};

const ONE: Spec = Spec {
    row: "15a",
    measure: "recall balanced, 1 middling term, values included, p50",
    anchor: "SQLite FTS5, bm25, porter",
    better: Better::Less,
    floor: Some(0.2),
    goal: Some(0.05),
};
const THREE: Spec = Spec { row: "15b", measure: "recall balanced, 3 middling terms, values included, p50", ..ONE };
const COMMIT_AND_FIND: Spec = Spec {
    row: "16",
    measure: "commit, then found by recall, p50",
    anchor: "R, p50",
    better: Better::Less,
    floor: Some(3.0),
    goal: Some(1.3),
};

/// Row 15. The ten best of all entries that hold any of the words. The product finds relatives and beginnings of a
/// word, too, and reads the values from its log. FTS5 looks for words of the same stem, tantivy for the words alone; both are warm and find
/// the text beside their index.
pub(super) fn run(bench: &mut Bench) -> Outcome<Vec<Measured>> {
    let entries = bench.scale.hundred_thousand;
    let memory = builder().open(bench.store(entries, entries)?)?;
    let mut fts5 = Fts5::open(&bench.path("fts5.db"))?;
    fts5.fill(entries)?;
    let tantivy = Tantivy::filled(entries)?;
    memory.recall(&RecallQuery::new("warm up"))?;
    let queries = |words: usize, round: usize| -> Vec<Vec<String>> {
        let mut random = Random::new(15 + round as u64);
        (0..200).map(|_| (0..words).map(|_| middling(&mut random)).collect()).collect()
    };
    let mut all = Vec::new();
    for (spec, words) in [(ONE, 1), (THREE, 3)] {
        let mut measured = Measured::new(spec);
        let (mut times, mut anchors, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for round in 0..bench.rounds {
            let queries = queries(words, round);
            let mut of_fts5 = each(&queries, |query| fts5.find(query))?;
            let mut product = each(&queries, |query| Ok(memory.recall(&RecallQuery::new(query.join(" ")))?.len()))?;
            let mut of_tantivy = each(&queries, |query| tantivy.find(query))?;
            measured.push(product.p50(), of_fts5.p50());
            times.push(product.p50() * 1e6);
            anchors.push(of_fts5.p50() * 1e6);
            others.push(of_tantivy.p50() * 1e6);
        }
        measured.show("product", &times, "µs");
        measured.show("FTS5", &anchors, "µs");
        measured.show("tantivy, in memory", &others, "µs");
        all.push(measured);
    }
    Ok(all)
}

/// A word that about one entry in two hundred holds.
fn middling(random: &mut Random) -> String {
    data::word(300 + random.below(700))
}

/// The latencies of some searches, each of which must find something.
fn each(queries: &[Vec<String>], mut find: impl FnMut(&[String]) -> Outcome<usize>) -> Outcome<Latencies> {
    let mut latencies = Latencies::default();
    for query in queries {
        let (took, found) = timed(|| find(query))?;
        if found == 0 {
            return Err(format!("nothing was found for {query:?}").into());
        }
        latencies.push(Duration::from_secs_f64(took));
    }
    Ok(latencies)
}

/// Row 16. A durable commit of an entry with a word that was never seen, and the recall that finds it; the anchor is
/// one write and its sync.
pub(super) fn find_own(bench: &mut Bench) -> Outcome<Vec<Measured>> {
    let entries = bench.scale.hundred_thousand;
    let folder = bench.path("find-own");
    crate::bench::fill(&folder, entries, entries)?;
    let memory = builder().open(&folder)?;
    memory.recall(&RecallQuery::new("warm up"))?;
    let mut growing = Raw::growing(&bench.path("raw-r16"))?;
    let mut measured = Measured::new(COMMIT_AND_FIND);
    let (mut times, mut anchors) = (Vec::new(), Vec::new());
    let mut number = entries;
    for _ in 0..bench.rounds {
        let mut r = repeat(bench.scale.block, || growing.commit())?;
        let mut product = repeat(bench.scale.block, || {
            number += 1;
            commit_and_find(&memory, number)
        })?;
        measured.push(product.p50(), r.p50());
        times.push(product.p50() * 1e3);
        anchors.push(r.p50() * 1e3);
    }
    measured.show("product", &times, "ms");
    measured.show("R", &anchors, "ms");
    Ok(vec![measured])
}

fn commit_and_find(memory: &Memory, number: u64) -> Outcome<()> {
    let word = format!("unseen{number}");
    let value = bilinc_core::Json::parse(&data::value_with(number, 0, &word), bilinc_core::limits::VALUE_BYTES)?;
    memory.commit(bilinc::Commit::new(data::key(number)?, value))?;
    let found = memory.recall(&RecallQuery::new(word))?;
    if found.is_empty() { Err("what was committed is not found".into()) } else { Ok(()) }
}
