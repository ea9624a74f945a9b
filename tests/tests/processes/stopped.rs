//! A process is stopped while it holds a lock: those who read do not wait, those who write wait for a
//! time that they chose, and all goes on when it goes on, or is killed.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bilinc::log::LogError;
use bilinc::{EngineError, Error, ListQuery, Memory, MemoryBuilder, RecallQuery, Seq};

use crate::hooked_folder::{Hook, Hooked, When};
use crate::other::{Other, listen, say, stop_here};
use crate::support::*;

/// Where the other process is stopped, holding one lock or both.
#[derive(Debug, Clone, Copy)]
struct Place {
    call: &'static str,
    path: &'static str,
    /// Others cannot even append.
    append: bool,
}

const PLACES: [Place; 4] = [
    Place { call: "write", path: "log/", append: true },
    Place { call: "sync", path: "log/", append: false },
    Place { call: "write", path: "mark", append: false },
    // It begins a segment.
    Place { call: "rename", path: "log/", append: true },
];

/// Nobody waits for anything with these.
fn impatient() -> MemoryBuilder {
    Memory::builder().lock_timeout(Duration::ZERO)
}

/// Commits once more than fits a segment, and is stopped on the way at the place of that number.
pub(super) fn commit_stopped(folder: &Path, words: &[String]) {
    let Place { call, path, .. } = PLACES[words[0].parse::<usize>().unwrap()];
    let storage = Hooked::new(folder);
    let memory = Memory::builder().segment_bytes(1_000).open_in(Arc::new(storage.clone())).unwrap();
    storage.set(Hook { call, path, nth: 1, when: When::Before, act: Box::new(stop_here) });
    for number in 0..6 {
        let done = memory.commit(commit(&format!("stopped.{number}"), "walrus")).unwrap().answer;
        say(&format!("{number} {}", done.seq));
    }
    assert!(!storage.clear(), "it was never stopped");
    listen();
}

/// Reads with all defaults, in a process of its own.
pub(super) fn read(folder: &Path, _: &[String]) {
    let memory = Memory::open(folder).unwrap();
    let entry = memory.get("before").unwrap();
    let list = memory.list(&ListQuery::default()).unwrap();
    let hits = memory.recall(&RecallQuery::new("giraffe")).unwrap();
    say(&format!("{} {} {}", entry.is_some(), list.total, hits.len()));
}

/// A store, a process that is stopped in the middle of it, and what it has said.
struct Stopped {
    folder: tempfile::TempDir,
    watching: Memory,
    other: Other,
    said: Vec<String>,
}

impl Stopped {
    fn at(place: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let watching = impatient().open(folder.path()).unwrap();
        watching.commit(commit("before", "giraffe")).unwrap();
        let other = Other::start("commits where it is stopped", folder.path(), &[place.to_string()]);
        other.wait_until_stopped();
        Self { folder, watching, other, said: Vec::new() }
    }

    /// Everything reads at once, through an old handle, new ones, and another process.
    fn assert_readable(&self) {
        let opened = [impatient(), impatient().read_only(true)].map(|how| how.open(self.folder.path()).unwrap());
        let total = self.watching.list(&ListQuery::default()).unwrap().total;
        for memory in opened.iter().chain([&self.watching]) {
            assert_eq!(value_of(memory, "before").as_deref(), Some("giraffe"));
            assert_eq!(memory.list(&ListQuery::default()).unwrap().total, total);
            assert_eq!(memory.recall(&RecallQuery::new("giraffe")).unwrap().len(), 1);
            assert_eq!(memory.history("before", 10, true).unwrap().items.len(), 1);
            assert!(memory.verify(&mut |_, _| {}).unwrap().state_equal);
            assert!(memory.status().is_ok());
        }
        let mut reader = Other::start("reads", self.folder.path(), &[]);
        assert_eq!(reader.must_say(), format!("true {total} 1"));
        assert!(reader.ended_well());
    }

