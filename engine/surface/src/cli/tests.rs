//! Whole commands against a store in a temporary folder.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod shell;

use serde_json::Value;

use self::shell::Shell;

#[test]
fn a_memory_goes_in_and_comes_back_as_it_was() {
    let shell = Shell::new();
    let value = r#"{"z":1.10,"a":[12345678901234567890,1e400]}"#;
    let saved = shell.json(&["commit", "--key", "k", "--value", value, "--type", "procedural", "--session", "s"]);
    assert_eq!(saved["operation"], "create");
    let got = shell.text(&["get", "k", "--json"]);
    assert!(got.contains(&format!(r#""value":{value},"#)), "{got}");
    let got = shell.json(&["list", "--values", "none"]);
    let entry = &got["entries"][0];
    assert_eq!((&entry["source"], &entry["sessionId"]), (&Value::from("bilinc_cli"), &Value::from("s")));
    assert_eq!(entry.get("value"), None);
    assert!(shell.text(&["recall", "--query", "k"]).contains('k'));
}

#[test]
fn reads_never_make_a_store_and_neither_does_what_could_only_be_refused() {
    let shell = Shell::new();
    let words: [&[&str]; 5] =
        [&["list"], &["status"], &["verify"], &["forget", "--key", "k", "--reason", "r"], &["dream", "start"]];
    for words in words {
        assert_eq!(shell.code(words), "not_found", "{words:?}");
    }
    assert!(!std::path::Path::new(&shell.file("store")).exists());
}

#[test]
fn a_repeated_request_is_marked_as_replayed() {
    let shell = Shell::new();
    let words = ["commit", "--key", "k", "--value", "v", "--idempotency-key", "once"];
    assert_eq!(shell.json(&words).get("replayed"), None);
    assert_eq!(shell.json(&words)["replayed"], true);
    assert!(shell.text(&words).contains("came before"));
    assert_eq!(
        shell.code(&["commit", "--key", "k", "--value", "w", "--idempotency-key", "once"]),
        "idempotency_conflict"
    );
}

#[test]
fn a_credential_is_refused_unless_it_is_allowed() {
    let shell = Shell::new();
    let words = ["commit", "--key", "k", "--value", concat!("ghp_", "abcdefghijklmnopqrstuvwxyz0123456789")];
    assert_eq!(shell.code(&words), "secret_detected");
    let allowed: Vec<_> = words.into_iter().chain(["--allow-secrets"]).collect();
    shell.text(&allowed);
}

#[test]
fn a_dream_is_applied_with_conflicts_and_taken_back() {
    let shell = Shell::new();
    let (dream, versions) = shell.dream();
    shell.text(&["revise", "--key", "c", "--value", "by a person", "--source", "person"]);
    let actions = format!(
        r#"{{"report":"tidy","actions":[
            {{"op":"revise","key":"a","expected_version":"{}","new_value":{{"n":1.10}},"reason":"r"}},
            {{"op":"confirm","key":"b","expectedVersion":"{}","reason":"r"}},
            {{"op":"confirm","key":"c","expectedVersion":"{}","reason":"r"}},
            {{"op":"flag","key":"x","reason":"r"}}]}}"#,
        versions[0], versions[1], versions[2]
    );
    let file = shell.file("actions.json");
    std::fs::write(&file, actions).unwrap();
    let apply = ["dream", "apply", &dream, "--file", &file];
    let trial: Vec<_> = apply.into_iter().chain(["--dry-run"]).collect();
    assert_eq!(shell.json(&trial)["dryRun"], true);
    let applied = shell.json(&apply);
    let statuses: Vec<_> = applied["results"].as_array().unwrap().iter().map(|result| &result["status"]).collect();
    assert_eq!(statuses, ["applied", "applied", "conflict", "error"]);
    assert_eq!(applied["results"][2]["change"]["source"], "person");
    assert_eq!((&applied["state"], &applied["pages"]), (&Value::from("finished"), &Value::from(1)));
    assert!(shell.text(&["dream", "show", &dream]).contains("tidy"));
    assert_eq!(shell.json(&["dream", "list"])["dreams"][0]["dreamId"], dream.as_str());

    let undone = shell.json(&["dream", "undo", &dream]);
    assert_eq!(undone["restored"].as_array().unwrap().len(), 2);
    assert_eq!(shell.json(&["get", "a"])["value"], "one");
    assert_eq!(shell.json(&["dream", "undo", &dream])["alreadyUndone"], true);
    assert_eq!(shell.code(&apply), "dream_closed");

    let redone = shell.json(&["undo", "--seq", &undone["seq"].to_string()]);
    assert_eq!(redone["restored"].as_array().unwrap().len(), 2);
    assert!(shell.text(&["get", "a", "--json"]).contains(r#""value":{"n":1.10}"#));
}

#[test]
fn what_is_no_action_refuses_the_whole_list() {
    let shell = Shell::new();
    let (dream, _) = shell.dream();
    let file = shell.file("actions.json");
    std::fs::write(&file, r#"[{"op":"erase","key":"a","reason":"r"}]"#).unwrap();
    assert_eq!(shell.code(&["dream", "apply", &dream, "--file", &file]), "invalid_request");
    assert_eq!(shell.json(&["dream", "show", &dream])["state"], "open");
}

#[test]
fn a_rollback_needs_a_token_or_a_yes() {
    let shell = Shell::new();
    shell.text(&["commit", "--key", "k", "--value", "old"]);
    let taken = shell.json(&["snapshot", "create", "--label", "before"]);
    let snapshot = taken["snapshot"]["id"].as_str().unwrap();
    shell.text(&["commit", "--key", "k", "--value", "new"]);
    let diff = shell.json(&["diff", "--from-snapshot", snapshot, "--include-values"]);
    assert_eq!(
        (&diff["modified"][0]["before"], &diff["modified"][0]["after"]),
        (&Value::from("old"), &Value::from("new"))
    );

    let target = ["--snapshot", snapshot, "--reason", "r"];
    let line = |action, more: &[&'static str]| [&["rollback", action], &target[..], more].concat();
    let preview = shell.json(&line("preview", &[]));
    let token = ["--token", preview["confirmationToken"].as_str().unwrap()];
    let with_token = [&line("execute", &[])[..], &token].concat();
    assert_eq!(shell.code(&line("execute", &[])), "usage");
    assert_eq!(shell.code(&line("execute", &["--confirmation-token", "wrong"])), "invalid_request");
    assert_eq!(shell.json(&with_token)["counts"]["updated"], 1);
    shell.text(&["commit", "--key", "k", "--value", "newer"]);
    assert_eq!(shell.code(&with_token), "state_changed_since_preview");
    assert_eq!(shell.json(&line("execute", &["--yes"]))["counts"]["updated"], 1);
    assert_eq!(shell.json(&["get", "k"])["value"], "old");
}

#[test]
fn an_export_comes_back_equal_and_an_import_can_be_taken_back() {
    let shell = Shell::new();
    shell.text(&["commit", "--key", "a", "--value", "1.10"]);
    shell.text(&["commit", "--key", "b", "--value", "two", "--metadata", r#"{"m":1e5}"#]);
    let (file, other) = (shell.file("memories.jsonl"), shell.file("other"));
    assert_eq!(shell.json(&["export", "-o", &file])["exported"], 2);
    let lines = shell.text(&["export"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), lines);
    let imported = shell.json(&["import", &file, "--store", &other]);
    assert_eq!((&imported["created"], &imported["lines"]), (&Value::from(2), &Value::from(2)));
    assert_eq!(shell.text(&["export", "--store", &other]), lines);
    let import = imported["importId"].as_str().unwrap();
    let undone = shell.json(&["undo", "--import", import, "--store", &other]);
    assert_eq!(undone["restored"].as_array().unwrap().len(), 2);
    assert_eq!(shell.json(&["list", "--store", &other])["total"], 0);
}

#[test]
fn an_export_that_fails_leaves_what_was_there() {
    let shell = Shell::new();
    let file = shell.file("memories.jsonl");
    std::fs::write(&file, "precious").unwrap();
    assert!(shell.run(&["export", "-o", &file]).is_err());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious");
}

#[test]
fn flags_are_set_listed_and_cleared() {
    let shell = Shell::new();
    shell.text(&["commit", "--key", "k", "--value", "v"]);
    let flagged = shell.json(&["flag", "k", "--reason", "look", "--evidence", "e"]);
    assert_eq!(flagged["flags"][0]["evidenceKeys"][0], "e");
    assert_eq!(shell.json(&["flags"])["total"], 1);
    assert!(shell.text(&["flags"]).contains("look"));
    assert_eq!(shell.json(&["unflag", "k"])["flags"].as_array().unwrap().len(), 0);
    assert_eq!(shell.json(&["flags"])["total"], 0);
}

#[test]
fn a_forgotten_value_is_shown_nowhere() {
    let shell = Shell::new();
    shell.text(&["commit", "--key", "k", "--value", "private"]);
    shell.text(&["forget", "--key", "k", "--reason", "r"]);
    let words: [&[&str]; 8] = [
        &["history", "k"],
        &["history", "k", "--json"],
        &["get", "k", "--as-of", "1"],
        &["get", "k", "--as-of", "1", "--json"],
        &["diff", "--from-snapshot", "@1", "--include-values"],
        &["log", "--include-values"],
        &["log", "--include-values", "--json"],
        &["list"],
    ];
    for words in words {
        assert!(!shell.text(words).contains("private"), "{words:?}");
    }
}

#[test]
fn human_output_holds_no_control_characters_of_stored_text() {
    let shell = Shell::new();
    let evil = "\u{1b}[2J\u{9b}31m\u{202e}\r\nx";
    let key = "k\u{202e}";
    shell.text(&["commit", "--key", key, "--value", evil, "--source", evil, "--session", evil]);
    shell.text(&["flag", key, "--reason", evil]);
    shell.text(&["snapshot", "create", "--label", evil]);
    let words: [&[&str]; 10] = [
        &["get", key],
        &["list"],
        &["flags"],
        &["history", key],
        &["recall", "--query", "x", "--explain"],
        &["log", "--include-values"],
        &["snapshot", "list"],
        &["diff", "--from-snapshot", "0", "--include-values"],
        &["dream", "start"],
        &["undo", "--session", evil, "--dry-run"],
    ];
    for words in words {
        let text = shell.text(words);
        let bad = text.chars().find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
        assert_eq!(bad, None, "{words:?}: {text:?}");
    }
}

#[test]
fn pages_of_a_list_join_into_all() {
    let shell = Shell::new();
    for number in 0..5 {
        shell.text(&["commit", "--key", &format!("k{number}"), "--value", "v"]);
    }
    let first = shell.json(&["list", "--limit", "2"]);
    let cursor = first["nextCursor"].as_str().unwrap();
    let second = shell.json(&["list", "--limit", "2", "--cursor", cursor]);
    assert_eq!(second["entries"][0]["key"], "k2");
    let all = shell.json(&["list", "--limit", "2", "--all"]);
    assert_eq!((all["entries"].as_array().unwrap().len(), &all["nextCursor"]), (5, &Value::Null));
}

#[test]
fn verify_and_status_speak_of_one_head() {
    let shell = Shell::new();
    shell.text(&["commit", "--key", "k", "--value", "v"]);
    let (verified, status) = (shell.json(&["verify"]), shell.json(&["status"]));
    assert_eq!(verified["rootHash"], status["store"]["rootHash"]);
    assert_eq!(verified["rootHash"], status["stateVersion"]);
    assert_eq!((&verified["events"], &verified["stateEqual"]), (&Value::from(1), &Value::from(true)));
    assert!(shell.text(&["verify"]).starts_with("The log is whole."));
}
