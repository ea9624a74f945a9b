//! How times and sizes grow with a store.

use bilinc::{At, DiffQuery, DreamStart, Durability, ListQuery, Memory, Order, RecallQuery};
use serde::Serialize;

use crate::Outcome;
use crate::bench::{Bench, builder, bytes_below, with_checkpoints};
use crate::data::{self, Random};
use crate::measure::{heap, median, timed};
use crate::report::{Chart, Kept, Line, Table, number};
use crate::work::{dream_of, undo};

/// A store that is measured.
#[derive(Debug, Serialize)]
struct Store {
    name: String,
    events: u64,
    numbers: Vec<(&'static str, &'static str, f64)>,
}

/// Sizes, and what each thing takes there. Writes are relaxed: a sync costs the same everywhere and would hide what
/// grows.
pub(crate) fn run(bench: &mut Bench, quick: bool, kept: &Kept) -> Outcome<()> {
    let sizes: &[(u64, u64)] = if quick {
        &[(1_000, 1_000), (10_000, 10_000), (1_000, 10_000)]
    } else {
        &[(10_000, 10_000), (100_000, 100_000), (1_000_000, 1_000_000), (100_000, 1_000_000)]
    };
    let mut stores = Vec::new();
    for &(keys, events) in sizes {
        stores.push(measure(bench, keys, events)?);
        bench.remove(&format!("of-{keys}-{events}"))?;
    }
    kept.json(&stores)?;
    kept.file("svg", &chart(&stores))?;
    kept.text(&table(&stores), bench.below())
}

fn measure(bench: &mut Bench, keys: u64, events: u64) -> Outcome<Store> {
    let folder = bench.store(keys, events)?;
    let mut numbers = Vec::new();
    let disk = bytes_below(&folder)? as f64;

    let mut replays = Vec::new();
    for _ in 0..bench.rounds {
        let (took, memory) = timed(|| Ok(builder().open(&folder)?))?;
        drop(memory);
        replays.push(took * 1e3);
    }
    let (usage, memory) = heap::measured(|| builder().open(&folder));
    drop(memory?);

    let relaxed = || with_checkpoints().durability(Durability::Relaxed);
    let memory = relaxed().open(&folder)?;
    let (first_recall, _) = timed(|| Ok(memory.recall(&RecallQuery::new("topic"))?))?;
    memory.checkpoint()?.ok_or("no checkpoint was kept")?;
    memory.close();
    let mut opens = Vec::new();
    for _ in 0..bench.rounds {
        let (took, memory) = timed(|| Ok(with_checkpoints().open(&folder)?))?;
        drop(memory);
        opens.push(took * 1e3);
    }

    let memory = relaxed().open(&folder)?;
    memory.recall(&RecallQuery::new("topic"))?;
    memory.list(&ListQuery::default())?;
    memory.list(&ListQuery { order: Order::Newest, ..ListQuery::default() })?;
    let mut random = Random::new(events);
    numbers.push((
        "commit",
        "µs",
        each(200, || {
            let commit = data::commit(random.below(keys), random.next())?;
            Ok(timed(|| Ok(memory.commit(commit)?))?.0)
        })? * 1e6,
    ));
    numbers.push((
        "get",
        "µs",
        each(200, || {
            let key = data::key_text(random.below(keys));
            Ok(timed(|| Ok(memory.get(&key)?))?.0)
        })? * 1e6,
    ));
    // The first one after a write brings the index up; that is the write's, not the search's.
    memory.recall(&RecallQuery::new("topic"))?;
    numbers.push((
        "recall, 1 word",
        "µs",
        each(100, || {
            let query = RecallQuery::new(data::word(300 + random.below(700)));
            Ok(timed(|| Ok(memory.recall(&query)?))?.0)
        })? * 1e6,
    ));
    numbers.push((
        "recall, 3 words",
        "µs",
        each(100, || {
            let words = [(); 3].map(|()| data::word(300 + random.below(700)));
            Ok(timed(|| Ok(memory.recall(&RecallQuery::new(words.join(" ")))?))?.0)
        })? * 1e6,
    ));
    numbers.push((
        "list page by key",
        "µs",
        each(10, || Ok(timed(|| Ok(memory.list(&ListQuery::default())?))?.0))? * 1e6,
    ));
    numbers.push((
        "list page, newest",
        "µs",
        each(10, || {
            let newest = ListQuery { order: Order::Newest, ..ListQuery::default() };
            Ok(timed(|| Ok(memory.list(&newest)?))?.0)
        })? * 1e6,
    ));
    numbers.push((
        "dream start",
        "µs",
        each(10, || Ok(timed(|| Ok(memory.dream_start(DreamStart::default())?))?.0))? * 1e6,
    ));
    numbers.push((
        "undo of 100",
        "µs",
        each(5, || {
            let (dream, _) = dream_of(&memory, 100)?;
            Ok(timed(|| undo(&memory, dream))?.0)
        })? * 1e6,
    ));
    numbers.push(("diff of 10", "µs", each(10, || diff(&memory, keys, &mut random))? * 1e6));
    numbers.push(("first recall", "ms", first_recall * 1e3));
    numbers.push(("open, replay", "ms", median(&replays)));
    numbers.push(("open, checkpoint", "ms", median(&opens)));
    numbers.push(("heap, open", "MB", usage.kept / 1e6));
    numbers.push(("heap, peak", "MB", usage.peak / 1e6));
    numbers.push(("log on disk", "MB", disk / 1e6));
    Ok(Store { name: format!("{events} events, {keys} keys"), events, numbers })
}

