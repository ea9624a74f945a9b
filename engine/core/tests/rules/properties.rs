//! Random histories, compared with the naive model after every command.

use std::collections::BTreeMap;
use std::convert::Infallible;

use bilinc_core::{DreamId, Row, Selection, Slot, State, StateRows, chain_of, slot_at};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::harness::{Act, DAY, HOUR, SECOND, Store, commit, undo_dream};
use crate::naive::read;
use crate::world::{KEYS, World, any_do};

use bilinc_core::{Command, DreamUndo, MemoryType};

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 4000, ..ProptestConfig::default() }
}

/// A past state of every key, by the fold of the events up to there.
fn as_of_reads_are_folds_of_the_prefix(store: &Store) {
    let chains: Vec<_> =
        (store.state.slots()).map(|(key, slot)| (key.clone(), chain_of(&store.log, slot.head).unwrap())).collect();
    let mut prefix = State::new(3);
    for event in store.log.all() {
        prefix.evolve(event);
        for (key, chain) in &chains {
            let there = prefix.slot(key.as_str()).cloned().unwrap_or_else(Slot::default);
            assert_eq!(slot_at(chain, event.seq), there, "`{key}` as of {}", event.seq);
        }
    }
}

proptest! {
    #![proptest_config(cases(std::env::var("DEEP").ok().and_then(|n| n.parse().ok()).unwrap_or(256)))]

    #[test]
    fn any_history_agrees_with_the_naive_model(steps in vec(any_do(), 1..60)) {
        let mut world = World::new();
        for step in &steps {
            world.apply(step);
        }
        as_of_reads_are_folds_of_the_prefix(&world.store);
    }

    #[test]
    fn a_state_taken_up_from_its_rows_at_any_time_goes_on_like_the_replay(
        steps in vec(any_do(), 1..60),
        pick in any::<prop::sample::Index>(),
    ) {
        let mut world = World::new();
        for step in &steps {
            world.apply(step);
        }
        let events: Vec<_> = world.store.log.all().collect();
        let (before, after) = events.split_at(pick.index(events.len() + 1));
        let mut replayed = State::new(1);
        before.iter().for_each(|event| drop(replayed.evolve(event)));
        let mut rows = StateRows::new(2);
        replayed.rows().for_each(|row| rows.push(row));
        let mut taken = rows.finish();
        prop_assert_eq!(&taken, &replayed);
        let mut frozen = StateRows::new(3);
        replayed.rows_before_slots().for_each(|row| frozen.push(row));
        let slots = replayed.frozen_slots();
        for event in after {
            prop_assert_eq!(taken.evolve(event), replayed.evolve(event));
            prop_assert_eq!(&taken, &replayed);
        }
        // What was frozen is what was there then, and is taken up like it.
        let (mut blocks, mut full) = (frozen.blocks(), Vec::new());
        let taken_up = slots.try_each(|row| {
            if let Row::Slot(key, slot) = row.clone() {
                full.extend(blocks.push(key.into_owned(), slot.into_owned()));
            }
            Ok::<(), Infallible>(())
        });
        taken_up.unwrap();
        let (last, names) = blocks.finish();
        full.into_iter().chain([last]).for_each(|block| frozen.push_block(block));
        frozen.push_names(names);
        let mut taken = frozen.finish();
        prop_assert_eq!(&taken, &bilinc_core::replay(1, before.iter().copied()));
        after.iter().for_each(|event| drop(taken.evolve(event)));
        prop_assert_eq!(&taken, &replayed);
    }

    #[test]
    fn an_undo_and_its_redo_give_the_same_content(
        steps in vec(any_do(), 1..40),
        pick in any::<prop::sample::Index>(),
    ) {
        let mut world = World::new();
        for step in &steps {
            world.apply(step);
        }
        let store = &mut world.store;
        if store.log.len() == 0 {
            return Ok(());
        }
        let seq = bilinc_core::Seq::new(pick.index(store.log.len()) as u64 + 1);
        if store.decide(&crate::harness::undo_of(Selection::Seqs(vec![seq])), None).is_err() {
            return Ok(());
        }
        let before = content(store);
        let (_, summary) = store.undo_at(seq);
        let undone = content(store);
        let Some(summary) = summary else {
            prop_assert_eq!(before, undone);
            return Ok(());
        };
        let (redone, summary) = store.undo_at(summary);
        // An undone confirm got its time back, and may have expired by that.
        if !redone.unchanged.is_empty() {
            return Ok(());
        }
        prop_assert!(redone.conflicts.is_empty(), "{redone:?}");
        prop_assert_eq!(&before, &content(store));
        store.undo_at(summary.unwrap());
        prop_assert_eq!(&undone, &content(store));
    }
}

type Content = BTreeMap<String, (String, String, MemoryType, u64, String, Vec<u64>)>;

/// What the entries say, without times and versions.
fn content(store: &Store) -> Content {
    KEYS.iter()
        .filter(|name| store.entry(name).is_some())
        .map(|name| {
            let mem = read(store, name);
            let flags = mem.flags.iter().map(|seq| seq.get()).collect();
            let importance = (mem.importance * 100.0) as u64;
            ((*name).to_owned(), (mem.value, mem.metadata, mem.kind, importance, mem.source, flags))
        })
        .collect()
}

