//! Refusals of what concerns single memories: one code each, in the one shape, and nothing written.

use serde_json::{Value, json};

use crate::shell::Shell;

const OTHER_VERSION: &str = "v1_00000000000000000000000000000007";
const SECRET: &str = concat!("ghp_", "abcdefghijklmnopqrstuvwxyz0123456789");

#[test]
fn malformed_requests_name_the_field_and_the_rule() {
    let shell = Shell::new();
    shell.commit("k", "v");
    let (long, deep) = ("x".repeat(513), "[".repeat(101) + &"]".repeat(101));
    let commit = |more: &[&'static str]| [&["commit", "--key", "k", "--value", "v"], more].concat();
    shell.invalid("key", "invalid_key", &["commit", "--key", " ", "--value", "v"]);
    shell.invalid("key", "invalid_key", &["commit", "--key", &long, "--value", "v"]);
    shell.invalid("key", "invalid_key", &["get", "a\tb"]);
    shell.invalid("key", "reserved_key", &["commit", "--key", "bilinc:dream:x", "--value", "v"]);
    shell.invalid("key", "reserved_key", &["revise", "--key", "bilinc:dream:x", "--value", "v"]);
    shell.invalid("key", "reserved_key", &["confirm", "bilinc:dream:x"]);
    shell.invalid("value", "duplicate_member", &["commit", "--key", "k", "--value", r#"{"a":1,"a":2}"#]);
    shell.invalid("value", "invalid_json", &["commit", "--key", "k", "--value", r#""\ud800""#]);
    shell.invalid("value", "too_deep", &["commit", "--key", "k", "--value", &deep]);
    shell.invalid("metadata", "not_an_object", &commit(&["--metadata", "[]"]));
    shell.invalid("metadata", "invalid_json", &commit(&["--metadata", "{"]));
    for ttl in ["0", "-1", "nan", "inf"] {
        shell.invalid("ttl", "out_of_range", &commit(&["--ttl", ttl]));
    }
    shell.invalid("source", "out_of_range", &["commit", "--key", "k", "--value", "v", "--source", &long]);
    shell.invalid("idempotencyKey", "out_of_range", &commit(&["--idempotency-key", ""]));
    shell.invalid("expectedVersion", "invalid_id", &commit(&["--expected-version", "7"]));
    shell.invalid("reason", "required", &["forget", "--key", "k", "--reason", ""]);
    shell.invalid("reason", "out_of_range", &["forget", "--key", "k", "--reason", &long]);
    shell.invalid("evidenceKeys", "invalid_key", &["flag", "k", "--reason", "r", "--evidence", ""]);
    assert_eq!(crate::operations::last_position(&shell), 1);
}

#[test]
fn malformed_reads_name_the_field_and_the_rule() {
    let shell = Shell::new();
    shell.commit("k", "v");
    for command in ["list", "log", "flags"] {
        for limit in ["0", "1001"] {
            shell.invalid("limit", "out_of_range", &[command, "--limit", limit]);
        }
        shell.invalid("cursor", "invalid_cursor", &[command, "--cursor", "c1nonsense"]);
    }
    shell.invalid("limit", "out_of_range", &["recall", "--query", "x", "--limit", "101"]);
    shell.invalid("query", "out_of_range", &["recall", "--query", ""]);
    shell.invalid("query", "out_of_range", &["recall", "--query", &"x".repeat(4097)]);
    shell.invalid("asOf", "invalid_point", &["get", "k", "--as-of", "yesterday"]);
    shell.invalid("asOf", "out_of_range", &["get", "k", "--as-of", "99"]);
    shell.invalid("updatedAfter", "invalid_time", &["list", "--updated-after", "2026-02-30"]);
    shell.invalid("fromSnapshotId", "invalid_point", &["diff", "--from-snapshot", "@"]);
    shell.invalid("snapshotId", "invalid_id", &["rollback", "preview", "--snapshot", "s", "--reason", "r"]);
    shell.invalid("dreamId", "invalid_id", &["dream", "show", "d"]);
    shell.invalid("fromSnapshotId", "out_of_range", &["diff", "--from-snapshot", "@99"]);
    let to = ["diff", "--from-snapshot", "@1", "--to-snapshot", "@99"];
    shell.invalid("toSnapshotId", "out_of_range", &to);
    shell.invalid("seqs", "out_of_range", &["undo", "--seq", "99"]);
    shell.invalid("fromSeq", "out_of_range", &["undo", "--from-seq", "1", "--to-seq", "0"]);
}

#[test]
fn what_does_not_exist_is_not_found_and_never_a_success() {
    let shell = Shell::new();
    shell.commit("k", "v");
    shell.json(&["forget", "--key", "k", "--reason", "r"]);
    let words: [&[&str]; 7] = [
        &["get", "k"],
        &["forget", "--key", "k", "--reason", "again"],
        &["revise", "--key", "k", "--value", "v"],
        &["confirm", "k"],
        &["flag", "k", "--reason", "r"],
        &["unflag", "k"],
        &["commit", "--key", "k", "--value", "v", "--expected-version", OTHER_VERSION],
    ];
    for words in words {
        assert_eq!(shell.refused("memory_not_found", words), json!({"key": "k"}), "{words:?}");
    }
    // Case counts, and there are no patterns.
    shell.commit("k", "v");
    for key in ["K", "k*", "*"] {
        shell.refused("memory_not_found", &["forget", "--key", key, "--reason", "r"]);
    }
}

#[test]
fn a_memory_that_exists_is_not_created_again() {
    let shell = Shell::new();
    let version = shell.commit("k", "first");
    let details = shell.refused("memory_exists", &["commit", "--key", "k", "--value", "second", "--if-absent"]);
    assert_eq!(details, json!({"key": "k", "currentVersion": version}));
    assert_eq!(shell.value("k"), "first");
}

#[test]
fn a_version_conflict_names_the_change_that_came_between() {
    let shell = Shell::new();
    let stale = shell.commit("k", "v");
    let written = shell.json(&["revise", "--key", "k", "--value", "w", "--source", "editor-2"]);
    let words: [&[&str]; 6] = [
        &["commit", "--key", "k", "--value", "x"],
        &["revise", "--key", "k", "--value", "x"],
        &["forget", "--key", "k", "--reason", "r"],
        &["confirm", "k"],
        &["flag", "k", "--reason", "r"],
        &["unflag", "k"],
    ];
    for words in words {
        let words = [words, &["--expected-version", &stale]].concat();
        let details = shell.refused("version_conflict", &words);
        assert_eq!((&details["key"], &details["expectedVersion"]), (&json!("k"), &json!(stale)), "{words:?}");
        assert_eq!(details["currentVersion"], written["entryVersion"], "{words:?}");
        let change = &details["change"];
        assert_eq!(
            (&change["op"], &change["source"], &change["seq"]),
            (&json!("update"), &json!("editor-2"), &json!(2))
        );
        assert!(change["at"].as_str().unwrap().ends_with('Z'), "{change}");
    }
    let human = shell.run(&["confirm", "k", "--expected-version", &stale]);
    assert!(human.err.contains("the change between: update by editor-2"), "{human:?}");
    assert_eq!(crate::operations::last_position(&shell), 2);
}

#[test]
fn an_idempotency_key_gives_the_first_answer_again_and_refuses_another_request() {
    let shell = Shell::new();
    let words = ["commit", "--key", "k", "--value", "v", "--idempotency-key", "once"];
    let mut first = shell.json(&words);
    let again = shell.json(&words);
    first["replayed"] = true.into();
    assert_eq!(again, first);
    assert!(shell.text(&words).contains("nothing was written now"));
    let other = ["commit", "--key", "k", "--value", "w", "--idempotency-key", "once"];
    assert_eq!(shell.refused("idempotency_conflict", &other), json!({}));
    shell.refused("idempotency_conflict", &["confirm", "k", "--idempotency-key", "once"]);
    for other in [["--source", "somebody else"], ["--session", "another"]] {
        shell.refused("idempotency_conflict", &[&words[..], &other].concat());
    }
    assert_eq!(crate::operations::last_position(&shell), 1);
}

#[test]
fn each_strategy_guards_what_it_says() {
    let shell = Shell::new();
    shell.json(&["commit", "--key", "canonical", "--value", "v", "--canonical"]);
    shell.json(&["commit", "--key", "plain", "--value", "v"]);
    shell.json(&["commit", "--key", "confirmed", "--value", "v"]);
    shell.json(&["confirm", "confirmed"]);
    let lower = |key, strategy| ["revise", "--key", key, "--value", "w", "--importance", "0.5", "--strategy", strategy];
    for (key, strategy) in [("canonical", "entrenchment"), ("plain", "importance"), ("confirmed", "verification")] {
        let details = shell.refused("revision_rejected", &lower(key, strategy));
        assert_eq!((&details["key"], &details["strategy"]), (&json!(key), &json!(strategy)));
        assert_eq!(details["reason"], "importance_below_stored");
        assert_eq!(shell.value(key), "v");
        assert_eq!(shell.json(&lower(key, "recency"))["strategy"], "recency");
    }
    shell.json(&["revise", "--key", "canonical", "--value", "x"]);
}

/// Fails if the text holds the credential, or a good part of it.
#[track_caller]
fn hides_the_secret(words: &[&str], text: &str) {
    assert!(!text.contains("abcdefghijklmnop"), "{words:?}: {text}");
}

#[test]
fn a_credential_is_refused_without_being_repeated_anywhere() {
    let shell = Shell::new();
    shell.commit("k", "v");
    let object = json!({"deep": [{"token": SECRET}]}).to_string();
    let import = shell.write("secret.jsonl", json!({"key": "i", "value": SECRET}).to_string());
    let words: [&[&str]; 8] = [
        &["commit", "--key", "k", "--value", SECRET],
        &["commit", "--key", "k", "--value", &object],
        &["commit", "--key", "k", "--value", "v", "--metadata", &object],
        &["revise", "--key", "k", "--value", SECRET],
        &["forget", "--key", "k", "--reason", SECRET],
        &["flag", "k", "--reason", SECRET],
        &["snapshot", "create", "--metadata", &object],
        &["import", &import],
    ];
    for words in words {
        let human = shell.run(words);
        assert_eq!(human.code, Some(1), "{words:?}");
        assert!(human.err.contains("--allow-secrets"), "{words:?}: {human:?}");
        hides_the_secret(words, &(human.out + &human.err));
        let error = shell.refusal(words);
        assert_eq!((&error["error"], &error["details"]["kind"]), (&json!("secret_detected"), &json!("github_token")));
        assert!(error["details"]["path"].is_string(), "{error}");
        hides_the_secret(words, &error.to_string());
    }
    assert_eq!(shell.refused("secret_detected", words[7])["line"], 1);
    let path = shell.refused("secret_detected", words[1])["path"].as_str().unwrap().to_owned();
    assert!(path.contains("deep[0].token"), "{path}");
    for file in walk(&shell.store()) {
        let bytes = std::fs::read(&file).unwrap();
        assert!(!bytes.windows(16).any(|part| part == &SECRET.as_bytes()[4..20]), "{}", file.display());
    }
    shell.json(&["commit", "--key", "k", "--value", SECRET, "--allow-secrets"]);
    assert_eq!(shell.value("k"), Value::from(SECRET));
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

#[test]
fn a_repeated_flag_gives_the_flags_of_its_first_answer() {
    let shell = Shell::new();
    shell.commit("k", "v");
    let words = ["flag", "k", "--reason", "r", "--idempotency-key", "once"];
    let first = shell.json(&words);
    shell.json(&["unflag", "k"]);
    let again = shell.json(&words);
    assert_eq!((&again["flags"], &again["replayed"]), (&first["flags"], &json!(true)));
    assert_eq!(shell.json(&["flags"])["total"], 0);
}

#[test]
fn an_age_is_no_part_of_a_request_that_is_to_be_repeated() {
    let shell = Shell::new();
    shell.commit("k", "v");
    for words in [&["dream", "start", "--since", "7d"][..], &["undo", "--after", "1h"], &["undo", "--before", "1h"]] {
        let words = [words, &["--idempotency-key", "once", "--json"]].concat();
        assert_eq!(shell.run(&words).error(2)["details"]["reason"], "usage", "{words:?}");
    }
    let words = ["dream", "start", "--since", "2020-01-01", "--idempotency-key", "once"];
    let first = shell.json(&words);
    let again = shell.json(&words);
    assert_eq!((&again["dreamId"], &again["candidates"]), (&first["dreamId"], &first["candidates"]));
}
