//! Lost events: whatever is missing of a history, the rest folds and is decided on, and nothing that is
//! not known is taken for known.

use std::sync::Arc;

use bilinc_core::{
    Actor, Command, Decision, Event, Forget, Lost, LostRange, Operation, OperationId, OperationKind, RecordedEvent,
    Salvaged, Selection, Seq, Undo, UndoConflictReason, replay,
};

use crate::harness::{Act, Log, Store, forget, key};

/// A history of everything that is about keys.
fn lived() -> Store {
    let mut store = Store::new();
    store.commit("a", "one");
    store.commit("b", "one");
    store.revise("a", "two");
    store.forget("b");
    store.commit("b", "two");
    store.flag("a", "look");
    store.commit("c", "one");
    store.dream(&[Act::Revise("a", "three"), Act::Confirm("b")]);
    store.unflag("a");
    store.undo(Selection::Range(Seq::new(3), Seq::new(3)));
    store.commit("d", "one");
    store.ok(Command::Forget(Forget { purge: true, ..forget("d") }));
    store.revise("b", "three");
    store
}

/// The history with these positions lost, as a salvage records it.
fn without(store: &Store, lost: &[u64]) -> Vec<RecordedEvent> {
    let all: Vec<RecordedEvent> = store.log.all().cloned().collect();
    let mut events = Vec::new();
    for event in &all {
        let seq = event.seq.get();
        if !lost.contains(&seq) {
            events.push(event.clone());
            continue;
        }
        let named = all.iter().find(|later| later.prev == event.seq && !lost.contains(&later.seq.get()));
        let key = named.and_then(|later| later.event.key().cloned());
        let whole = |before: &&RecordedEvent| !lost.contains(&before.seq.get()) && before.event.key() == key.as_ref();
        let prev = all.iter().filter(|before| before.seq < event.seq && key.is_some()).rfind(whole);
        events.push(RecordedEvent {
            prev: prev.map_or(Seq::ZERO, |before| before.seq),
            operation: operation(event.seq, event.operation.at),
            event: Event::Lost(Lost { key }),
            body: None,
            seq: event.seq,
        });
    }
    let last = all.last().unwrap();
    let ranges = lost.iter().map(|seq| LostRange {
        first: Seq::new(*seq),
        last: Seq::new(*seq),
        bytes: 0,
        reason: "lost".into(),
    });
    events.push(RecordedEvent {
        seq: last.seq.plus(1),
        prev: Seq::ZERO,
        operation: operation(last.seq.plus(1), last.operation.at),
        event: Event::Salvaged(Salvaged {
            lost: ranges.collect(),
            bodies: Vec::new(),
            unproven: Vec::new(),
            damage: Vec::new(),
            head: last.seq,
            chain: [0; 32],
        }),
        body: None,
    });
    events
}

fn operation(first: Seq, at: bilinc_core::Timestamp) -> Arc<Operation> {
    Arc::new(Operation {
        id: OperationId::from_u128(u128::from(first.get()) << 64),
        at,
        clock_back: false,
        actor: Actor::default(),
        kind: OperationKind::Salvage,
        idempotency: None,
        first,
        count: 1,
    })
}

/// The same writer on the log that was left.
fn salvaged(store: &Store, lost: &[u64]) -> Store {
    let events = without(store, lost);
    let mut after = store.clone();
    (after.state, after.log) = (replay(7, &events), Log::default());
    for event in events {
        after.log.push(&Arc::new(event));
    }
    after
}

/// Every position alone, and every two of them.
fn losses(store: &Store) -> Vec<Vec<u64>> {
    let last = store.state.head().get();
    let mut losses: Vec<Vec<u64>> = (1..=last).map(|seq| vec![seq]).collect();
    losses.extend((1..=last).flat_map(|one| (one + 1..=last).map(move |other| vec![one, other])));
    losses.push((1..=last).collect());
    losses
}

#[test]
fn keys_of_which_nothing_is_lost_stand_as_they_stood() {
    let store = lived();
    for lost in losses(&store) {
        let after = salvaged(&store, &lost);
        for (name, slot) in store.state.slots() {
            let mut own = store.log.all().filter(|event| event.event.key() == Some(name));
            if own.all(|event| !lost.contains(&event.seq.get())) {
                assert_eq!(after.state.slot(name.as_str()), Some(slot), "{lost:?}: {name}");
            }
        }
        assert_eq!(after.state.losses().0, lost.len() as u64);
        assert!(lost.iter().all(|seq| after.state.is_lost(Seq::new(*seq))));
    }
}

#[test]
fn a_value_is_a_recorded_one_of_its_key_or_said_to_be_lost() {
    let store = lived();
    for lost in losses(&store) {
        let after = salvaged(&store, &lost);
        for (name, slot) in after.state.slots() {
            let Some(entry) = &slot.entry else { continue };
            let event = after.log.facts(entry.value_at);
            let is_own = event.event.key() == Some(name) && event.event.body_bytes() > 0;
            assert!(is_own || after.state.is_lost(entry.value_at), "{lost:?}: {name}");
            // What a forget may have hidden is not shown for a lost one.
            let ended = lost.contains(&4) && name == &key("b") && slot.lost_at.is_some();
            assert!(!ended || slot.hides_value(Seq::new(2)), "{lost:?}: {slot:?}");
        }
    }
}

#[test]
fn everything_can_be_taken_back_over_a_gap_but_what_is_not_known() {
    let store = lived();
    for lost in losses(&store) {
        let after = salvaged(&store, &lost);
        let all = Selection::Range(Seq::new(1), after.state.head());
        let commands = [
            Command::Undo(Undo { selection: all, dry_run: false }),
            Command::Undo(Undo { selection: Selection::Source("ada".into()), dry_run: true }),
        ];
        for command in commands {
            let Decision::Append(events) = after.decide(&command, None).unwrap_or_else(|error| panic!("{error}"))
            else {
                continue;
            };
            for event in events {
                match &event.event {
                    Event::Restored(restored) => {
                        assert!(!after.state.is_lost(restored.value_at), "{lost:?}: {restored:?}");
                    }
                    Event::Undone(undone) => {
                        let unknown = undone.conflicts.iter().filter(|found| found.reason == UndoConflictReason::Lost);
                        for conflict in unknown {
                            let mut own = store.log.all().filter(|event| event.event.key() == Some(&conflict.key));
                            assert!(own.any(|event| lost.contains(&event.seq.get())), "{lost:?}: {conflict:?}");
                        }
                    }
                    _ => {}
                }
            }
        }
    }
}
