//! A head that was noted proves what lies before it, and nothing else passes for that.

use std::sync::Arc;

use bilinc::log::{FrameDraft, Log, LogOptions};
use bilinc::storage::{MemoryStorage, Storage};
use bilinc::{ChainHash, EngineError, Error, Head, HeadNotMet, KnownHead, Memory, Seq};

use crate::backup::{SMALL, assert_copied, back_up, bench_in, open, told};
use crate::purge::purge;
use crate::support::*;

fn since(memory: &Memory, head: impl Into<KnownHead>) -> Result<bilinc::VerifiedSince, Error> {
    memory.verify_since(head, &mut |_, _| {})
}

fn not_met(memory: &Memory, head: impl Into<KnownHead>) -> HeadNotMet {
    let error = since(memory, head).unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), ("store_corrupt", false));
    match error {
        Error::Engine(EngineError::OtherHistory(not_met)) => *not_met,
        other => panic!("{other}"),
    }
}

#[test]
fn the_head_of_the_store_proves_the_copy_and_what_the_copy_wrote_since() {
    let bench = bench_in(SMALL);
    told(&bench);
    let noted: KnownHead = bench.memory.head().unwrap().to_string().parse().unwrap();
    bench.memory.forget(purge("gone")).unwrap();
    let (target, done) = back_up(&bench.memory);
    let copy = open(&target);
    assert_copied(&bench.memory, &copy, &done);
    copy.commit(commit("k1", "of the copy")).unwrap();
    copy.forget(purge("k2")).unwrap();
    for memory in [&bench.memory, &copy] {
        let proof = memory.verify_since(noted, &mut |_, _| {}).unwrap();
        assert_eq!(proof.met.seq, noted.seq.unwrap());
        assert_eq!(proof.events_since, memory.head().unwrap().seq.get() - proof.met.seq.get());
    }
    let later = copy.head().unwrap();
    copy.verify_since(later, &mut |_, _| {}).unwrap();
    assert_eq!(bench.memory.verify_since(later, &mut |_, _| {}).unwrap_err().code(), "store_corrupt");
}

#[test]
fn every_head_that_ever_was_is_met_with_and_without_its_position() {
    let bench = bench_in(SMALL);
    let mut heads = vec![bench.memory.head().unwrap()];
    for index in 0..30 {
        bench.put(&format!("k{index}"), &"x".repeat(200));
        heads.push(bench.memory.head().unwrap());
    }
    let last = bench.head();
    for head in heads {
        for known in [KnownHead::from(head), KnownHead { seq: None, chain: head.chain }] {
            let proof = since(&bench.memory, known).unwrap();
            assert_eq!((proof.met, proof.events_since), (head, last.get() - head.seq.get()));
            assert_eq!(proof.verified, bench.memory.verify(&mut |_, _| {}).unwrap());
        }
    }
}

#[test]
fn another_history_is_told_with_what_was_found_and_never_passes() {
    let (one, other) = (Bench::new(), Bench::new());
    for bench in [&one, &other] {
        bench.put("a", "same");
        bench.put("b", "same");
    }
    // Salts differ, and so does the chain, although all else is the same.
    let (noted, there) = (one.memory.head().unwrap(), other.memory.head().unwrap());
    other.put("c", "later");
    let last = other.memory.head().unwrap();
    let expected = HeadNotMet { expected: noted.into(), found: Some(there.chain), last };
    assert_eq!(not_met(&other.memory, noted), expected);
    assert!(expected.to_string().contains(&there.chain.to_string()), "{expected}");
    let alone = KnownHead { seq: None, chain: noted.chain };
    assert_eq!(not_met(&other.memory, alone), HeadNotMet { expected: alone, found: None, last });
    // A head of what is not there any more: the log went back to an earlier copy.
    assert_eq!(not_met(&one.memory, last).found, None);
    // The right hash at another position.
    let moved = Head { seq: Seq::new(1), ..noted };
    assert!(not_met(&one.memory, moved).found.is_some());
    assert!(not_met(&one.memory, Head { seq: Seq::ZERO, chain: ChainHash([0; 32]) }).found.is_some());
    one.assert_sound();
}

#[test]
fn a_position_inside_an_operation_is_a_matter_of_form() {
    let bench = Bench::new();
    let lines = "{\"key\":\"a\",\"value\":1}\n{\"key\":\"b\",\"value\":2}\n";
    bench.memory.import(lines.as_bytes(), Default::default(), &mut |_, _| {}).unwrap();
    let head = bench.memory.head().unwrap();
    let inside = Head { seq: Seq::new(1), ..head };
    assert_eq!(invalid(since(&bench.memory, inside).unwrap_err()), ("since_head".to_owned(), "inside_an_operation"));
    since(&bench.memory, head).unwrap();
}

#[test]
fn damage_comes_before_any_word_about_the_head() {
    let bench = bench_in(SMALL);
    told(&bench);
    let head = bench.memory.head().unwrap();
    let storage = MemoryStorage::new();
    for (path, bytes) in crate::purge::files(bench.storage.as_ref()) {
        storage.put(&path, bytes);
    }
    let path = "log/00000000000000000001.seg";
    let mut bytes = storage.contents(path).unwrap();
    bytes[400] ^= 1;
    storage.put(path, bytes);
    let memory = Bench::on_maybe(Arc::new(storage)).unwrap();
    for known in [head, Head { seq: Seq::new(1), ..head }] {
        let error = since(&memory, known).unwrap_err();
        assert!(matches!(error, Error::Engine(EngineError::Log(bilinc::log::LogError::Damage(_)))), "{error}");
    }
}

#[test]
fn a_log_whose_checksums_hold_and_that_holds_no_events_is_neither_proved_nor_copied() {
    let storage = MemoryStorage::new();
    let bench = Bench::on(Arc::new(storage.clone()));
    bench.put("k", "v");
    drop(bench);
    let (log, _) = Log::open(Arc::new(storage.clone()) as Arc<dyn Storage>, LogOptions::default(), 1).unwrap();
    let nonsense = FrameDraft {
        count: 1,
        time: START.micros(),
        clock_back: false,
        codec: 1,
        permanent: b"nonsense".to_vec(),
        bodies: vec![],
    };
    log.begin_append().unwrap().append(&[nonsense]).unwrap();
    log.sync_through(2).unwrap();
    drop(log);
    let memory = Bench::on_maybe(Arc::new(storage)).unwrap();
    assert_eq!(value_of(&memory, "k").as_deref(), Some("v"));
    assert_eq!(memory.verify(&mut |_, _| {}).unwrap_err().code(), "store_corrupt");
    let target = MemoryStorage::new();
    let error = memory.backup_to(Arc::new(target.clone()), &mut |_, _| {}).unwrap_err();
    assert_eq!((error.code(), crate::purge::files(&target)), ("store_corrupt", vec![]));
}
