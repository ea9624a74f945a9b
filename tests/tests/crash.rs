//! The machine stops at any storage call, or a call fails: what was acknowledged stays, whole
//! operations only, and the store goes on after it is opened again.

use std::sync::Arc;

use bilinc::log::LogError;
use bilinc::storage::{Fault, FaultKind, FaultStorage, MemoryStorage, Storage};
use bilinc::{
    ActionOp, Clock, CountingIds, DreamStart, DreamUndo, Durability, EngineError, Error, ImportOptions, ManualClock,
};
use bilinc::{Memory, Seq, Snapshot};

use crate::support::*;

/// An open store of its own clock and ids: the same calls make the same events.
fn open(storage: Arc<dyn Storage>, segment_bytes: u64) -> Result<(Memory, Arc<ManualClock>), Error> {
    let (clock, ids) = (Arc::new(ManualClock::at(START)), Arc::new(CountingIds::new(7)));
    let memory = builder(&clock, &ids).segment_bytes(segment_bytes).open_in(storage)?;
    Ok((memory, clock))
}

/// Does all kinds of work; `acknowledged` is told the head behind each call that was answered.
fn work(memory: &Memory, clock: &ManualClock, acknowledged: &mut dyn FnMut(Seq)) -> Result<(), Error> {
    let mut done = |memory: &Memory| {
        clock.advance(SECOND);
        acknowledged(memory.head()?.seq);
        Ok::<(), Error>(())
    };
    for index in 0..4 {
        memory.commit(commit(&format!("k{index}"), "start"))?;
        done(memory)?;
    }
    let taken = memory.snapshot(Snapshot::default())?.answer.id;
    done(memory)?;
    let lines: String = (0..20).map(|index| format!("{{\"key\":\"i{index}\",\"value\":{index}}}\n")).collect();
    memory.import(lines.as_bytes(), ImportOptions::default(), &mut |_, _| {})?;
    done(memory)?;
    let started = memory.dream_start(DreamStart::default())?.answer;
    done(memory)?;
    let dream = started.dream.unwrap();
    for page in 0..2 {
        let act = |index: usize| {
            let one = &started.candidates[page * 8 + index].memory;
            let op = [ActionOp::Revise, ActionOp::Forget, ActionOp::Confirm, ActionOp::Flag][index % 4];
            action(op, one.key.as_str(), Some(one.entry.version))
        };
        let actions = (0..8).map(act).collect();
        let apply = bilinc::DreamApply { dream, actions, report: None, finish: page == 1, dry_run: false };
        memory.dream_apply_page(apply)?;
        done(memory)?;
    }
    memory.dream_undo(DreamUndo { dream, dry_run: false, restore_metadata: false })?;
    done(memory)?;
    let forgotten = memory.forget(forget("k0"))?.answer.seq;
    done(memory)?;
    memory.undo(undo_seq(forgotten))?;
    done(memory)?;
    let token = memory.rollback_preview(taken, "back", 100)?.confirmation_token;
    memory.rollback(taken, "back", &token)?;
    done(memory)
}

/// Positions at which operations end, and a store that did all of the work.
fn whole(segment_bytes: u64) -> (Memory, Vec<Seq>, u64) {
    let faults = FaultStorage::new(Arc::new(MemoryStorage::new())).unwrap();
    let (memory, clock) = open(Arc::new(faults.clone()), segment_bytes).unwrap();
    let mut ends = vec![Seq::ZERO];
    work(&memory, &clock, &mut |seq| ends.push(seq)).unwrap();
    (memory, ends, faults.calls())
}

struct Story {
    memory: Memory,
    ends: Vec<Seq>,
    segment_bytes: u64,
}