/// What a dream of a stack does to each key.
fn plan() -> impl Strategy<Value = Vec<Vec<(usize, u8)>>> {
    vec(vec((0..KEYS.len(), 0..4_u8), 0..8), 1..5)
}

fn run(store: &mut Store, plan: &[(usize, u8)], number: usize) -> Option<DreamId> {
    let start =
        bilinc_core::DreamStart { include_reviewed: true, since: Some(store.now.plus(-DAY)), ..Default::default() };
    let dream = store.start_with(start)?.dream;
    for (index, (name, op)) in plan.iter().enumerate() {
        let name = KEYS[*name];
        let value = format!("dream {number} {index}");
        let act = [Act::Revise(name, &value), Act::Forget(name), Act::Confirm(name), Act::Flag(name)][*op as usize];
        let page = store.page_of(dream, &[act]);
        // The cap may refuse a forget.
        let _ = store.ask(&Command::DreamApply(page), None);
    }
    store.finish(dream, &[]);
    Some(dream)
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn a_stack_of_dreams_undone_newest_first_ends_at_the_start(plans in plan(), oldest_first in any::<bool>()) {
        let mut store = Store::new();
        for (index, name) in KEYS.iter().enumerate() {
            let mut made = commit(name, &format!("v{index}"));
            made.metadata = bilinc_core::Json::parse(&format!("{{\"n\":{index}}}"), 100).ok();
            made.importance = Some(index as f64 / 10.0);
            made.memory_type = Some(MemoryType::ALL[index % 5]);
            store.ok(Command::Commit(made));
            if index % 2 == 0 {
                store.step(SECOND).confirm(name);
            }
        }
        let before = content(&store);
        let confirmed = |store: &Store| KEYS.map(|name| store.entry(name).and_then(|entry| entry.confirmed_at));
        let confirmed_before = confirmed(&store);
        let mut dreams: Vec<DreamId> = Vec::new();
        for (number, plan) in plans.iter().enumerate() {
            store.step(HOUR);
            dreams.extend(run(&mut store, plan, number));
        }
        if oldest_first {
            // Whatever that leaves as conflicts, newest first then takes it all back.
            for dream in &dreams {
                store.undo(Selection::Dream(*dream));
            }
        }
        for dream in dreams.iter().rev() {
            if oldest_first {
                store.undo(Selection::Dream(*dream));
            } else {
                let (undone, _) = store.undo_dream_with(DreamUndo { restore_metadata: true, ..undo_dream(*dream) });
                prop_assert!(undone.conflicts.is_empty(), "{undone:?}");
            }
        }
        prop_assert_eq!(before, content(&store));
        prop_assert_eq!(confirmed_before, confirmed(&store));
    }

    #[test]
    fn a_later_change_by_somebody_else_makes_exactly_that_key_a_conflict(
        plan in vec((0..KEYS.len(), 0..3_u8), 1..8),
        others in prop::sample::subsequence(KEYS.to_vec(), 0..=KEYS.len()),
    ) {
        let mut store = Store::new();
        for name in KEYS {
            store.commit(name, "first");
        }
        let dream = run(&mut store, &plan, 0).unwrap();
        let record = store.state.dream(dream).unwrap().clone();
        let touched: std::collections::BTreeSet<String> =
            record.own.iter().map(|seq| store.log.facts(*seq).event.key().unwrap().to_string()).collect();
        store.by("eve");
        for name in &others {
            store.commit(name, "by eve");
        }
        let undone = store.undo_dream(dream);
        let conflicts: Vec<String> = undone.conflicts.iter().map(|conflict| conflict.key.to_string()).collect();
        let expected: Vec<String> =
            touched.iter().filter(|name| others.contains(&name.as_str())).cloned().collect();
        prop_assert_eq!(conflicts, expected);
        for name in KEYS {
            let value = if others.contains(&name) { "by eve" } else { "first" };
            let stored = store.value(name);
            prop_assert_eq!(stored.as_deref(), Some(value));
        }
    }

    #[test]
    fn no_order_of_pages_forgets_past_the_cap(
        number in 1..60_usize,
        pages in vec(vec(0..60_usize, 1..25), 1..12),
    ) {
        let mut store = Store::new();
        let names: Vec<String> = (0..number).map(|index| format!("k{index}")).collect();
        for name in &names {
            store.commit(name, "v");
        }
        let dream = store.start();
        let cap = (number * 30 / 100).min(20);
        for page in &pages {
            let acts: Vec<Act<'_>> = page.iter().map(|index| Act::Forget(&names[index % number])).collect();
            let before = store.state.head();
            if store.ask(&Command::DreamApply(store.page_of(dream, &acts)), None).is_err() {
                prop_assert_eq!(before, store.state.head());
            }
            let gone = names.iter().filter(|name| store.entry(name).is_none()).count();
            prop_assert!(gone <= cap, "{gone} of {cap}");
            prop_assert_eq!(store.state.dream(dream).unwrap().forgets as usize, gone);
        }
    }
}
