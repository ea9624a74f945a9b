//! Commands whose footprints do not meet can be decided in any order.

use bilinc_core::{Command, Footprint, ImportId, ImportPage, Snapshot};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::harness::{Store, commit, confirm, flag, forget, key, revise, undo_of, unflag};

const NAMES: [&str; 3] = ["a", "b", "c"];

fn command(name: usize, kind: u8) -> Command {
    let name = NAMES[name];
    match kind {
        0 => Command::Commit(commit(name, "new")),
        1 => Command::Commit(bilinc_core::Commit { if_absent: true, ..commit(name, "new") }),
        2 => Command::Revise(revise(name, "new")),
        3 => Command::Forget(forget(name)),
        4 => Command::Confirm(confirm(name)),
        5 => Command::Flag(flag(name, "look")),
        6 => Command::Unflag(unflag(name)),
        _ => {
            let entry = bilinc_core::ImportEntry {
                commit: commit(name, "new"),
                created_at: None,
                updated_at: None,
                confirmed_at: None,
            };
            Command::Import(ImportPage { import: ImportId::from_u128(1), if_absent: kind == 7, entries: vec![entry] })
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn commands_with_disjoint_footprints_commute(
        earlier in vec((0..3_usize, 0..9_u8), 0..12),
        first in (0..3_usize, 0..9_u8),
        second in (0..3_usize, 0..9_u8),
    ) {
        let mut store = Store::new();
        for (name, kind) in earlier {
            let _ = store.ask(&command(name, kind), None);
        }
        let (first, second) = (command(first.0, first.1), command(second.0, second.1));
        let (Footprint::Keys(one), Footprint::Keys(two)) = (first.footprint(), second.footprint()) else { panic!() };
        if one.iter().any(|key| two.contains(key)) {
            return Ok(());
        }
        let mut behind = store.clone();
        let _ = behind.ask(&first, None);
        let on_older = behind.decide_on(&store.state, &second, None);
        prop_assert_eq!(on_older, behind.decide(&second, None), "decided before or after the other is recorded");
        let run = |order: [&Command; 2]| {
            let mut store = store.clone();
            let accepted = order.map(|command| store.ask(command, None).is_ok());
            let what = NAMES.map(|name| {
                let entry = store.entry(name).cloned();
                let brief = |entry: bilinc_core::Entry| (entry.facts, entry.created_at, entry.confirmed_at, entry.flags.len());
                (store.value(name), entry.map(brief))
            });
            (accepted, what)
        };
        let (there, back) = (run([&first, &second]), run([&second, &first]));
        prop_assert_eq!(there.0, [back.0[1], back.0[0]]);
        prop_assert_eq!(there.1, back.1);
    }
}

#[test]
fn commands_that_look_further_say_so() {
    let everything = [
        Command::Snapshot(Snapshot::default()),
        Command::DreamStart(bilinc_core::DreamStart::default()),
        undo_of(bilinc_core::Selection::Seqs(Vec::new())),
    ];
    for command in everything {
        assert_eq!(command.footprint(), Footprint::Everything);
    }
    assert_eq!(command(0, 3).footprint(), Footprint::Keys(vec![key("a")]));
}
