#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::sync::{Arc, PoisonError};

use bilinc_core::Seq;

use crate::clock::{CountingIds, SystemClock};
use crate::log::LogOptions;
use crate::storage::{MemoryStorage, OpenMode, Storage};
use crate::store::testing::{commit, purge};
use crate::store::{Settings, Shared, Store};

fn open(storage: &MemoryStorage, ids: u64) -> Arc<Shared> {
    let settings = Settings::new(Arc::new(SystemClock), Arc::new(CountingIds::new(ids)));
    Store::open(Arc::new(storage.clone()), LogOptions::default(), settings).unwrap()
}

/// How many documents and words the recall index holds, as it stands.
fn indexed(store: &Store) -> String {
    format!("{:?}", store.recall.lock().unwrap_or_else(PoisonError::into_inner))
}

#[test]
fn words_and_frames_leave_memory_when_a_purge_is_folded_in() {
    let storage = MemoryStorage::new();
    let (here, there) = (open(&storage, 1), open(&storage, 2));
    commit(&here, "other", "walrus");
    there.refresh().unwrap();
    there.with_recall(|_| ()).unwrap();
    let before = indexed(&there);
    commit(&here, "k", "giraffe zebra");
    commit(&here, "k", "giraffe okapi");
    for store in [&here, &there] {
        store.refresh().unwrap();
        store.with_recall(|_| ()).unwrap();
        assert_ne!(indexed(store), before);
        assert!(store.body(Seq::new(2)).unwrap().is_some());
        assert!(store.frames.get(2).is_some());
    }
    purge(&here, "k");
    there.refresh().unwrap();
    for store in [&here, &there] {
        // No recall has come since.
        assert_eq!(indexed(store), before);
        assert!(store.frames.get(2).is_none());
        assert_eq!(store.body(Seq::new(2)).unwrap(), None);
    }
}

#[test]
fn a_body_that_is_erased_without_a_purge_is_damage_to_whoever_reads_it() {
    let storage = MemoryStorage::new();
    let store = open(&storage, 1);
    commit(&store, "k", "giraffe");
    let frame = store.log.frame_at(1).unwrap();
    let (offset, len) = frame.body_of(0).unwrap().region();
    let file = storage.open("log/00000000000000000001.seg", OpenMode::ReadWrite).unwrap();
    file.write_at(&vec![0; usize::try_from(len).unwrap()], offset).unwrap();
    assert_eq!(store.body(Seq::new(1)).unwrap_err().code(), "store_corrupt");
    assert!(store.log.stopped().is_some(), "nobody writes behind it");
}
