//! Backups, and the proof from a head that was noted.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::shell::{Ran, Shell};

fn head(shell: &Shell) -> String {
    shell.json(&["status"])["store"]["head"].as_str().unwrap().to_owned()
}

#[test]
fn a_backup_is_named_with_store_and_goes_on_from_the_same_head() {
    let shell = Shell::new();
    for number in 0..20 {
        shell.commit(&format!("k{number}"), "v");
    }
    let noted = head(&shell);
    let copy = shell.file("backups/copy");
    let done = shell.json(&["backup", &copy]);
    assert_eq!((&done["target"], &done["seq"], &done["head"]), (&json!(copy), &json!(20), &json!(noted)));
    assert_eq!((&done["operations"], &done["events"], &done["segments"]), (&json!(20), &json!(20), &json!(1)));
    assert_eq!(done["rootHash"], done["stateVersion"]);
    let status = shell.json(&["status", "--store", &copy]);
    assert_eq!(status["workspace"]["id"], done["storeId"]);
    assert_ne!(status["workspace"]["id"], shell.json(&["status"])["workspace"]["id"]);
    assert_eq!(shell.text(&["export", "--store", &copy]), shell.text(&["export"]));
    for (path, mode) in [(copy.clone(), 0o700), (format!("{copy}/log"), 0o700), (format!("{copy}/mark"), 0o600)] {
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode, "{path}");
    }
    shell.json(&["commit", "--key", "more", "--value", "v", "--store", &copy]);
    shell.json(&["forget", "--key", "k1", "--reason", "r", "--purge", "--store", &copy]);
    for store in [shell.store().display().to_string(), copy] {
        let verified = shell.json(&["verify", "--since-head", &noted, "--store", &store]);
        assert_eq!((&verified["since"]["seq"], &verified["since"]["head"]), (&json!(20), &json!(noted)), "{store}");
        assert_eq!(verified["since"]["eventsSince"], verified["seq"].as_u64().unwrap() - 20);
    }
    // Cursors are the store's own.
    let cursor = shell.json(&["list", "--limit", "2"])["nextCursor"].as_str().unwrap().to_owned();
    shell.invalid("cursor", "invalid_cursor", &["list", "--cursor", &cursor, "--store", &shell.file("backups/copy")]);
}

#[test]
fn what_is_printed_for_people_can_be_copied_into_since_head() {
    let shell = Shell::new();
    shell.commit("k", "v");
    let noted = head(&shell);
    let copied = shell.text(&["backup", "copy"]);
    for text in [shell.text(&["status"]), shell.text(&["verify"]), copied] {
        assert!(text.contains(&noted), "{text}");
    }
    let (_, digits) = noted.split_once(':').unwrap();
    shell.commit("later", "v");
    for known in [noted.as_str(), digits, &digits.to_uppercase()] {
        let text = shell.text(&["verify", "--since-head", known]);
        let told =
            format!("It goes through {noted}: the history up to there is unchanged, and 1 event has come since.");
        assert!(text.contains(&told), "{text}");
    }
}

#[test]
fn another_history_fails_with_what_was_found_and_a_wrong_form_is_another_matter() {
    let shell = Shell::new();
    shell.commit("k", "v");
    let other = shell.file("other");
    for _ in 0..2 {
        shell.json(&["commit", "--key", "k", "--value", "v", "--store", &other]);
    }
    let noted = head(&shell);
    let error = shell.run(&["verify", "--since-head", &noted, "--store", &other, "--json"]).error(1);
    assert_eq!((&error["error"], &error["retryable"]), (&json!("store_corrupt"), &json!(false)));
    let details = &error["details"];
    assert_eq!((&details["reason"], &details["expectedHead"]), (&json!("other_history"), &json!(noted)));
    assert!(details["foundHead"].as_str().unwrap().starts_with("1:") && details["head"] == 2, "{error}");
    let ran = shell.run(&["verify", "--since-head", &noted, "--store", &other]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""));
    assert!(ran.err.contains("not the history that this head was noted of") && ran.err.contains("hint:"), "{ran:?}");
    // A head that lies ahead: an older copy took the log's place.
    let ahead = shell.json(&["verify", "--store", &other])["head"].as_str().unwrap().to_owned();
    let details = shell.refused("store_corrupt", &["verify", "--since-head", &ahead]);
    assert_eq!((&details["reason"], &details["foundHead"]), (&json!("other_history"), &Value::Null));

    for wrong in ["", "1", "1:", "x:y", "1:abc", &format!("@{noted}")] {
        let error = shell.run(&["verify", "--since-head", wrong, "--json"]).error(2);
        assert_eq!(error["error"], "invalid_request", "{wrong}: {error}");
    }
    let lines = shell.write("two.jsonl", "{\"key\":\"a\",\"value\":1}\n{\"key\":\"b\",\"value\":1}\n");
    shell.json(&["import", &lines]);
    let inside = format!("2:{}", "0".repeat(64));
    shell.invalid("sinceHead", "inside_an_operation", &["verify", "--since-head", &inside]);
}