    /// A write waits no longer than it was told to, and says whom for.
    fn assert_not_writable(&self, place: Place) {
        let brief = Duration::from_millis(30);
        let new = |wait| impatient().lock_timeout(wait).open(self.folder.path()).unwrap();
        let tries =
            [(self.watching.clone(), Duration::ZERO), (new(Duration::ZERO), Duration::ZERO), (new(brief), brief)];
        for (number, (waits, wait)) in tries.into_iter().enumerate() {
            let error = waits.with_idempotency_key("late").commit(commit("late", "v")).unwrap_err();
            // Whoever was at work before appends without `sync.lock`; it is looked at when one is new.
            let appends = !place.append && number == 0;
            let (lock, holder, waited) = match error {
                Error::Engine(EngineError::Log(LogError::Busy { lock, holder, waited })) if !appends => {
                    (lock, holder, waited)
                }
                Error::Engine(EngineError::Log(LogError::Unsettled { lock, holder, waited })) if appends => {
                    (lock, holder, waited)
                }
                other => panic!("{place:?}: {other}"),
            };
            assert_eq!(waited, wait);
            assert_eq!(lock, if place.append { "append.lock" } else { "sync.lock" });
            let program = std::env::current_exe().unwrap();
            let program = program.file_name().unwrap().to_str().unwrap();
            assert_eq!(holder, format!("{program} (process {})", self.other.id()));
        }
    }

    /// All goes on: what was acknowledged anywhere is there, and an unsettled write is settled.
    fn assert_goes_on(self, place: Place) {
        let memory = Memory::open(self.folder.path()).unwrap();
        let late = memory.with_idempotency_key("late").commit(commit("late", "v")).unwrap();
        assert_eq!(late.replayed, !place.append, "{place:?}: it had been appended, and somebody made it durable");
        assert_eq!(memory.history("late", 10, true).unwrap().items.len(), 1);
        let events = memory.recorded(Seq::ZERO).unwrap();
        for said in &self.said {
            let (number, seq) = said.split_once(' ').unwrap();
            let event = &events[seq.parse::<usize>().unwrap() - 1];
            assert_eq!(event.event.key(), Some(&key(&format!("stopped.{number}"))), "{place:?}");
        }
        self.watching.commit(commit("after", "all")).unwrap();
        assert_eq!(memory.status().unwrap().read_only, None);
        assert_sound(&memory);
        assert_sound(&self.watching);
    }
}

#[test]
fn a_process_that_is_stopped_with_a_lock_delays_no_reader_and_no_writer_for_ever() {
    for (number, place) in PLACES.into_iter().enumerate() {
        let mut stopped = Stopped::at(number);
        stopped.assert_readable();
        stopped.assert_not_writable(place);
        stopped.assert_readable();
        stopped.other.go_on();
        for _ in 0..6 {
            let said = stopped.other.must_say();
            stopped.said.push(said);
        }
        assert!(stopped.other.ended_well(), "{place:?}");
        stopped.assert_goes_on(place);
    }
}

#[test]
fn a_process_that_is_killed_while_it_is_stopped_with_a_lock_holds_it_no_longer() {
    for (number, place) in PLACES.into_iter().enumerate() {
        let mut stopped = Stopped::at(number);
        stopped.assert_not_writable(place);
        stopped.other.kill();
        while let Some(said) = stopped.other.hear() {
            stopped.said.push(said);
        }
        assert!(!stopped.other.ended_well());
        // The thread that waited in vain gets the lock only now and lets it go at once. No open waits for a lock while
        // the mark is sound: one that comes meanwhile leaves what was appended to the next, and readers would see it
        // come. A write waits.
        let patient = Memory::open(stopped.folder.path()).unwrap();
        patient.commit(commit("patient", "v")).unwrap();
        drop(patient);
        stopped.assert_readable();
        stopped.assert_goes_on(place);
    }
}
