//! Another process holds a lock for longer than anybody waits.

use std::sync::Arc;
use std::time::Duration;

use bilinc::Memory;
use bilinc::storage::{LockOutcome, MemoryStorage, Storage, StorageLock};

use crate::support::*;

/// A store with one entry whose writers do not wait, and a lock that somebody holds.
fn held(lock: &str) -> (Memory, Arc<dyn StorageLock>) {
    let storage = MemoryStorage::new();
    let bench = Bench::on(Arc::new(storage.clone()));
    bench.put("a", "before");
    let memory = bench.builder().lock_timeout(Duration::ZERO).open_in(Arc::new(storage.clone())).unwrap();
    let lock = storage.lock(lock).unwrap();
    assert!(matches!(lock.acquire(Duration::ZERO, "somebody"), Ok(LockOutcome::Acquired)));
    (memory, lock)
}

#[test]
fn an_operation_that_could_not_be_appended_was_not_done_and_may_be_tried_again() {
    let (memory, lock) = held("append.lock");
    let failed = memory.revise(revise("a", "after")).unwrap_err();
    assert_eq!((failed.code(), failed.is_retryable()), ("cloud_runtime_unavailable", true), "{failed}");
    lock.release();
    memory.commit(commit("b", "other")).unwrap();
    assert_eq!(value_of(&memory, "a").as_deref(), Some("before"));
    assert_sound(&memory);
}

#[test]
fn an_operation_whose_sync_could_not_be_waited_for_is_not_said_to_be_undone() {
    let (memory, lock) = held("sync.lock");
    let once = memory.with_idempotency_key("once");
    let failed = once.revise(revise("a", "after")).unwrap_err();
    assert_eq!((failed.code(), failed.is_retryable()), ("cloud_runtime_unavailable", false), "{failed}");
    assert!(failed.to_string().contains("somebody"), "who holds it is said: {failed}");
    assert_eq!(value_of(&memory, "a").as_deref(), Some("before"), "nothing is shown that is not durable");
    // As long as that goes on, asking again leaves nothing more behind.
    once.revise(revise("a", "after")).unwrap_err();
    lock.release();
    assert!(once.revise(revise("a", "after")).unwrap().replayed, "its name settles what became of it");
    assert_eq!(value_of(&memory, "a").as_deref(), Some("after"));
    assert_eq!(memory.history("a", 10, false).unwrap().items.len(), 2);
    assert_sound(&memory);
}
