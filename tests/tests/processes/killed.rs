//! A process is killed between its append and its answer: what it left is made durable by the next
//! writer or cut off, and shown by nobody before.

use std::path::Path;
use std::sync::Arc;

use bilinc::{Memory, Seq};

use crate::hooked_folder::{Hook, Hooked, When};
use crate::other::{Other, die_here};
use crate::support::*;

/// What is there of an operation whose process was killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leaves {
    Nothing,
    Torn,
    /// All of it, past the mark.
    Whole,
    /// All of it, and the mark says so.
    Marked,
}

const PLACES: [(When, &str, &str, Leaves); 9] = [
    (When::Before, "write", "log/", Leaves::Nothing),
    (When::Half, "write", "log/", Leaves::Torn),
    (When::After, "write", "log/", Leaves::Whole),
    (When::Before, "lock", "sync.lock", Leaves::Whole),
    (When::Before, "sync", "log/", Leaves::Whole),
    (When::After, "sync", "log/", Leaves::Whole),
    (When::Before, "write", "mark", Leaves::Whole),
    (When::Half, "write", "mark", Leaves::Whole),
    (When::After, "write", "mark", Leaves::Marked),
];

/// Commits, and is killed on the way at the place of that number.
pub(super) fn commit_killed(folder: &Path, words: &[String]) {
    let (when, call, path, _) = PLACES[words[0].parse::<usize>().unwrap()];
    let storage = Hooked::new(folder);
    let memory = Memory::builder().open_in(Arc::new(storage.clone())).unwrap();
    memory.commit(commit("before", "as it was")).unwrap();
    storage.set(Hook { call, path, nth: 1, when, act: Box::new(die_here) });
    let _ = memory.with_idempotency_key("once").commit(commit("killed", "with this"));
    panic!("it was not killed");
}

#[test]
fn what_a_killed_process_left_is_made_durable_or_cut_by_the_next_writer_and_shown_by_nobody_before() {
    for (number, (when, call, path, leaves)) in PLACES.into_iter().enumerate() {
        // The next writer was at work before, or comes then.
        for waiting in [true, false] {
            let what = format!("{when:?} {call} {path}, {waiting}");
            let folder = tempfile::tempdir().unwrap();
            let read_only = || Memory::builder().read_only(true).open(folder.path()).unwrap();
            let old = Memory::open(folder.path()).unwrap();
            old.commit(commit("first", "of all")).unwrap();
            let watching = read_only();
            let mut other = Other::start("commits where it is killed", folder.path(), &[number.to_string()]);
            assert_eq!((other.hear(), other.code()), (None, None), "{what}");
            let shown = leaves == Leaves::Marked;
            let value = Some("with this".to_owned());
            for memory in [&watching, &read_only(), &old] {
                assert_eq!(value_of(memory, "killed"), value.clone().filter(|_| shown), "{what}");
                assert_eq!(value_of(memory, "before").as_deref(), Some("as it was"), "{what}");
                assert!(memory.verify(&mut |_, _| {}).unwrap().state_equal, "{what}");
            }
            let next = if waiting { old.clone() } else { Memory::open(folder.path()).unwrap() };
            next.commit(commit("next", "one")).unwrap();
            let there = matches!(leaves, Leaves::Whole | Leaves::Marked);
            for memory in [&watching, &read_only(), &old, &next] {
                assert_eq!(value_of(memory, "killed"), value.clone().filter(|_| there), "{what}");
                assert_eq!(value_of(memory, "next").as_deref(), Some("one"), "{what}");
            }
            let torn = std::fs::read_dir(folder.path().join("quarantine")).unwrap().count();
            assert_eq!(torn, usize::from(leaves == Leaves::Torn), "{what}: torn ends that were set aside");
            let again = next.with_idempotency_key("once").commit(commit("killed", "with this")).unwrap();
            assert_eq!(again.replayed, there, "{what}");
            assert_eq!(next.history("killed", 10, true).unwrap().items.len(), 1, "{what}");
            assert_eq!(next.recorded(Seq::ZERO).unwrap().len(), 4, "{what}");
            assert_sound(&next);
            assert_sound(&watching);
        }
    }
}
