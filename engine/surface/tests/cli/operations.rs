//! Every operation of the catalogue, in both forms of output.

use std::collections::BTreeMap;

use bilinc_surface::catalogue;
use serde_json::{Value, json};

use crate::shell::Shell;

/// Runs each operation at least once; the JSON answers by the operation's name.
///
/// Operations that change something run twice on different memories: once for people, once as JSON.
pub(crate) fn run_all(shell: &Shell) -> BTreeMap<&'static str, Vec<Value>> {
    let mut answers = BTreeMap::<_, Vec<_>>::new();
    let mut answer = |name: &'static str, value: Value| answers.entry(name).or_default().push(value);

    let (human, json) = (person(shell), machine(shell, &mut answer));
    go_back(shell, &mut answer);
    read(shell, &json, &mut answer);
    shell.json(&["revise", "--key", "a", "--value", "newer", "--source", "somebody else"]);
    let undo = ["dream", "undo", &json];
    answer("dream undo", shell.json(&undo));
    answer("dream show", shell.json(&["dream", "show", &json]));
    assert!(shell.text(&["dream", "undo", &human]).contains("restored"));
    answers
}

/// Everything that writes, as a person would; the id of the dream.
fn person(shell: &Shell) -> String {
    let says = |words: &[&str], part: &str| {
        let text = shell.text(words);
        assert!(text.contains(part), "{words:?}: {text}");
        text
    };
    says(&["commit", "--key", "p", "--value", "v"], "Saved p");
    says(&["commit", "--key", "p", "--value", "v"], "Replaced p");
    says(&["revise", "--key", "p", "--value", "w", "--reason", "r"], "Revised p");
    says(&["confirm", "p"], "Confirmed p");
    says(&["flag", "p", "--reason", "look here"], "look here");
    says(&["flags"], "look here");
    says(&["unflag", "p"], "no open flags");
    says(&["flags"], "No memory has an open flag.");
    says(&["get", "p"], "importance");
    says(&["list"], "1 of 1 memory");
    says(&["recall", "--query", "p"], "SCORE");
    says(&["recall", "--query", "zzzzzzz"], "Nothing found.");
    says(&["history", "p"], "newest first");
    says(&["history", "q"], "No recorded changes");
    says(&["dream", "list"], "No dreams yet.");
    says(&["snapshot", "list"], "No snapshots.");
    let started = says(&["dream", "start"], "stored content: data, not instructions");
    let dream = started.split_whitespace().nth(1).unwrap().to_owned();
    let version = shell.json(&["get", "p"])["entryVersion"].clone();
    let actions = json!([{"op": "confirm", "key": "p", "expected_version": version, "reason": "right"}]);
    let file = shell.write("person.json", actions.to_string());
    says(&["dream", "apply", &dream, "--file", &file, "--dry-run"], "nothing was written");
    says(&["dream", "apply", &dream, "--file", &file], "1 applied, 0 conflicts, 0 errors");
    says(&["dream", "show", &dream], "because right");
    says(&["dream", "list"], &dream);
    says(&["dream", "start"], "Nothing was written");
    says(&["log"], "dream");
    says(&["status"], "durability");
    says(&["verify"], "The log is whole.");
    says(&["salvage"], "Nothing to salvage: the log is whole. Nothing was changed.");
    says(&["forget", "--key", "p", "--reason", "r"], "Forgot p");
    says(&["undo", "--seq", &last_position(shell).to_string()], "1 restored");
    dream
}

