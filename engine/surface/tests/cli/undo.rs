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
    // Recorded times have microseconds; the shown ones have milliseconds, so this one lies before.
    let at = shell.json(&["get", "old"])["updatedAt"].as_str().unwrap().to_owned();
    let undone = shell.json(&["undo", "--before", &at]);
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
    assert_eq!(shell.value("k"), "w");
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
