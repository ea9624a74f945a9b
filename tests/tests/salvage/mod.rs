//! Salvage of a damaged store: what is whole stays as it was, what is lost is said for ever, and nothing
//! is done by halves.

mod cuts;
mod flips;
mod handles;
mod kinds;
mod reads;
mod results;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use bilinc::log::{FrameDraft, Log, LogOptions};
use bilinc::storage::{MemoryStorage, Storage};
use bilinc::{CountingIds, Error, Event, ManualClock, Memory, MemoryBuilder, SalvageReport, Seq};
use bilinc_core::RecordedEvent;

use crate::support::*;

/// A few operations to a segment.
const SEGMENT_BYTES: u64 = 1_100;

/// A store whose log was closed, as it was written.
struct Whole {
    storage: MemoryStorage,
    events: Vec<RecordedEvent>,
    frames: Vec<Place>,
}

/// Where an operation lies.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    path: String,
    offset: u64,
    len: u64,
    first: u64,
    last: u64,
    /// Offset, length and position of each body.
    bodies: Vec<(u64, u64, u64)>,
}

fn at_work() -> MemoryBuilder {
    let (clock, ids) = (Arc::new(ManualClock::at(START)), Arc::new(CountingIds::new(900)));
    clock.advance(DAY);
    builder(&clock, &ids).segment_bytes(SEGMENT_BYTES)
}

fn open(storage: &MemoryStorage) -> Memory {
    at_work().open_in(Arc::new(storage.clone())).unwrap()
}

fn salvage(storage: &MemoryStorage) -> Result<SalvageReport, Error> {
    at_work().salvage_in(Arc::new(storage.clone()))
}

fn preview(storage: &MemoryStorage) -> SalvageReport {
    at_work().salvage_preview_in(Arc::new(storage.clone())).unwrap()
}

/// Something of everything, over several segments.
fn whole() -> Whole {
    let storage = MemoryStorage::new();
    let bench = Bench::new();
    let memory = bench.builder().segment_bytes(SEGMENT_BYTES).open_in(Arc::new(storage.clone())).unwrap();
    let put = |name: &str, value: &str| {
        bench.tick();
        memory.commit(commit(name, value)).unwrap();
    };
    put("a", "first of a");
    put("b", "first of b");
    bench.tick();
    memory.revise(revise("a", "second of a")).unwrap();
    put("gone", "purged");
    put("c", "first of c");
    bench.tick();
    memory.forget(bilinc::Forget { purge: true, ..forget("gone") }).unwrap();
    put("d", "first of d");
    bench.tick();
    let lines = "{\"key\":\"x\",\"value\":\"one of x\"}\n{\"key\":\"y\",\"value\":\"one of y\"}\n";
    memory.import(lines.as_bytes(), bilinc::ImportOptions::default(), &mut |_, _| {}).unwrap();
    bench.tick();
    memory.confirm(confirm("b")).unwrap();
    bench.tick();
    memory.forget(forget("c")).unwrap();
    put("a", "third of a");
    let events = memory.recorded(Seq::ZERO).unwrap();
    memory.close();
    let frames = places(&storage);
    assert!(paths(&storage).len() >= 3, "several segments are wanted");
    Whole { storage, events, frames }
}

fn paths(storage: &MemoryStorage) -> Vec<String> {
    let names = storage.list("log").unwrap().into_iter().map(|entry| entry.name);
    names.filter(|name| name.ends_with(".seg")).map(|name| format!("log/{name}")).collect()
}

/// All files by their paths.
fn files(storage: &MemoryStorage) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for dir in ["", "log", "quarantine", "salvage"] {
        for entry in storage.list(dir).unwrap_or_default().into_iter().filter(|entry| !entry.is_dir) {
            let path = if dir.is_empty() { entry.name } else { format!("{dir}/{}", entry.name) };
            // What the holder of a lock says of itself is no content.
            if !path.ends_with(".lock") {
                found.insert(path.clone(), storage.contents(&path).unwrap());
            }
        }
    }
    found
}

fn places(storage: &MemoryStorage) -> Vec<Place> {
    let options = LogOptions { read_only: true, ..LogOptions::default() };
    let (log, _) = Log::open(Arc::new(storage.clone()), options, 0).unwrap();
    let mut places = Vec::new();
    log.read(1, log.durable().unwrap().seq, &mut |frame| {
        let location = frame.location();
        let bodies = frame.bodies().map(|body| {
            let (offset, len) = body.region();
            (offset, len, body.seq())
        });
        places.push(Place {
            path: format!("log/{:020}.seg", location.segment),
            offset: location.offset,
            len: location.len,
            first: frame.first_seq(),
            last: frame.last_seq(),
            bodies: bodies.collect(),
        });
        ControlFlow::Continue(())
    })
    .unwrap();
    places
}

