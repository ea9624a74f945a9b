//! Whatever is wrong with a checkpoint, the store opens by replay and is the same. Only one thing it says is
//! believed against the log: that the log once reached further.

use std::fs;
use std::path::Path;

use bilinc::{EngineError, Error, RecallQuery};

use super::ground::{Ground, RECALL, SEGMENT, STATE, files_in};
use crate::support::*;

/// Copies a folder with all that is in it.
fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let there = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &there);
        } else {
            fs::copy(&path, &there).unwrap();
        }
    }
}

/// A ground with checkpoints, and where they are kept whole.
fn kept() -> (Ground, tempfile::TempDir) {
    let ground = Ground::new();
    ground.keep();
    let whole = tempfile::tempdir().unwrap();
    copy(&ground.path("checkpoints"), whole.path());
    (ground, whole)
}

/// Puts the checkpoint that a file belongs to back as it was kept.
fn restore(ground: &Ground, whole: &Path, file: &Path) {
    let name = file.strip_prefix(ground.path("checkpoints")).unwrap().components().next().unwrap();
    copy(&whole.join(name), &ground.path("checkpoints").join(name));
}

fn everything() -> bool {
    std::env::var("BILINC_FLIPS").is_ok_and(|asked| asked == "all")
}

#[test]
fn no_flipped_byte_in_any_file_of_a_checkpoint_changes_what_opens() {
    let (ground, whole) = kept();
    let replayed = ground.replayed();
    let (mut tried, mut used) = (0, 0);
    for file in files_in(whole.path()) {
        let place = ground.path("checkpoints").join(file.strip_prefix(whole.path()).unwrap());
        let sound = fs::read(&file).unwrap();
        let step = if everything() { 1 } else { sound.len() / 24 + 1 };
        for at in (0..sound.len()).step_by(step) {
            let mut bytes = sound.clone();
            bytes[at] ^= 1 << (at % 8);
            restore(&ground, whole.path(), &place);
            fs::write(&place, bytes).unwrap();
            let memory = ground.open();
            let what = format!("{} at {at}", place.display());
            assert_eq!(memory.damage(), None, "{what}");
            assert!(memory.is_same_state(&replayed).unwrap(), "{what}");
            if place.starts_with(ground.path(STATE)) {
                // Set aside, or it would have been believed.
                used += usize::from(ground.path(STATE).exists());
            }
            tried += 1;
        }
    }
    assert_eq!(used, 0, "a checkpoint with a flipped byte was used");
    println!("{tried} flipped bytes in checkpoints");
}

#[test]
fn cut_lengthened_missing_and_foreign_files_change_nothing() {
    let (ground, whole) = kept();
    let replayed = ground.replayed();
    let query = RecallQuery::new("value rich imported");
    let found = replayed.recall(&query).unwrap();
    for file in files_in(whole.path()) {
        let place = ground.path("checkpoints").join(file.strip_prefix(whole.path()).unwrap());
        let sound = fs::read(&file).unwrap();
        let mut longer = sound.clone();
        longer.extend_from_slice(&[0; 700]);
        let cuts = [0, 1, sound.len() / 2, sound.len() - 1].map(|len| Some(sound[..len].to_vec()));
        for bytes in cuts.into_iter().chain([Some(longer), Some(vec![0xa5; sound.len()]), None]) {
            restore(&ground, whole.path(), &place);
            match &bytes {
                Some(bytes) => fs::write(&place, bytes).unwrap(),
                None => fs::remove_file(&place).unwrap(),
            }
            let what = format!("{} of {:?} bytes", place.display(), bytes.map(|bytes| bytes.len()));
            let memory = ground.open();
            assert_eq!(memory.damage(), None, "{what}");
            assert!(memory.is_same_state(&replayed).unwrap(), "{what}");
            assert_eq!(memory.recall(&query).unwrap(), found, "{what}");
        }
    }
}

#[test]
fn left_over_and_odd_things_in_the_folder_never_stop_an_open() {
    let (ground, whole) = kept();
    let state = ground.path(STATE);
    let odd: [(&str, &dyn Fn()); 9] = [
        ("nothing at all", &|| fs::remove_dir_all(ground.path("checkpoints")).unwrap()),
        ("only one in the making", &|| fs::rename(&state, ground.path("checkpoints/state.new")).unwrap()),
        ("one in the making beside it", &|| copy(&state, &ground.path("checkpoints/state.new"))),
        ("a file of no use", &|| fs::write(state.join("snap.tmp"), "x").unwrap()),
        ("a folder of no use", &|| fs::create_dir_all(state.join("a/b/c/d/e/f")).unwrap()),
        ("a link out of it", &|| std::os::unix::fs::symlink("/", state.join("link")).unwrap()),
        ("a link to itself in its place", &|| {
            fs::remove_dir_all(&state).unwrap();
            std::os::unix::fs::symlink("state", &state).unwrap();
        }),
        ("a file in its place", &|| {
            fs::remove_dir_all(&state).unwrap();
            fs::write(&state, "x").unwrap();
        }),
        ("a file in place of the folder", &|| {
            fs::remove_dir_all(ground.path("checkpoints")).unwrap();
            fs::write(ground.path("checkpoints"), "x").unwrap();
        }),
    ];
    for (what, act) in odd {
        let _ = fs::remove_file(ground.path("checkpoints"));
        let _ = fs::remove_file(&state);
        copy(whole.path(), &ground.path("checkpoints"));
        act();
        ground.assert_opens(what);
    }
    let _ = fs::remove_file(ground.path("checkpoints"));
    // And a new one can be kept whatever was there.
    ground.keep();
    ground.assert_opens("kept again");
}

