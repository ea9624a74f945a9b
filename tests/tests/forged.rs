//! Operations whose checksums hold and whose lengths lie: no memory is taken for them. Held to by a
//! process of its own that may have no more than half a gibibyte.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use bilinc::Memory;
use bilinc::log::{FrameDraft, Log, LogOptions};
use bilinc::storage::MemoryStorage;

use crate::purge::files;
use crate::support::*;

/// Where the process that may not have much finds its stores.
const STORES: &str = "BILINC_FORGED_STORES";

/// A number as the first codec writes it.
fn number(value: u64) -> Vec<u8> {
    match value {
        0..=250 => vec![value as u8],
        251..=0xffff => [&[251][..], &(value as u16).to_le_bytes()].concat(),
        0x1_0000..=0xffff_ffff => [&[252][..], &(value as u32).to_le_bytes()].concat(),
        _ => [&[253][..], &value.to_le_bytes()].concat(),
    }
}

/// Operations of the first codec: an id, a commit, texts and lists of the given lengths, and nothing
/// behind them.
fn forgeries() -> Vec<Vec<u8>> {
    let mut forged = Vec::new();
    for length in [300, 1 << 16, 1 << 20, 1 << 26, (1 << 26) - 1, 1 << 30, 1 << 32, 1 << 60, u64::MAX] {
        let head = [&[7; 16][..], &[0]].concat();
        let length = number(length);
        // The source; the session; the number of events; and in a flag the number of evidence keys.
        forged.push([&head[..], &length, b"x"].concat());
        forged.push([&head[..], &[0, 1], &length, b"x"].concat());
        forged.push([&head[..], &[0, 0, 0], &length].concat());
        forged.push([&head[..], &[0, 0, 0], &length, &[0, 5, 1, b'k', 0, 0, 0]].concat());
        forged.push([&head[..], &[0, 0, 0, 1, 0, 4, 1, b'k', 1, b'r'], &length].concat());
        // The positions that a purge erased, and the purges that were completed.
        forged.push([&head[..], &[0, 0, 0, 1, 0, 17, 1, b'k', 1, b'r'], &length].concat());
        forged.push([&head[..], &[0, 0, 0, 1, 0, 18], &length].concat());
        // The keys that an undo brought back.
        forged.push([&head[..], &[0, 0, 0, 1, 0, 14, 2, 0, 0], &length].concat());
    }
    forged
}

fn forge(dir: &Path, permanent: Vec<u8>) {
    let storage = MemoryStorage::new();
    let bench = Bench::on(Arc::new(storage.clone()));
    bench.put("a", "before it");
    drop(bench);
    let (log, _) = Log::open(Arc::new(storage.clone()), LogOptions::default(), 1).unwrap();
    let time = START.micros();
    let draft = FrameDraft { count: 1, time, clock_back: false, codec: 1, permanent, bodies: Vec::new() };
    let metas = log.begin_append().unwrap().append(&[draft]).unwrap();
    log.sync_through(metas[0].last_seq()).unwrap();
    log.close().unwrap();
    std::fs::create_dir_all(dir.join("log")).unwrap();
    for (name, bytes) in files(&storage) {
        std::fs::write(dir.join(name), bytes).unwrap();
    }
}

#[test]
fn a_forged_length_takes_no_memory() {
    let dir = tempfile::tempdir().unwrap();
    let forged = forgeries();
    let count = forged.len();
    for (index, permanent) in forged.into_iter().enumerate() {
        forge(&dir.path().join(index.to_string()), permanent);
    }
    // `ulimit -v` counts in kibibytes.
    let test = "forged::a_process_with_little_memory_reads_forged_operations";
    let child = Command::new("sh")
        .args(["-c", "ulimit -v 524288; exec \"$@\"", "sh"])
        .arg(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(STORES, dir.path())
        .env("MALLOC_ARENA_MAX", "1")
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&child.stdout).into_owned() + &String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success() && told.contains(&format!("read {count} forged operations")), "{told}");
}

#[test]
fn a_process_with_little_memory_reads_forged_operations() {
    // Does something only in the process that the test above starts.
    let Some(dir) = std::env::var_os(STORES) else { return };
    let mut read = 0;
    while let path = Path::new(&dir).join(read.to_string())
        && path.exists()
    {
        let memory = Memory::open(&path).unwrap_or_else(|error| panic!("{read}: {error}"));
        let told = memory.damage().unwrap_or_else(|| panic!("{read} was taken for an operation"));
        assert!(told.contains("position 2"), "{read}: {told}");
        assert_eq!(value_of(&memory, "a").as_deref(), Some("before it"));
        assert_eq!(memory.commit(commit("b", "v")).unwrap_err().code(), "store_corrupt");
        read += 1;
    }
    println!("read {read} forged operations");
}
