//! Export and import.

use serde_json::{Value, json};

use crate::shell::Shell;

/// A store with something in every field.
fn full(shell: &Shell) {
    let all = ["--type", "procedural", "--importance", "0.25", "--metadata", r#"{"z":1.10,"a":[1e5]}"#];
    let more = ["--session", "s", "--canonical", "--priority", "0.5", "--ttl", "9000000.5", "--source", "w"];
    let value = r#"{"z":1.10,"a":12345678901234567890,"e":1e300}"#;
    shell.json(&[&["commit", "--key", "full", "--value", value], &all[..], &more].concat());
    shell.commit("plain", "line\nbreak \u{1b}[31m \u{2028} 日本");
    shell.json(&["confirm", "plain"]);
    shell.json(&["flag", "plain", "--reason", "flags stay behind"]);
    shell.json(&["commit", "--key", "gone", "--value", "v"]);
    shell.json(&["forget", "--key", "gone", "--reason", "r"]);
}

#[test]
fn an_export_goes_into_another_store_and_comes_out_equal() {
    let shell = Shell::new();
    full(&shell);
    let lines = shell.text(&["export"]);
    assert_eq!(lines.lines().count(), 2, "{lines}");
    assert!(lines.contains(r#""value":{"z":1.10,"a":12345678901234567890,"e":1e300}"#), "{lines}");
    let (file, other) = (shell.file("out.jsonl"), shell.file("other"));
    let exported = shell.json(&["export", "-o", &file]);
    assert_eq!((&exported["exported"], &exported["file"]), (&json!(2), &json!(file)));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), lines);
    let imported = shell.json(&["import", &file, "--store", &other]);
    assert_eq!((&imported["lines"], &imported["created"]), (&json!(2), &json!(2)));
    assert_eq!(shell.text(&["export", "--store", &other]), lines);
    for key in ["full", "plain"] {
        let (mut here, mut there) = (shell.json(&["get", key]), shell.json(&["get", key, "--store", &other]));
        for entry in [&mut here, &mut there] {
            for own in ["entryVersion", "flags", "stateVersion"] {
                entry.as_object_mut().unwrap().remove(own);
            }
        }
        assert_eq!(here, there);
    }
    // Through a pipe, and once more over what is there.
    let piped = shell.feed(&["import", "-", "--store", &other, "--json"], lines.as_bytes()).json();
    assert_eq!(piped["replaced"], 2);
    assert_eq!(shell.text(&["export", "--store", &other]), lines);
    let skipped = shell.feed(&["import", "-", "--store", &other, "--if-absent", "--json"], lines.as_bytes()).json();
    assert_eq!((&skipped["skippedExisting"], &skipped["replaced"]), (&json!(2), &json!(0)));
}

#[test]
fn an_import_is_taken_back_by_its_id() {
    let shell = Shell::new();
    shell.commit("k1", "mine");
    let lines: String = (0..1500).map(|number| format!("{{\"key\":\"k{number}\",\"value\":{number}}}\n")).collect();
    let file = shell.write("many.jsonl", lines);
    let imported = shell.json(&["import", &file]);
    assert_eq!((&imported["created"], &imported["replaced"]), (&json!(1499), &json!(1)));
    let undone = shell.json(&["undo", "--import", imported["importId"].as_str().unwrap()]);
    assert_eq!(undone["restored"].as_array().unwrap().len(), 1500);
    assert_eq!((&shell.json(&["list"])["total"], shell.value("k1")), (&json!(1), json!("mine")));
}

#[test]
fn a_bad_line_refuses_the_whole_file_with_its_number() {
    let shell = Shell::new();
    shell.commit("kept", "v");
    let before = shell.json(&["status"])["stateVersion"].clone();
    for (reason, line) in [
        ("not_an_object", "nonsense"),
        ("not_an_object", r#"[{"key":"a","value":1}]"#),
        ("invalid_json", r#"{"key":"a","value":"#),
        ("unknown_field", r#"{"key":"a","value":1,"colour":"red"}"#),
        ("required", r#"{"value":1}"#),
        ("required", r#"{"key":"a"}"#),
        ("invalid_key", r#"{"key":"","value":1}"#),
        ("duplicate_member", r#"{"key":"a","value":{"m":1,"m":2}}"#),
    ] {
        let file = shell.write("bad.jsonl", format!("{{\"key\":\"good\",\"value\":1}}\n\n{line}\n"));
        let error = shell.refusal(&["import", &file]);
        assert_eq!(error["error"], "invalid_request", "{line}: {error}");
        assert!(error["message"].as_str().unwrap().contains("line 3"), "{line}: {error}");
        assert_eq!((&error["details"]["line"], &error["details"]["reason"]), (&json!(3), &json!(reason)), "{line}");
        assert_ne!(error["details"]["field"], "entry", "{line}: {error}");
    }
    let line = json!({"key": "k", "value": 1, "sessionId": "x".repeat(513)}).to_string();
    let details = shell.refused("invalid_request", &["import", &shell.write("bad.jsonl", line)]);
    assert_eq!(details, json!({"line": 1, "field": "sessionId", "reason": "out_of_range"}));
    assert_eq!(shell.json(&["status"])["stateVersion"], before);
}

#[test]
fn an_import_that_wrote_nothing_has_nothing_to_take_back() {
    let shell = Shell::new();
    shell.commit("k", "v");
    let empty = shell.write("empty.jsonl", "\n");
    let there = shell.write("there.jsonl", "{\"key\":\"k\",\"value\":1}\n{\"key\":\"bilinc:dream:x\",\"value\":1}\n");
    for words in [&["import", &empty][..], &["import", &there, "--if-absent"]] {
        assert_eq!(shell.json(words)["importId"], Value::Null, "{words:?}");
        let human = shell.text(words);
        assert!(human.contains("Nothing was written.") && !human.contains("undo"), "{words:?}: {human}");
    }
    assert_eq!(crate::operations::last_position(&shell), 1);
    let written = shell.json(&["import", &there]);
    assert!(written["importId"].is_string(), "{written}");
    assert!(shell.text(&["import", &there]).contains("To take it back: bilinc undo --import"));
}

#[test]
fn an_empty_file_imports_nothing_and_reserved_keys_are_counted() {
    let shell = Shell::new();
    let empty = shell.write("empty.jsonl", "");
    let imported = shell.json(&["import", &empty]);
    assert_eq!((&imported["lines"], &imported["created"]), (&json!(0), &json!(0)));
    let file = shell.write("report.jsonl", "{\"key\":\"bilinc:dream:x\",\"value\":1}\n{\"key\":\"k\",\"value\":1}\n");
    let imported = shell.json(&["import", &file]);
    assert_eq!((&imported["skippedReserved"], &imported["created"]), (&json!(1), &json!(1)));
}

#[test]
fn an_export_to_a_file_is_private_and_a_failed_one_leaves_what_was_there() {
    use std::os::unix::fs::PermissionsExt;
    let shell = Shell::new();
    let file = shell.write("out.jsonl", "precious");
    shell.refused("not_found", &["export", "-o", &file]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious");
    shell.commit("k", "v");
    shell.json(&["export", "-o", &file]);
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    shell.refused("invalid_request", &["export", "-o", &shell.file("no/such/folder/out.jsonl")]);
    let left: Vec<_> = std::fs::read_dir(shell.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().contains("bilinc-export")), "{left:?}");
}

#[test]
fn times_of_an_import_are_kept_when_they_lie_in_the_past() {
    let shell = Shell::new();
    let line = json!({"key": "k", "value": "v", "createdAt": "2020-01-02T03:04:05.123456Z", "updatedAt": "2021-01-01T00:00:00Z"});
    let file = shell.write("old.jsonl", line.to_string());
    shell.json(&["import", &file]);
    let entry = shell.json(&["get", "k"]);
    assert_eq!(
        (&entry["createdAt"], &entry["updatedAt"]),
        (&json!("2020-01-02T03:04:05.123Z"), &json!("2021-01-01T00:00:00.000Z"))
    );
    assert!(shell.text(&["export"]).contains("2020-01-02T03:04:05.123456Z"));
    // What changed is judged by when it was recorded, not by what it says of itself.
    let started: Value = shell.json(&["dream", "start"]);
    assert_eq!(started["candidates"].as_array().unwrap().len(), 1);
}

#[test]
fn an_export_never_replaces_a_link_or_a_device() {
    let shell = Shell::new();
    shell.commit("k", "v");
    let lines = shell.text(&["export"]);
    // A link to the caller's file: it leads there afterwards, too.
    let (file, link) = (shell.write("real.jsonl", "older"), shell.file("link.jsonl"));
    std::os::unix::fs::symlink(&file, &link).unwrap();
    shell.json(&["export", "-o", &link]);
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), lines);
    // A pipe with a reader.
    let pipe = shell.file("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).unwrap()
    });
    shell.json(&["export", "-o", &pipe]);
    assert_eq!(reader.join().unwrap(), lines);
    assert!(!std::fs::symlink_metadata(&pipe).unwrap().is_file());
    // A link to such a pipe, as /dev/stdout is one; this one is the test's own.
    let way = shell.file("way");
    std::os::unix::fs::symlink("/dev/fd/1", &way).unwrap();
    assert!(shell.text(&["export", "-o", &way]).starts_with(&lines));
    assert!(std::fs::symlink_metadata(&way).unwrap().is_symlink());
    // Standard output by another name, where somebody appends to a file.
    let log = shell.write("log", "precious\n");
    let append = std::fs::File::options().append(true).open(&log).unwrap();
    let status = shell.command(&["export", "-o", "/dev/fd/1"]).stdout(append).status().unwrap();
    assert!(status.success());
    assert_eq!(std::fs::read_to_string(&log).unwrap(), format!("precious\n{lines}"));
    let details = shell.refused("invalid_request", &["export", "-o", &shell.file("")]);
    assert_eq!(details["path"], shell.file(""));
    shell.refused("invalid_request", &["import", &shell.file("")]);
}
