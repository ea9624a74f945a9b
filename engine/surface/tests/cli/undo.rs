//! Undo of anything: by session, source, import, range, time and position.

use serde_json::{Value, json};

use crate::shell::{Shell, keys};

#[test]
fn each_selection_takes_back_exactly_what_it_names() {
    let selections: [&[&str]; 6] = [
        &["--session", "s"],
        &["--source", "w"],
        &["--seq", "2", "3"],
        &["--seq", "2,3"],
        &["--from-seq", "2", "--to-seq", "@3"],
        &["--seq", "@3", "--seq", "2"],
    ];
    for selection in selections {
        let shell = Shell::new();
        shell.commit("kept", "v");
        shell.json(&["commit", "--key", "new", "--value", "v", "--session", "s", "--source", "w"]);
        shell.json(&["revise", "--key", "kept", "--value", "w", "--session", "s", "--source", "w"]);
        let words = [&["undo"], selection].concat();
        let trial = shell.json(&[&words[..], &["--dry-run"]].concat());
        assert_eq!(shell.json(&["list"])["total"], 2, "{selection:?}");
        let undone = shell.json(&words);
        let (mut tried, mut done) = (keys(&trial["restored"]), keys(&undone["restored"]));
        tried.sort_unstable();
        done.sort_unstable();
        assert_eq!((tried, done), (vec!["kept", "new"], vec!["kept", "new"]), "{selection:?}");
        assert_eq!(undone["metadataRestored"], true);
        assert_eq!(shell.value("kept"), "v");
        shell.refused("memory_not_found", &["get", "new"]);
        let redone = shell.json(&["undo", "--seq", &undone["seq"].to_string()]);
        assert_eq!(redone["restored"].as_array().unwrap().len(), 2, "{selection:?}");
        assert_eq!((shell.value("kept"), shell.value("new")), (json!("w"), json!("v")));
    }
}

#[test]
fn a_range_of_time_is_taken_back_and_the_time_before_it_stays() {
    let shell = Shell::new();
    shell.commit("old", "v");
    // Recorded times have microseconds; a shown one means its whole millisecond.
    let at = shell.json(&["get", "old"])["updatedAt"].as_str().unwrap().to_owned();
    let undone = shell.json(&["undo", "--before", &at]);
    assert_eq!((&undone["restored"], undone.get("seq")), (&json!([]), None));
    let undone = shell.json(&["undo", "--after", &at]);
    assert_eq!((&undone["restored"], undone.get("seq")), (&json!([]), None));
    let undone = shell.json(&["undo", "--after", "1h"]);
    assert_eq!(keys(&undone["restored"]), ["old"]);
    assert!(shell.text(&["undo", "--after", "2099-01-01"]).contains("Nothing to take back"));
}

#[test]
fn an_undo_of_nothing_says_so_and_writes_nothing() {
    let shell = Shell::new();
    shell.commit("k", "v");
    for selection in [["--session", "none"], ["--source", "none"], ["--import", "01920000-0000-7000-8000-000000000001"]]
    {
        let words = [&["undo"], &selection[..]].concat();
        assert_eq!(shell.json(&words)["restored"], json!([]));
        assert!(shell.text(&words).contains("nothing was written"), "{words:?}");
    }
    assert_eq!(crate::operations::last_position(&shell), 1);
}

#[test]
fn a_change_by_somebody_else_is_kept_and_reported() {
    let shell = Shell::new();
    shell.json(&["commit", "--key", "k", "--value", "v", "--session", "run"]);
    shell.json(&["commit", "--key", "k", "--value", "w", "--source", "person"]);
    let undone = shell.json(&["undo", "--session", "run"]);
    assert_eq!((&undone["restored"], keys(&undone["conflicts"])), (&json!([]), vec!["k"]));
    let change: &Value = &undone["conflicts"][0]["change"];
    assert_eq!((&change["op"], &change["source"], &change["seq"]), (&json!("update"), &json!("person"), &json!(2)));
    assert!(shell.text(&["undo", "--session", "run", "--dry-run"]).contains("by person"));
    let human = shell.text(&["undo", "--session", "run"]);
    assert!(human.contains("Nothing was undone (session run), and nothing was written"), "{human}");
    assert!(human.contains("by person") && !human.contains("Undid"), "{human}");
    assert_eq!(shell.value("k"), "w");
}

#[test]
fn an_undo_of_what_is_undone_already_is_said_to_be_nothing() {
    let shell = Shell::new();
    shell.json(&["commit", "--key", "k", "--value", "v", "--session", "run"]);
    let first = shell.text(&["undo", "--session", "run"]);
    assert!(first.starts_with("Undid session run."), "{first}");
    let last = crate::operations::last_position(&shell);
    let again = shell.json(&["undo", "--session", "run"]);
    assert_eq!((&again["restored"], again.get("seq")), (&json!([]), None));
    let human = shell.text(&["undo", "--session", "run"]);
    assert!(!human.contains("Undid") && human.contains("nothing was written"), "{human}");
    assert_eq!(crate::operations::last_position(&shell), last);
}

#[test]
fn a_dry_run_tells_what_would_be_gone_and_makes_no_versions() {
    let shell = Shell::new();
    shell.commit("kept", "v");
    shell.json(&["revise", "--key", "kept", "--value", "w", "--session", "s"]);
    shell.json(&["commit", "--key", "new", "--value", "v", "--session", "s"]);
    let words = ["undo", "--session", "s", "--dry-run"];
    let trial = shell.json(&words);
    let restored = trial["restored"].as_array().unwrap();
    assert!(restored.len() == 2 && restored.iter().all(|item| item.get("entryVersion").is_none()), "{trial}");
    let human = shell.text(&words);
    let line = |key: &str| human.lines().find(|line| line.contains(key)).unwrap().to_owned();
    assert!(line("↩ new").ends_with("(gone again)") && !line("↩ kept").contains("gone"), "{human}");
    let undone = shell.json(&["undo", "--session", "s"]);
    let kept = undone["restored"].as_array().unwrap().iter().find(|item| item["key"] == "kept").unwrap().clone();
    assert_eq!(kept["entryVersion"], shell.json(&["get", "kept"])["entryVersion"]);
}

#[test]
fn one_selection_is_needed_and_no_more_than_one_is_taken() {
    let shell = Shell::new();
    shell.commit("k", "v");
    for words in [
        &["undo", "--json"][..],
        &["undo", "--session", "a", "--source", "b", "--json"],
        &["undo", "--from-seq", "1", "--json"],
        &["undo", "--seq", "1", "--from-seq", "1", "--to-seq", "1", "--json"],
        &["undo", "--seq", "one", "--json"],
    ] {
        assert_eq!(shell.run(words).error(2)["error"], "invalid_request", "{words:?}");
    }
}