impl Story {
    /// The store is a run of whole operations of the story, the acknowledged ones among them, and
    /// works on.
    fn assert_prefix(&self, left: Arc<dyn Storage>, acknowledged: Seq, what: &str) {
        let (memory, _) = open(left, self.segment_bytes).unwrap_or_else(|error| panic!("{what}: {error}"));
        let events = memory.recorded(Seq::ZERO).unwrap_or_else(|error| panic!("{what}: {error}"));
        let head = memory.head().unwrap().seq;
        assert!(head >= acknowledged, "{what}: {acknowledged} was acknowledged, {head} is there");
        assert!(self.ends.contains(&head), "{what}: {head} is in the middle of an operation");
        let expected = self.memory.recorded(Seq::ZERO).unwrap();
        assert!(events.iter().zip(&expected).all(|(event, told)| event == told), "{what}: another history");
        let verified = memory.verify(&mut |_, _| {}).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(verified.state_equal, "{what}");
        assert!(memory.status().unwrap().read_only.is_none(), "{what}");
        memory.commit(commit("after", "the fall")).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(value_of(&memory, "after").as_deref(), Some("the fall"), "{what}");
    }
}

#[test]
fn acknowledged_operations_survive_a_power_cut_at_every_call() {
    for segment_bytes in [64 * 1024 * 1024, 3_000] {
        let (memory, ends, calls) = whole(segment_bytes);
        let story = Story { memory, ends, segment_bytes };
        for at in 1..=calls {
            let faults = FaultStorage::new(Arc::new(MemoryStorage::new())).unwrap();
            faults.set_fault(Some(Fault { at, kind: FaultKind::Freeze, sticky: false, only: None }));
            let mut acknowledged = Seq::ZERO;
            if let Ok((memory, clock)) = open(Arc::new(faults.clone()), segment_bytes) {
                let stopped = work(&memory, &clock, &mut |seq| acknowledged = seq);
                assert!(stopped.is_err() || at + 2 >= calls, "the machine stopped at call {at} of {calls}");
            }
            for seed in 0..3 {
                let left = Arc::new(faults.after_power_cut(seed));
                story.assert_prefix(left, acknowledged, &format!("segments {segment_bytes}, call {at}, seed {seed}"));
            }
        }
    }
}

#[test]
fn relaxed_work_leaves_a_run_of_whole_operations_after_a_power_cut_and_all_of_it_after_a_kill() {
    let (memory, ends, calls) = whole(3_000);
    let story = Story { memory, ends, segment_bytes: 3_000 };
    for at in (1..=calls).step_by(2) {
        let storage = MemoryStorage::new();
        let faults = FaultStorage::new(Arc::new(storage.clone())).unwrap();
        faults.set_fault(Some(Fault { at, kind: FaultKind::Freeze, sticky: false, only: None }));
        let (clock, ids) = (Arc::new(ManualClock::at(START)), Arc::new(CountingIds::new(7)));
        let relaxed = builder(&clock, &ids).segment_bytes(3_000).durability(Durability::Relaxed);
        let mut acknowledged = Seq::ZERO;
        if let Ok(memory) = relaxed.open_in(Arc::new(faults.clone())) {
            let _ = work(&memory, &clock, &mut |seq| acknowledged = seq);
        }
        for seed in 0..2 {
            story.assert_prefix(Arc::new(faults.after_power_cut(seed)), Seq::ZERO, &format!("call {at}, seed {seed}"));
        }
        story.assert_prefix(Arc::new(storage.fork()), acknowledged, &format!("killed at call {at}"));
    }
}

