//! What reaches a terminal, a pipe and a file.

use std::io::Read;
use std::process::Stdio;

use crate::shell::Shell;

/// Text that would clear a screen, change colours, ring, rename a window and turn text round.
const EVIL: &str = "\u{1b}[2J\u{1b}]0;title\u{7}\u{9b}31m\u{202e}\u{2028}\r\n\tx";

/// Everything but letters, digits, what they are drawn with, and line breaks of our own.
#[track_caller]
fn harmless(words: &[&str], text: &str) {
    let bad = text.chars().find(|c| (c.is_control() && *c != '\n') || matches!(c, '\u{2028}'..='\u{202e}'));
    assert_eq!(bad, None, "{words:?}: {text:?}");
}

#[test]
fn no_stored_text_drives_the_terminal() {
    let shell = Shell::new();
    let key = "k\u{202e}\u{2028}";
    let metadata = serde_json::json!({ EVIL: EVIL }).to_string();
    let commit =
        ["commit", "--key", key, "--value", EVIL, "--metadata", &metadata, "--source", EVIL, "--session", EVIL];
    harmless(&commit, &shell.text(&commit));
    let dream = shell.json(&["dream", "start"]);
    let (id, version) = (dream["dreamId"].as_str().unwrap(), &dream["candidates"][0]["entryVersion"]);
    let actions = serde_json::json!({"report": EVIL, "actions": [
        {"op": "revise", "key": key, "expected_version": version, "new_value": {EVIL: EVIL}, "reason": EVIL, "merged_from": [key]},
        {"op": "flag", "key": key, "reason": EVIL, "evidence_keys": [key]},
        {"op": "confirm", "key": "other\u{202e}", "expected_version": version, "reason": EVIL}]});
    let file = shell.write("actions.json", actions.to_string());
    let snapshot = shell.json(&["snapshot", "create", "--label", EVIL])["snapshot"]["id"].as_str().unwrap().to_owned();
    let reads: [&[&str]; 19] = [
        &["dream", "apply", id, "--file", &file],
        &["dream", "show", id],
        &["dream", "list"],
        &["dream", "start"],
        &["get", key],
        &["list", "--source", EVIL, "--limit", "1"],
        &["flags"],
        &["flag", key, "--reason", EVIL, "--evidence", key],
        &["history", key],
        &["recall", "--query", "x title", "--explain"],
        &["log", "--include-values", "--limit", "3"],
        &["snapshot", "list"],
        &["diff", "--from-snapshot", "0", "--include-values"],
        &["rollback", "preview", "--snapshot", &snapshot, "--reason", EVIL],
        &["undo", "--session", EVIL, "--dry-run"],
        &["dream", "undo", id],
        &["revise", "--key", key, "--value", EVIL, "--reason", EVIL],
        &["forget", "--key", key, "--reason", EVIL],
        &["status"],
    ];
    for words in reads {
        harmless(words, &shell.text(words));
    }
}

#[test]
fn no_error_drives_the_terminal() {
    let shell = Shell::new();
    shell.json(&["commit", "--key", "k\u{202e}", "--value", "v", "--source", EVIL]);
    let stale = "v1_00000000000000000000000000000007";
    let words: [&[&str]; 10] = [
        &["get", EVIL],
        &["get", "missing\u{202e}"],
        &["get", "k\u{202e}", "--as-of", EVIL],
        &["confirm", "k\u{202e}", "--expected-version", stale],
        &["dream", "show", EVIL],
        &["import", EVIL],
        &["list", "--store", EVIL],
        &["list", "--order", EVIL],
        &["list", EVIL],
        &[EVIL],
    ];
    for words in words {
        let ran = shell.run(words);
        assert_ne!(ran.code, Some(0), "{words:?}");
        assert_eq!(ran.out, "", "{words:?}");
        harmless(words, &ran.err);
    }
}

#[test]
fn colours_and_progress_are_for_terminals_only() {
    let shell = Shell::new();
    shell.commit("k", "v");
    let lines: String = (0..2000).map(|number| format!("{{\"key\":\"k{number}\",\"value\":{number}}}\n")).collect();
    let file = shell.write("many.jsonl", lines);
    let words: [&[&str]; 9] = [
        &["import", &file],
        &["import", &file, "--json"],
        &["verify"],
        &["verify", "--json"],
        &["backup", "copy"],
        &["export", "-o", "out.jsonl", "--json"],
        &["export"],
        &["list"],
        &["--help"],
    ];
    for words in words {
        let ran = shell.run(words);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{words:?}");
        assert!(!ran.out.contains('\u{1b}') && !ran.out.contains('\r'), "{words:?}");
    }
    let json = shell.run(&["import", &file, "--json"]).json();
    assert_eq!(json["lines"], 2000);
}

#[test]
fn a_closed_pipe_ends_a_command_quietly() {
    let shell = Shell::new();
    let filler = "x".repeat(500);
    let lines: String = (0..2000).map(|number| format!("{{\"key\":\"k{number}\",\"value\":\"{filler}\"}}\n")).collect();
    let file = shell.write("many.jsonl", lines);
    shell.json(&["import", &file]);
    let words: [&[&str]; 7] = [
        &["list", "--all", "--values", "full"],
        &["list", "--all", "--values", "full", "--json"],
        &["export"],
        &["log", "--limit", "1000", "--include-values"],
        &["diff", "--from-snapshot", "0", "--limit", "1000", "--include-values"],
        &["completions", "bash"],
        &["demo"],
    ];
    for words in words {
        let mut command = shell.command(words);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_exact(&mut [0; 10]).unwrap();
        drop(stdout);
        let output = child.wait_with_output().unwrap();
        assert_eq!(
            (output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()),
            (Some(0), ""),
            "{words:?}"
        );
    }
}

#[test]
fn a_full_disk_under_standard_output_is_a_failure() {
    if !std::path::Path::new("/dev/full").exists() {
        return;
    }
    let shell = Shell::new();
    shell.commit("k", "v");
    let words: [&[&str]; 6] =
        [&["list"], &["list", "--json"], &["export"], &["--help"], &["list", "--help"], &["--version"]];
    for words in words {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = shell.command(words).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{words:?}");
        assert!(!output.stderr.is_empty(), "{words:?}");
    }
}

#[test]
fn a_followed_log_shows_each_event_as_it_comes_and_ends_with_its_reader() {
    use std::io::{BufRead, BufReader};
    let shell = Shell::new();
    shell.commit("first", "v");
    let mut command = shell.command(&["log", "--follow", "--json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || -> serde_json::Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    assert_eq!(next()["key"], "first");
    shell.commit("second", "v");
    let event = next();
    assert_eq!((&event["key"], &event["seq"]), (&"second".into(), &2.into()));
    drop(lines);
    shell.commit("third", "v");
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}
