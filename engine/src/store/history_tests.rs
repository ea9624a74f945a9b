#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::Arc;

use bilinc_core::{History, Seq, Timestamp};

use super::LogHistory;
use crate::clock::{CountingIds, ManualClock};
use crate::log::LogOptions;
use crate::storage::FileStorage;
use crate::store::testing::commit;
use crate::store::{Settings, Shared, Store};

const DAY: i64 = 86_400_000_000;

fn open(folder: &Path, clock: &Arc<ManualClock>, ids: u64, checkpoints: bool) -> Arc<Shared> {
    let mut settings = Settings::new(Arc::clone(clock) as _, Arc::new(CountingIds::new(ids)));
    settings.checkpoints = Some(checkpoints);
    Store::open(Arc::new(FileStorage::new(folder)), LogOptions::default(), settings).unwrap()
}

/// What is published knows since when there are events, and says of every time what the log says.
fn assert_agrees(store: &Store, earliest: Timestamp) {
    store.refresh().unwrap();
    let published = store.published();
    assert_eq!(published.earliest(), Some(earliest));
    let (short, long) = (LogHistory::of(store, &published), LogHistory::new(store, published.head()));
    for day in -3..9 {
        for beside in -1..2 {
            let time = Timestamp::from_micros(day * DAY + beside);
            assert_eq!(short.position_at(time).unwrap(), long.position_at(time).unwrap(), "{day} {beside}");
        }
    }
    assert_eq!(short.position_at(earliest.plus(-1)).unwrap(), Seq::ZERO);
}

#[test]
fn where_a_time_lies_is_known_without_the_log_before_its_first_event_even_when_clocks_step_back() {
    let folder = tempfile::tempdir().unwrap();
    let days = |number: i64| Timestamp::from_micros(number * DAY);
    let clock = Arc::new(ManualClock::at(days(5)));
    let store = open(folder.path(), &clock, 1, true);
    assert_agrees(&store, Timestamp::MAX);
    commit(&store, "one", "value");
    clock.set(days(7));
    commit(&store, "two", "value");
    assert_agrees(&store, days(5));
    store.keep_checkpoint(std::time::Duration::ZERO).unwrap().unwrap();
    assert_agrees(&open(folder.path(), &clock, 2, true), days(5));
    // More than what is smoothed over.
    clock.set(days(2));
    commit(&store, "three", "value");
    for (ids, checkpoints) in [(3, true), (4, false)] {
        assert_agrees(&open(folder.path(), &clock, ids, checkpoints), days(2));
    }
    assert_agrees(&store, days(2));
}
