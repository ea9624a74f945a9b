//! Stores to begin with, with a time, ids and salts that are the same in every run.

use std::sync::{Arc, Mutex, OnceLock};

use bilinc::log::SaltSource;
use bilinc::storage::{MemoryStorage, Storage};
use bilinc::{CountingIds, ManualClock, Memory, MemoryBuilder, Seq, Timestamp};

pub const SEGMENT: &str = "log/00000000000000000001.seg";

/// An hour behind the end of what the golden store tells.
pub const NOW: Timestamp = Timestamp::from_micros(1_767_230_000_000_000);

/// Salts 1, 2, 3 …
#[derive(Debug, Default)]
pub struct Salts(Mutex<u8>);

impl SaltSource for Salts {
    fn fill(&self, bytes: &mut [u8]) -> std::io::Result<()> {
        let mut next = self.0.lock().expect("nobody panics here");
        for byte in bytes {
            *next = next.wrapping_add(1);
            *byte = *next;
        }
        Ok(())
    }
}

#[must_use]
pub fn builder(ids: u64) -> MemoryBuilder {
    Memory::builder()
        .clock(Arc::new(ManualClock::at(NOW)))
        .ids(Arc::new(CountingIds::new(ids)))
        .salts(Arc::new(Salts::default()))
}

/// The store of the first format, which holds every kind of event.
#[must_use]
pub fn golden() -> MemoryStorage {
    let storage = MemoryStorage::new();
    storage.create_dir("log").expect("a folder");
    storage.put(SEGMENT, include_bytes!("../../tests/golden/v1/log/00000000000000000001.seg").to_vec());
    storage.put("mark", include_bytes!("../../tests/golden/v1/mark").to_vec());
    storage
}

/// The same history over several segments.
#[must_use]
pub fn segmented() -> MemoryStorage {
    static STORE: OnceLock<MemoryStorage> = OnceLock::new();
    let made = STORE.get_or_init(|| {
        let storage = MemoryStorage::new();
        let whole = builder(5).open_in(Arc::new(golden())).expect("it opens");
        let cut = builder(6).segment_bytes(3_000).open_in(Arc::new(storage.clone())).expect("a new store");
        cut.feed(whole.recorded(Seq::ZERO).expect("its events")).expect("they follow");
        drop(cut);
        storage
    });
    made.fork()
}

/// The segments of a store, in their order.
#[must_use]
pub fn segments(storage: &MemoryStorage) -> Vec<String> {
    let entries = storage.list("log").unwrap_or_default();
    let mut names: Vec<String> = entries.into_iter().map(|entry| format!("log/{}", entry.name)).collect();
    names.retain(|name| name.ends_with(".seg"));
    names.sort();
    names
}
