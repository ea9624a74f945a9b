//! Logs so long that a thread of its own decodes ahead, and another folds beside the proof.

use std::ops::ControlFlow;
use std::sync::Arc;

use bilinc::storage::MemoryStorage;
use bilinc::{ImportOptions, ListQuery, Memory, Seq};
use bilinc_core::RecordedEvent;

use crate::support::*;

const EVENTS: u64 = 20_000;
const SEGMENT: &str = "log/00000000000000000001.seg";

/// A store of many entries in few operations, and some that were changed since.
fn store() -> (MemoryStorage, Bench) {
    let storage = MemoryStorage::new();
    let bench = Bench::on(Arc::new(storage.clone()));
    let line = |number: u64| format!("{{\"key\":\"k{number}\",\"value\":\"value {number}\"}}\n");
    let lines: String = (0..EVENTS).map(line).collect();
    bench.memory.import(lines.as_bytes(), ImportOptions::default(), &mut |_, _| {}).unwrap();
    bench.revise("k7", "revised");
    bench.forget("k8");
    (storage, bench)
}

fn visited(memory: &Memory, after: u64, most: usize) -> Vec<u64> {
    let mut seqs = Vec::new();
    memory
        .visit_recorded(Seq::new(after), &mut |event| {
            seqs.push(event.seq.get());
            if seqs.len() == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .unwrap();
    seqs
}

#[test]
fn a_long_history_is_visited_in_order_from_any_position_and_until_any() {
    let (_, bench) = store();
    let head = bench.head().get();
    assert!(visited(&bench.memory, 0, usize::MAX).into_iter().eq(1..=head));
    // Inside an operation, and so near the end that nobody decodes ahead.
    for after in [1, 700, 3_000, head - 5, head] {
        assert!(visited(&bench.memory, after, usize::MAX).into_iter().eq(after + 1..=head), "{after}");
    }
    for most in [1, 600, 9_999] {
        assert!(visited(&bench.memory, 0, most).into_iter().eq(1..=most as u64), "{most}");
    }
    bench.assert_sound();
}

#[test]
fn damage_behind_much_that_is_whole_ends_the_fold_right_before_it() {
    let (storage, bench) = store();
    let expected = bench.memory.recorded(Seq::ZERO).unwrap();
    bench.memory.close();
    let bytes = storage.contents(SEGMENT).unwrap();
    let at = bytes.windows(6).position(|window| window == b"k18500").unwrap();
    let copy = storage.fork();
    let mut damaged = bytes.clone();
    damaged[at] ^= 1;
    copy.put(SEGMENT, damaged);
    let memory = Bench::on(Arc::new(copy)).memory;
    let whole = memory.recorded(Seq::ZERO).unwrap();
    let (before, behind) = expected.split_at(whole.len());
    assert!(whole == before, "what lies before the damage is another history");
    let first = &behind[0].operation;
    let of_first = behind.iter().take_while(|event| event.operation == *first);
    let keys = |event: &RecordedEvent| event.event.key().map(ToString::to_string);
    assert!(of_first.filter_map(keys).any(|key| key == "k18500"), "the fold ends elsewhere");
    assert_eq!(memory.list(&ListQuery::default()).unwrap().total, before.iter().filter_map(keys).count() as u64);
    let error = memory.verify(&mut |_, _| {}).unwrap_err();
    assert!(error.to_string().contains(&format!("position {}", first.first)), "{error}");
}

#[test]
fn a_proof_of_a_long_log_takes_up_what_is_written_and_purged_meanwhile() {
    let (_, bench) = store();
    let mut told = 0;
    let verified = bench.memory.verify(&mut |_, _| {
        told += 1;
        if told == 1 {
            bench.put("meanwhile", "written");
            bench.memory.forget(crate::purge::purge("k9")).unwrap();
        }
    });
    let verified = verified.unwrap();
    assert!(told > 1 && verified.state_equal);
    assert_sound(&bench.memory);
}
