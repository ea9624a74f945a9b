//! Two processes at odds over the same entries, and over one dream.

use std::path::Path;

use bilinc::{
    ActionOp, ActionStatus, DreamApply, DreamId, DreamPhase, DreamStart, DreamUndo, Event, ListQuery, Memory, Seq,
    Values,
};

use crate::other::{Other, listen, say};
use crate::support::*;

/// Candidates of both dreams, and actions on a page.
const CANDIDATES: usize = 24;
const PAGE: usize = 3;

/// How often two undo one dream at once.
const UNDOS: usize = 8;

fn undo_of(dream: &str) -> DreamUndo {
    DreamUndo { dream: dream.parse().unwrap(), dry_run: false, restore_metadata: false }
}

/// Starts a dream over everything, and revises all candidates, page by page, when it is told to.
pub(super) fn dream(folder: &Path, words: &[String]) {
    let memory = Memory::open(folder).unwrap().acting_as(actor(&words[0]));
    let started = memory.dream_start(DreamStart::default()).unwrap().answer;
    let dream = started.dream.unwrap();
    say(&format!("{dream} {}", started.candidates.len()));
    listen();
    for candidates in started.candidates.chunks(PAGE) {
        let revised = |candidate: &bilinc::DreamCandidate| {
            let entry = &candidate.memory;
            let new_value = Some(json(&format!("\"tidied by {}\"", words[0])));
            let revise = action(ActionOp::Revise, entry.key.as_str(), Some(entry.entry.version));
            bilinc::Action { new_value, ..revise }
        };
        let actions: Vec<_> = candidates.iter().map(revised).collect();
        let page = DreamApply { dream, actions, report: None, finish: false, dry_run: false };
        for result in memory.dream_apply_page(page).unwrap().answer.results {
            let status = match result.status {
                ActionStatus::Applied { .. } => "applied",
                ActionStatus::Conflict { change: Some(change), .. } => {
                    assert_ne!(&*change.source, words[0].as_str(), "it names who came before");
                    "conflict"
                }
                other => panic!("{other:?}"),
            };
            say(&format!("{} {status}", result.key.as_str()));
        }
    }
    say("done");
}

#[test]
fn two_dreams_over_the_same_entries_tell_each_other_apart_by_versions() {
    let folder = tempfile::tempdir().unwrap();
    let memory = Memory::open(folder.path()).unwrap();
    for number in 0..CANDIDATES {
        memory.commit(commit(&format!("k{number:02}"), "as it was")).unwrap();
    }
    let mut others = ["one", "two"].map(|name| Other::start("dreams", folder.path(), &[name.to_owned()]));
    let dreams: Vec<String> = (others.iter_mut())
        .map(|other| {
            let said = other.must_say();
            let (dream, candidates) = said.split_once(' ').unwrap();
            assert_eq!(candidates.parse::<usize>().unwrap(), CANDIDATES, "the start of a dream changes no entry");
            dream.to_owned()
        })
        .collect();
    others.iter_mut().for_each(|other| other.tell("go"));
    let mut applied: [Vec<String>; 2] = Default::default();
    for (other, applied) in others.iter_mut().zip(&mut applied) {
        let mut results = 0;
        loop {
            let said = other.must_say();
            match said.split_once(' ') {
                Some((key, "applied")) => applied.push(key.to_owned()),
                Some((_, "conflict")) => {}
                _ => break,
            }
            results += 1;
        }
        assert_eq!(results, CANDIDATES);
        assert!(other.ended_well());
    }
    let mut all: Vec<_> = applied.concat();
    all.sort();
    let keys: Vec<_> = (0..CANDIDATES).map(|number| format!("k{number:02}")).collect();
    assert_eq!(all, keys, "each entry is tidied by one of the two, and once");
    for (name, applied) in ["one", "two"].iter().zip(&applied) {
        for key in applied {
            assert_eq!(value_of(&memory, key), Some(format!("tidied by {name}")));
            assert_eq!(memory.history(key, 10, false).unwrap().items.len(), 2);
        }
    }
    for (dream, applied) in dreams.iter().zip(&applied) {
        let undone = memory.dream_undo(undo_of(dream)).unwrap().answer.undone;
        assert_eq!((undone.restored.len(), undone.conflicts.len()), (applied.len(), 0));
    }
    let all = memory.list(&ListQuery { values: Values::Full, ..ListQuery::default() }).unwrap();
    assert_eq!(all.entries.len(), CANDIDATES);
    assert!(keys.iter().all(|key| value_of(&memory, key).as_deref() == Some("as it was")));
    assert_sound(&memory);
}

/// Takes back the dreams that it is told.
pub(super) fn undo(folder: &Path, _: &[String]) {
    let memory = Memory::open(folder).unwrap();
    say("ready");
    while let Some(dream) = listen() {
        let undone = memory.dream_undo(undo_of(&dream)).unwrap().answer;
        let phase = undone.dream.map(|(_, phase)| phase);
        assert_eq!((phase, undone.undone.restored.len()), (Some(DreamPhase::Undone), 2), "both get the same answer");
        say(&format!("{} {}", undone.seq.unwrap(), undone.already_undone));
    }
}

/// A dream that revised one entry and removed another.
fn dream_of(memory: &Memory, round: usize) -> DreamId {
    let keys = ["kept", "gone", "x", "y"].map(|name| format!("{round}.{name}"));
    let versions = keys.each_ref().map(|key| memory.commit(commit(key, "as it was")).unwrap().answer.version);
    let dream = memory.dream_start(DreamStart::default()).unwrap().answer.dream.unwrap();
    let actions =
        vec![action(ActionOp::Revise, &keys[0], versions[0]), action(ActionOp::Forget, &keys[1], versions[1])];
    let applied = memory.dream_apply(dream, actions, None, false).unwrap().answer;
    assert_eq!(applied.forgets, 1);
    dream
}

#[test]
fn of_two_processes_that_undo_one_dream_at_once_one_does_it_and_the_other_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let memory = Memory::open(folder.path()).unwrap();
    let mut others = [(); 2].map(|()| Other::start("undoes", folder.path(), &[]));
    others.iter_mut().for_each(|other| assert_eq!(other.must_say(), "ready"));
    for round in 0..UNDOS {
        let dream = dream_of(&memory, round);
        others.iter_mut().for_each(|other| other.tell(&dream.to_string()));
        let said = others.each_mut().map(Other::must_say);
        let [(one, first), (two, second)] = said.each_ref().map(|said| said.split_once(' ').unwrap());
        assert_eq!(one, two, "both name the one undo");
        assert_ne!(first, second, "one of them did it: {said:?}");
        for name in ["kept", "gone"] {
            assert_eq!(value_of(&memory, &format!("{round}.{name}")).as_deref(), Some("as it was"));
        }
    }
    others.iter_mut().for_each(|other| assert!(other.ended_well()));
    let events = memory.recorded(Seq::ZERO).unwrap();
    assert_eq!(events.iter().filter(|event| matches!(event.event, Event::Undone(_))).count(), UNDOS);
    assert_sound(&memory);
}
