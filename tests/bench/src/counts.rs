//! Instructions per event: a gate that no noisy machine can move.
//!
//! Callgrind counts what one function and all below it execute, at two sizes; the difference leaves out what does not
//! grow. Counts change with the compiler, so those of another one are not compared.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use bilinc::storage::MemoryStorage;
use bilinc::{Commit, CountingIds, ManualClock, Memory, RecallQuery, Timestamp};
use bilinc_core::{RecordedEvent, Seq, State};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::Outcome;
use crate::data;
use crate::report::{Table, run as first_line};

/// What is counted.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Kind {
    /// A commit: judged, encoded, checksummed, chained, appended and folded.
    Encode,
    /// An event read from the log: checksums, permanent part and body decoded, given, let go.
    Decode,
    /// An event folded into the state.
    Apply,
    /// An entry and its value by key, the value read from the log.
    Get,
    /// An entry taken into the recall index.
    Index,
    /// A recall for two words among two thousand entries.
    Recall,
}

const KINDS: [&str; 6] = ["encode", "decode", "apply", "get", "index", "recall"];
/// Events of the smaller run.
const EVENTS: u64 = 2_000;
/// More than this much above the accepted count fails.
const TOLERANCE: f64 = 1.02;

/// The counts that were last accepted, and with what they were made.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct Counts {
    compiler: String,
    valgrind: String,
    architecture: String,
    instructions_per_event: BTreeMap<String, f64>,
}

/// Counts, and holds the counts against those that were accepted; or accepts them.
pub(crate) fn run(file: &Path, accept: bool) -> Outcome<()> {
    let Some(valgrind) = first_line("valgrind", &["--version"]) else {
        println!("skipped: there is no valgrind on this machine, so instructions cannot be counted");
        return Ok(());
    };
    let mut counts = Counts {
        compiler: first_line("rustc", &["--version"]).ok_or("rustc does not tell its version")?,
        valgrind,
        architecture: std::env::consts::ARCH.to_owned(),
        instructions_per_event: BTreeMap::new(),
    };
    for name in KINDS {
        let more = collected(name, EVENTS * 2)? - collected(name, EVENTS)?;
        counts.instructions_per_event.insert(name.to_owned(), (more / EVENTS as f64).round());
    }
    let accepted: Counts = match std::fs::read_to_string(file) {
        Ok(text) => serde_json::from_str(&text)?,
        Err(_) if accept => Counts::default(),
        Err(_) => return Err(format!("{} is not there: make it with --accept", file.display()).into()),
    };
    println!("{}", table(&counts, &accepted));
    if accept {
        std::fs::write(file, serde_json::to_string_pretty(&counts)? + "\n")?;
        return Ok(());
    }
    let made_with = |counts: &Counts| format!("{}, {}, {}", counts.compiler, counts.valgrind, counts.architecture);
    if made_with(&counts) != made_with(&accepted) {
        println!("not compared: accepted with {}, counted with {}", made_with(&accepted), made_with(&counts));
        return Ok(());
    }
    let over = |(name, count): (&String, &f64)| {
        let most = accepted.instructions_per_event.get(name).copied().unwrap_or(0.0) * TOLERANCE;
        (*count > most).then(|| name.clone())
    };
    let over: Vec<String> = counts.instructions_per_event.iter().filter_map(over).collect();
    if over.is_empty() {
        return Ok(());
    }
    Err(format!("more instructions than were accepted: {}; --accept takes them, with a reason", over.join(", ")).into())
}

fn table(counts: &Counts, accepted: &Counts) -> String {
    let mut table = Table::new(["instructions per event", "accepted", "now", "change"]);
    for (name, count) in &counts.instructions_per_event {
        let before = accepted.instructions_per_event.get(name).copied().unwrap_or(f64::NAN);
        let change = format!("{:+.1} %", (count / before - 1.0) * 100.0);
        table.row([name.clone(), before.to_string(), count.to_string(), change]);
    }
    table.to_string()
}