/// A copy with a part of a file changed.
fn damaged(storage: &MemoryStorage, path: &str, change: impl FnOnce(&mut Vec<u8>)) -> MemoryStorage {
    let copy = storage.fork();
    let mut bytes = copy.contents(path).unwrap();
    change(&mut bytes);
    copy.put(path, bytes);
    copy
}

/// The positions of an operation.
fn seqs(place: &Place) -> Vec<u64> {
    (place.first..=place.last).collect()
}

/// Spoils what is recorded of an operation beside its bodies.
fn without_frame(storage: &MemoryStorage, place: &Place) -> MemoryStorage {
    damaged(storage, &place.path, |bytes| bytes[usize::try_from(place.offset).unwrap() + 90] ^= 0x40)
}

impl Whole {
    /// The operation whose event is about the key, the `nth` of them.
    fn place_of(&self, key: &str, nth: usize) -> Place {
        let about = self.events.iter().filter(|event| event.event.key().is_some_and(|found| found.as_str() == key));
        let seq = about.map(|event| event.seq.get()).nth(nth).unwrap();
        self.frames.iter().find(|place| (place.first..=place.last).contains(&seq)).unwrap().clone()
    }

    fn head(&self) -> u64 {
        self.events.last().unwrap().seq.get()
    }

    /// After a salvage: exactly these events and bodies are gone, everything else is as it was, the log is
    /// proven, what was lost is told by it, and the store goes on.
    fn assert_salvaged(&self, storage: &MemoryStorage, lost: &[u64], bodies: &[u64], what: &str) {
        let memory = open(storage);
        self.assert_recorded(&memory, lost, bodies, what);
        self.assert_entries(&memory, lost, bodies, what);
        assert_sound(&memory);
        memory.commit(commit("after", "the salvage")).unwrap_or_else(|error| panic!("{what}: {error}"));
        drop(memory);
        let memory = open(storage);
        assert_eq!(value_of(&memory, "after").as_deref(), Some("the salvage"), "{what}");
        assert_sound(&memory);
    }

    /// The log is proven, and holds all but what it says was lost.
    fn assert_recorded(&self, memory: &Memory, lost: &[u64], bodies: &[u64], what: &str) {
        let status = memory.status().unwrap();
        assert_eq!((status.read_only, memory.damage()), (None, None), "{what}");
        let verified = memory.verify(&mut |_, _| {}).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(verified.state_equal, "{what}");
        let told = |list: &dyn Fn(&bilinc::SalvageRecord) -> Vec<u64>| -> Vec<u64> {
            let mut told: Vec<u64> = verified.salvages.iter().flat_map(list).collect();
            told.sort_unstable();
            told
        };
        let ranges =
            told(&|salvage| salvage.lost.iter().flat_map(|range| range.first.get()..=range.last.get()).collect());
        assert_eq!(ranges, lost, "{what}");
        let told_bodies = told(&|salvage| salvage.bodies.iter().map(|seq| seq.get()).collect());
        assert_eq!(told_bodies, bodies, "{what}");
        let events = memory.recorded(Seq::ZERO).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(events.len() >= self.events.len(), "{what}");
        for (now, then) in events.iter().zip(&self.events) {
            let seq = then.seq.get();
            if lost.contains(&seq) {
                assert!(matches!(now.event, Event::Lost(_)), "{what}: {now:?}");
                continue;
            }
            assert_eq!((now.seq, &now.event, &now.operation), (then.seq, &then.event, &then.operation), "{what}");
            let body = if bodies.contains(&seq) { None } else { then.body.clone() };
            assert_eq!(now.body, body, "{what}: {seq}");
        }
    }

    /// Keys whose events and bodies are all whole stand exactly as they stood.
    fn assert_entries(&self, memory: &Memory, lost: &[u64], bodies: &[u64], what: &str) {
        let before = open(&self.storage.fork());
        let keys: std::collections::BTreeSet<_> = self.events.iter().filter_map(|event| event.event.key()).collect();
        for key in keys {
            let mut own = self.events.iter().filter(|event| event.event.key() == Some(key));
            let touched = own.any(|event| lost.contains(&event.seq.get()) || bodies.contains(&event.seq.get()));
            let (then, now) = (before.get(key.as_str()).unwrap(), memory.get(key.as_str()).unwrap());
            if !touched {
                assert_eq!(now, then, "{what}: {key}");
            } else if let Some(now) = now {
                // What is shown is what was recorded once, or said to be lost.
                let value = now.value.as_ref();
                let once = self.events.iter().filter(|event| event.event.key() == Some(key));
                let mut values = once.filter_map(|event| event.body.as_ref()?.value.as_ref());
                assert_eq!(value.is_none(), now.lost, "{what}: {key}");
                assert!(value.is_none() || values.any(|once| Some(once) == value), "{what}: {key}");
            }
        }
        before.close();
    }
}
