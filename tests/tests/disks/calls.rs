//! The disk is full from any call of a piece of work on: making a store, beginning segments, a purge, an
//! import, setting a torn end aside.

use std::path::Path;
use std::sync::{Arc, Mutex};

use bilinc::{Error, Event, ImportOptions, Memory, MemoryBuilder, Seq};

use super::small::{Ballast, on_small_disks};
use crate::hooked_folder::{Hook, Hooked, When};
use crate::other::say;
use crate::purge::{LATER, purge, secret};
use crate::support::*;

/// Lines of the import.
const LINES: usize = 40;

/// A piece of work: what is done before, and what may find no room.
#[derive(Clone, Copy)]
struct Piece {
    name: &'static str,
    prepare: fn(&Path),
    work: fn(&Memory) -> Result<(), Error>,
}

const PIECES: [Piece; 5] = [
    Piece { name: "new", prepare: |_| {}, work: |memory| written(memory, 1) },
    Piece { name: "roll", prepare: |store| seed(store, 3), work: |memory| written(memory, 6) },
    Piece { name: "purge", prepare: with_secret, work: purged },
    Piece { name: "import", prepare: |store| seed(store, 3), work: imported },
    Piece { name: "torn", prepare: with_torn_end, work: |memory| written(memory, 1) },
];

#[test]
fn a_disk_that_is_full_from_any_call_on_leaves_nothing_half_done() {
    for piece in PIECES {
        on_small_disks("meets a full disk at every call", &[piece.name]);
    }
}

fn builder() -> MemoryBuilder {
    Memory::builder().segment_bytes(2_000)
}

fn written(memory: &Memory, count: usize) -> Result<(), Error> {
    (0..count).try_for_each(|number| memory.commit(commit(&format!("new{number}"), &"x".repeat(900))).map(drop))
}

fn seed(store: &Path, count: usize) {
    let memory = builder().open(store).unwrap();
    for number in 0..count {
        memory.commit(commit(&format!("old{number}"), "stays")).unwrap();
    }
}

/// The event of its purge takes a segment of its own, and so does the one that says that it is complete.
fn with_secret(store: &Path) {
    seed(store, 3);
    let memory = builder().open(store).unwrap();
    memory.commit(secret("k")).unwrap();
    memory.revise(revise("k", LATER)).unwrap();
}

fn purged(memory: &Memory) -> Result<(), Error> {
    memory.forget(bilinc::Forget { reason: "\u{1f9a6}".repeat(512), ..purge("k") }).map(drop)
}

/// What an interrupted write may leave.
fn with_torn_end(store: &Path) {
    seed(store, 3);
    let path = store.join("log/00000000000000000001.seg");
    let mut bytes = std::fs::read(&path).unwrap();
    let frame = bytes[108..150].to_vec();
    bytes.extend(frame);
    std::fs::write(&path, bytes).unwrap();
}

fn imported(memory: &Memory) -> Result<(), Error> {
    let lines: Vec<_> = (0..LINES).map(|n| format!(r#"{{"key":"line{n}","value":"{}"}}"#, "y".repeat(200))).collect();
    memory.import(lines.join("\n").as_bytes(), ImportOptions::default(), &mut |_, _| {}).map(drop)
}

pub(super) fn meet_a_full_disk(folder: &Path, words: &[String]) {
    say("begins");
    let piece = PIECES.into_iter().find(|piece| piece.name == words[0]).unwrap();
    let (mut full, mut failed) = (0, 0);
    let prepared = folder.join("prepared");
    (piece.prepare)(&prepared);
    for call in 1.. {
        let store = folder.join("store");
        if prepared.exists() {
            copy(&prepared, &store);
        }
        let what = format!("{}, full from call {call} on", piece.name);
        let before = if store.exists() { events(&builder().read_only(true).open(&store).unwrap()) } else { 0 };
        let ballast: Arc<Mutex<Option<Ballast>>> = Arc::default();
        let storage = Hooked::new(&store);
        let act = {
            let (ballast, folder) = (Arc::clone(&ballast), folder.to_owned());
            move || *ballast.lock().unwrap() = Some(Ballast::fill(&folder))
        };
        storage.set(Hook { call: "", path: "", nth: call, when: When::Before, act: Box::new(act) });
        let opened = builder().open_in(Arc::new(storage.clone()));
        let done = opened.and_then(|memory| {
            let done = (piece.work)(&memory);
            // Whatever became of it, what was there reads on.
            assert_old(&memory, before, &what);
            done.map(|()| events(&memory))
        });
        let Some(ballast) = ballast.lock().unwrap().take() else {
            done.unwrap();
            break;
        };
        full += 1;
        if let Err(error) = &done {
            failed += 1;
            let code = if piece.name == "torn" {
                ["cloud_runtime_unavailable", "read_only"]
            } else {
                ["cloud_runtime_unavailable"; 2]
            };
            assert!(code.contains(&error.code()), "{what}: {error}");
        }
        let answered = done.unwrap_or(before);
        if store.join("log/00000000000000000001.seg").exists() {
            for how in [builder(), builder().read_only(true)] {
                let memory = how.open(&store).unwrap_or_else(|error| panic!("{what}: {error}"));
                assert_old(&memory, answered, &what);
            }
        }
        ballast.remove();
        assert_whole(&store, piece, answered, &what);
        std::fs::remove_dir_all(&store).unwrap();
    }
    assert!(failed > 0, "{}: {failed} of {full} failed", piece.name);
    say(&format!("{}: full from each of {full} calls on, which failed {failed} times", piece.name));
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

fn events(memory: &Memory) -> usize {
    memory.recorded(Seq::ZERO).unwrap().len()
}

fn assert_old(memory: &Memory, answered: usize, what: &str) {
    assert_eq!(memory.damage(), None, "{what}");
    assert!(events(memory) >= answered, "{what}: {} events of {answered} are left", events(memory));
    let old = (0..3).filter(|number| value_of(memory, &format!("old{number}")).as_deref() == Some("stays")).count();
    assert!(old == 3 || answered < 3, "{what}");
    assert!(memory.verify(&mut |_, _| {}).unwrap().state_equal, "{what}");
}

/// With room again everything works, and nothing was half done.
fn assert_whole(store: &Path, piece: Piece, answered: usize, what: &str) {
    let memory = builder().open(store).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(memory.status().unwrap().read_only, None, "{what}");
    assert_old(&memory, answered, what);
    memory.commit(commit("after", "all")).unwrap_or_else(|error| panic!("{what}: {error}"));
    let recorded = memory.recorded(Seq::ZERO).unwrap();
    let count = |name: &str| recorded.iter().filter(|event| event.event.name() == name).count();
    assert_eq!(count("PurgeCompleted"), count("Purged"), "{what}");
    if let Some(Event::Purged(purged)) =
        recorded.iter().map(|event| &event.event).find(|event| event.name() == "Purged")
    {
        assert_eq!(memory.verify(&mut |_, _| {}).unwrap().erased_bodies, purged.bodies.len() as u64, "{what}");
        assert!(memory.get("k").unwrap().is_none(), "{what}");
    }
    let lines = (0..LINES).filter(|number| memory.get(&format!("line{number}")).unwrap().is_some()).count();
    assert!([0, LINES].contains(&lines), "{what}: {lines} lines of an import are there");
    if piece.name == "torn" {
        let torn = std::fs::read_dir(store.join("quarantine")).unwrap();
        let torn = torn.filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|end| end == "torn"));
        assert_eq!(torn.count(), 1, "{what}");
    }
    assert_sound(&memory);
}
