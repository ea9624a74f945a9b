//! `forget --purge`: erased from every file, told in numbers, and final.

use std::path::Path;

use serde_json::json;

use crate::shell::{Shell, each};

const VALUE: &str = "Quixotic-zebra#4711 lives in Villach";
const METADATA: &str = r#"{"passport":"PX-99887766-K"}"#;

fn commit(shell: &Shell, key: &str) {
    shell.json(&["commit", "--key", key, "--value", VALUE, "--metadata", METADATA, "--idempotency-key", key]);
}

fn purge(key: &str) -> [&str; 6] {
    ["forget", "--key", key, "--reason", "asked to be erased", "--purge"]
}

/// The files below a folder that hold any eight bytes in a row of value or metadata.
fn traces(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            traces(&path, found);
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let parts = |text: &'static str| text.as_bytes().windows(8);
        let mut parts = parts(VALUE).chain(parts(METADATA));
        if parts.any(|part| bytes.windows(8).any(|window| window == part)) {
            found.push(path.display().to_string());
        }
    }
}

fn traces_of(shell: &Shell) -> Vec<String> {
    let mut found = Vec::new();
    traces(&shell.store(), &mut found);
    found
}

#[test]
fn a_purge_answers_numbers_and_no_file_holds_the_value_any_more() {
    let shell = Shell::new();
    commit(&shell, "k");
    shell.commit("other", "stays");
    shell.json(&["revise", "--key", "k", "--value", "harmless", "--reason", "moved"]);
    assert_eq!(traces_of(&shell).len(), 1);
    let answer = shell.json(&purge("k"));
    let bytes = VALUE.len() + 2 + METADATA.len() + r#""harmless""#.len();
    assert_eq!(answer["purged"], json!({"bodies": 2, "bytes": bytes, "events": 2, "alsoIn": []}));
    assert_eq!(
        (&answer["key"], &answer["removed"], &answer["reasonRecorded"]),
        (&json!("k"), &json!(true), &json!(true))
    );
    assert_eq!(traces_of(&shell), [""; 0]);
    let verified = shell.json(&["verify"]);
    assert_eq!(
        (&verified["bodies"], &verified["erasedBodies"], &verified["stateEqual"]),
        (&json!(1), &json!(2), &json!(true))
    );
    assert!(shell.text(&["verify"]).contains("1 body matches its salted digest; 2 were erased, as recorded."));
    assert_eq!(shell.json(&["status"])["usage"]["purgedBytes"], bytes);
    assert!(shell.text(&["status"]).contains("purged"));
    assert_eq!(shell.json(&["get", "other"])["value"], "stays");
    shell.refused("memory_not_found", &purge("k"));
}

#[test]
fn a_memory_forgotten_earlier_is_purged_and_people_are_told_in_words() {
    let shell = Shell::new();
    commit(&shell, "k");
    shell.json(&["forget", "--key", "k", "--reason", "r"]);
    let said = shell.text(&purge("k"));
    assert!(said.contains("Purged k: erased 66 bytes of 1 recorded change, for good."), "{said}");
    assert_eq!(traces_of(&shell), [""; 0]);
    assert!(shell.run(&["forget", "--key", "k", "--purge"]).code == Some(2), "a reason is required");
}

#[test]
fn what_folded_it_in_is_named() {
    let shell = Shell::new();
    let dream = shell.dream(&[("dup", VALUE), ("k", "kept")]);
    let revise = json!([{"op": "revise", "key": "k", "expected_version": dream.version("k"), "new_value": "merged",
                         "merged_from": ["dup"], "reason": "r"}]);
    let file = shell.write("actions.json", revise.to_string());
    shell.json(&["dream", "apply", dream.id(), "--file", &file]);
    assert_eq!(shell.json(&purge("dup"))["purged"]["alsoIn"], json!(["k"]));
    shell.commit("dup", "again");
    assert!(shell.text(&purge("dup")).contains("It was folded into k, where copies may live on."));
}

#[test]
fn the_past_of_a_purged_memory_is_shown_without_its_values_and_stays_past() {
    let shell = Shell::new();
    commit(&shell, "k");
    shell.commit("other", "v");
    let taken = shell.json(&["snapshot", "create"])["snapshot"]["id"].as_str().unwrap().to_owned();
    shell.json(&purge("k"));
    let reads: [&[&str]; 6] = [
        &["history", "k"],
        &["get", "k", "--as-of", "1"],
        &["diff", "--from-snapshot", &taken, "--include-values"],
        &["log", "--include-values"],
        &["recall", "--query", VALUE],
        &["export"],
    ];
    for words in reads {
        assert!(!shell.text(words).contains("Villach"), "{words:?}");
    }
    let entry = shell.json(&["get", "k", "--as-of", "1"]);
    assert_eq!(
        (&entry["valuesRedacted"], entry.get("value"), &entry["source"]),
        (&json!(true), None, &json!("bilinc_cli"))
    );
    let history = shell.json(&["history", "k"]);
    assert_eq!(each(&history["entries"], "op"), ["purge", "create"]);
    assert_eq!(each(&history["entries"], "reason")[0], "asked to be erased");
    let undone = shell.json(&["undo", "--seq", "1"]);
    assert_eq!(
        (&undone["conflicts"][0]["reason"], &undone["conflicts"][0]["change"]["op"]),
        (&json!("purged"), &json!("purge"))
    );
    let target = ["--snapshot", &taken, "--reason", "r"];
    assert_eq!(shell.json(&[&["rollback", "preview"], &target[..]].concat())["skippedKeys"], json!(["k"]));
    let said = shell.text(&[&["rollback", "preview"], &target[..]].concat());
    assert!(said.contains("their values were erased"), "{said}");
    let rolled = shell.json(&[&["rollback", "execute", "--yes"], &target[..]].concat());
    assert_eq!(rolled["skippedKeys"], json!(["k"]));
    shell.refused("memory_not_found", &["get", "k"]);
    let words = ["commit", "--key", "k", "--value", VALUE, "--metadata", METADATA, "--idempotency-key", "k"];
    shell.refused("idempotency_conflict", &words);
    assert_eq!(traces_of(&shell), [""; 0]);
}
