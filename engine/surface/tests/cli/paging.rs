//! Lists and logs: orders, filters and pages.

use serde_json::{Value, json};

use crate::shell::{Shell, each, keys};

/// All pages of a command, joined; the field is where they hold their items.
fn pages(shell: &Shell, words: &[&str], field: &str) -> Vec<Value> {
    let mut items = Vec::new();
    let mut page = shell.json(words);
    loop {
        let got = page[field].as_array().unwrap();
        assert!(!got.is_empty(), "{words:?}: an empty page");
        items.extend(got.iter().cloned());
        let Some(cursor) = page["nextCursor"].as_str() else { return items };
        page = shell.json(&[words, &["--cursor", cursor]].concat());
    }
}

/// Seven memories; `d` was changed last.
fn seven(shell: &Shell) {
    for key in ["g", "c", "e", "a", "d", "f", "b"] {
        shell.commit(key, "v");
    }
    shell.json(&["revise", "--key", "d", "--value", "w"]);
}

#[test]
fn pages_join_into_all_in_every_order() {
    let shell = Shell::new();
    seven(&shell);
    for (order, all) in [("key", "abcdefg"), ("newest", "dbfaecg"), ("oldest", "gceafbd")] {
        for limit in ["1", "2", "3", "7", "8"] {
            let got = pages(&shell, &["list", "--order", order, "--limit", limit], "entries");
            assert_eq!(keys(&got.into()).concat(), all, "{order} by {limit}");
        }
        let whole = shell.json(&["list", "--order", order, "--limit", "2", "--all"]);
        assert_eq!((keys(&whole["entries"]).concat(), &whole["nextCursor"]), (all.to_owned(), &Value::Null));
        assert_eq!((&whole["order"], &whole["total"]), (&json!(order), &json!(7)));
    }
}

#[test]
fn an_unchanged_memory_is_never_skipped_nor_given_twice_while_others_write() {
    let shell = Shell::new();
    seven(&shell);
    for order in ["key", "newest", "oldest"] {
        let first = shell.json(&["list", "--order", order, "--limit", "3"]);
        let mut seen: Vec<_> = keys(&first["entries"]).into_iter().map(str::to_owned).collect();
        shell.json(&["revise", "--key", &seen[1], "--value", "changed"]);
        shell.commit("aa", "new");
        let cursor = first["nextCursor"].as_str().unwrap();
        let rest = shell.json(&["list", "--order", order, "--limit", "100", "--cursor", cursor]);
        seen.extend(keys(&rest["entries"]).into_iter().map(str::to_owned));
        for key in ["a", "b", "c", "d", "e", "f", "g"] {
            let times = seen.iter().filter(|seen| *seen == key).count();
            assert!(times == 1 || key == seen[1], "{order}: {key} came {times} times");
        }
    }
}

#[test]
fn a_cursor_belongs_to_its_store_and_its_order() {
    let shell = Shell::new();
    seven(&shell);
    let page = shell.json(&["list", "--limit", "2"]);
    let cursor = page["nextCursor"].as_str().unwrap();
    shell.invalid("cursor", "invalid_cursor", &["list", "--order", "newest", "--cursor", cursor]);
    let other = shell.file("other");
    shell.json(&["commit", "--key", "k", "--value", "v", "--store", &other]);
    shell.invalid("cursor", "invalid_cursor", &["list", "--cursor", cursor, "--store", &other]);
}