#[test]
fn a_failed_write_or_sync_stops_the_writer_and_nothing_else() {
    let (memory, ends, calls) = whole(3_000);
    let story = Story { memory, ends, segment_bytes: 3_000 };
    for name in ["write", "sync"] {
        for at in (1..=calls).step_by(3) {
            let storage = MemoryStorage::new();
            let faults = FaultStorage::new(Arc::new(storage.clone())).unwrap();
            let Ok((memory, clock)) = open(Arc::new(faults.clone()), 3_000) else { continue };
            let kind = FaultKind::Error(std::io::ErrorKind::Other);
            faults.set_fault(Some(Fault { at, kind, sticky: false, only: Some(name) }));
            let mut acknowledged = Seq::ZERO;
            let Err(error) = work(&memory, &clock, &mut |seq| acknowledged = seq) else { continue };
            let what = format!("{name} from call {at}: {error}");
            assert_eq!(error.code(), "cloud_runtime_unavailable", "{what}");
            // What is read is what was acknowledged, or more, and never half of an operation.
            let head = memory.head().unwrap().seq;
            assert!(head >= acknowledged && story.ends.contains(&head), "{what}: {head}");
            let present = memory.get("k0").unwrap();
            assert_eq!(present.is_some(), story.memory.get_at("k0", bilinc::At::Position(head)).unwrap().is_some());
            if let Err(later) = memory.commit(commit("later", "v")) {
                assert_eq!(later.code(), "cloud_runtime_unavailable", "{what}");
                assert_eq!(memory.commit(commit("later", "v")).unwrap_err().code(), later.code(), "{what}");
                assert!(memory.status().unwrap().read_only.is_some(), "{what}");
                assert_eq!(memory.head().unwrap().seq, head, "{what}");
                drop(memory);
                story.assert_prefix(Arc::new(storage), acknowledged, &what);
            }
        }
    }
}

#[test]
fn a_name_settles_what_became_of_a_write_whose_sync_failed() {
    for seed in 0..8 {
        let faults = FaultStorage::new(Arc::new(MemoryStorage::new())).unwrap();
        let (memory, clock) = open(Arc::new(faults.clone()), 1 << 20).unwrap();
        memory.commit(commit("a", "before")).unwrap();
        let kind = FaultKind::Error(std::io::ErrorKind::Other);
        faults.set_fault(Some(Fault { at: faults.calls() + 1, kind, sticky: false, only: Some("sync") }));
        let failed = memory.with_idempotency_key("once").commit(commit("a", "after")).unwrap_err();
        assert!(matches!(failed, Error::Engine(EngineError::Log(LogError::Poisoned { .. }))), "{failed:?}");
        assert!(!failed.is_retryable());
        assert_eq!(value_of(&memory, "a").as_deref(), Some("before"), "nothing is shown that is not durable");
        let left = faults.after_power_cut(seed);
        let ids = Arc::new(CountingIds::new(8));
        clock.advance(SECOND);
        let again = builder(&clock, &ids).open_in(Arc::new(left)).unwrap();
        let written = again.with_idempotency_key("once").commit(commit("a", "after")).unwrap();
        assert_eq!(again.head().unwrap().seq, Seq::new(2), "once, whether it had been kept or not");
        assert_eq!(value_of(&again, "a").as_deref(), Some("after"));
        assert_eq!(written.replayed, written.answer.at < clock.now());
        assert_sound(&again);
    }
}

#[test]
fn a_full_disk_refuses_the_write_and_takes_the_next_one() {
    let faults = FaultStorage::new(Arc::new(MemoryStorage::new())).unwrap();
    let (memory, _) = open(Arc::new(faults.clone()), 1 << 20).unwrap();
    memory.commit(commit("a", "before")).unwrap();
    let kind = FaultKind::Error(std::io::ErrorKind::StorageFull);
    faults.set_fault(Some(Fault { at: faults.calls() + 1, kind, sticky: true, only: Some("allocate") }));
    let large = "x".repeat(200_000);
    let failed = memory.commit(commit("a", &large)).unwrap_err();
    assert_eq!((failed.code(), failed.is_retryable()), ("cloud_runtime_unavailable", true), "{failed}");
    assert_eq!(value_of(&memory, "a").as_deref(), Some("before"));
    faults.set_fault(None);
    memory.commit(commit("a", &large)).unwrap();
    assert_eq!(memory.head().unwrap().seq, Seq::new(2));
    assert_sound(&memory);
}