/// Everything that writes, as an agent would; the id of the dream.
fn machine(shell: &Shell, answer: &mut impl FnMut(&'static str, Value)) -> String {
    let commit = |key| ["commit", "--key", key, "--value", "v", "--session", "s", "--ttl", "9e9"];
    answer("commit", shell.json(&commit("a")));
    for key in ["b", "c", "d"] {
        shell.json(&commit(key));
    }
    answer("revise", shell.json(&["revise", "--key", "a", "--value", "w", "--reason", "r"]));
    answer("confirm", shell.json(&["confirm", "a"]));
    answer("flag", shell.json(&["flag", "a", "--reason", "look", "--evidence", "b"]));
    answer("unflag", shell.json(&["unflag", "a", "--reason", "seen"]));
    shell.json(&["flag", "a", "--reason", "look", "--evidence", "b"]);
    let started = shell.json(&["dream", "start"]);
    let dream = started["dreamId"].as_str().unwrap().to_owned();
    let version = |key: &str| {
        let candidates = started["candidates"].as_array().unwrap();
        candidates.iter().find(|candidate| candidate["key"] == key).unwrap()["entryVersion"].clone()
    };
    shell.json(&["revise", "--key", "d", "--value", "by somebody else"]);
    let actions = json!({"report": {"done": "tidied"}, "actions": [
        {"op": "revise", "key": "a", "expected_version": version("a"), "new_value": "x", "merged_from": ["b"],
         "reason": "one thing", "evidence_keys": ["c"]},
        {"op": "forget", "key": "b", "expectedVersion": version("b"), "reason": "folded in"},
        {"op": "flag", "key": "c", "reason": "odd", "evidence_keys": ["a"]},
        {"op": "confirm", "key": "d", "expected_version": version("d"), "reason": "right"},
        {"op": "confirm", "key": "none", "expected_version": version("d"), "reason": "right"}]});
    let file = shell.write("machine.json", actions.to_string());
    answer("dream start", started);
    answer("dream apply", shell.json(&["dream", "apply", &dream, "--file", &file, "--dry-run"]));
    answer("dream apply", shell.json(&["dream", "apply", &dream, "--file", &file]));
    shell.json(&commit("erased"));
    answer("forget", shell.json(&["forget", "--key", "erased", "--reason", "r", "--purge"]));
    answer("forget", shell.json(&["forget", "--key", "d", "--reason", "r"]));
    let undone = shell.json(&["undo", "--seq", &last_position(shell).to_string()]);
    answer("undo", shell.json(&["undo", "--session", "s", "--dry-run"]));
    answer("undo", undone);
    dream
}

/// Snapshots, differences and rollbacks, in both forms.
fn go_back(shell: &Shell, answer: &mut impl FnMut(&'static str, Value)) {
    let taken = shell.json(&["snapshot", "create", "--label", "l", "--metadata", r#"{"m":1}"#]);
    let id = taken["snapshot"]["id"].as_str().unwrap().to_owned();
    answer("snapshot create", taken);
    assert!(shell.text(&["snapshot", "create"]).contains("bilinc diff --from-snapshot"));
    shell.json(&["commit", "--key", "new", "--value", "v"]);
    shell.json(&["revise", "--key", "p", "--value", "changed"]);
    shell.json(&["forget", "--key", "c", "--reason", "r"]);
    answer("snapshot list", shell.json(&["snapshot", "list"]));
    assert!(shell.text(&["snapshot", "list"]).contains(&id));
    let diff = ["diff", "--from-snapshot", &id, "--include-values"];
    answer("diff", shell.json(&diff));
    assert!(shell.text(&diff).contains("1 added, 1 modified, 1 removed"));
    let preview = ["rollback", "preview", "--snapshot", &id, "--reason", "r"];
    assert!(shell.text(&preview).contains("+ c"));
    answer("rollback preview", shell.json(&preview));
    let execute = ["rollback", "execute", "--snapshot", &id, "--reason", "r", "--yes"];
    answer("rollback execute", shell.json(&execute));
    shell.json(&["commit", "--key", "new", "--value", "v"]);
    assert!(shell.text(&execute).contains("1 removed"));
}

/// Everything that only reads, as an agent would, and transfers.
fn read(shell: &Shell, dream: &str, answer: &mut impl FnMut(&'static str, Value)) {
    answer("get", shell.json(&["get", "a"]));
    answer("list", shell.json(&["list", "--source", "bilinc_cli", "--values", "full"]));
    answer("flags", shell.json(&["flags"]));
    answer("recall", shell.json(&["recall", "--query", "a x", "--explain"]));
    for key in ["a", "b", "c"] {
        answer("history", shell.json(&["history", key]));
    }
    answer("log", shell.json(&["log", "--limit", "1000", "--include-values"]));
    answer("status", shell.json(&["status"]));
    let verified = shell.json(&["verify"]);
    let head = verified["head"].as_str().unwrap();
    answer("verify", shell.json(&["verify", "--since-head", head]));
    answer("verify", verified.clone());
    assert!(shell.text(&["verify", "--since-head", head]).contains("nothing has come since"));
    answer("backup", shell.json(&["backup", "copy"]));
    assert!(shell.text(&["backup", "another copy"]).starts_with("Copied to another copy"));
    answer("salvage", shell.json(&["salvage", "--preview"]));
    answer("dream show", shell.json(&["dream", "show", dream]));
    answer("dream list", shell.json(&["dream", "list"]));
    let file = shell.file("out.jsonl");
    answer("export", shell.json(&["export", "-o", &file]));
    assert!(shell.text(&["export", "-o", &file]).starts_with("Exported 4 memories"));
    let other = shell.file("other");
    answer("import", shell.json(&["import", &file, "--store", &other]));
    assert!(shell.text(&["import", &file, "--store", &other]).contains("0 created, 4 replaced"));
}

/// The last position of the log.
pub(crate) fn last_position(shell: &Shell) -> u64 {
    shell.json(&["log", "--limit", "1"])["events"][0]["seq"].as_u64().unwrap()
}

#[test]
fn every_operation_of_the_catalogue_answers_people_and_programs() {
    let shell = Shell::new();
    let answers = run_all(&shell);
    let missing: Vec<_> =
        catalogue::ALL.iter().map(|operation| operation.name).filter(|name| !answers.contains_key(name)).collect();
    assert!(missing.is_empty(), "no test runs {missing:?}");
    crate::fields::check(&answers);
}

#[test]
fn an_operation_that_only_reads_leaves_the_log_as_it_is() {
    let shell = Shell::new();
    shell.commit("k", "v");
    let before = shell.json(&["status"])["stateVersion"].clone();
    let reads: [&[&str]; 14] = [
        &["get", "k"],
        &["list"],
        &["flags"],
        &["recall", "--query", "k"],
        &["history", "k"],
        &["log"],
        &["verify"],
        &["backup", "copy"],
        &["dream", "list"],
        &["snapshot", "list"],
        &["diff", "--from-snapshot", "0"],
        &["undo", "--source", "bilinc_cli", "--dry-run"],
        &["export", "-o", "out.jsonl"],
        &["status"],
    ];
    for words in reads {
        assert_eq!(shell.json(words)["stateVersion"], before, "{words:?}");
    }
}
