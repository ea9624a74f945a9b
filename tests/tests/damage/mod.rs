//! Damage inside the log: reads answer from what lies before it, writes are refused, nothing is lost
//! in silence.

mod ask;
mod bytes;
mod folder;
mod oracle;
mod story;
mod swaps;
mod tokens;

use std::sync::Arc;

use bilinc::storage::MemoryStorage;
use bilinc::{At, ListQuery, LogQuery, Memory, RecallQuery, Seq};

use crate::support::*;

const SEGMENT: &str = "log/00000000000000000001.seg";

/// A closed store of ten entries, and how long its segment is behind each.
fn store() -> (MemoryStorage, Vec<usize>) {
    let storage = MemoryStorage::new();
    let bench = Bench::on(Arc::new(storage.clone()));
    let mut ends = Vec::new();
    for index in 0..10 {
        bench.put(&format!("k{index}"), &format!("value {index}"));
        let bytes = storage.contents(SEGMENT).unwrap();
        ends.push(bytes.iter().rposition(|byte| *byte != 0).unwrap() + 1);
    }
    bench.memory.close();
    (storage, ends)
}

fn flipped(storage: &MemoryStorage, at: usize) -> MemoryStorage {
    let copy = storage.fork();
    let mut bytes = storage.contents(SEGMENT).unwrap();
    bytes[at] ^= 0x40;
    copy.put(SEGMENT, bytes);
    copy
}

fn open(storage: &MemoryStorage) -> Memory {
    Bench::on(Arc::new(storage.clone())).memory
}

#[test]
fn a_damaged_store_answers_from_what_lies_before_and_refuses_writes() {
    let (storage, ends) = store();
    // In the header of the sixth frame.
    let memory = open(&flipped(&storage, ends[4] + 20));
    for index in 0..5 {
        assert_eq!(value_of(&memory, &format!("k{index}")), Some(format!("value {index}")));
    }
    assert_eq!(memory.list(&ListQuery::default()).unwrap().total, 5);
    assert_eq!(memory.recall(&RecallQuery::new("value")).unwrap().len(), 5);
    assert_eq!(memory.log(&LogQuery::default()).unwrap().events.len(), 5);
    assert_eq!(memory.get_at("k0", At::Position(Seq::new(3))).unwrap().unwrap().key.as_str(), "k0");
    let mut text = Vec::new();
    assert_eq!(memory.export(&mut text, &mut |_, _| {}).unwrap(), 5);
    assert!(memory.status().unwrap().read_only.is_some());
    let before = memory.head().unwrap();
    for error in [
        memory.commit(commit("new", "v")).unwrap_err(),
        memory.forget(forget("k0")).unwrap_err(),
        memory.verify(&mut |_, _| {}).unwrap_err(),
    ] {
        assert_eq!(error.code(), "store_corrupt", "{error}");
        assert!(error.to_string().contains("position 6"), "{error}");
        assert!(!error.is_retryable());
    }
    assert_eq!(memory.head().unwrap(), before);
}

#[test]
fn a_body_that_rotted_is_found_by_the_read_that_needs_it() {
    let (storage, _) = store();
    let bytes = storage.contents(SEGMENT).unwrap();
    let at = bytes.windows(7).position(|window| window == b"value 3").unwrap();
    let memory = open(&flipped(&storage, at));
    assert_eq!(value_of(&memory, "k2").as_deref(), Some("value 2"));
    assert_eq!(memory.get("k3").unwrap_err().code(), "store_corrupt");
    assert_eq!(value_of(&memory, "k4").as_deref(), Some("value 4"));
    assert_eq!(memory.recall(&RecallQuery::new("value")).unwrap_err().code(), "store_corrupt");
    let error = memory.verify(&mut |_, _| {}).unwrap_err();
    assert!(error.to_string().contains("position 4"), "{error}");
    let mut text = Vec::new();
    assert!(memory.export(&mut text, &mut |_, _| {}).is_err(), "no export leaves an entry out in silence");
    // Keys and facts are whole, and nothing is written behind damage that was met.
    let without = ListQuery { values: bilinc::Values::None, ..ListQuery::default() };
    assert_eq!(memory.list(&without).unwrap().total, 10);
    assert_eq!(memory.commit(commit("new", "v")).unwrap_err().code(), "store_corrupt");
    assert!(memory.status().unwrap().read_only.unwrap().contains("position 4"));
}

#[test]
fn a_rotted_body_that_no_entry_needs_any_more_harms_no_recall() {
    let storage = MemoryStorage::new();
    let bench = Bench::on(Arc::new(storage.clone()));
    bench.memory.with_idempotency_key("once").commit(commit("a", "a former value")).unwrap();
    bench.put("a", "the present value");
    bench.put("b", "another value");
    bench.memory.close();
    let bytes = storage.contents(SEGMENT).unwrap();
    let at = bytes.windows(6).position(|window| window == b"former").unwrap();
    let memory = open(&flipped(&storage, at));
    // The fold needed its fingerprint, to answer a repeated request: no write is taken any more.
    assert_eq!(memory.damage(), None);
    assert!(memory.status().unwrap().read_only.unwrap().contains("position 1"));
    assert_eq!(memory.recall(&RecallQuery::new("value")).unwrap().len(), 2);
    assert_eq!(memory.list(&ListQuery::default()).unwrap().total, 2);
    assert_eq!(memory.history("b", 10, true).unwrap().items.len(), 1);
    assert_eq!(memory.history("a", 10, true).unwrap_err().code(), "store_corrupt");
    let again = memory.with_idempotency_key("once").commit(commit("a", "a former value"));
    assert_eq!(again.unwrap_err().code(), "store_corrupt", "a retry is neither answered nor carried out twice");
}

#[test]
fn every_flipped_byte_of_the_log_is_noticed_or_harmless() {
    let (storage, ends) = store();
    let end = *ends.last().unwrap();
    for at in (0..end).step_by(7) {
        let damaged = flipped(&storage, at);
        let Ok(memory) = Bench::on_maybe(Arc::new(damaged)) else { continue };
        if let Ok(verified) = memory.verify(&mut |_, _| {}) {
            panic!("byte {at} of {end} was flipped and the proof holds: {verified:?}");
        }
        for index in 0..10 {
            let name = format!("k{index}");
            if let Ok(Some(entry)) = memory.get(&name) {
                let value = entry.value.unwrap().as_plain_string();
                assert_eq!(value, Some(format!("value {index}")), "byte {at}: a wrong value was given");
            }
        }
    }
}
