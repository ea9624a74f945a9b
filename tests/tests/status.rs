//! How a store tells of itself.

use bilinc::{Commit, Memory, MemoryType, Snapshot};

use crate::support::*;

#[test]
fn counts_are_those_of_what_is_there() {
    let bench = Bench::new();
    bench.put("a", "v");
    bench.tick();
    let kind = Some(MemoryType::Spatial);
    bench.memory.commit(Commit { memory_type: kind, ..commit("b", "v") }).unwrap();
    bench.memory.commit(Commit { ttl: Some(60.0), ..commit("brief", "v") }).unwrap();
    bench.put("gone", "v");
    bench.forget("gone");
    bench.memory.flag(flag("a")).unwrap();
    bench.memory.snapshot(Snapshot::default()).unwrap();
    let status = bench.memory.status().unwrap();
    assert_eq!(status.counts.by_type, [2, 0, 0, 0, 1]);
    assert_eq!((status.counts.keys, status.counts.flagged, status.snapshots), (4, 1, 1));
    assert_eq!((status.counts.live_bytes, status.counts.recorded_bytes), (9, 12));
    assert_eq!((status.head, status.store), (bench.memory.head().unwrap(), bench.memory.store_id()));
    assert_eq!((status.segments, status.durability), (1, "durable"));
    assert!(status.log_bytes > 0 && status.read_only.is_none() && status.recovered.is_none());
    bench.clock.advance(2 * MINUTE);
    assert_eq!(bench.memory.status().unwrap().counts.by_type, [1, 0, 0, 0, 1], "what expired is not there");
}

#[test]
fn a_dream_is_told_of_as_long_as_it_can_be_undone() {
    let bench = Bench::new();
    bench.put("a", "v");
    let dream = bench.dream();
    let days = || bench.memory.status().unwrap().dreams.iter().map(|one| one.days_left).collect::<Vec<_>>();
    assert_eq!(days(), [7]);
    bench.clock.advance(DAY);
    assert_eq!(days(), [6]);
    bench.memory.dream_apply(dream, Vec::new(), None, false).unwrap();
    assert_eq!(days(), [7], "the finish moves the deadline");
    bench.clock.advance(7 * DAY);
    assert_eq!(days(), [0]);
    bench.clock.advance(1);
    assert_eq!(days(), [0_i64; 0]);
}

#[test]
fn the_head_is_another_after_every_write_and_the_same_without_one() {
    let bench = Bench::new();
    let empty = bench.memory.head().unwrap();
    assert_eq!(empty.seq.get(), 0);
    bench.put("a", "v");
    let one = bench.memory.head().unwrap();
    assert_ne!(one.chain, empty.chain);
    let _ = bench.memory.commit(Commit { if_absent: true, ..commit("a", "w") }).unwrap_err();
    assert_eq!(bench.memory.head().unwrap(), one);
    assert_eq!(bench.open_again().head().unwrap(), one);
}

#[test]
fn stores_with_other_ids_have_other_chains() {
    let (one, two) = (Memory::in_memory().unwrap(), Memory::in_memory().unwrap());
    assert_ne!(one.store_id(), two.store_id());
    assert_ne!(one.head().unwrap().chain, two.head().unwrap().chain);
    // What was recorded in one can be replayed in the other, state and all.
    one.commit(commit("a", "v")).unwrap();
    two.feed(one.recorded(bilinc::Seq::ZERO).unwrap()).unwrap();
    assert!(one.is_same_state(&two).unwrap());
    two.commit(commit("a", "w")).unwrap();
    assert!(!one.is_same_state(&two).unwrap());
}

#[test]
fn events_that_do_not_follow_are_not_fed() {
    let bench = Bench::new();
    for name in ["a", "b"] {
        bench.put(name, "v");
    }
    let lines = "{\"key\":\"c\",\"value\":1}\n{\"key\":\"d\",\"value\":2}\n";
    bench.memory.import(lines.as_bytes(), bilinc::ImportOptions::default(), &mut |_, _| {}).unwrap();
    let events = bench.memory.recorded(bilinc::Seq::ZERO).unwrap();
    let fed = |events: Vec<_>| {
        let memory = Memory::in_memory().unwrap();
        let result = memory.feed(events).map_err(|error| invalid(error).1);
        (result, memory.head().unwrap().seq.get())
    };
    assert_eq!(fed(events.clone()), (Ok(()), 5));
    assert_eq!(fed(events[1..].to_vec()), (Err("out_of_order"), 0));
    assert_eq!(fed(events[..3].to_vec()), (Err("out_of_order"), 2), "half of an operation");
    assert_eq!(fed([&events[..1], &events[..1]].concat()), (Err("out_of_order"), 1));
    let mut swapped = events.clone();
    swapped.swap(2, 3);
    assert_eq!(fed(swapped), (Err("out_of_order"), 2));
    assert_eq!(
        bench.memory.replayed_through(bilinc::Seq::new(4)).map(|_| ()).map_err(|e| invalid(e).1),
        Err("out_of_order")
    );
}