#[test]
fn checkpoints_of_another_store_and_of_another_past_are_set_aside() {
    let (ground, _) = kept();
    let other = Ground::new();
    other.bench.put("other", "value");
    let at = other.keep();
    copy(&ground.path("checkpoints"), &other.path("checkpoints"));
    // Same names, same times, same ids: only the store's own id tells them apart.
    other.assert_opens("of another store");
    assert_ne!(other.open().status().unwrap().checkpoint, Some(at));

    // The log as it was before the checkpoint, and then another future.
    let (ground, _) = kept();
    let log = tempfile::tempdir().unwrap();
    copy(&ground.path(""), log.path());
    for index in 0..9 {
        ground.bench.put(&format!("one.future.{index}"), "value");
    }
    ground.keep();
    let checkpoints = tempfile::tempdir().unwrap();
    copy(&ground.path("checkpoints"), checkpoints.path());
    copy(log.path(), &ground.path(""));
    for index in 0..12 {
        ground.open().commit(commit(&format!("another.future.{index}"), "value")).unwrap();
    }
    copy(checkpoints.path(), &ground.path("checkpoints"));
    let memory = ground.assert_opens("of another future");
    assert_eq!(value_of(&memory, "one.future.1"), None);
    assert_eq!(memory.status().unwrap().checkpoint, None);
    assert!(ground.path("checkpoints/doubted").exists());
}

#[test]
fn a_log_that_ends_before_its_checkpoint_is_damaged() {
    let ground = Ground::new();
    let log = tempfile::tempdir().unwrap();
    copy(&ground.path(""), log.path());
    let head = ground.bench.head();
    for index in 0..5 {
        ground.bench.put(&format!("lost.{index}"), "value");
    }
    let at = ground.keep();
    let checkpoints = tempfile::tempdir().unwrap();
    copy(&ground.path("checkpoints"), checkpoints.path());
    // The log, mark and all, as it was earlier: by itself it is whole.
    copy(log.path(), &ground.path(""));
    copy(checkpoints.path(), &ground.path("checkpoints"));
    let memory = ground.open();
    let damage = memory.damage().unwrap();
    assert!(damage.contains(&format!("through position {at}")), "{damage}");
    assert!(damage.contains(&format!("ends at {head}")), "{damage}");
    // What is there is read, and nothing is written over what may be missing.
    assert_eq!(value_of(&memory, "first.1").as_deref(), Some("rich"));
    assert_eq!(value_of(&memory, "lost.1"), None);
    match memory.commit(commit("k", "v")) {
        Err(Error::Engine(error @ EngineError::Log(_))) => assert_eq!(error.code(), "store_corrupt"),
        other => panic!("{other:?}"),
    }
    drop(memory);
    // A salvage records what the checkpoint shows to be lost, and work goes on behind it.
    let salvaged = tempfile::tempdir().unwrap();
    copy(&ground.path(""), salvaged.path());
    let report = ground.bench.builder().salvage(salvaged.path()).unwrap();
    let lost: Vec<_> = report.lost.iter().map(|lost| (lost.first, lost.last)).collect();
    assert_eq!(lost, [(head.plus(1), at)]);
    let memory = ground.bench.builder().open(salvaged.path()).unwrap();
    let verified = memory.verify(&mut |_, _| {}).unwrap();
    assert!(verified.state_equal && verified.salvages.len() == 1);
    assert!(memory.commit(commit("k", "v")).unwrap().answer.seq > at);
    // What was lost is a part of the state that is kept.
    assert!(memory.checkpoint().unwrap().is_some());
    let again = ground.bench.builder().open(salvaged.path()).unwrap();
    assert_eq!(again.status().unwrap().lost, memory.status().unwrap().lost);
    assert!(again.is_same_state(&memory).unwrap());
    let replayed = ground.bench.builder().checkpoints(false).open(salvaged.path()).unwrap();
    assert!(again.is_same_state(&replayed).unwrap());
    // Whoever put an older log there on purpose removes the checkpoints.
    fs::remove_dir_all(ground.path("checkpoints")).unwrap();
    assert_eq!(ground.assert_opens("without checkpoints").head().unwrap().seq, head);
    assert!(ground.path(SEGMENT).exists() && !ground.path(RECALL).exists());
}