#[test]
fn a_list_is_filtered_by_prefix_type_source_time_and_flag() {
    let shell = Shell::new();
    shell.json(&["commit", "--key", "p.one", "--value", "v", "--type", "procedural", "--source", "w"]);
    shell.json(&["commit", "--key", "p.two", "--value", "v", "--source", ""]);
    shell.json(&["commit", "--key", "P.three", "--value", "v"]);
    shell.json(&["flag", "p.two", "--reason", "r"]);
    let listed = |words: &[&str]| keys(&shell.json(&[&["list"], words].concat())["entries"]).join(" ");
    assert_eq!(listed(&["--prefix", "p."]), "p.one p.two");
    assert_eq!(listed(&["--prefix", " p."]), "");
    assert_eq!(listed(&["--type", "procedural"]), "p.one");
    assert_eq!(listed(&["--source", ""]), "p.two");
    assert_eq!(listed(&["--source", "", "--source", "w"]), "p.one p.two");
    assert_eq!(listed(&["--flagged"]), "p.two");
    assert_eq!(listed(&["--flagged=false"]), "P.three p.one");
    assert_eq!(listed(&["--updated-after", "1h"]), "P.three p.one p.two");
    assert_eq!(listed(&["--updated-before", "1h"]), "");
    let echoed = shell.json(&["list", "--source", "w", "--order", "oldest"]);
    assert_eq!(
        (&echoed["sources"], &echoed["order"], &echoed["values"]),
        (&json!(["w"]), &json!("oldest"), &json!("preview"))
    );
    let value =
        |values: &str| shell.json(&["list", "--values", values, "--limit", "1"])["entries"][0].get("value").cloned();
    assert_eq!((value("full"), value("none")), (Some(json!("v")), None));
}

#[test]
fn a_log_is_filtered_and_paged_both_ways() {
    let shell = Shell::new();
    shell.json(&["commit", "--key", "a", "--value", "v", "--source", "w", "--session", "s"]);
    shell.json(&["commit", "--key", "b", "--value", "v"]);
    shell.json(&["revise", "--key", "a", "--value", "w", "--reason", "because"]);
    let file = shell.write("one.jsonl", r#"{"key":"c","value":"v"}"#);
    let import = shell.json(&["import", &file])["importId"].as_str().unwrap().to_owned();
    let dream = shell.json(&["dream", "start"])["dreamId"].as_str().unwrap().to_owned();
    let seqs = |words: &[&str]| -> Vec<u64> {
        let log = shell.json(&[&["log"], words].concat());
        log["events"].as_array().unwrap().iter().map(|event| event["seq"].as_u64().unwrap()).collect()
    };
    let operation = shell.json(&["log", "--from-seq", "2", "--to-seq", "2"])["events"][0]["operationId"].clone();
    assert_eq!(seqs(&["--key", "a"]), [3, 1]);
    assert_eq!(seqs(&["--source", "w"]), [1]);
    assert_eq!(seqs(&["--session", "s"]), [1]);
    assert_eq!(seqs(&["--operation", operation.as_str().unwrap()]), [2]);
    assert_eq!(seqs(&["--import", &import]), [5, 4]);
    assert_eq!(seqs(&["--dream", &dream]), [6]);
    assert_eq!(seqs(&["--from-seq", "2", "--to-seq", "@3"]), [3, 2]);
    assert_eq!(seqs(&["--after", "1h", "--oldest-first"]), [1, 2, 3, 4, 5, 6]);
    assert_eq!(seqs(&["--before", "1h"]), [0; 0]);
    for (words, first) in [(&["log", "--limit", "2"][..], 6), (&["log", "--limit", "2", "--oldest-first"], 1)] {
        let events = pages(&shell, words, "events");
        assert_eq!((events.len(), &events[0]["seq"]), (6, &json!(first)), "{words:?}");
    }
    let events = shell.json(&["log", "--include-values", "--key", "a"])["events"].clone();
    assert_eq!((each(&events, "op"), each(&events, "value")), (vec!["revise", "create"], vec!["w", "v"]));
    assert_eq!(each(&events, "reason"), ["because", "null"]);
}

#[test]
fn the_next_page_is_named_as_a_command_that_works() {
    let shell = Shell::new();
    for number in 0..5 {
        shell.commit(&format!("it's {number}"), "v");
    }
    for (words, says) in [
        (&["list", "--prefix", "it's ", "--limit", "2"][..], "Next page: bilinc "),
        (&["log", "--oldest-first", "--limit", "2"], "More: bilinc "),
    ] {
        let text = shell.text(words);
        let line = text.lines().last().unwrap().strip_prefix(says).unwrap();
        let script = format!("'{}' {line}", env!("CARGO_BIN_EXE_bilinc"));
        let ran =
            std::process::Command::new("sh").args(["-c", &script]).env("BILINC_STORE", shell.store()).output().unwrap();
        assert!(ran.status.success(), "{line}: {ran:?}");
        assert!(String::from_utf8(ran.stdout).unwrap().contains("it's 2"), "{line}");
    }
}
