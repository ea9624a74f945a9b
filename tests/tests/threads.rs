//! Many threads, and handles that share nothing but the folder.

use std::collections::BTreeSet;
use std::sync::Barrier;
use std::thread;

use bilinc::{ActionOp, DreamStart, Durability, Error, Memory, Rejection, Revise, Seq, Version};

use crate::support::*;

const THREADS: usize = 8;
const ROUNDS: usize = 50;

fn count_of(memory: &Memory, name: &str) -> (u64, Version) {
    let entry = memory.get(name).unwrap().unwrap();
    (entry.value.unwrap().as_str().parse().unwrap(), entry.entry.version)
}

fn counter(memory: &Memory, name: &str) {
    let mut zero = commit(name, "");
    zero.value = json("0");
    memory.commit(zero).unwrap();
}

/// Adds one to a number as an optimistic writer does: read, write with the version, again on conflict.
fn add_one(memory: &Memory, name: &str) {
    loop {
        let (count, version) = count_of(memory, name);
        let next =
            Revise { value: json(&(count + 1).to_string()), expected_version: Some(version), ..revise(name, "") };
        match memory.revise(next) {
            Ok(_) => return,
            Err(Error::Rejected(Rejection::VersionConflict { .. })) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

fn assert_history(memory: &Memory) {
    let events = memory.recorded(Seq::ZERO).unwrap();
    assert!(events.iter().zip(1_u64..).all(|(event, seq)| event.seq.get() == seq), "positions have no gap");
    let versions: Vec<_> = events.iter().filter_map(|event| event.event.version()).collect();
    assert_eq!(versions.iter().collect::<BTreeSet<_>>().len(), versions.len(), "versions repeat");
    assert_sound(memory);
}

/// All handles work at once, in two threads each, on shared and on own keys.
fn stress(handles: &[Memory], threads: usize, rounds: usize) {
    counter(&handles[0], "shared");
    let start = Barrier::new(threads);
    thread::scope(|scope| {
        for index in 0..threads {
            let (start, memory) = (&start, handles[index % handles.len()].acting_as(actor(&format!("t{index}"))));
            scope.spawn(move || {
                let own = format!("own.{index}");
                start.wait();
                for round in 0..rounds {
                    add_one(&memory, "shared");
                    match round % 5 {
                        0 => drop(memory.commit(commit(&own, &round.to_string())).unwrap()),
                        1 => drop(memory.revise(revise(&own, &round.to_string())).unwrap()),
                        2 => drop(memory.forget(forget(&own)).unwrap()),
                        3 => assert!(memory.get(&own).unwrap().is_none(), "forgotten by this very thread"),
                        _ => drop(memory.commit(commit("trodden", &own)).unwrap()),
                    }
                }
            });
        }
    });
    for memory in handles {
        assert_eq!(count_of(memory, "shared").0, (threads * rounds) as u64, "an update was lost");
    }
    assert!(handles[0].is_same_state(handles.last().unwrap()).unwrap());
    assert_history(&handles[0]);
}

#[test]
fn no_update_is_lost_between_threads_on_one_store() {
    stress(&[Bench::new().memory], THREADS, ROUNDS);
}

#[test]
fn no_update_is_lost_between_two_handles_on_one_folder() {
    let folder = tempfile::tempdir().unwrap();
    let handles = [(); 2].map(|()| Memory::open(folder.path()).unwrap());
    stress(&handles, 4, 20);
}

#[test]
fn small_segments_change_hands_between_two_handles() {
    let folder = tempfile::tempdir().unwrap();
    let handles = [(); 2].map(|()| Memory::builder().segment_bytes(4_096).open(folder.path()).unwrap());
    stress(&handles, 4, 10);
    assert!(handles[1].status().unwrap().segments > 3);
}

#[test]
fn relaxed_and_durable_handles_share_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let relaxed = Memory::builder().durability(Durability::Relaxed).open(folder.path()).unwrap();
    let durable = Memory::open(folder.path()).unwrap();
    for round in 0..30 {
        relaxed.commit(commit("a", &format!("relaxed {round}"))).unwrap();
        let seen = value_of(&relaxed, "a");
        assert_eq!(seen.as_deref(), Some(format!("relaxed {round}").as_str()), "a writer sees its own");
        durable.commit(commit("b", &format!("durable {round}"))).unwrap();
        // What a durable writer was answered covers all that came before it.
        assert_eq!(value_of(&durable, "a"), seen);
        assert_eq!(value_of(&relaxed, "b").as_deref(), Some(format!("durable {round}").as_str()));
    }
    assert_eq!(relaxed.status().unwrap().durability, "relaxed");
    assert_history(&durable);
}

#[test]
fn an_acknowledged_write_is_seen_through_the_other_handle_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (Memory::open(folder.path()).unwrap(), Memory::open(folder.path()).unwrap());
    for round in 0..20 {
        let (writer, reader) = if round % 2 == 0 { (&one, &two) } else { (&two, &one) };
        let written = writer.commit(commit("a", &round.to_string())).unwrap().answer;
        assert_eq!(value_of(reader, "a"), Some(round.to_string()));
        assert_eq!(reader.head().unwrap(), writer.head().unwrap());
        // And decisions rest on it.
        let stale = Revise { expected_version: Some(Version::from_u128(1)), ..revise("a", "x") };
        let Rejection::VersionConflict { current, .. } = rejection(reader.revise(stale).unwrap_err()) else { panic!() };
        assert_eq!(Some(current), written.version);
    }
}

#[test]
fn one_name_for_many_simultaneous_requests_writes_once() {
    let folder = tempfile::tempdir().unwrap();
    let handles = [(); 2].map(|()| Memory::open(folder.path()).unwrap());
    let start = Barrier::new(THREADS);
    let answers: Vec<_> = thread::scope(|scope| {
        let spawn = |index: usize| {
            let (memory, start) = (handles[index % 2].with_idempotency_key("once"), &start);
            scope.spawn(move || {
                start.wait();
                memory.commit(commit("a", "v")).unwrap()
            })
        };
        let threads: Vec<_> = (0..THREADS).map(spawn).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(answers.iter().filter(|written| !written.replayed).count(), 1);
    assert!(answers.iter().all(|written| written.answer == answers[0].answer));
    assert_eq!(handles[0].head().unwrap().seq.get(), 1);
}

#[test]
fn a_dream_and_writers_at_the_same_time_leave_a_sound_store() {
    let bench = Bench::new();
    for index in 0..40 {
        bench.put(&format!("note.{index}"), "v");
    }
    let memory = &bench.memory;
    thread::scope(|scope| {
        scope.spawn(move || {
            for round in 0..100 {
                memory.commit(commit(&format!("note.{}", round % 40), "by hand")).unwrap();
            }
        });
        scope.spawn(move || {
            for _ in 0..4 {
                let all = DreamStart { since: Some(START), include_reviewed: true, ..DreamStart::default() };
                let started = memory.dream_start(all).unwrap().answer;
                let confirm = |one: &bilinc::DreamCandidate| {
                    action(ActionOp::Confirm, one.memory.key.as_str(), Some(one.memory.entry.version))
                };
                let actions = started.candidates.iter().map(confirm).collect();
                memory.dream_apply(started.dream.unwrap(), actions, None, false).unwrap();
            }
        });
        scope.spawn(move || {
            for _ in 0..50 {
                let page = memory.list(&bilinc::ListQuery::default()).unwrap();
                assert!(page.total >= 40);
                assert!(memory.verify(&mut |_, _| {}).unwrap().state_equal);
            }
        });
    });
    bench.assert_sound();
}
