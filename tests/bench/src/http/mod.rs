//! The server under load: durable commits over HTTP against the library in the same run, and a mixed load.
//!
//! The program under test is a child process, the generator one thread of this one. What the generator
//! could do at most is measured against a server that answers without doing anything.

mod client;
mod library;
mod load;
mod row;
mod server;
mod trivial;

use std::io;
use std::path::Path;
use std::time::Duration;

pub(crate) use self::row::Row;

use self::client::Target;
use self::library::Library;
use self::load::{Kind, Load};
use self::server::Server;

/// How many threads write in the block of the library.
const LIBRARY_THREADS: usize = 8;
/// How many connections write in the blocks of the server.
const CONNECTIONS: [usize; 2] = [32, 256];
/// So many memories are there when the mixed load begins.
const MIXED_ENTRIES: u64 = 20_000;
/// A commit out of a JSON text of so many bytes.
const VALUE_BYTES: usize = 200;

/// Measures all rows, with the stores in this folder. The blocks of a round follow upon each other, so that a ratio compares what the
/// disk did within seconds.
///
/// # Errors
/// When the server cannot be started, or answers anything else than success.
pub(crate) fn run(folder: &Path, quick: bool) -> io::Result<Vec<Row>> {
    let (rounds, block) = if quick { (2, Duration::from_millis(300)) } else { (5, Duration::from_secs(3)) };
    let mut rows = Vec::new();
    rows.push(Row::rate("generator against a server that does nothing, 32 connections", &[trivial::rate(block)?]));
    let data = tempfile::tempdir_in(folder)?;
    let library = Library::open(data.path())?;
    let server = Server::start(data.path())?;
    rows.extend(commits(&library, &server.target, rounds, block)?);
    server.stop()?;
    drop(library);
    // What a recall costs depends on how much is there, so this load has a store of its own of known size.
    let data = tempfile::tempdir_in(folder)?;
    let server = Server::start(data.path())?;
    load::fill(&server.target, if quick { 2_000 } else { MIXED_ENTRIES })?;
    rows.extend(mixed(&server.target, block * 3)?);
    server.stop()?;
    Ok(rows)
}

/// Commits over HTTP against commits of the library.
fn commits(library: &Library, target: &Target, rounds: usize, block: Duration) -> io::Result<Vec<Row>> {
    let mut loads = CONNECTIONS.map(|connections| Load::new(connections, &[(Kind::Commit, 100)]));
    // Stores are opened, pools filled and segments made before anything counts.
    library.rate(LIBRARY_THREADS, block / 4)?;
    for load in &mut loads {
        load.run(target, block / 4)?;
    }
    let mut base = Vec::new();
    let mut results = CONNECTIONS.map(|_| Vec::new());
    for _ in 0..rounds {
        base.push(library.rate(LIBRARY_THREADS, block)?);
        for (load, results) in loads.iter_mut().zip(&mut results) {
            results.push(load.run(target, block)?);
        }
    }
    let mut rows = vec![Row::rate(&format!("library, {LIBRARY_THREADS} threads"), &base)];
    for (connections, results) in CONNECTIONS.iter().zip(&results) {
        let rates: Vec<_> = results.iter().map(|result| result.rate(Kind::Commit)).collect();
        let ratios: Vec<_> = rates.iter().zip(&base).map(|(rate, base)| rate / base).collect();
        rows.push(Row::rate(&format!("HTTP commit, {connections} connections"), &rates));
        rows.push(Row::ratio(&format!("HTTP commit, {connections} connections / library"), &ratios));
        let mut all = load::Measured::default();
        results.iter().for_each(|result| all.add(result));
        rows.push(Row::times(&format!("HTTP commit, {connections} connections, wait"), all.times(Kind::Commit)));
    }
    Ok(rows)
}

/// What agents do with a server, together.
fn mixed(target: &Target, block: Duration) -> io::Result<Vec<Row>> {
    const SHARES: [(Kind, u32); 4] = [(Kind::Commit, 50), (Kind::Recall, 30), (Kind::Get, 15), (Kind::List, 5)];
    let mut load = Load::new(32, &SHARES);
    load.run(target, block / 4)?;
    let result = load.run(target, block)?;
    let mut rows = vec![Row::rate("mixed, 32 connections, all", &[result.whole_rate()])];
    for (kind, share) in SHARES {
        let name = format!("mixed, 32 connections, {} ({share} %)", kind.name());
        rows.push(Row::rate(&name, &[result.rate(kind)]));
        rows.push(Row::times(&format!("{name}, wait"), result.times(kind)));
    }
    Ok(rows)
}