/// The time of a diff over ten changes.
fn diff(memory: &Memory, keys: u64, random: &mut Random) -> Outcome<f64> {
    let from = memory.head()?.seq;
    for _ in 0..10 {
        memory.commit(data::commit(random.below(keys), random.next())?)?;
    }
    let query = DiffQuery { from: At::Position(from), to: At::Now, include_values: true, limit: 100 };
    Ok(timed(|| Ok(memory.diff(&query)?))?.0)
}

/// The middle of some times.
fn each(times: usize, mut work: impl FnMut() -> Outcome<f64>) -> Outcome<f64> {
    Ok(median(&(0..times).map(|_| work()).collect::<Outcome<Vec<_>>>()?))
}

fn table(stores: &[Store]) -> String {
    let names = stores.iter().map(|store| store.name.clone());
    let mut table = Table::new(["what".to_owned(), "unit".to_owned()].into_iter().chain(names));
    let first = stores.first().map_or(&[][..], |store| &store.numbers);
    for (at, (name, unit, _)) in first.iter().enumerate() {
        let values = stores.iter().map(|store| store.numbers.get(at).map_or(String::new(), |found| number(found.2)));
        table.row([(*name).to_owned(), (*unit).to_owned()].into_iter().chain(values));
    }
    table.to_string()
}

/// Times against events, for the stores with a key to an event.
fn chart(stores: &[Store]) -> String {
    let first = stores.first().map_or(&[][..], |store| &store.numbers);
    let times = first.iter().enumerate().filter(|(_, (_, unit, _))| *unit != "MB");
    let lines: Vec<Line> = times
        .map(|(at, (name, _, _))| {
            let rising = stores.windows(2).take_while(|pair| matches!(pair, [a, b] if a.events < b.events)).count();
            let points = stores.iter().take(rising + 1).filter_map(|store| {
                let (_, unit, value) = store.numbers.get(at)?;
                Some((store.events as f64, if *unit == "ms" { value * 1e3 } else { *value }))
            });
            Line { name: (*name).to_owned(), points: points.collect() }
        })
        .collect();
    Chart { title: "Time against size", right: "events, a key each", up: "µs", logarithmic: true, lines: &lines }.svg()
}
