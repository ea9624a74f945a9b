//! Refusals of dreams, and what is an error of one action alone.

use serde_json::{Value, json};

use crate::shell::{Dream, Shell, each};

const MISSING: &str = "01920000-0000-7000-8000-000000000001";
const SECRET: &str = concat!("ghp_", "abcdefghijklmnopqrstuvwxyz0123456789");

/// A dream over memories `k0`, `k1` ….
fn dream(shell: &Shell, number: usize) -> Dream {
    let keys: Vec<_> = (0..number).map(|number| format!("k{number}")).collect();
    let memories: Vec<_> = keys.iter().map(|key| (key.as_str(), "v")).collect();
    shell.dream(&memories)
}

fn action(dream: &Dream, op: &str, number: usize) -> Value {
    let key = format!("k{number}");
    json!({"op": op, "key": key, "expected_version": dream.version(&key), "reason": "r"})
}

fn actions(dream: &Dream, op: &str, numbers: std::ops::Range<usize>) -> Vec<Value> {
    numbers.map(|number| action(dream, op, number)).collect()
}

fn file(shell: &Shell, actions: &[Value]) -> String {
    shell.write("actions.json", Value::from(actions).to_string())
}

#[test]
fn a_dream_that_is_not_there_is_not_found() {
    let shell = Shell::new();
    shell.commit("k", "v");
    let empty = shell.write("none.json", "[]");
    let words: [&[&str]; 4] = [
        &["dream", "show", MISSING],
        &["dream", "undo", MISSING],
        &["dream", "apply", MISSING, "--file", &empty],
        &["undo", "--dream", MISSING],
    ];
    for words in words {
        assert_eq!(shell.refused("dream_not_found", words)["dreamId"], MISSING, "{words:?}");
    }
}

#[test]
fn an_undone_dream_takes_no_more_actions() {
    let shell = Shell::new();
    let dream = dream(&shell, 2);
    let file = file(&shell, &actions(&dream, "confirm", 0..1));
    shell.json(&["dream", "apply", dream.id(), "--file", &file]);
    shell.json(&["dream", "undo", dream.id()]);
    let details = shell.refused("dream_closed", &["dream", "apply", dream.id(), "--file", &file]);
    assert_eq!((&details["dreamId"], &details["reason"]), (&json!(dream.id()), &json!("undone")));
}

#[test]
fn a_page_past_the_forget_cap_is_refused_whole_and_earlier_pages_stay() {
    let shell = Shell::new();
    let dream = dream(&shell, 40);
    assert_eq!(dream.0["forgetCap"], 12);
    let many = [actions(&dream, "confirm", 0..25), actions(&dream, "forget", 25..40)].concat();
    let file = file(&shell, &many);
    let details = shell.run(&["dream", "apply", dream.id(), "--file", &file, "--json"]).error(1);
    assert_eq!(details["error"], "forget_cap_exceeded");
    let details = &details["details"];
    assert_eq!((&details["cap"], &details["applied"], &details["asked"]), (&json!(12), &json!(0), &json!(15)));
    assert_eq!(details["page"], 2);
    assert_eq!(each(&details["results"], "status"), ["applied"; 25]);
    assert_eq!(details["notTried"], json!((25..40).collect::<Vec<_>>()));

    let human = shell.run(&["dream", "apply", dream.id(), "--file", &file]);
    assert_eq!((human.code, human.out.as_str()), (Some(1), ""));
    assert!(human.err.contains("Page 2 failed. The pages before it stay applied:"), "{human:?}");
    assert!(human.err.contains("Not carried out: actions 25 to 39."), "{human:?}");
    assert_eq!(shell.json(&["list"])["total"], 40);
    assert_eq!(shell.json(&["dream", "show", dream.id()])["state"], "open");
}

