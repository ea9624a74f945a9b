//! How many candidates a dream gets, and how many of them it may forget.

use bilinc_core::{Command, Commit, DreamStart, ImportEntry, ImportId, ImportPage, Rejection, Seq};

use crate::harness::{SECOND, Store, commit};

fn all() -> DreamStart {
    DreamStart::default()
}

fn limit(limit: u32) -> DreamStart {
    DreamStart { limit, ..all() }
}

#[test]
fn the_cap_is_thirty_percent_rounded_down_and_at_most_twenty() {
    let mut store = Store::new();
    for (number, cap) in [(1, 0), (3, 0), (4, 1), (6, 1), (7, 2), (66, 19), (67, 20), (200, 20)] {
        while store.state.counts(store.now).entries() < number {
            let name = format!("k{}", store.state.head());
            store.ok(Command::Commit(commit(&name, "v")));
        }
        assert_eq!(store.clone().start_with(all()).unwrap().forget_cap, cap, "of {number}");
    }
}

#[test]
fn a_limit_out_of_range_is_refused() {
    let mut store = Store::new();
    for number in [0, 201] {
        let rejection = store.refused(Command::DreamStart(limit(number)));
        assert!(matches!(rejection, Rejection::Invalid { ref field, .. } if field == "limit"));
    }
}

#[test]
fn more_matches_are_counted_exactly_up_to_ten_thousand() {
    let mut store = Store::new();
    let mut start = |pages: std::ops::Range<u32>| {
        for page in pages {
            let line = |index| ImportEntry {
                commit: commit(&format!("{page}/{index}"), "v"),
                created_at: None,
                updated_at: None,
                confirmed_at: None,
            };
            let entries = (0..1000).map(line).collect();
            store.ok(Command::Import(ImportPage { import: ImportId::from_u128(1), if_absent: false, entries }));
        }
        store.clone().start_with(all()).unwrap().more
    };
    assert_eq!(start(0..10), 9_800);
    assert_eq!(start(10..11), 10_000);
}

#[test]
fn what_is_counted_is_what_a_walk_meets_with_expired_and_reviewed_entries_among_it() {
    let mut store = Store::new();
    for index in 0..6 {
        store.ok(Command::Commit(Commit { ttl: Some(1.0), ..commit(&format!("short{index}"), "v") }));
        store.commit(&format!("long{index}"), "v");
        if index == 2 {
            let dream = store.start();
            store.finish(dream, &[]);
        }
    }
    for later in [0, 2 * SECOND] {
        store.step(later);
        for after in (0..=store.state.head().get()).map(Seq::new) {
            for include_reviewed in [false, true] {
                let there = store.state.changed_since(after, include_reviewed);
                let there = there.filter(|(_, slot)| slot.live(store.now).is_some()).count();
                for most in 0..14 {
                    let counted = store.state.count_changed_since(after, include_reviewed, store.now, most);
                    assert_eq!(counted, there.min(most), "{after} {include_reviewed} {most}");
                }
            }
        }
    }
    assert_eq!(store.start_with(limit(1)).unwrap().more, 2);
}
