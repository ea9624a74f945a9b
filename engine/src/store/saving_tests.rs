#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bilinc_projections::recall::SearchOptions;

use crate::clock::{CountingIds, SystemClock};
use crate::log::LogOptions;
use crate::storage::FileStorage;
use crate::store::testing::{commit, purge};
use crate::store::{Settings, Shared, Store};

fn open(folder: &std::path::Path) -> Arc<Shared> {
    let mut settings = Settings::new(Arc::new(SystemClock), Arc::new(CountingIds::new(1)));
    settings.checkpoints = Some(true);
    Store::open(Arc::new(FileStorage::new(folder)), LogOptions::default(), settings).unwrap()
}

fn found(store: &Store, query: &str) -> Vec<String> {
    let options = SearchOptions { limit: 1_000, ..SearchOptions::default() };
    let hits = store.with_recall(|index| index.search(query, &options, &mut |_| true)).unwrap();
    let mut keys: Vec<String> = hits.into_iter().map(|hit| hit.key.to_string()).collect();
    keys.sort_unstable();
    keys
}

#[test]
fn a_checkpoint_renews_an_index_with_many_dead_and_loses_nothing_that_is_written_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    for round in 0..4 {
        for number in 0..50 {
            commit(&store, &format!("k{number}"), &format!("walrus round{round}"));
        }
        assert_eq!(found(&store, "walrus").len(), 50);
    }
    assert!(store.recall().index.dead() > 100);
    let done = AtomicBool::new(false);
    let written = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut written = 0;
            while !done.load(Ordering::Relaxed) {
                commit(&store, &format!("new{written}"), &format!("giraffe number{written}"));
                // What was written is found at once, checkpoint or not.
                assert_eq!(found(&store, &format!("number{written}")), [format!("new{written}")]);
                written += 1;
            }
            written
        });
        for _ in 0..5 {
            store.keep_checkpoint(Duration::from_secs(10)).unwrap().unwrap();
        }
        done.store(true, Ordering::Relaxed);
        writer.join().unwrap()
    });
    assert!(store.recall().index.dead() < 50, "it was renewed");
    assert!(store.recall().since.is_none());
    assert_eq!(found(&store, "walrus").len(), 50);
    assert_eq!(found(&store, "round2"), [""; 0]);
    assert_eq!(found(&store, "giraffe").len(), written);
    assert!(store.keep_checkpoint(Duration::from_secs(10)).unwrap().is_some());
    assert_eq!(store.prove_kept_recall().unwrap().map(|(_, equal)| equal), Some(true));
    drop(store);
    let again = open(folder.path());
    assert_eq!(found(&again, "giraffe").len(), written);
}

#[test]
fn an_index_that_was_saved_before_a_purge_is_not_put_in_place_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    for number in 0..50 {
        commit(&store, "k", &format!("walrus number{number}"));
        assert_eq!(found(&store, "walrus"), ["k"]);
    }
    let saved = store.saved_recall().unwrap().unwrap();
    assert!(saved.bytes.windows(6).any(|bytes| bytes == b"walrus"));
    purge(&store, "k");
    for _ in 0..50 {
        commit(&store, "other", "okapi");
        assert_eq!(found(&store, "okapi"), ["other"]);
    }
    assert!(store.recall().index.dead() > 40, "it would be worth it");
    let before = format!("{:?}", store.recall().index);
    store.renew_recall(&saved).unwrap();
    assert_eq!(format!("{:?}", store.recall().index), before, "no word of the purged value comes back");
}
