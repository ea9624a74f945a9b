//! Row 5: durable commits of four processes on one store.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::commit_burst::commits;
use super::{Better, Measured, Raw, Spec};
use crate::Outcome;
use crate::bench::{Bench, builder};
use crate::measure::repeat;

const RATE: Spec = Spec {
    row: "5a",
    measure: "durable commit, 4 processes, total rate",
    anchor: "R",
    better: Better::More,
    floor: Some(1.2),
    goal: Some(1.8),
};
const LONGEST: Spec = Spec {
    row: "5b",
    measure: "durable commit, 4 processes, longest wait (ms)",
    anchor: "",
    better: Better::Less,
    floor: None,
    goal: Some(50.0),
};
const PROCESSES: u64 = 4;

/// What one process tells of a block.
#[derive(Debug, Serialize, Deserialize)]
struct Told {
    rate: f64,
    longest: f64,
}

/// A process that commits when it is told to.
struct Writer {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

/// Four processes commit new entries to one folder at once and each waits for its own answers; the anchor is one
/// thread that waits for its own sync, with no lock and nobody else to read.
pub(super) fn run(bench: &mut Bench) -> Outcome<Vec<Measured>> {
    let folder = bench.path("processes");
    builder().open(&folder)?.close();
    let mut growing = Raw::growing(&bench.path("raw-r4"))?;
    let mut writers = Vec::new();
    for number in 0..PROCESSES {
        writers.push(Writer::start(&folder, bench.scale.block, number)?);
    }
    let (mut rate, mut longest) = (Measured::new(RATE), Measured::new(LONGEST));
    let (mut rates, mut rates_r) = (Vec::new(), Vec::new());
    for _ in 0..bench.rounds {
        let r = repeat(bench.scale.block, || growing.commit())?;
        for writer in &mut writers {
            writeln!(writer.input, "go")?;
        }
        let (mut sum, mut wait) = (0.0, 0.0_f64);
        for writer in &mut writers {
            let told: Told = serde_json::from_str(&writer.line()?)?;
            sum += told.rate;
            wait = wait.max(told.longest);
        }
        rate.push(sum, r.rate());
        longest.push(wait * 1e3, 1.0);
        rates.push(sum);
        rates_r.push(r.rate());
    }
    for writer in writers {
        writer.end()?;
    }
    rate.show("product", &rates, "/s");
    rate.show("R", &rates_r, "/s");
    Ok(vec![rate, longest])
}

impl Writer {
    fn start(folder: &Path, block: Duration, number: u64) -> Outcome<Self> {
        let mut process = Command::new(std::env::current_exe()?)
            .args(["commit-child", &block.as_millis().to_string(), &number.to_string()])
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = process.stdin.take().ok_or("no input")?;
        let output = BufReader::new(process.stdout.take().ok_or("no output")?);
        let mut writer = Self { process, input, output };
        writer.line()?;
        Ok(writer)
    }

    fn line(&mut self) -> Outcome<String> {
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            return Err("a writing process ended early".into());
        }
        Ok(line)
    }

    fn end(mut self) -> Outcome<()> {
        drop(self.input);
        self.process.wait()?;
        Ok(())
    }
}

/// The other side: a block of commits for each line that comes in.
pub(crate) fn child(folder: PathBuf, millis: u64, number: u64) -> Outcome<()> {
    let memory = builder().open(folder)?;
    // The first one makes what a process needs once.
    memory.commit(crate::data::prepared_commit(number)?)?;
    println!("ready");
    for (round, line) in (0_u64..).zip(std::io::stdin().lines()) {
        line?;
        let first = (round << 40) | (number << 32);
        let mut latencies = commits(&memory, Duration::from_millis(millis), first)?;
        let told = Told { rate: latencies.rate(), longest: latencies.longest() };
        println!("{}", serde_json::to_string(&told)?);
    }
    Ok(())
}
