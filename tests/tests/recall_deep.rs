//! Deep recall, held against what the history of each key shows.

use std::collections::BTreeSet;

use bilinc::{Forget, Json, Profile, RecallQuery, Seq};
use proptest::prelude::*;

use crate::support::*;

const KEYS: [&str; 3] = ["a", "b", "c"];
const WORDS: [&str; 4] = ["walrus", "giraffe", "dolphin", "elephant"];

#[derive(Debug, Clone, Copy)]
enum Step {
    Write(usize, usize),
    Forget(usize, bool),
    Undo(u64),
    Confirm(usize),
    Search,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        5 => (0..KEYS.len(), 0..WORDS.len()).prop_map(|(key, word)| Step::Write(key, word)),
        1 => (0..KEYS.len(), any::<bool>()).prop_map(|(key, purge)| Step::Forget(key, purge)),
        2 => (1_u64..30).prop_map(Step::Undo),
        1 => (0..KEYS.len()).prop_map(Step::Confirm),
        1 => Just(Step::Search),
    ]
}

fn take(bench: &Bench, step: Step) {
    bench.tick();
    match step {
        Step::Write(key, word) => {
            bench.memory.commit(commit(KEYS[key], WORDS[word])).unwrap();
        }
        // Refused where there is nothing; that is not what this is about.
        Step::Forget(key, purge) => drop(bench.memory.forget(Forget { purge, ..forget(KEYS[key]) })),
        Step::Undo(seq) => drop(bench.memory.undo(undo_seq(Seq::new(seq)))),
        Step::Confirm(key) => drop(bench.memory.confirm(confirm(KEYS[key]))),
        Step::Search => assert_deep(bench),
    }
}

/// An entry is found by a word exactly when it is there, and its history shows a value with that word, its
/// present one or an earlier one; the position is that of such a value.
fn assert_deep(bench: &Bench) {
    for word in WORDS {
        let query = RecallQuery { profile: Profile::Deep, limit: 100, ..RecallQuery::new(word) };
        let hits = bench.memory.recall(&query).unwrap();
        let found: BTreeSet<&str> = hits.iter().map(|hit| hit.memory.key.as_str()).collect();
        let wanted = KEYS.into_iter().filter(|key| {
            let history = bench.memory.history(key, 1_000, true).unwrap();
            let shown = |value: Option<&Json>| value == Some(&Json::string(word));
            let sides = history.items.iter().flat_map(|item| [&item.before, &item.after]);
            history.exists && sides.flatten().any(|side| shown(side.value.as_ref()))
        });
        assert_eq!(found, wanted.collect(), "{word}");
        for hit in &hits {
            let present = hit.memory.value == Some(Json::string(word));
            assert_eq!(hit.earlier_at.is_none(), present, "{word} in {}", hit.memory.key);
            if let Some(at) = hit.earlier_at {
                let then = bench.memory.get_at(hit.memory.key.as_str(), bilinc::At::Position(at)).unwrap().unwrap();
                assert_eq!(then.value, Some(Json::string(word)), "what stood at {at}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_deep_recall_finds_what_the_history_shows_and_nothing_else(steps in prop::collection::vec(step(), 1..40)) {
        let bench = Bench::new();
        for step in steps {
            take(&bench, step);
        }
        assert_deep(&bench);
        // Another handle, which reads all at once, finds the same.
        let again = Bench { memory: bench.open_again(), ..bench };
        assert_deep(&again);
    }
}