#[test]
fn what_is_no_action_refuses_all_by_its_index() {
    let shell = Shell::new();
    let dream = dream(&shell, 30);
    let id = dream.id();
    for (field, reason, text) in [
        ("actions", "invalid_json", ""),
        ("actions", "invalid_json", "[{]"),
        ("body", "wrong_type", "7"),
        ("other", "unknown_field", r#"{"actions":[],"other":1}"#),
        ("actions[0].op", "unknown_op", r#"[{"op":"erase","key":"k0","reason":"r"}]"#),
        ("actions[0].reason", "required", r#"[{"op":"flag","key":"k0"}]"#),
        (
            "actions[0].expectedVersion",
            "invalid_id",
            r#"[{"op":"flag","key":"k0","reason":"r","expected_version":"7"}]"#,
        ),
        ("actions[0].why", "unknown_field", r#"[{"op":"flag","key":"k0","reason":"r","why":"w"}]"#),
        ("actions[0].key", "wrong_type", r#"[{"op":"flag","key":7,"reason":"r"}]"#),
    ] {
        let file = shell.write("wrong.json", text);
        shell.invalid(field, reason, &["dream", "apply", id, "--file", &file]);
    }
    // Also on a later page: nothing at all is carried out.
    let mut many = actions(&dream, "confirm", 0..30);
    many[27]["reason"] = Value::Null;
    let file = file(&shell, &many);
    shell.invalid("actions[27].reason", "wrong_type", &["dream", "apply", id, "--file", &file]);
    assert_eq!(shell.json(&["dream", "show", id])["actions"], json!([]));
}

#[test]
fn a_thousand_actions_are_taken_and_one_more_is_not() {
    let shell = Shell::new();
    let dream = dream(&shell, 10);
    let flags: Vec<_> =
        (0..1001).map(|number| json!({"op": "flag", "key": format!("k{}", number % 10), "reason": "r"})).collect();
    let file = file(&shell, &flags);
    let details = shell.refused("invalid_request", &["dream", "apply", dream.id(), "--file", &file]);
    assert_eq!((&details["field"], &details["reason"]), (&json!("actions"), &json!("too_many")));
    assert_eq!(details["notTried"].as_array().unwrap().len(), 1001);
    let file = shell.write("thousand.json", Value::from(&flags[..1000]).to_string());
    let applied = shell.json(&["dream", "apply", dream.id(), "--file", &file]);
    assert_eq!((&applied["pages"], &applied["state"]), (&json!(40), &json!("finished")));
    let indexes: Vec<_> =
        applied["results"].as_array().unwrap().iter().map(|result| &result["index"]).cloned().collect();
    assert_eq!(Value::from(indexes), json!((0..1000).collect::<Vec<_>>()));
}

#[test]
fn what_cannot_be_carried_out_is_the_error_of_its_action_alone() {
    let shell = Shell::new();
    let dream = dream(&shell, 5);
    let version = dream.version("k0");
    let list = json!([
        {"op": "confirm", "key": "stranger", "expected_version": version, "reason": "r"},
        {"op": "confirm", "key": "k0", "reason": "no version named"},
        {"op": "revise", "key": "k0", "expected_version": version, "new_value": "x".repeat(1 << 20), "reason": "r"},
        {"op": "revise", "key": "k0", "expected_version": version, "new_value": {"t": SECRET}, "reason": "r"},
        {"op": "confirm", "key": "k0", "expected_version": version, "reason": SECRET},
        {"op": "revise", "key": "k0", "expected_version": version, "new_value": "x".repeat(1 << 20), "reason": SECRET},
        {"op": "confirm", "key": "k1", "expected_version": dream.version("k1"), "reason": "r"}]);
    let file = shell.write("actions.json", list.to_string());
    let applied = shell.run(&["dream", "apply", dream.id(), "--file", &file, "--json"]);
    assert!(!applied.out.contains("abcdefghijklmnop"), "{applied:?}");
    let applied = applied.json();
    let results = &applied["results"];
    assert_eq!(each(results, "status"), ["error", "error", "error", "error", "error", "error", "applied"]);
    for (index, code) in
        [(2, "invalid_request"), (3, "secret_detected"), (4, "secret_detected"), (5, "invalid_request")]
    {
        assert_eq!(results[index]["error"]["code"], code, "{results}");
    }
    let human = shell.run(&["dream", "show", dream.id()]);
    assert!(!human.out.contains("abcdefghijklmnop"), "{human:?}");
    assert_eq!(shell.value("k0"), "v");
}

#[test]
fn a_file_that_cannot_be_read_is_the_callers_mistake() {
    let shell = Shell::new();
    let dream = dream(&shell, 2);
    let binary = shell.write("binary", [0xff, 0xfe, 0x00, 0x80]);
    let folder = shell.file("");
    for path in [shell.file("missing").as_str(), &binary, &folder] {
        let details = shell.refused("invalid_request", &["dream", "apply", dream.id(), "--file", path]);
        assert_eq!(details["path"], path);
    }
    let ran = shell.feed(&["commit", "--key", "k", "--value", "-", "--json"], &[0xff, 0xfe]);
    let error = ran.error(1);
    assert_eq!((&error["error"], &error["details"]["reason"]), (&json!("invalid_request"), &json!("invalid_utf8")));
    let details = shell.refused("invalid_request", &["import", &binary]);
    assert_eq!(details, json!({"line": 1, "reason": "invalid_utf8"}));
    shell.refused("invalid_request", &["import", &shell.file("missing")]);
}

#[test]
fn limits_of_a_dream_start_and_of_a_report_hold() {
    let shell = Shell::new();
    let dream = dream(&shell, 2);
    for limit in ["0", "201"] {
        shell.invalid("limit", "out_of_range", &["dream", "start", "--limit", limit]);
    }
    shell.invalid("since", "invalid_time", &["dream", "start", "--since", "soon"]);
    let long = "x".repeat(65_536);
    shell.invalid("report", "too_large", &["dream", "apply", dream.id(), "--report", &long]);
    shell.refused("secret_detected", &["dream", "apply", dream.id(), "--report", SECRET]);
    let both = shell.write("both.json", r#"{"actions":[],"report":"one"}"#);
    let ran = shell.run(&["dream", "apply", dream.id(), "--file", &both, "--report", "two", "--json"]);
    assert_eq!(ran.error(2)["details"]["field"], "report");
    assert_eq!(shell.json(&["dream", "show", dream.id()])["state"], "open");
}

#[test]
fn a_file_of_actions_is_read_up_to_a_limit_only() {
    let shell = Shell::new();
    let dream = dream(&shell, 1);
    // A hole of a file: its bytes take no room.
    let path = shell.write("huge.json", "[]");
    std::fs::File::options().write(true).open(&path).unwrap().set_len((64 << 20) + 1).unwrap();
    shell.invalid("actions", "too_large", &["dream", "apply", dream.id(), "--file", &path]);
    let spaces = " ".repeat((64 << 20) + 1);
    let ran = shell.feed(&["dream", "apply", dream.id(), "--file", "-", "--json"], spaces.as_bytes());
    assert_eq!(ran.error(1)["details"]["reason"], "too_large");
    assert_eq!(shell.json(&["dream", "show", dream.id()])["actions"], json!([]));
}

#[test]
fn a_report_comes_from_standard_input_too_and_not_beside_the_actions() {
    let shell = Shell::new();
    let dream = dream(&shell, 1);
    let both = ["dream", "apply", dream.id(), "--file", "-", "--report", "-", "--json"];
    assert_eq!(shell.feed(&both, b"[]").error(2)["details"]["field"], "report");
    let words = ["dream", "apply", dream.id(), "--report", "-", "--json"];
    let error = shell.feed(&words, &vec![b'x'; (16 << 20) + 1]).error(1);
    assert_eq!((&error["details"]["field"], &error["details"]["reason"]), (&json!("report"), &json!("too_large")));
    shell.feed(&words, b"nothing to do\n").json();
    assert_eq!(shell.json(&["dream", "show", dream.id()])["report"], "nothing to do");
}

#[test]
fn a_dry_run_that_fails_on_a_page_says_that_nothing_was_written() {
    let shell = Shell::new();
    let dream = dream(&shell, 40);
    let many = [actions(&dream, "confirm", 0..25), actions(&dream, "forget", 25..40)].concat();
    let file = file(&shell, &many);
    let words = ["dream", "apply", dream.id(), "--file", &file, "--dry-run"];
    let human = shell.run(&words);
    assert!(human.err.contains("Dry run, nothing was written: page 2 would fail."), "{human:?}");
    assert!(!human.err.contains("stay applied"), "{human:?}");
    let details = shell.run(&[&words[..], &["--json"]].concat()).error(1)["details"].clone();
    let results = details["results"].as_array().unwrap();
    assert!(results.len() == 25 && results.iter().all(|result| result.get("entryVersion").is_none()), "{details}");
}

#[test]
fn a_dry_run_hands_out_no_version_that_never_comes_to_be() {
    let shell = Shell::new();
    let dream = dream(&shell, 3);
    let revise = |number: usize| {
        let mut action = action(&dream, "revise", number);
        action["new_value"] = json!("w");
        action
    };
    let list = [
        action(&dream, "flag", 0),
        revise(0),
        json!({"op": "flag", "key": "k0", "reason": "r"}),
        action(&dream, "confirm", 0),
        action(&dream, "confirm", 1),
        action(&dream, "flag", 2),
    ];
    let file = file(&shell, &list);
    let words = ["dream", "apply", dream.id(), "--file", &file, "--dry-run"];
    let trial = shell.json(&words);
    let results = &trial["results"];
    assert_eq!(each(results, "status"), ["applied", "applied", "applied", "conflict", "applied", "applied"]);
    let (first, last) = (json!(dream.version("k0")), json!(dream.version("k2")));
    let versions: Vec<_> = (0..6).map(|index| results[index].get("entryVersion")).collect();
    assert_eq!(versions, [Some(&first), None, None, None, None, Some(&last)]);
    assert_eq!(results[3]["current"], json!({}));
    let human = shell.text(&words);
    assert!(human.contains("changed by an action before it"), "{human}");
    assert_eq!(shell.json(&["get", "k0"])["entryVersion"], first);
}
