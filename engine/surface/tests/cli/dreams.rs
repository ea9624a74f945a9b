//! A whole dream pass from the import to the proof at the end.

use serde_json::{Value, json};

use crate::shell::{Shell, each, keys};

const MEMORIES: [(&str, &str); 6] = [
    ("editor", "Helix"),
    ("editor.old", "vim"),
    ("deploy", "on Fridays"),
    ("tests", "nextest"),
    ("team", "four people"),
    ("office", "third floor"),
];

/// All entries with what an undo must bring back.
fn entries(shell: &Shell) -> Vec<Value> {
    let list = shell.json(&["list", "--values", "full", "--prefix", ""]);
    let own = list["entries"].as_array().unwrap().iter();
    own.filter(|entry| !entry["key"].as_str().unwrap().starts_with("bilinc:dream:"))
        .map(|entry| {
            let fields = ["key", "value", "memoryType", "importance", "source", "createdAt", "confirmedAt", "flags"];
            Value::from(fields.map(|field| entry[field].clone()).to_vec())
        })
        .collect()
}

#[test]
fn a_dream_is_applied_in_pages_taken_back_brought_back_and_taken_back_again() {
    let shell = Shell::new();
    let dream = shell.dream(&MEMORIES);
    let (id, before) = (dream.id(), entries(&shell));
    assert_eq!((dream.0["candidates"].as_array().unwrap().len(), &dream.0["forgetCap"]), (6, &json!(1)));

    // The first page: a plain array, in snake_case.
    let merge = json!([
        {"op": "revise", "key": "editor", "expected_version": dream.version("editor"),
         "new_value": {"name": "Helix", "since": 1.0}, "merged_from": ["editor.old"], "reason": "one thing"},
        {"op": "flag", "key": "team", "reason": "is it still four?", "evidence_keys": ["office"]}]);
    let file = shell.write("merge.json", merge.to_string());
    let first = shell.json(&["dream", "apply", id, "--file", &file]);
    assert_eq!(each(&first["results"], "status"), ["applied", "applied"]);

    // Somebody else writes in between; the second page is an object with a report, in camelCase.
    shell.json(&["revise", "--key", "tests", "--value", "cargo test", "--source", "editor-2"]);
    let retire = json!({"report": {"merged": 1}, "actions": [
        {"op": "forget", "key": "editor.old", "expectedVersion": dream.version("editor.old"), "reason": "folded in"},
        {"op": "confirm", "key": "deploy", "expectedVersion": dream.version("deploy"), "reason": "asked"},
        {"op": "revise", "key": "tests", "expectedVersion": dream.version("tests"), "newValue": "none",
         "mergedFrom": [], "evidenceKeys": [], "reason": "stale"}]});
    let trial =
        shell.feed(&["dream", "apply", id, "--file", "-", "--dry-run", "--json"], retire.to_string().as_bytes());
    let trial = trial.json();
    let second = shell.feed(&["dream", "apply", id, "--file", "-", "--json"], retire.to_string().as_bytes()).json();
    for answer in [&trial, &second] {
        assert_eq!(each(&answer["results"], "status"), ["applied", "applied", "conflict"]);
        assert_eq!(answer["forgetsReserved"], 1);
        let conflict = &answer["results"][2];
        assert_eq!(conflict["change"]["source"], "editor-2");
        assert_eq!(conflict["current"]["entryVersion"], shell.json(&["get", "tests"])["entryVersion"]);
    }
    assert_eq!((&trial["dryRun"], second.get("dryRun")), (&json!(true), None));

    let shown = shell.json(&["dream", "show", id]);
    assert_eq!(shown["state"], "finished");
    assert_eq!(each(&shown["actions"], "op"), ["revise", "flag", "forget", "confirm", "revise"]);
    assert_eq!((&shown["report"], &shown["undo"]), (&json!({"merged": 1}), &Value::Null));
    let report = shell.json(&["get", &format!("bilinc:dream:{id}")]);
    assert_eq!((&report["source"], &report["memoryType"]), (&json!("bilinc_dream"), &json!("episodic")));
    let listed = shell.json(&["dream", "list"]);
    assert_eq!((&listed["dreams"][0]["dreamId"], &listed["dreams"][0]["state"]), (&json!(id), &json!("finished")));

    take_back(&shell, id, &before);
}

/// Undo with a conflict, redo, undo again, and the proof.
fn take_back(shell: &Shell, id: &str, before: &[Value]) {
    shell.json(&["revise", "--key", "editor", "--value", "Zed", "--source", "editor-2"]);
    let trial = shell.json(&["dream", "undo", id, "--dry-run"]);
    let undone = shell.json(&["dream", "undo", id]);
    for answer in [&trial, &undone] {
        assert_eq!(keys(&answer["conflicts"]), ["editor"], "{answer}");
        let conflict = &answer["conflicts"][0];
        assert_eq!((&conflict["reason"], &conflict["change"]["source"]), (&json!("changed"), &json!("editor-2")));
        let mut restored = keys(&answer["restored"]);
        restored.sort_unstable();
        assert_eq!(restored, ["deploy", "editor.old", "team"]);
    }
    assert_eq!((&undone["state"], &undone["alreadyUndone"]), (&json!("partly_undone"), &json!(false)));
    assert_eq!((shell.value("editor"), shell.value("editor.old")), (json!("Zed"), json!("vim")));
    assert_eq!(shell.json(&["flags"])["total"], 0);
    let again = shell.json(&["dream", "undo", id]);
    assert_eq!((&again["alreadyUndone"], &again["restored"]), (&json!(true), &undone["restored"]));

    let redone = shell.json(&["undo", "--seq", &undone["seq"].to_string()]);
    let mut restored = keys(&redone["restored"]);
    restored.sort_unstable();
    assert_eq!(restored, ["deploy", "editor.old", "team"]);
    shell.refused("memory_not_found", &["get", "editor.old"]);
    assert_eq!(shell.json(&["dream", "show", id])["state"], "finished");

    // Without the other writer's change nothing stands in the way any more.
    shell.json(&["undo", "--source", "editor-2"]);
    let undone = shell.json(&["dream", "undo", id]);
    assert_eq!((&undone["state"], &undone["conflicts"]), (&json!("undone"), &json!([])));
    assert_eq!(entries(shell), before);
    let shown = shell.json(&["dream", "show", id]);
    assert_eq!((&shown["state"], &shown["undo"]["restored"]), (&json!("undone"), &undone["restored"]));
    let verified = shell.json(&["verify"]);
    assert_eq!((&verified["stateEqual"], &verified["rootHash"]), (&json!(true), &verified["stateVersion"]));
}

