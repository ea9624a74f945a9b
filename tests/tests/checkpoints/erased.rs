//! A purge takes checkpoints with it, and nobody writes erased words back through one.

use bilinc::RecallQuery;

use super::ground::{Ground, RECALL, files_in};
use crate::purge::{LATER, META, SECRET, purge, secret};
use crate::support::*;

/// Words of what was erased, as an index holds them, and parts of the text.
fn traces(ground: &Ground) -> Vec<String> {
    let texts = [SECRET, LATER, META].map(str::to_lowercase);
    let words = ["quixotic", "villach", "bregenz", "99887766"];
    let needles: Vec<&[u8]> = texts
        .iter()
        .flat_map(|text| text.as_bytes().windows(8))
        .chain(words.iter().map(|word| word.as_bytes()))
        .collect();
    let holds = |bytes: &[u8]| {
        let bytes = bytes.to_ascii_lowercase();
        needles.iter().any(|needle| bytes.windows(needle.len()).any(|window| window == *needle))
    };
    let read = |file: std::path::PathBuf| (file.display().to_string(), std::fs::read(file).unwrap());
    let files: Vec<(String, Vec<u8>)> = files_in(&ground.path("")).into_iter().map(read).collect();
    println!("searched {} bytes", files.iter().map(|(_, bytes)| bytes.len()).sum::<usize>());
    files.into_iter().filter(|(_, bytes)| holds(bytes)).map(|(file, _)| file).collect()
}

fn kept_with_secret() -> Ground {
    let ground = Ground::new();
    ground.bench.memory.commit(secret("k")).unwrap();
    ground.bench.revise("k", LATER);
    ground.keep();
    assert!(traces(&ground).iter().any(|path| path.contains(RECALL)), "the test looks for the wrong thing");
    ground
}

#[test]
fn no_checkpoint_holds_a_word_of_what_was_purged() {
    let ground = kept_with_secret();
    ground.bench.memory.forget(purge("k")).unwrap();
    assert_eq!(traces(&ground), Vec::<String>::new());
    assert!(files_in(&ground.path("checkpoints")).is_empty());
    ground.keep();
    assert_eq!(traces(&ground), Vec::<String>::new());
    ground.assert_opens("after the purge");
}

#[test]
fn another_handle_that_had_the_words_in_memory_writes_none_of_them_back() {
    let ground = kept_with_secret();
    let other = ground.open();
    // It has the words in its index, and has seen nothing of the purge.
    assert_eq!(other.recall(&RecallQuery::new("bregenz")).unwrap().len(), 1);
    ground.bench.memory.forget(purge("k")).unwrap();
    other.checkpoint().unwrap().unwrap();
    assert!(!files_in(&ground.path(RECALL)).is_empty());
    assert_eq!(traces(&ground), Vec::<String>::new());
    assert!(other.recall(&RecallQuery::new("bregenz")).unwrap().is_empty());
}

#[test]
fn a_checkpoint_from_before_a_purge_that_comes_back_shows_nothing_of_it() {
    let ground = kept_with_secret();
    let before: Vec<_> = files_in(&ground.path("checkpoints"))
        .into_iter()
        .map(|file| (file.clone(), std::fs::read(file).unwrap()))
        .collect();
    ground.bench.memory.forget(purge("k")).unwrap();
    for (file, bytes) in before {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, bytes).unwrap();
    }
    // As a restored file system would have it. It is of the same log, so it is taken up and brought forward.
    let memory = ground.assert_opens("with an old checkpoint");
    assert!(memory.recall(&RecallQuery::new("bregenz")).unwrap().is_empty());
    assert_eq!(memory.get("k").unwrap(), None);
    memory.checkpoint().unwrap().unwrap();
    assert_eq!(traces(&ground), Vec::<String>::new());
}

#[test]
fn a_purge_waits_for_checkpoints_for_a_bounded_time_and_then_has_done_nothing() {
    let ground = kept_with_secret();
    let lock = ground.bench.storage.lock("checkpoint.lock").unwrap();
    lock.acquire(std::time::Duration::ZERO, "a stopped program (process 1)").unwrap();
    let builder = ground.bench.builder().lock_timeout(std::time::Duration::from_millis(1));
    let memory = builder.open_in(std::sync::Arc::clone(&ground.bench.storage)).unwrap();
    let head = memory.head().unwrap();
    let error = memory.forget(purge("k")).unwrap_err();
    assert!(error.is_retryable() && error.to_string().contains("a stopped program (process 1)"), "{error}");
    assert_eq!(memory.head().unwrap(), head);
    assert_eq!(value_of(&memory, "k").as_deref(), Some(LATER));
    // Others write meanwhile, and the purge succeeds once the lock is free.
    memory.commit(commit("other", "value")).unwrap();
    lock.release();
    memory.forget(purge("k")).unwrap();
    assert_eq!(traces(&ground), Vec::<String>::new());
}
