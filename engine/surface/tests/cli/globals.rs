//! Options of every command, and which store they lead to.

use std::path::Path;

use serde_json::{Value, json};

use crate::shell::{Ran, Shell};

fn bare(shell: &Shell, words: &[&str]) -> Ran {
    shell.bare(words).output().unwrap().into()
}

#[test]
fn options_of_every_command_stand_before_or_after_it() {
    let shell = Shell::new();
    let store = shell.file("elsewhere");
    bare(&shell, &["commit", "--key", "k", "--value", "v", "--store", &store]).text();
    for words in [
        &["--store", &store, "--json", "get", "k"][..],
        &["--json", "get", "--store", &store, "k"],
        &["get", "k", "--json", "--store", &store],
        &["get", "--json", "k", &format!("--store={store}")],
    ] {
        assert_eq!(bare(&shell, words).json()["value"], "v", "{words:?}");
    }
    for words in [
        &["--store", &store, "--json", "dream", "list"][..],
        &["dream", "--store", &store, "list", "--json"],
        &["dream", "--json", "list", "--store", &store],
    ] {
        assert_eq!(bare(&shell, words).json()["dreams"], json!([]), "{words:?}");
    }
}

#[test]
fn the_option_comes_before_the_variable_and_the_variable_before_the_default() {
    let shell = Shell::new();
    let option = shell.file("option");
    shell.commit("k", "variable");
    shell.json(&["commit", "--key", "k", "--value", "option", "--store", &option]);
    bare(&shell, &["commit", "--key", "k", "--value", "default"]).text();
    assert_eq!(shell.value("k"), "variable");
    assert_eq!(shell.json(&["get", "k", "--store", &option])["value"], "option");
    assert_eq!(bare(&shell, &["get", "k", "--json"]).json()["value"], "default");
    // An empty variable names nothing.
    let mut empty = shell.bare(&["get", "k", "--json"]);
    assert_eq!(Ran::from(empty.env("BILINC_STORE", "").output().unwrap()).json()["value"], "default");
}

#[test]
fn a_default_store_that_is_not_there_answers_empty_and_is_not_made() {
    let shell = Shell::new();
    for (words, field, empty) in [
        (&["list"][..], "entries", json!([])),
        (&["flags"], "total", json!(0)),
        (&["recall", "--query", "k"], "results", json!([])),
        (&["history", "k"], "exists", json!(false)),
        (&["log"], "events", json!([])),
        (&["status"], "workspace", Value::Null),
        (&["verify"], "storeId", Value::Null),
        (&["dream", "list"], "dreams", json!([])),
        (&["dream", "start"], "dreamId", Value::Null),
        (&["snapshot", "list"], "snapshots", json!([])),
        (&["diff", "--from-snapshot", "0"], "added", json!([])),
        (&["undo", "--source", "w"], "restored", json!([])),
    ] {
        let answer = bare(&shell, &[words, &["--json"]].concat()).json();
        if field != "workspace" {
            assert_eq!(answer[field], empty, "{words:?}");
        }
        // Nothing changes between two looks at nothing.
        assert_eq!(answer["stateVersion"], "0".repeat(64), "{words:?}");
        bare(&shell, words).text();
    }
    assert_eq!(bare(&shell, &["export"]).text(), "");
    for words in
        [&["get", "k", "--json"][..], &["forget", "--key", "k", "--reason", "r", "--json"], &["confirm", "k", "--json"]]
    {
        assert_eq!(bare(&shell, words).error(1)["error"], "memory_not_found", "{words:?}");
    }
    let status = bare(&shell, &["status", "--json"]).json();
    assert_eq!((&status["store"]["exists"], &status["workspace"]["id"]), (&json!(false), &Value::Null));
    assert!(!shell.path().join("home").exists());
}

#[test]
fn the_first_write_makes_the_default_store_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let shell = Shell::new();
    bare(&shell, &["commit", "--key", "k", "--value", "v"]).text();
    let status = bare(&shell, &["status", "--json"]).json();
    let path = Path::new(status["workspace"]["path"].as_str().unwrap());
    assert!(path.starts_with(shell.path().join("home")), "{status}");
    assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o700);
    let mut data = shell.bare(&["list", "--json"]);
    let data = Ran::from(data.env("XDG_DATA_HOME", shell.path().join("data")).output().unwrap()).json();
    assert_eq!(data["total"], 0);
}

#[test]
fn without_a_home_a_store_has_to_be_named() {
    let shell = Shell::new();
    let mut homeless = shell.bare(&["list", "--json"]);
    let error = Ran::from(homeless.env_remove("HOME").output().unwrap()).error(2);
    assert_eq!(error["details"]["field"], "store");
}

#[test]
fn who_writes_and_in_which_session_stands_in_the_log() {
    let shell = Shell::new();
    shell.commit("k", "v");
    shell.json(&["confirm", "k", "--source", "agent", "--session", "run-42"]);
    let log = shell.json(&["log"]);
    let events = &log["events"];
    assert_eq!((&events[0]["source"], &events[0]["sessionId"]), (&json!("agent"), &json!("run-42")));
    assert_eq!((&events[1]["source"], events[1].get("sessionId")), (&json!("bilinc_cli"), None));
}

#[test]
fn what_there_is_to_run_next_names_the_store_that_was_named() {
    let shell = Shell::new();
    let store = shell.file("it's here");
    let quoted = format!("'{}'", store.replace('\'', r"'\''"));
    let file = shell.write("two.jsonl", "{\"key\":\"a\",\"value\":1}\n{\"key\":\"b\",\"value\":1}\n");
    for words in [&["import", &file][..], &["list", "--limit", "1"], &["undo", "--seq", "1"], &["snapshot", "create"]] {
        let words = [words, &["--store", &store]].concat();
        let text = shell.text(&words);
        let last = text.lines().last().unwrap();
        assert!(last.contains(&format!("bilinc --store {quoted} ")), "{words:?}: {last}");
    }
    // Through the variable it is named already.
    assert!(shell.text(&["import", &file]).contains(": bilinc undo --import"));
}
