//! Stores of later versions of this program are left as they are, to the last byte and time of a file.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use bilinc::log::{Log, LogError, LogOptions};
use bilinc::storage::FileStorage;
use bilinc::{EngineError, Error, Memory};

use crate::support::*;

const SEGMENT: &str = "log/00000000000000000001.seg";

/// A closed store of three operations, with its lock files removed, as a copy has it.
fn store() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let bench = Bench::on(Arc::new(FileStorage::new(dir.path())));
    for name in ["a", "b", "c"] {
        bench.put(name, "v");
    }
    bench.memory.close();
    for lock in ["append.lock", "sync.lock"] {
        fs::remove_file(dir.path().join(lock)).unwrap();
    }
    dir
}

/// All that a program may have touched.
fn state(dir: &Path) -> BTreeMap<String, (Vec<u8>, SystemTime)> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        let changed = entry.metadata().unwrap().modified().unwrap();
        if entry.file_type().unwrap().is_dir() {
            found.extend(state(&entry.path()).into_iter().map(|(inner, file)| (format!("{name}/{inner}"), file)));
            found.insert(name, (Vec::new(), changed));
        } else {
            found.insert(name, (fs::read(entry.path()).unwrap(), changed));
        }
    }
    found
}

fn edit(dir: &Path, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(dir.join(name)).unwrap();
    change(&mut bytes);
    fs::write(dir.join(name), bytes).unwrap();
}

fn put_crc(bytes: &mut [u8], at: usize, crc: u32) {
    bytes[at..at + 4].copy_from_slice(&crc.to_le_bytes());
}

fn newer_segment(dir: &Path) {
    edit(dir, SEGMENT, |bytes| {
        bytes[8] = 2;
        let crc = crc32fast::hash(&bytes[..104]);
        put_crc(bytes, 104, crc);
    });
}

/// Sets a byte of the header of the n-th frame, with a checksum that holds.
fn set_in_frame(dir: &Path, frame: usize, byte: usize, value: u8) {
    let options = LogOptions { read_only: true, ..LogOptions::default() };
    let (log, _) = Log::open(Arc::new(FileStorage::new(dir)), options, 1).unwrap();
    let at = usize::try_from(log.frame_at(frame as u64).unwrap().location().offset).unwrap();
    edit(dir, SEGMENT, |bytes| {
        bytes[at + byte] = value;
        let mut seed = crc32fast::Hasher::new();
        seed.update(&log.store_id().to_le_bytes());
        seed.update(&1_u64.to_le_bytes());
        let mut hasher = crc32fast::Hasher::new_with_initial(seed.finalize());
        hasher.update(&(at as u64).to_le_bytes());
        hasher.update(&bytes[at..at + 80]);
        let crc = hasher.finalize();
        put_crc(bytes, at + 80, crc);
    });
}

fn newer_mark(dir: &Path, slots: &[usize]) {
    edit(dir, "mark", |bytes| {
        for at in slots.iter().map(|slot| slot * 512) {
            bytes[at + 4] = 2;
            let crc = crc32fast::hash(&bytes[at..at + 184]);
            put_crc(bytes, at + 184, crc);
        }
    });
}

fn assert_refused(error: &Error, path: &str) {
    assert_eq!(error.code(), "invalid_request", "{error}");
    assert!(!error.is_retryable());
    let Error::Engine(EngineError::Log(LogError::NewerFormat { path: named, found, supported })) = error else {
        panic!("{error:?}");
    };
    assert_eq!((named.as_str(), *found, *supported), (path, 2, 1));
    assert!(error.to_string().contains("version 2") && error.to_string().contains("up to 1"), "{error}");
}

#[test]
fn a_later_format_is_refused_and_no_file_is_touched() {
    type Forge = fn(&Path);
    let forged: [(&str, &str, Forge); 6] = [
        ("segment", SEGMENT, newer_segment),
        ("last frame", SEGMENT, |dir| set_in_frame(dir, 3, 4, 2)),
        ("codec of the last frame", SEGMENT, |dir| set_in_frame(dir, 3, 5, 2)),
        ("mark", "mark", |dir| newer_mark(dir, &[0, 1])),
        ("first slot of the mark", "mark", |dir| newer_mark(dir, &[0])),
        ("second slot of the mark", "mark", |dir| newer_mark(dir, &[1])),
    ];
    for (what, path, forge) in forged {
        let dir = store();
        forge(dir.path());
        let before = state(dir.path());
        for read_only in [false, true] {
            let error = Memory::builder().read_only(read_only).open(dir.path()).unwrap_err();
            assert_refused(&error, path);
            assert_eq!(state(dir.path()), before, "a later {what} was touched");
        }
        assert_refused(&Memory::builder().salvage_preview(dir.path()).unwrap_err(), path);
        assert_eq!(state(dir.path()), before, "a preview touched a later {what}");
        assert_refused(&Memory::builder().salvage(dir.path()).unwrap_err(), path);
        let mut after = state(dir.path());
        after.retain(|name, _| !name.ends_with(".lock"));
        assert_eq!(after, before, "a salvage touched a later {what}");
    }
}

#[test]
fn a_later_format_inside_the_history_is_refused_and_nothing_but_locks_is_touched() {
    for (frame, byte) in [(1, 4), (1, 5), (2, 4), (2, 5)] {
        for mark in [true, false] {
            let dir = store();
            set_in_frame(dir.path(), frame, byte, 2);
            if !mark {
                fs::remove_file(dir.path().join("mark")).unwrap();
            }
            let before = state(dir.path());
            assert_refused(&Memory::open(dir.path()).unwrap_err(), SEGMENT);
            let mut after = state(dir.path());
            after.retain(|name, _| !name.ends_with(".lock"));
            assert_eq!(after, before);
        }
    }
}

#[test]
fn a_later_format_behind_a_bad_frame_is_not_cut_off_with_it() {
    let dir = store();
    fs::remove_file(dir.path().join("mark")).unwrap();
    set_in_frame(dir.path(), 3, 4, 2);
    // The second frame is spoiled: what follows it is nobody's to judge.
    let options = LogOptions { read_only: true, ..LogOptions::default() };
    let second = {
        let copy = store();
        let (log, _) = Log::open(Arc::new(FileStorage::new(copy.path())), options, 1).unwrap();
        usize::try_from(log.frame_at(2).unwrap().location().offset).unwrap()
    };
    edit(dir.path(), SEGMENT, |bytes| bytes[second + 20] ^= 1);
    let before = state(dir.path());
    assert_refused(&Memory::open(dir.path()).unwrap_err(), SEGMENT);
    let mut after = state(dir.path());
    after.retain(|name, _| !name.ends_with(".lock"));
    assert_eq!(after, before);
}

#[test]
fn a_store_that_a_later_version_begins_to_write_is_refused_from_then_on() {
    let dir = store();
    let memory = Memory::open(dir.path()).unwrap();
    newer_mark(dir.path(), &[0, 1]);
    let before = fs::read(dir.path().join(SEGMENT)).unwrap();
    assert_refused(&memory.get("a").unwrap_err(), "mark");
    assert_refused(&memory.commit(commit("d", "v")).unwrap_err(), "mark");
    drop(memory);
    assert_eq!(fs::read(dir.path().join(SEGMENT)).unwrap(), before);
}
