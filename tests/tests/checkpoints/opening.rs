//! What opens from a checkpoint is what a replay gives, and a checkpoint is really used.

use bilinc::{Durability, Memory, RecallQuery};

use super::ground::{Ground, RECALL, STATE};
use crate::support::*;

#[test]
fn a_store_opened_from_a_checkpoint_is_the_replayed_one_and_goes_on_like_it() {
    let ground = Ground::new();
    let at = ground.keep();
    assert_eq!(ground.assert_opens("at the checkpoint").status().unwrap().checkpoint, Some(at));
    ground.live("second");
    let memory = ground.assert_opens("past the checkpoint");
    memory.commit(commit("third", "value")).unwrap();
    ground.assert_opens("written to");
    let later = ground.keep();
    assert!(later > at);
    assert_eq!(ground.assert_opens("kept anew").status().unwrap().checkpoint, Some(later));
    ground.bench.assert_sound();
}

#[test]
fn many_keys_are_decoded_apart_and_go_on_like_the_replayed_ones() {
    let ground = Ground::new();
    // Enough for a thread, not a number of whole blocks, and more than one pack.
    let lines: String = (0..2_500).map(|index| format!("{{\"key\":\"many.{index}\",\"value\":{index}}}\n")).collect();
    ground.bench.memory.import(lines.as_bytes(), bilinc::ImportOptions::default(), &mut |_, _| {}).unwrap();
    let at = ground.keep();
    assert_eq!(ground.assert_opens("at the checkpoint").status().unwrap().checkpoint, Some(at));
    ground.bench.put("many.7", "changed");
    ground.assert_opens("past the checkpoint");
    // A purge takes the checkpoint away.
    ground.live("second");
    ground.keep();
    ground.assert_opens("kept anew");
    ground.break_history();
    assert_eq!(ground.open().damage(), None, "the checkpoint was not used");
}

#[test]
fn an_open_reads_nothing_of_what_a_checkpoint_covers() {
    let ground = Ground::new();
    ground.keep();
    ground.bench.put("after", "value");
    ground.break_history();
    let memory = ground.open();
    assert_eq!(memory.damage(), None);
    assert_eq!(value_of(&memory, "after").as_deref(), Some("value"));
    assert!(memory.recall(&RecallQuery::new("after")).unwrap().iter().any(|hit| hit.memory.key.as_str() == "after"));
    // The proof reads all of it.
    assert_eq!(memory.verify(&mut |_, _| {}).unwrap_err().code(), "store_corrupt");
    assert!(ground.replayed().damage().is_some());
}

#[test]
fn a_reader_uses_checkpoints_when_asked_to_and_leaves_no_trace_otherwise() {
    let ground = Ground::new();
    ground.keep();
    ground.break_history();
    let read_only = || ground.bench.builder().read_only(true);
    let open = |builder: bilinc::MemoryBuilder| builder.open(ground.path("")).unwrap();
    assert_eq!(open(read_only().checkpoints(true)).damage(), None);
    std::fs::remove_file(ground.path("checkpoint.lock")).unwrap();
    assert!(open(read_only()).damage().is_some());
    assert!(!ground.path("checkpoint.lock").exists());
}

#[test]
fn a_checkpoint_is_made_in_the_background_after_many_events_and_before_the_store_closes() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Memory::builder().checkpoint_every(5).open(folder.path()).unwrap();
    let memory = open();
    for index in 0..12 {
        memory.commit(commit(&format!("k{index}"), "value")).unwrap();
    }
    drop(memory);
    let memory = open();
    let kept = memory.status().unwrap().checkpoint.unwrap();
    assert!(kept.get() >= 5, "{kept}");
    memory.recall(&RecallQuery::new("value")).unwrap();
    memory.commit(commit("more", "value")).unwrap();
    drop(memory);
    assert!(folder.path().join(RECALL).exists());
    assert_eq!(open().list(&bilinc::ListQuery::default()).unwrap().total, 13);
}

#[test]
fn a_store_in_memory_and_an_empty_one_keep_nothing() {
    assert_eq!(Memory::in_memory().unwrap().checkpoint().unwrap(), None);
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(Memory::open(folder.path()).unwrap().checkpoint().unwrap(), None);
    assert!(!folder.path().join("checkpoints").exists());
}

#[test]
fn whoever_waits_for_no_checkpoint_of_another_process_opens_by_replay() {
    let ground = Ground::new();
    ground.keep();
    let lock = ground.bench.storage.lock("checkpoint.lock").unwrap();
    lock.acquire(std::time::Duration::ZERO, "another program (process 1)").unwrap();
    ground.break_history();
    assert!(ground.open().damage().is_some());
    let brief = std::time::Duration::from_millis(1);
    let impatient = ground.bench.builder().lock_timeout(brief).checkpoints(true).open(ground.path("")).unwrap();
    lock.release();
    assert!(impatient.damage().is_some());
    assert_eq!(ground.open().damage(), None);
}

#[test]
fn a_relaxed_store_keeps_a_checkpoint_of_what_it_has_synced_first() {
    let folder = tempfile::tempdir().unwrap();
    let memory = Memory::builder().durability(Durability::Relaxed).open(folder.path()).unwrap();
    for index in 0..3 {
        memory.commit(commit(&format!("k{index}"), "value")).unwrap();
    }
    let at = memory.checkpoint().unwrap();
    assert_eq!(at, Some(memory.head().unwrap().seq));
    // Another process sees all of it: the mark has moved.
    assert_eq!(Memory::open(folder.path()).unwrap().head().unwrap().seq, memory.head().unwrap().seq);
    assert!(folder.path().join(STATE).exists());
}

#[test]
fn folders_and_files_of_checkpoints_are_the_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let ground = Ground::new();
    ground.keep();
    for file in super::ground::files_in(&ground.path("checkpoints")) {
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{}", file.display());
    }
    for folder in ["checkpoints", STATE, RECALL] {
        assert_eq!(ground.path(folder).metadata().unwrap().permissions().mode() & 0o777, 0o700, "{folder}");
    }
}
