//! Ten thousand calls.

use std::time::Instant;

use serde_json::json;

use crate::client::{Client, Folder};

/// With this variable set, the number of calls; without it a tenth of the ten thousand.
const CALLS: &str = "BILINC_MCP_CALLS";

/// Bytes of memory that a process holds; none where the system does not say.
fn resident(client: &Client) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", client.pid())).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

#[test]
fn calls_without_number_do_not_grow_the_process() {
    let calls: u32 = std::env::var(CALLS).ok().map_or(1_000, |calls| calls.parse().unwrap());
    let mut client = Folder::new().client();
    let mut round = |number: u32| {
        let key = format!("k{}", number % 50);
        match number % 5 {
            0 => client.call("commit_mem", json!({"key": key, "value": format!("value {number}")})),
            1 => client.call("recall", json!({"query": "value"})),
            2 => client.call("list_memories", json!({})),
            3 => client.call("history", json!({"key": key})),
            _ => client.fail("get", json!({"key": "not there"})),
        };
        resident(&client)
    };
    // Caches and indexes fill first.
    for number in 0..calls / 4 {
        round(number);
    }
    let before = round(0);
    let mut took = Vec::new();
    for number in 0..calls {
        let start = Instant::now();
        round(number);
        took.push(start.elapsed());
    }
    let after = round(1);
    took.sort();
    let at = |share: usize| took[(took.len() - 1) * share / 100];
    println!("{calls} calls: p50 {:?}, p99 {:?}, longest {:?}", at(50), at(99), at(100));
    if let Some((before, after)) = before.zip(after) {
        println!("memory: {} KiB before, {} KiB after", before / 1024, after / 1024);
        // What the log itself has to remember of each change is well under this.
        let allowed = 8 * 1024 * 1024 + u64::from(calls) * 512;
        assert!(after < before + allowed, "{before} bytes became {after}");
    }
}
