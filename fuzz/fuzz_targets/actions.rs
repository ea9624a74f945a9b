//! Any text as the actions of a dream: it is refused as a whole or each action gets its answer, within
//! the rules of pages, and the undo of the dream brings everything back.
#![no_main]

use std::collections::BTreeMap;
use std::sync::Arc;

use bilinc::{
    ActionRecord, ActionStatus, Commit, DreamId, DreamStart, DreamUndo, Json, Key, ListQuery, Memory, OperationKind,
    Seq, limits,
};
use bilinc_fuzz::stores;
use bilinc_surface::wire::actions::{self, ActionList};
use libfuzzer_sys::fuzz_target;

const KEYS: usize = 8;

fuzz_target!(|text: &str| {
    let memory = stores::builder(7).open_in(Arc::new(bilinc::storage::MemoryStorage::new())).expect("a new store");
    for index in 0..KEYS {
        let key = Key::new(&format!("k{index}")).expect("a key");
        memory.commit(Commit::new(key, Json::string("value"))).expect("a commit");
    }
    let Ok(list) = actions::parse(&versioned(text, &memory)) else { return };
    let started = memory.dream_start(DreamStart::default()).expect("a start").answer;
    let dream = started.dream.expect("there are candidates");
    let (before, head) = (contents(&memory), memory.head().expect("a head").seq);
    let judged = memory.dream_apply(dream, list.actions.clone(), list.report.clone(), true);
    assert_eq!(memory.head().expect("a head").seq, head, "a dry run wrote something");
    match memory.dream_apply(dream, list.actions.clone(), list.report.clone(), false) {
        Ok(written) => {
            let applied = written.answer;
            assert_eq!(applied.results.len(), list.actions.len());
            assert_eq!(statuses(&applied.results), statuses(&judged.expect("it was carried out").answer.results));
            assert!(applied.forgets <= started.forget_cap, "more was forgotten than may be");
            assert_eq!(forgotten(&before, &contents(&memory)), applied.forgets as usize);
        }
        Err(failed) => {
            let pages = (failed.page as usize).saturating_sub(1);
            assert_eq!(failed.results.len(), pages * limits::PAGE_ACTIONS, "a page was applied in part");
            assert!(judged.is_err(), "refused, but not in a dry run: {failed}");
        }
    }
    assert_pages(&memory, head, dream, &list);
    let undo = DreamUndo { dream, dry_run: false, restore_metadata: true };
    let undone = memory.dream_undo(undo).expect("an undo").answer.undone;
    assert!(undone.conflicts.is_empty(), "{undone:?}");
    assert_eq!(contents(&memory), before, "the undo of the dream left something");
    assert!(memory.verify(&mut |_, _| {}).expect("it proves").state_equal);
});

/// The text with the versions of the keys in place of `@0`, `@1` …
fn versioned(text: &str, memory: &Memory) -> String {
    let mut text = text.to_owned();
    let named: Vec<usize> = (0..KEYS).filter(|index| text.contains(&format!("@{index}"))).collect();
    for index in named {
        let entry = memory.get(&format!("k{index}")).expect("a read").expect("it was committed");
        text = text.replace(&format!("@{index}"), &entry.entry.version.to_string());
    }
    text
}

/// Key, value, metadata, facts and number of flags of all that is there, but for reports: what was told of
/// a dream stays.
fn contents(memory: &Memory) -> BTreeMap<String, String> {
    let page = memory.list(&ListQuery { limit: Some(1_000), ..ListQuery::default() }).expect("a list");
    let told = page.entries.into_iter().filter(|listed| !listed.key.is_reserved()).map(|listed| {
        let entry = listed.entry;
        let told = (listed.value, listed.metadata, entry.facts, entry.created_at, entry.confirmed_at, entry.flags.len());
        (listed.key.to_string(), format!("{told:?}"))
    });
    told.collect()
}

fn forgotten(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> usize {
    before.keys().filter(|key| !after.contains_key(*key)).count()
}

fn statuses(results: &[ActionRecord]) -> Vec<&'static str> {
    let name = |result: &ActionRecord| match &result.status {
        ActionStatus::Applied { .. } => "applied",
        ActionStatus::Conflict { .. } => "conflict",
        ActionStatus::Error { .. } => "error",
    };
    results.iter().map(name).collect()
}

/// What the dream did went in whole pages.
fn assert_pages(memory: &Memory, head: Seq, dream: DreamId, list: &ActionList) {
    let events = memory.recorded(head).expect("its events");
    let pages = events.chunk_by(|one, next| one.operation.first == next.operation.first);
    let mut count = 0;
    for page in pages {
        assert_eq!(page.len(), page[0].operation.count as usize);
        assert_eq!(page[0].operation.kind, OperationKind::DreamApply(dream));
        count += 1;
    }
    assert!(count <= list.actions.len().div_ceil(limits::PAGE_ACTIONS).max(1), "too many operations");
}