#[test]
fn an_undo_of_a_dream_says_what_it_did_not_bring_back_and_that_it_was_done_before() {
    let shell = Shell::new();
    let dream = shell.dream(&MEMORIES);
    let forget = json!([{"op": "forget", "key": "office", "expected_version": dream.version("office"), "reason": "r"}]);
    let file = shell.write("forget.json", forget.to_string());
    shell.json(&["dream", "apply", dream.id(), "--file", &file]);
    let without = "without metadata, session, canonical, priority, ttl and flags";
    let trial = shell.text(&["dream", "undo", dream.id(), "--dry-run"]);
    assert!(trial.contains(without), "{trial}");
    let undone = shell.text(&["dream", "undo", dream.id()]);
    assert!(undone.contains(without) && undone.contains("Undid dream"), "{undone}");
    let again = shell.text(&["dream", "undo", dream.id()]);
    assert!(again.starts_with(&format!("Dream {} had been undone before", dream.id())), "{again}");
}

#[test]
fn a_dream_without_candidates_says_what_is_true_of_what_was_asked() {
    let shell = Shell::new();
    let file = shell.write("old.jsonl", "");
    shell.json(&["import", &file]);
    let says = |words: &[&str], part: &str| {
        let text = shell.text(&[&["dream", "start"], words].concat());
        assert!(text.contains(part) && text.contains("Nothing was written."), "{words:?}: {text}");
    };
    says(&[], "no memory changed in the last seven days.");
    says(&["--since", "2020-01-01"], "no memory changed since 2020-01-01T00:00:00.000Z.");
    shell.commit("k", "v");
    says(&["--prefix", "x."], "no memory that begins with `x.` changed in the last seven days.");
    let dream = shell.json(&["dream", "start"]);
    shell.json(&["dream", "apply", dream["dreamId"].as_str().unwrap(), "--report", "nothing to do"]);
    says(&[], "no memory changed since the last dream.");
    says(&["--since", "1h"], ", but for what a dream has looked at.");
}

#[test]
fn what_a_dream_removed_comes_back_with_all_metadata_only_when_asked() {
    for (with, restored) in [(false, false), (true, true)] {
        let shell = Shell::new();
        for key in ["a", "b", "c", "d"] {
            let metadata = r#"{"m":1.10}"#;
            shell.json(&[
                "commit",
                "--key",
                key,
                "--value",
                "v",
                "--metadata",
                metadata,
                "--ttl",
                "9e6",
                "--session",
                "s",
            ]);
        }
        let started = shell.json(&["dream", "start"]);
        let dream = crate::shell::Dream(started);
        let forget = json!([{"op": "forget", "key": "a", "expected_version": dream.version("a"), "reason": "r"}]);
        let file = shell.write("forget.json", forget.to_string());
        shell.json(&["dream", "apply", dream.id(), "--file", &file]);
        let mut words = vec!["dream", "undo", dream.id()];
        words.extend(with.then_some("--restore-metadata"));
        assert_eq!(shell.json(&words)["metadataRestored"], restored);
        let entry = shell.json(&["get", "a"]);
        assert_eq!(entry["ttl"].is_null(), !with, "{entry}");
        assert_eq!(entry["metadata"] == json!({}), !with, "{entry}");
        assert_eq!(entry["sessionId"] == json!("s"), with, "{entry}");
    }
}

#[test]
fn a_report_alone_finishes_a_dream_and_nothing_to_do_writes_nothing() {
    let shell = Shell::new();
    let dream = shell.dream(&MEMORIES);
    let finished = shell.json(&["dream", "apply", dream.id(), "--report", "nothing to do"]);
    assert_eq!((&finished["state"], &finished["results"]), (&json!("finished"), &json!([])));
    assert_eq!(shell.json(&["dream", "show", dream.id()])["report"], "nothing to do");
    let before = crate::operations::last_position(&shell);
    let empty = shell.json(&["dream", "start"]);
    assert_eq!((&empty["dreamId"], &empty["candidates"]), (&Value::Null, &json!([])));
    assert_eq!(crate::operations::last_position(&shell), before);
    let again =
        shell.json(&["dream", "start", "--since", "7d", "--include-reviewed", "--limit", "2", "--prefix", "editor"]);
    assert_eq!((keys(&again["candidates"]).len(), &again["moreCandidates"]), (2, &json!(0)));
}
