//! Entries that expire, and the clock.

use bilinc_core::{Command, Commit, DreamStart, Rejection, Selection};

use crate::harness::{DAY, HOUR, SECOND, Store, commit, key, on_existing};

fn put(ttl: f64) -> Command {
    Command::Commit(Commit { ttl: Some(ttl), ..commit("k", "v") })
}

#[test]
fn an_expired_entry_is_not_there_for_any_command_and_no_event_says_so() {
    let mut store = Store::new();
    store.ok(put(10.0));
    store.flag("k", "look");
    let (version, head) = (store.version("k"), store.state.head());
    store.step(10 * SECOND);
    assert!(store.entry("k").is_some(), "the last moment counts as alive");
    assert_eq!(store.state.counts(store.now).entries(), 1);
    store.step(1);
    assert_eq!((store.entry("k"), store.state.head()), (None, head));
    assert_eq!(store.state.counts(store.now).entries(), 0);
    for expected in [None, Some(version)] {
        for command in on_existing("k", expected) {
            assert_eq!(store.refused(command), Rejection::MemoryNotFound { key: key("k") });
        }
    }
    let command = Commit { expected_version: Some(version), ..commit("k", "v") };
    assert_eq!(store.refused(Command::Commit(command)), Rejection::MemoryNotFound { key: key("k") });
    assert_eq!(store.candidates(DreamStart::default()), [""; 0]);
}

#[test]
fn a_commit_over_an_expired_entry_creates_a_new_one() {
    let mut store = Store::new();
    store.ok(put(10.0));
    store.flag("k", "look");
    store.step(HOUR);
    store.ok(Command::Commit(Commit { if_absent: true, ..commit("k", "new") }));
    assert_eq!((store.there("k").created_at, store.flags("k")), (store.now, vec![]));
}

#[test]
fn a_change_puts_the_end_off() {
    let mut store = Store::new();
    store.ok(put(10.0));
    store.step(9 * SECOND).confirm("k");
    store.step(9 * SECOND).revise("k", "w");
    store.step(10 * SECOND);
    assert!(store.entry("k").is_some());
    store.step(1);
    assert!(store.entry("k").is_none());
}

#[test]
fn a_time_to_live_beyond_all_time_never_ends() {
    let mut store = Store::new();
    store.ok(put(1e300));
    store.step(100_000 * DAY);
    assert!(store.entry("k").is_some());
}

#[test]
fn a_clock_that_steps_back_records_no_earlier_time() {
    let mut store = Store::new();
    store.commit("a", "v");
    let first = store.now;
    store.step(-25 * HOUR).commit("b", "v");
    assert_eq!(store.there("b").updated_at, first);
    assert!(!store.log.facts(store.state.head()).operation.clock_back);
    store.step(-1).commit("c", "v");
    assert_eq!(store.there("c").updated_at, store.now, "one far-future time drags nothing along");
    assert!(store.log.facts(store.state.head()).operation.clock_back);
    store.step(1).commit("d", "v");
    assert!(!store.log.facts(store.state.head()).operation.clock_back);
}

#[test]
fn expiry_compares_with_now_and_not_with_the_recorded_time() {
    let mut store = Store::new();
    store.ok(put(3600.0));
    // A clock three hours ahead writes once; the next writer's clock is right again.
    store.step(3 * HOUR).commit("other", "v");
    store.step(-2 * HOUR - HOUR / 2);
    let version = store.version("k");
    store.revise("k", "w");
    let seq = store.state.head();
    assert_ne!(store.version("k"), version);
    let (undone, _) = store.undo(Selection::Seqs(vec![seq]));
    assert_eq!(undone.restored.len(), 1);
    assert_eq!(store.value("k").as_deref(), Some("v"), "it was there when it was revised, so it is there again");
}

#[test]
fn an_undone_confirm_may_leave_an_entry_that_has_expired_by_its_old_time() {
    let mut store = Store::new();
    store.ok(put(10.0));
    store.step(8 * SECOND).confirm("k");
    let confirm = store.state.head();
    store.step(8 * SECOND).undo_at(confirm);
    assert_eq!(store.entry("k"), None);
}
