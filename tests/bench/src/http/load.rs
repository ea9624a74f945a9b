//! Many connections that ask as fast as they are answered.

use std::io;
use std::time::{Duration, Instant};

use tokio::runtime::Builder;
use tokio::task::LocalSet;

use super::VALUE_BYTES;
use super::client::{Connection, Target};

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Commit,
    Recall,
    Get,
    List,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Recall => "recall",
            Self::Get => "get",
            Self::List => "list",
        }
    }
}

/// What a run came to.
#[derive(Debug, Default)]
pub(super) struct Measured {
    times: Vec<(Kind, Duration)>,
    took: Duration,
}

impl Measured {
    pub(super) fn add(&mut self, other: &Self) {
        self.times.extend(&other.times);
        self.took += other.took;
    }

    pub(super) fn times(&self, kind: Kind) -> Vec<Duration> {
        self.times.iter().filter(|(one, _)| *one == kind).map(|(_, took)| *took).collect()
    }

    pub(super) fn rate(&self, kind: Kind) -> f64 {
        self.times.iter().filter(|(one, _)| *one == kind).count() as f64 / self.took.as_secs_f64()
    }

    pub(super) fn whole_rate(&self) -> f64 {
        self.times.len() as f64 / self.took.as_secs_f64()
    }
}

/// A load of so many connections with these shares, in per cent.
#[derive(Debug)]
pub(super) struct Load {
    connections: usize,
    shares: Vec<(Kind, u32)>,
    /// Names the keys of each run, so that every commit of any run makes a memory of its own.
    runs: usize,
}

impl Load {
    pub(super) fn new(connections: usize, shares: &[(Kind, u32)]) -> Self {
        Self { connections, shares: shares.to_vec(), runs: 0 }
    }

    /// Asks for so long. All connections are open before the time begins.
    pub(super) fn run(&mut self, target: &Target, time: Duration) -> io::Result<Measured> {
        self.runs += 1;
        let run = format!("{}-{}-{}", self.connections, self.shares.len(), self.runs);
        let runtime = Builder::new_current_thread().enable_all().build()?;
        LocalSet::new().block_on(&runtime, async {
            let mut open = Vec::new();
            for number in 0..self.connections {
                let asker = Asker {
                    target: target.clone(),
                    name: format!("{run}-{number}"),
                    shares: self.shares.clone(),
                    commits: 0,
                    seed: number as u64 + 1,
                    body: String::new(),
                };
                open.push((Connection::open(target).await?, asker));
            }
            let begin = Instant::now();
            let end = begin + time;
            let tasks: Vec<_> = open
                .into_iter()
                .map(|(connection, asker)| tokio::task::spawn_local(asker.ask_until(connection, end)))
                .collect();
            let mut measured = Measured::default();
            for task in tasks {
                measured.times.extend(task.await.map_err(io::Error::other)??);
            }
            measured.took = begin.elapsed();
            Ok(measured)
        })
    }
}

/// Imports so many memories.
pub(super) fn fill(target: &Target, entries: u64) -> io::Result<()> {
    let lines: String = (0..entries).map(line).collect();
    let mut request = Vec::new();
    target.write(&mut request, "POST", "/api/cloud/memory/import", &lines);
    let runtime = Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async { Connection::open(target).await?.ask(&request).await })
}

fn line(number: u64) -> String {
    format!("{{\"key\":\"filled-{number}\",\"value\":{}}}\n", value(number.wrapping_mul(0x9e37_79b9)))
}

/// Who asks on one connection.
#[derive(Debug)]
struct Asker {
    target: Target,
    name: String,
    shares: Vec<(Kind, u32)>,
    commits: u64,
    seed: u64,
    body: String,
}

impl Asker {
    async fn ask_until(mut self, mut connection: Connection, end: Instant) -> io::Result<Vec<(Kind, Duration)>> {
        let (mut times, mut request) = (Vec::new(), Vec::new());
        loop {
            let kind = self.next(&mut request);
            let begin = Instant::now();
            if begin >= end {
                return Ok(times);
            }
            connection.ask(&request).await?;
            times.push((kind, begin.elapsed()));
        }
    }

    /// The next request.
    fn next(&mut self, request: &mut Vec<u8>) -> Kind {
        use std::fmt::Write;
        let mut chance = (self.random() % 100) as u32;
        let mut kind = Kind::Commit;
        for (one, share) in &self.shares {
            if chance < *share {
                kind = *one;
                break;
            }
            chance -= share;
        }
        // Nothing is asked for before there is something of one's own.
        if self.commits == 0 {
            kind = Kind::Commit;
        }
        self.body.clear();
        // Writing to memory cannot fail.
        match kind {
            Kind::Commit => {
                self.commits += 1;
                let value = value(self.random());
                let _ = write!(self.body, r#"{{"key":"{}-{}","value":{value}}}"#, self.name, self.commits);
                self.target.write(request, "POST", "/api/cloud/memory/commit", &self.body);
            }
            Kind::Recall => {
                let word = word(self.random());
                let _ = write!(self.body, r#"{{"query":"{word}","limit":10}}"#);
                self.target.write(request, "POST", "/api/cloud/memory/recall", &self.body);
            }
            Kind::Get => {
                let number = self.random() % self.commits + 1;
                let path = format!("/api/cloud/memory/entry?key={}-{number}", self.name);
                self.target.write(request, "GET", &path, "");
            }
            Kind::List => {
                let _ = write!(self.body, r#"{{"limit":20,"prefix":"{}"}}"#, self.name);
                self.target.write(request, "POST", "/api/cloud/memory/list", &self.body);
            }
        }
        kind
    }

    fn random(&mut self) -> u64 {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        self.seed
    }
}

/// One of two thousand words.
fn word(random: u64) -> String {
    format!("word{}", random % 2_000)
}

/// A JSON text of [`VALUE_BYTES`] with words in it.
pub(super) fn value(mut random: u64) -> String {
    let mut text = String::from("\"");
    while text.len() < VALUE_BYTES {
        text.push_str(&word(random));
        text.push(' ');
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407) >> 1;
    }
    text.truncate(VALUE_BYTES - 1);
    text.push('"');
    text
}
