//! Stores of every format version, kept as they were written: later programs must read them, and this
//! one must still write the newest byte for byte.
//!
//! `tests/golden/v1/` was made by [`story`]. The store in it is never made anew once a version was
//! released: a changed byte in what this test writes means a new format version, which gets a folder
//! of its own. `BILINC_WRITE_GOLDEN=store cargo test -p bilinc-tests golden` writes that folder.
//! `told.txt` is what this program says of the store. Where that changes on purpose, because a read
//! shows more or less than before, `BILINC_WRITE_GOLDEN=told` writes it alone.

mod story;
mod told;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bilinc::storage::MemoryStorage;
use bilinc::{Clock, CountingIds, Event, Memory, Seq};

use self::story::{END, Salts};
use crate::support::*;

const SEGMENT: &str = "log/00000000000000000001.seg";
const FILES: [&str; 2] = [SEGMENT, "mark"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/v1")
}

fn read(name: &str) -> Vec<u8> {
    std::fs::read(folder().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A copy of the golden store that may be opened and written to.
fn copy() -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    std::fs::create_dir(copy.path().join("log")).unwrap();
    for name in FILES {
        std::fs::write(copy.path().join(name), read(name)).unwrap();
    }
    copy
}

/// The copy, read at the end of its story.
fn open(path: &Path) -> Memory {
    let clock = Arc::new(bilinc::ManualClock::at(END));
    builder(&clock, &Arc::new(CountingIds::new(9))).open(path).unwrap()
}

/// Makes the store anew, with the same times, ids and salts.
fn make() -> MemoryStorage {
    let storage = MemoryStorage::new();
    let (clock, ids) = (Arc::new(bilinc::ManualClock::at(START)), Arc::new(CountingIds::new(1)));
    let memory = builder(&clock, &ids).salts(Arc::new(Salts::default())).open_in(Arc::new(storage.clone())).unwrap();
    story::tell(&memory, &clock);
    assert_eq!(clock.now(), END);
    memory.close();
    storage
}

#[test]
fn the_newest_format_is_written_byte_for_byte_as_it_was() {
    let made = make();
    let asked = std::env::var("BILINC_WRITE_GOLDEN").unwrap_or_default();
    if asked == "store" {
        std::fs::create_dir_all(folder().join("log")).unwrap();
        for name in FILES {
            std::fs::write(folder().join(name), made.contents(name).unwrap()).unwrap();
        }
    }
    if matches!(asked.as_str(), "store" | "told") {
        let kept = copy();
        std::fs::write(folder().join("told.txt"), told::all(&open(kept.path()))).unwrap();
    }
    let (written, kept) = (made.contents(SEGMENT).unwrap(), read(SEGMENT));
    let differs = written.iter().zip(&kept).position(|(a, b)| a != b);
    assert_eq!((differs, written.len()), (None, kept.len()), "the format changed: it needs a new version");
}

#[test]
fn a_store_of_the_first_format_is_read_as_it_was() {
    let folder = copy();
    let memory = open(folder.path());
    let told = told::all(&memory);
    let kept = String::from_utf8(read("told.txt")).unwrap();
    for (line, (now, then)) in told.lines().zip(kept.lines()).enumerate() {
        assert_eq!(now, then, "line {}", line + 1);
    }
    assert_eq!(told.lines().count(), kept.lines().count());
    assert_sound(&memory);
    assert!(memory.status().unwrap().recovered.is_none());
}

#[test]
fn a_store_of_the_first_format_is_written_to_and_undone_in() {
    let folder = copy();
    let memory = open(folder.path());
    let head = memory.head().unwrap().seq;
    let added = memory.commit(commit("added", "by a later program")).unwrap().answer;
    assert_eq!(added.seq, head.plus(1));
    // The oldest changes can still be taken back.
    let all = bilinc::Selection::Range(Seq::new(1), head);
    let undone = memory.undo(bilinc::Undo { selection: all, dry_run: false }).unwrap().answer.undone;
    let purged = |conflict: &bilinc::UndoConflict| conflict.reason == bilinc::UndoConflictReason::Purged;
    assert!(!undone.restored.is_empty() && undone.conflicts.iter().all(purged), "{undone:?}");
    drop(memory);
    assert_sound(&open(folder.path()));
}

#[test]
fn the_golden_store_holds_every_kind_of_event_and_operation() {
    let memory = open(copy().path());
    let events = memory.recorded(Seq::ZERO).unwrap();
    // Kinds that came later, and that no store has unless it was damaged; the tests of the codec freeze
    // their bytes.
    let later = ["Lost", "Salvaged"];
    for name in Event::NAMES.into_iter().filter(|name| !later.contains(name)) {
        assert!(events.iter().any(|event| event.event.name() == name), "no {name} in it");
    }
    // `Rollback(…)` and the like without what they name.
    let word = |kind: bilinc::OperationKind| format!("{kind:?}").split('(').next().unwrap_or_default().to_owned();
    let kinds: std::collections::BTreeSet<String> = events.iter().map(|event| word(event.operation.kind)).collect();
    assert_eq!(kinds.len(), 14, "not every kind of operation is in it: {kinds:?}");
}
