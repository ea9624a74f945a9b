//! A forgotten value is shown nowhere, until the forget is taken back.

use serde_json::{Value, json};

use crate::shell::{Shell, each};

const VALUE: &str = "the-hidden-value";

/// Every read that could show what came before.
const READS: [&[&str]; 8] = [
    &["history", "k"],
    &["get", "k", "--as-of", "1"],
    &["get", "k", "--as-of", "2"],
    &["diff", "--from-snapshot", "@1", "--include-values"],
    &["diff", "--from-snapshot", "@0", "--to-snapshot", "@2", "--include-values"],
    &["log", "--include-values"],
    &["list", "--values", "full"],
    &["recall", "--query", VALUE],
];

/// The reads whose output, in either form, shows the value.
fn shown(shell: &Shell) -> Vec<&'static [&'static str]> {
    let shows = |words: &&[&str]| {
        let both = shell.text(words) + &shell.text(&[*words, &["--json"]].concat());
        both.contains(VALUE)
    };
    READS.into_iter().filter(shows).collect()
}

#[test]
fn a_forget_hides_all_that_came_before_and_its_undo_shows_it_again() {
    let shell = Shell::new();
    shell.commit("k", VALUE);
    shell.json(&["commit", "--key", "k", "--value", &format!("{VALUE}, again"), "--idempotency-key", "once"]);
    assert_eq!(shown(&shell), READS);
    let forgot = shell.text(&["forget", "--key", "k", "--reason", "private"]);
    assert!(!forgot.contains(VALUE), "{forgot}");
    assert_eq!(shown(&shell), [&[] as &[&str]; 0]);

    let history = shell.json(&["history", "k"]);
    assert_eq!(
        (&history["exists"], each(&history["entries"], "op")),
        (&json!(false), vec!["forget", "update", "create"])
    );
    let entries = history["entries"].as_array().unwrap();
    assert!(entries.iter().all(|entry| entry["valuesRedacted"] == true), "{history}");
    assert!(entries.iter().all(|entry| entry.get("before").is_none() && entry.get("after").is_none()), "{history}");
    assert_eq!(shell.json(&["get", "k", "--as-of", "1"])["valuesRedacted"], true);

    let undone = shell.json(&["undo", "--seq", "3"]);
    assert_eq!(undone["restored"][0]["op"], "forget");
    assert_eq!(shown(&shell), READS);
    let history = shell.json(&["history", "k"]);
    assert_eq!(each(&history["entries"], "op"), ["restore", "forget", "update", "create"]);
    let hidden: Vec<&Value> =
        history["entries"].as_array().unwrap().iter().map(|entry| &entry["valuesRedacted"]).collect();
    assert_eq!(hidden, [false; 4].map(Value::from).iter().collect::<Vec<_>>());
}

#[test]
fn a_redo_of_the_forget_hides_it_all_again() {
    let shell = Shell::new();
    shell.commit("k", VALUE);
    shell.json(&["revise", "--key", "k", "--value", &format!("{VALUE}, again")]);
    shell.json(&["forget", "--key", "k", "--reason", "private"]);
    let undone = shell.json(&["undo", "--seq", "3"]);
    assert_eq!(shown(&shell), READS);
    let redone = shell.json(&["undo", "--seq", &undone["seq"].to_string()]);
    assert_eq!(redone["restored"][0]["key"], "k");
    shell.refused("memory_not_found", &["get", "k"]);
    assert_eq!(shown(&shell), [&[] as &[&str]; 0]);
    for point in ["1", "2", "4"] {
        let entry = shell.json(&["get", "k", "--as-of", point]);
        assert_eq!((&entry["valuesRedacted"], entry.get("value")), (&json!(true), None), "{point}");
    }
    let history = shell.json(&["history", "k"]);
    let entries = history["entries"].as_array().unwrap();
    assert!(entries.iter().all(|entry| entry["valuesRedacted"] == true), "{history}");
    // And once more the other way.
    shell.json(&["undo", "--seq", &redone["seq"].to_string()]);
    assert_eq!(shown(&shell), READS);
}

#[test]
fn a_new_memory_under_a_forgotten_key_does_not_uncover_the_old_one() {
    let shell = Shell::new();
    shell.commit("k", VALUE);
    shell.commit("k", VALUE);
    shell.json(&["forget", "--key", "k", "--reason", "private"]);
    shell.commit("k", "public");
    assert_eq!(shown(&shell), [&[] as &[&str]; 0]);
    let history = shell.json(&["history", "k", "--limit", "1"]);
    assert_eq!((&history["entries"][0]["after"], &history["truncated"]), (&json!("public"), &json!(true)));
}

#[test]
fn a_dream_shows_what_it_did_and_never_the_values() {
    let shell = Shell::new();
    let dream = shell.dream(&[("k", "v")]);
    let revise = json!([{"op": "revise", "key": "k", "expected_version": dream.version("k"), "new_value": VALUE, "reason": "r"}]);
    let file = shell.write("actions.json", revise.to_string());
    let mut said = shell.text(&["dream", "apply", dream.id(), "--file", &file]);
    said += &shell.text(&["dream", "show", dream.id()]);
    said += &shell.json(&["dream", "show", dream.id()]).to_string();
    said += &shell.json(&["get", &format!("bilinc:dream:{}", dream.id())]).to_string();
    assert!(!said.contains(VALUE), "{said}");
}

#[test]
fn a_history_gives_as_much_of_the_values_as_was_asked_for() {
    let shell = Shell::new();
    shell.commit("k", &"ğ".repeat(300));
    let after = |values: &str| shell.json(&["history", "k", "--values", values])["entries"][0].get("after").cloned();
    assert_eq!(after("full").unwrap(), "ğ".repeat(300));
    assert_eq!(after("preview").unwrap(), format!("{}…", "ğ".repeat(200)));
    assert_eq!(after("none"), None);
}
