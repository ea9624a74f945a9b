//! Benchmarks of Bilinc: ratios to anchors in the same process. `docs/benchmarks/` says how to read and run them.

mod bench;
mod counts;
mod data;
mod growth;
mod http;
mod long;
mod measure;
mod recall_quality;
mod report;
mod rivals;
mod rows;
mod work;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::bench::Bench;
use crate::report::Kept;

/// What went wrong, told to whoever started the program.
type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Benchmarks of Bilinc.
#[derive(Debug, Parser)]
#[command(name = "bilinc-bench")]
struct Options {
    #[command(subcommand)]
    what: What,
}

/// Where to.
#[derive(Debug, Args)]
struct Places {
    /// The folder for the stores under test; a new folder in it is made and removed. Must be on a disk.
    #[arg(long, default_value = ".")]
    folder: PathBuf,
    /// Keep output, numbers, command and versions in this folder.
    #[arg(long)]
    keep: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// The rows of the design, each a ratio to its anchor.
    Rows {
        /// Only these rows.
        #[arg(long, value_delimiter = ',')]
        only: Vec<u8>,
        /// Rounds of each row, of which the middle counts.
        #[arg(long, default_value_t = 5)]
        rounds: usize,
        /// Print the numbers as JSON.
        #[arg(long)]
        json: bool,
        /// Small sizes and one round: shows that every row works, says nothing about speed.
        #[arg(long)]
        quick: bool,
        #[command(flatten)]
        places: Places,
    },
    /// The server under load, against the library: commits on 32 and 256 connections, and a mixed load.
    Http {
        /// Small sizes: shows that it works.
        #[arg(long)]
        quick: bool,
        #[command(flatten)]
        places: Places,
    },
    /// Times and sizes at 10 k, 100 k and 1 M events, as a table and a chart.
    Growth {
        /// Times each open is repeated.
        #[arg(long, default_value_t = 3)]
        rounds: usize,
        /// Small sizes: shows that it works.
        #[arg(long)]
        quick: bool,
        #[command(flatten)]
        places: Places,
    },
    /// A mixed load for a long time: latencies, memory and disk by the minute, and whether memory levels off.
    Long {
        /// For how long.
        #[arg(long, default_value_t = 60.0)]
        minutes: f64,
        /// Live entries.
        #[arg(long, default_value_t = 1_000_000)]
        entries: u64,
        #[command(flatten)]
        places: Places,
    },
    /// Instructions per event, held against those that were accepted. Needs valgrind.
    Counts {
        /// Take the counts as the accepted ones.
        #[arg(long)]
        accept: bool,
        /// Where those are kept.
        #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/benchmarks/counts.json"), hide_default_value = true)]
        file: PathBuf,
    },
    /// What is counted.
    #[command(hide = true)]
    Counted {
        /// Of which kind.
        kind: counts::Kind,
        /// How often.
        events: u64,
    },
    /// How often a question finds its answer, and what each step of the search brings.
    RecallQuality {
        /// The folder with memories and questions.
        #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"), hide_default_value = true)]
        data: PathBuf,
        #[command(flatten)]
        places: Places,
    },
    /// A process of row 5.
    #[command(hide = true)]
    CommitChild {
        /// How long a block takes, in milliseconds.
        millis: u64,
        /// Which of the processes this is.
        number: u64,
        /// The store.
        folder: PathBuf,
    },
}

fn main() -> Outcome<()> {
    match Options::parse().what {
        What::Rows { only, rounds, json, quick, places } => {
            let kept = Kept::new(places.keep.as_deref(), "rows")?;
            let mut bench = Bench::new(&places.folder, if quick { 1 } else { rounds }, quick)?;
            rows(&mut bench, &only, json, &kept, &places)
        }
        What::Http { quick, places } => {
            let kept = Kept::new(places.keep.as_deref(), "http")?;
            let rows: Vec<String> = http::run(&places.folder, quick)?.iter().map(ToString::to_string).collect();
            kept.text(&rows.join("\n"), &places.folder)
        }
        What::Growth { rounds, quick, places } => {
            let kept = Kept::new(places.keep.as_deref(), "growth")?;
            growth::run(&mut Bench::new(&places.folder, rounds, quick)?, quick, &kept)
        }
        What::Long { minutes, entries, places } => {
            let kept = Kept::new(places.keep.as_deref(), "long")?;
            long::run(&mut Bench::new(&places.folder, 1, false)?, minutes, entries, &kept)
        }
        What::Counts { accept, file } => counts::run(&file, accept),
        What::Counted { kind, events } => counts::work(kind, events),
        What::RecallQuality { data, places } => {
            let kept = Kept::new(places.keep.as_deref(), "recall-quality")?;
            recall_quality::run(&Bench::new(&places.folder, 1, true)?, &data, &kept)
        }
        What::CommitChild { millis, number, folder } => rows::commit_child(folder, millis, number),
    }
}

fn rows(bench: &mut Bench, only: &[u8], json: bool, kept: &Kept, places: &Places) -> Outcome<()> {
    let mut all = Vec::new();
    for module in rows::MODULES {
        if only.is_empty() || module.rows.iter().any(|row| only.contains(row)) {
            eprintln!("rows {:?}", module.rows);
            let measured = (module.run)(bench)?;
            if let Some(row) = measured.iter().find(|row| !row.result().is_finite()) {
                return Err(format!("row {} gave no number", row.spec.row).into());
            }
            all.extend(measured);
        }
    }
    kept.json(&all)?;
    if json {
        println!("{}", serde_json::to_string_pretty(&all)?);
        Ok(())
    } else {
        kept.text(&report::row_table(&all), &places.folder)
    }
}