/// The instructions below the counted function, in a run with so many events.
fn collected(name: &str, events: u64) -> Outcome<f64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(format!("--toggle-collect=*counted_{name}*"))
        .arg(std::env::current_exe()?)
        .args(["counted", name, &events.to_string()])
        .output()?;
    let told = String::from_utf8_lossy(&output.stderr);
    let collected = told.lines().find_map(|line| line.split_once("Collected :"));
    let count: Option<f64> = collected.and_then(|(_, count)| count.trim().parse().ok());
    match count.filter(|count| output.status.success() && *count > 0.0) {
        Some(count) => Ok(count),
        None => Err(format!("callgrind counted nothing for {name}:\n{told}").into()),
    }
}

/// The other side: does what is counted, with so many events.
pub(crate) fn work(kind: Kind, events: u64) -> Outcome<()> {
    let commits = (0..events).map(|number| data::commit(number, 0)).collect::<Outcome<Vec<_>>>()?;
    let source = store()?;
    if matches!(kind, Kind::Encode) {
        return counted_encode(&source, commits);
    }
    // What a recall costs depends on how many entries there are.
    let entries = if matches!(kind, Kind::Recall) { EVENTS } else { events };
    for commit in commits.into_iter().take(usize::try_from(entries)?) {
        source.commit(commit)?;
    }
    match kind {
        Kind::Encode => Ok(()),
        Kind::Decode => counted_decode(&source),
        Kind::Apply => {
            counted_apply(&mut State::new(1), &source.recorded(Seq::ZERO)?);
            Ok(())
        }
        Kind::Get => {
            let keys: Vec<String> = (0..events).map(data::key_text).collect();
            counted_get(&source, &keys)
        }
        Kind::Index => counted_index(&source),
        Kind::Recall => {
            source.recall(&RecallQuery::new("warm up"))?;
            let mut random = data::Random::new(15);
            let mut word = || data::word(random.below(1_000));
            let queries: Vec<_> = (0..events).map(|_| RecallQuery::new(format!("{} {}", word(), word()))).collect();
            counted_recall(&source, &queries)
        }
    }
}

/// A store in memory in which nothing is left to chance but the seed of its hash tables.
fn store() -> Outcome<Memory> {
    let clock = ManualClock::at(Timestamp::from_micros(1_780_000_000_000_000));
    let builder = Memory::builder().actor(data::actor()).clock(Arc::new(clock)).ids(Arc::new(CountingIds::new(1)));
    Ok(builder.open_in(Arc::new(MemoryStorage::new()))?)
}

// Callgrind finds these by their names. None may hold a closure: it would have the name in its own.

#[inline(never)]
fn counted_encode(memory: &Memory, commits: Vec<Commit>) -> Outcome<()> {
    for commit in commits {
        memory.commit(commit)?;
    }
    Ok(())
}

#[inline(never)]
fn counted_decode(memory: &Memory) -> Outcome<()> {
    Ok(memory.visit_recorded(Seq::ZERO, &mut let_go)?)
}

fn let_go(event: RecordedEvent) -> ControlFlow<()> {
    drop(black_box(event));
    ControlFlow::Continue(())
}

#[inline(never)]
fn counted_apply(state: &mut State, events: &[RecordedEvent]) {
    for event in events {
        state.evolve(event);
    }
}

#[inline(never)]
fn counted_get(memory: &Memory, keys: &[String]) -> Outcome<()> {
    for key in keys {
        memory.get(key)?.ok_or("a key is missing")?;
    }
    Ok(())
}

#[inline(never)]
fn counted_index(memory: &Memory) -> Outcome<()> {
    memory.recall(&RecallQuery::new("nothing-like-this"))?;
    Ok(())
}

#[inline(never)]
fn counted_recall(memory: &Memory, queries: &[RecallQuery]) -> Outcome<()> {
    for query in queries {
        memory.recall(query)?;
    }
    Ok(())
}
