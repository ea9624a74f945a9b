//! Salvage of a damaged store, as a worried person asks for it.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::damage::damage;
use crate::shell::Shell;

/// A store with a lost operation and, when asked for, a lost value.
fn damaged(value: bool) -> Shell {
    let shell = Shell::new();
    shell.commit("first", "stays");
    shell.commit("broken.key", "v");
    shell.commit("spoiled", "a value to lose");
    shell.json(&["revise", "--key", "broken.key", "--value", "known"]);
    shell.commit("last", "stays, too");
    damage(&shell, b"broken.key");
    if value {
        damage(&shell, b"a value to lose");
    }
    shell
}

fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut left = vec![folder.to_owned()];
    while let Some(dir) = left.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else if path.extension().is_none_or(|end| end != "lock") {
                // What the holder of a lock says of itself is no content.
                found.push((path.display().to_string(), fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_damaged_store_points_to_salvage_wherever_it_is_met() {
    let shell = damaged(false);
    for words in [&["commit", "--key", "k", "--value", "v"][..], &["verify"]] {
        let ran = shell.run(words);
        assert_eq!(ran.code, Some(1));
        assert!(ran.err.contains("`bilinc salvage --preview`"), "{words:?}: {ran:?}");
    }
    assert!(shell.run(&["status"]).out.contains("`bilinc salvage --preview`"));
}

#[test]
fn a_preview_says_what_would_be_kept_and_lost_and_changes_nothing() {
    let shell = damaged(true);
    let before = files(&shell.store());
    let text = shell.text(&["salvage", "--preview"]);
    for part in [
        "The store is damaged.",
        "This is a preview: nothing was changed.",
        "4 operations with 4 events",
        "Lost: 1 event",
        "position 2",
        "known to be of broken.key",
        "Lost: 1 value",
        "position 3 of spoiled",
        "the permanent part fails its checksum",
        "Memories with a gap in their past",
        "quarantine/",
        "bilinc salvage",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let view = shell.json(&["salvage", "--preview"]);
    assert_eq!((&view["preview"], &view["needed"]), (&json!(true), &json!(true)));
    assert_eq!(view["kept"]["events"], 4);
    assert_eq!((&view["lostEvents"], &view["lastSeq"]), (&json!(1), &json!(5)));
    let lost = &view["lost"][0];
    assert_eq!((&lost["firstSeq"], &lost["lastSeq"], &lost["keys"]), (&json!(2), &json!(2), &json!(["broken.key"])));
    assert!(lost["bytes"].as_u64().unwrap() > 100 && lost["reason"].is_string(), "{lost}");
    assert_eq!((&view["lostBodies"][0]["seq"], &view["lostBodies"][0]["key"]), (&json!(3), &json!("spoiled")));
    assert_eq!(view["incompleteKeys"], json!(["broken.key"]));
    assert_eq!(view["damage"].as_array().unwrap().len(), 2);
    assert_eq!(view["quarantined"], json!([]));
    assert!(files(&shell.store()) == before, "a file changed");
}

#[test]
fn a_salvaged_store_works_on_and_says_for_ever_what_was_lost() {
    let shell = damaged(true);
    let text = shell.text(&["salvage"]);
    assert!(text.starts_with("Salvaged: the store can be written to again."), "{text}");
    assert!(text.contains("quarantine/damaged-") && text.contains("bilinc verify"), "{text}");
    assert_eq!(fs::read_dir(shell.store().join("quarantine")).unwrap().count(), 1);
    // Read as ever, written to again.
    assert_eq!((shell.value("first"), shell.value("last")), (json!("stays"), json!("stays, too")));
    let entry = shell.json(&["get", "broken.key"]);
    assert_eq!((&entry["value"], &entry["incomplete"]), (&json!("known"), &json!(true)));
    let lost = shell.json(&["get", "spoiled"]);
    assert_eq!((&lost["value"], &lost["valueLost"]), (&Value::Null, &json!(true)));
    assert!(shell.text(&["get", "spoiled"]).contains("(lost with damage of the log)"));
    assert!(shell.text(&["history", "spoiled"]).contains("(lost with damage of the log)"));
    shell.commit("after", "v");
    let log = shell.json(&["log"]);
    let ops: Vec<_> = log["events"].as_array().unwrap().iter().map(|event| event["op"].as_str().unwrap()).collect();
    assert_eq!(ops, ["create", "salvage", "create", "revise", "create", "lost", "create"]);
    // It is no new damage, and it is told at every proof.
    for _ in 0..2 {
        let verified = shell.json(&["verify"]);
        assert_eq!(verified["stateEqual"], true);
        let told = &verified["salvages"][0];
        assert_eq!((&told["lost"][0]["firstSeq"], &told["lostBodies"]), (&json!(2), &json!([3])));
        assert_eq!((&told["seq"], &told["seqBefore"]), (&json!(6), &json!(5)));
        let text = shell.text(&["verify"]);
        assert!(text.starts_with("The log is whole.") && text.contains("1 event and 1 value were lost"), "{text}");
    }
    let status = shell.json(&["status"]);
    assert_eq!((&status["store"]["lostEvents"], &status["store"]["lostBodies"]), (&json!(1), &json!(1)));
    assert_eq!(status["store"]["readOnly"], Value::Null);
    // A second one has nothing to do.
    let again = shell.json(&["salvage"]);
    assert_eq!((&again["needed"], &again["quarantined"]), (&json!(false), &json!([])));
}

#[test]
fn an_export_says_which_memories_it_cannot_hold() {
    let shell = damaged(true);
    shell.text(&["salvage"]);
    let file = shell.file("out.jsonl");
    let ran = shell.run(&["export", "-o", &file]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.err.starts_with("bilinc: warning: ") && ran.err.contains("spoiled"), "{ran:?}");
    assert!(!fs::read_to_string(&file).unwrap().contains("spoiled"));
}

#[test]
fn a_store_that_does_not_open_at_all_is_salvaged() {
    let shell = Shell::new();
    shell.commit("k", "v");
    let segment = shell.store().join("log/00000000000000000001.seg");
    let mut bytes = fs::read(&segment).unwrap();
    bytes[..108].fill(0xff);
    fs::write(&segment, bytes).unwrap();
    assert!(shell.run(&["list"]).err.contains("`bilinc salvage --preview`"));
    let view = shell.json(&["salvage"]);
    assert_eq!((&view["needed"], &view["lostEvents"]), (&json!(true), &json!(0)));
    assert_eq!(shell.value("k"), "v");
    assert!(shell.text(&["verify"]).starts_with("The log is whole."));
}

#[test]
fn a_whole_store_and_one_that_is_not_there_are_left_alone() {
    let shell = Shell::new();
    for words in [&["salvage"][..], &["salvage", "--preview"]] {
        let details = shell.refused("not_found", words);
        assert_eq!(details["path"], shell.store().display().to_string());
        assert!(!shell.store().exists());
    }
    let nowhere = shell.bare(&["salvage", "--json"]).output().unwrap();
    assert!(nowhere.status.success(), "{nowhere:?}");
    assert!(!shell.path().join("home").exists());
    shell.commit("k", "v");
    let before = files(&shell.store());
    assert_eq!(shell.json(&["salvage"])["needed"], false);
    assert_eq!(shell.text(&["salvage", "--preview"]), "Nothing to salvage: the log is whole. Nothing was changed.\n");
    assert!(files(&shell.store()) == before, "a file changed");
}

#[test]
fn what_a_newer_version_wrote_is_refused_and_left_alone() {
    let shell = Shell::new();
    shell.commit("k", "v");
    let segment = shell.store().join("log/00000000000000000001.seg");
    let mut bytes = fs::read(&segment).unwrap();
    bytes[8] = 9;
    let crc = crc32(&bytes[..104]);
    bytes[104..108].copy_from_slice(&crc.to_le_bytes());
    fs::write(&segment, bytes).unwrap();
    let before = files(&shell.store());
    let error = shell.refusal(&["salvage"]);
    assert!(error["message"].as_str().unwrap().contains("version 9"), "{error}");
    assert!(files(&shell.store()) == before, "a file changed");
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    !crc
}
