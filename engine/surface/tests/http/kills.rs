//! The server ends in the middle of everything, and what it acknowledged is there.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::client::{Client, Kept, memory};
use crate::server::Server;

const WRITERS: u64 = 8;

/// So often the server is killed; more with `BILINC_SERVER_KILLS=100`.
fn kills() -> u64 {
    std::env::var("BILINC_SERVER_KILLS").map_or(3, |number| number.parse().expect("a number"))
}

/// One commit: its idempotency key is its key.
#[derive(Debug, Clone, PartialEq)]
struct Attempt {
    key: String,
    value: Value,
}

/// What a writer knows when the server is gone.
#[derive(Debug, Default)]
struct Known {
    /// Acknowledged, with the version that was told.
    acknowledged: Vec<(Attempt, String)>,
    /// Sent, and not answered.
    open: Vec<Attempt>,
}

impl Attempt {
    fn new(round: u64, writer: u64, number: u64) -> Self {
        let value = json!({"round": round, "number": number, "text": "x".repeat((number % 50) as usize * 40)});
        Self { key: format!("r{round}-w{writer}-{number}"), value }
    }

    /// The version that the server tells for it.
    fn send(&self, kept: &mut Kept) -> io::Result<String> {
        let done = kept.commit(&self.key, &self.key, &self.value)?.ok();
        Ok(done["entryVersion"].as_str().unwrap().to_owned())
    }
}

/// Commits until the server does not answer.
fn write(client: &Client, round: u64, writer: u64, count: &AtomicU64) -> Known {
    let mut known = Known::default();
    let Ok(mut kept) = Kept::new(client) else { return known };
    for number in 0.. {
        let attempt = Attempt::new(round, writer, number);
        match attempt.send(&mut kept) {
            Ok(version) => known.acknowledged.push((attempt, version)),
            Err(_) => {
                known.open.push(attempt);
                break;
            }
        }
        count.fetch_add(1, Ordering::Release);
    }
    known
}

/// Has many write, and ends the server once so many commits were acknowledged.
fn under_load(server: &mut Server, round: u64, after: u64, signal: Signal) -> (Known, String) {
    let count = AtomicU64::new(0);
    let client = server.client.clone();
    thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                scope.spawn({
                    let (client, count) = (&client, &count);
                    move || write(client, round, writer, count)
                })
            })
            .collect();
        while count.load(Ordering::Acquire) < after {
            assert!(writers.iter().any(|writer| !writer.is_finished()), "the server ended by itself");
            thread::yield_now();
        }
        server.signal(signal);
        let (status, said) = server.wait();
        assert_eq!(status.success(), signal == Signal::TERM, "{said}");
        let mut all = Known::default();
        for writer in writers {
            let known = writer.join().unwrap();
            all.acknowledged.extend(known.acknowledged);
            all.open.extend(known.open);
        }
        (all, said)
    })
}

/// Everything that is there: value by key.
fn entries(client: &Client) -> BTreeMap<String, Value> {
    let export = client.get(&memory("export"));
    assert_eq!(export.status, 200, "{}", export.text());
    let lines = export.text().lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.map(|line| (line["key"].as_str().unwrap().to_owned(), line["value"].clone())).collect()
}

#[test]
fn a_kill_under_load_loses_nothing_acknowledged_and_a_retry_acts_once() {
    let options = ["--log", "error"];
    let mut server = Server::with(&options);
    let mut expected = BTreeMap::new();
    for round in 0..kills() {
        let (known, _) = under_load(&mut server, round, 5 + round * 37 % 200, Signal::KILL);
        server.restart(&options);
        let client = server.client.clone();
        let there = entries(&client);
        expected.extend(known.acknowledged.iter().map(|(attempt, _)| (attempt.key.clone(), attempt.value.clone())));
        for (key, value) in &expected {
            assert_eq!(there.get(key), Some(value), "round {round}: {key}");
        }
        // What is there beside that was sent, and is whole.
        for (key, value) in there.iter().filter(|(key, _)| !expected.contains_key(*key)) {
            assert!(known.open.iter().any(|attempt| attempt.key == *key && attempt.value == *value), "{key}: {value}");
        }
        let mut kept = Kept::new(&client).unwrap();
        for attempt in &known.open {
            let version = attempt.send(&mut kept).unwrap();
            assert_eq!(attempt.send(&mut kept).unwrap(), version);
            expected.insert(attempt.key.clone(), attempt.value.clone());
        }
        if let Some((attempt, version)) = known.acknowledged.last() {
            assert_eq!(attempt.send(&mut kept).unwrap(), *version);
        }
        // One event for each memory: nothing acted twice.
        assert_eq!(client.position(), expected.len() as u64, "round {round}");
    }
    assert_eq!(entries(&server.client), expected);
    let verified = server.client.get(&memory("verify")).ok();
    assert_eq!((&verified["stateEqual"], &verified["seq"]), (&json!(true), &json!(expected.len())), "{verified}");
}

#[test]
fn a_stop_under_load_answers_what_has_begun_and_writes_nothing_else() {
    let options = ["--log", "warn"];
    let mut server = Server::with(&options);
    let mut expected = BTreeMap::new();
    for round in 0..3 {
        let (known, said) = under_load(&mut server, round, 40, Signal::TERM);
        assert!(!said.contains("did not end in time"), "{said}");
        server.restart(&options);
        expected.extend(known.acknowledged.into_iter().map(|(attempt, _)| (attempt.key, attempt.value)));
        // Whoever got no answer had come too late, and nothing was done for them.
        assert_eq!(entries(&server.client), expected, "round {round}");
    }
}