#[test]
fn a_store_that_is_not_there_proves_no_head_and_has_no_backup() {
    let shell = Shell::new();
    let bare = |words: &[&str]| Ran::from(shell.bare(words).output().unwrap());
    let nothing = format!("0:{}", "0".repeat(64));
    for words in [&["verify", "--since-head", &nothing, "--json"][..], &["backup", "copy", "--json"]] {
        assert_eq!(bare(words).error(1)["error"], "not_found", "{words:?}");
    }
    assert_eq!(fs::read_dir(shell.path()).unwrap().count(), 0);
}

#[test]
fn a_folder_that_is_taken_or_inside_a_store_is_refused_and_left_alone() {
    let shell = Shell::new();
    shell.commit("k", "v");
    fs::create_dir(shell.path().join("full")).unwrap();
    fs::write(shell.path().join("full/thesis.txt"), "precious").unwrap();
    shell.json(&["backup", "copy"]);
    let store = shell.store().display().to_string();
    for (target, reason) in [
        ("full", "not_empty"),
        ("copy", "not_empty"),
        (&store, "not_empty"),
        (&format!("{store}/backup"), "inside_a_store"),
        ("full/thesis.txt", "not_a_folder"),
    ] {
        shell.invalid("target", reason, &["backup", target]);
    }
    assert_eq!(fs::read_dir(shell.path().join("full")).unwrap().count(), 1);
    assert!(!shell.store().join("backup").exists());
    for words in [&["backup"][..], &["backup", ""]] {
        assert_eq!(shell.run(words).code, Some(2), "{words:?}");
    }
}

#[test]
fn an_interrupted_backup_is_no_store_for_any_command() {
    let shell = Shell::new();
    shell.commit("k", "v");
    shell.json(&["backup", "copy"]);
    // As it lies there before the first segment has its name.
    let folder = shell.path().join("copy");
    let segment = folder.join("log/00000000000000000001.seg");
    fs::rename(&segment, segment.with_extension("seg.tmp")).unwrap();
    fs::write(folder.join("unfinished.backup"), "").unwrap();
    for words in [&["list"][..], &["commit", "--key", "k", "--value", "w"], &["verify"], &["status"]] {
        let error = shell.refusal(&[words, &["--store", "copy"]].concat());
        assert_eq!(error["error"], "invalid_request", "{words:?}: {error}");
        assert!(error["message"].as_str().unwrap().contains("unfinished.backup"), "{error}");
    }
    shell.invalid("target", "not_empty", &["backup", "copy"]);
}

#[test]
fn damage_is_not_backed_up_and_the_way_out_is_named() {
    let shell = Shell::new();
    shell.commit("good", "healthy");
    shell.commit("bad", "spoiled");
    crate::damage::damage(&shell, b"spoiled");
    let ran = shell.run(&["backup", "copy"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""));
    assert!(ran.err.contains("position 2") && ran.err.contains("salvage"), "{ran:?}");
    assert_eq!(shell.refused("store_corrupt", &["backup", "copy"])["position"], 2);
    assert!(!shell.path().join("copy").exists());
}
