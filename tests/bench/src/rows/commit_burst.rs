//! Rows 1 to 4: durable commits of one writer, and of eight threads at once.

use std::sync::{Arc, Barrier};

use bilinc::Memory;

use super::{Better, Measured, Raw, Spec};
use crate::Outcome;
use crate::bench::{Bench, builder};
use crate::data;
use crate::measure::{Latencies, repeat};

const RATE_OF_R: Spec = Spec {
    row: "1a",
    measure: "durable commit, 1 writer, rate",
    anchor: "R: write + fdatasync, growing file",
    better: Better::More,
    floor: Some(0.95),
    goal: None,
};
const RATE_OF_P: Spec = Spec {
    row: "1b",
    measure: "durable commit, 1 writer, rate",
    anchor: "P: the same, preallocated file",
    better: Better::More,
    floor: None,
    goal: Some(0.9),
};
const P99: Spec = Spec {
    row: "2",
    measure: "durable commit, 1 writer, p99",
    anchor: "p99 of R",
    better: Better::Less,
    floor: Some(1.3),
    goal: Some(0.9),
};
const EIGHT: Spec = Spec {
    row: "3",
    measure: "durable commit, 8 threads, total rate",
    anchor: "R",
    better: Better::More,
    floor: Some(2.7),
    goal: Some(4.0),
};
const EIGHT_P99: Spec = Spec {
    row: "4",
    measure: "durable commit, 8 threads, p99",
    anchor: "p50 of R",
    better: Better::Less,
    floor: Some(6.0),
    goal: Some(4.0),
};

/// Rows 1 and 2. The product decides, encodes, checksums, chains, syncs and moves its mark for each commit of an
/// entry that is new; the anchors write the same number of bytes and sync.
pub(super) fn one(bench: &mut Bench) -> Outcome<Vec<Measured>> {
    let memory = builder().open(bench.path("one"))?;
    memory.commit(data::prepared_commit(0)?)?;
    let mut growing = Raw::growing(&bench.path("raw-r"))?;
    let mut ahead = Raw::preallocated(&bench.path("raw-p"), 256 << 20)?;
    let (mut of_r, mut of_p, mut p99) = (Measured::new(RATE_OF_R), Measured::new(RATE_OF_P), Measured::new(P99));
    let (mut rates, mut rates_r, mut rates_p) = (Vec::new(), Vec::new(), Vec::new());
    let (mut tails, mut tails_r) = (Vec::new(), Vec::new());
    let mut number = 0;
    for _ in 0..bench.rounds {
        let mut r = repeat(bench.scale.block, || growing.commit())?;
        let mut product = repeat(bench.scale.block, || {
            number += 1;
            memory.commit(data::prepared_commit(number)?)?;
            Ok(())
        })?;
        let p = repeat(bench.scale.block, || ahead.commit())?;
        of_r.push(product.rate(), r.rate());
        of_p.push(product.rate(), p.rate());
        p99.push(product.p99(), r.p99());
        rates.push(product.rate());
        rates_r.push(r.rate());
        rates_p.push(p.rate());
        tails.push(product.p99() * 1e3);
        tails_r.push(r.p99() * 1e3);
    }
    of_r.show("product", &rates, "/s");
    of_r.show("R", &rates_r, "/s");
    of_p.show("P", &rates_p, "/s");
    p99.show("product", &tails, "ms");
    p99.show("R", &tails_r, "ms");
    Ok(vec![of_r, of_p, p99])
}

/// Rows 3 and 4. Eight threads of one process on one store, each waiting for its own answer; the anchor is one thread
/// that waits for its own sync.
pub(super) fn eight(bench: &mut Bench) -> Outcome<Vec<Measured>> {
    const THREADS: u64 = 8;
    let memory = builder().open(bench.path("eight"))?;
    memory.commit(data::prepared_commit(0)?)?;
    let mut growing = Raw::growing(&bench.path("raw-r8"))?;
    let (mut rate, mut p99) = (Measured::new(EIGHT), Measured::new(EIGHT_P99));
    let (mut rates, mut rates_r, mut tails, mut middles) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for round in 0..bench.rounds as u64 {
        let mut r = repeat(bench.scale.block, || growing.commit())?;
        let barrier = Arc::new(Barrier::new(THREADS as usize));
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| {
                let (memory, barrier) = (memory.clone(), Arc::clone(&barrier));
                let (block, first) = (bench.scale.block, (round * THREADS + thread) << 32);
                std::thread::spawn(move || {
                    barrier.wait();
                    commits(&memory, block, first).map_err(|error| error.to_string())
                })
            })
            .collect();
        let mut all = Latencies::default();
        for thread in threads {
            all.join(&thread.join().map_err(|_| "a writer panicked")??);
        }
        rate.push(all.rate(), r.rate());
        p99.push(all.p99(), r.p50());
        rates.push(all.rate());
        rates_r.push(r.rate());
        tails.push(all.p99() * 1e3);
        middles.push(r.p50() * 1e3);
    }
    rate.show("product", &rates, "/s");
    rate.show("R", &rates_r, "/s");
    p99.show("product", &tails, "ms");
    p99.show("R, p50", &middles, "ms");
    Ok(vec![rate, p99])
}

/// Commits of new entries for a while.
pub(super) fn commits(memory: &Memory, block: std::time::Duration, first: u64) -> Outcome<Latencies> {
    let mut number = first;
    repeat(block, || {
        number += 1;
        memory.commit(data::prepared_commit(number)?)?;
        Ok(())
    })
}
