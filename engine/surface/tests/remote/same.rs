//! A command says the same of a store and of a server.

use serde_json::{Value, json};

use crate::both::Both;

/// Memories, one of them with numbers that no float holds.
fn lines(number: usize) -> String {
    let line = |index| json!({"key": format!("many.{index:03}"), "value": format!("the value {index}")}).to_string();
    (0..number).map(line).collect::<Vec<_>>().join("\n")
}

/// Actions on many candidates, with the versions that each side gave them.
fn actions(both: &Both, started: &[Value; 2], op: &str, number: usize, name: &str) {
    for (side, home) in both.homes().into_iter().enumerate() {
        let candidates = started[side]["candidates"].as_array().unwrap();
        let mut candidates: Vec<_> =
            candidates.iter().filter(|found| found["key"].as_str().unwrap().starts_with("many.")).collect();
        candidates.sort_by_key(|found| found["key"].as_str().unwrap().to_owned());
        let action = |found: &&Value| json!({"op": op, "key": found["key"], "expected_version": found["entryVersion"], "reason": "looked at"});
        let list: Vec<_> = candidates.iter().take(number).map(action).collect();
        std::fs::write(home.join(name), json!({"actions": list, "report": "done"}).to_string()).unwrap();
    }
}

#[test]
fn every_command_says_the_same_of_a_store_and_of_a_server() {
    let mut both = Both::new();
    entries(&mut both);
    reads(&both);
    dreams(&mut both);
    back(&mut both);
    whole(&both);
    assert!(both.wrong().is_empty(), "{}", both.wrong().join("\n\n"));
    assert_eq!(both.missing(), Vec::<&str>::new(), "compare these in both forms, or say that they are local");
}

fn entries(both: &mut Both) {
    let number = r#"{"z":1.10,"a":[12345678901234567890,1.0,null]}"#;
    let made = both.same(&["commit", "--key", "a", "--value", number, "--json"]);
    both.learn("a", &made, "/entryVersion");
    both.same(&["commit", "--key", "-b", "--value", "null", "--type", "working", "--metadata", r#"{"m":1.0}"#]);
    both.same(&["commit", "--key", "a", "--value", "1", "--if-absent"]);
    both.same(&[
        "commit",
        "--key",
        "a",
        "--value",
        "1",
        "--expected-version",
        "v1_00000000000000000000000000000000",
        "--json",
    ]);
    both.same_with(&["commit", "--key", "c", "--value", "-", "--ttl", "86400", "--canonical"], "ğ\u{1b}[2J".as_bytes());
    both.same(&["commit", "--key", "s", "--value", "AKIAIOSFODNN7EXAMPLE aws_secret_access_key", "--json"]);
    both.same(&["commit", "--key", "once", "--value", "1", "--idempotency-key", "n"]);
    both.same(&["commit", "--key", "once", "--value", "1", "--idempotency-key", "n"]);
    both.same(&["commit", "--key", "once", "--value", "2", "--idempotency-key", "n", "--json"]);
    both.same(&["revise", "--key", "a", "--value", "2", "--expected-version", "<a>", "--reason", "r", "--json"]);
    both.same(&["revise", "--key", "a", "--value", "3", "--expected-version", "<a>"]);
    both.same(&["revise", "--key", "none", "--value", "3"]);
    for form in [&[][..], &["--json"]] {
        both.same(&[&["confirm", "--reason", "asked"], form, &["--", "-b"]].concat());
        both.same(&[&["flag", "a", "--reason", "odd", "--evidence", "c"], form].concat());
    }
    both.read_same(&["flags"]);
    for form in [&[][..], &["--json"]] {
        both.same(&[&["unflag", "a"], form].concat());
    }
    both.same(&["forget", "--key", "once", "--reason", "r"]);
    both.same(&["forget", "--key", "once", "--reason", "r", "--json"]);
    both.same(&["forget", "--key", "once", "--reason", "r", "--purge", "--json"]);
    both.same(&["commit", "--key", "bilinc:dream:x", "--value", "1"]);
    both.same(&["commit", "--key", "", "--value", "1", "--json"]);
}

fn reads(both: &Both) {
    for words in [
        &["get", "a"][..],
        &["get", "--", "-b"],
        &["get", "c"],
        &["get", "a", "--as-of", "@1"],
        &["get", "none"],
        &["get", "a", "--as-of", "soon"],
        &["list"],
        &["list", "--values", "full", "--order", "newest"],
        &["list", "--limit", "1", "--all", "--values", "none"],
        &["list", "--limit", "2"],
        &["list", "--cursor", "odd"],
        &["list", "--limit", "0"],
        &["recall", "--query", "ğ"],
        &["recall", "--query", "nothing of that kind"],
        &["recall", "--query", "ğ", "--explain"],
        &["history", "a"],
        &["history", "once"],
        &["history", "none"],
        &["log"],
        &["log", "--limit", "2", "--oldest-first", "--include-values"],
        &["log", "--key", "a", "--from-seq", "2"],
        &["dream", "list"],
        &["dream", "show", "00000000-0000-7000-8000-000000000000"],
        &["dream", "show", "odd"],
    ] {
        both.read_same(words);
    }
}

fn dreams(both: &mut Both) {
    both.write("many.jsonl", &lines(60));
    both.same(&["import", "many.jsonl"]);
    let imported = both.same(&["import", "many.jsonl", "--if-absent", "--json"]);
    assert_eq!(imported[1]["skippedExisting"], 60);
    both.same(&["dream", "start", "--prefix", "none."]);
    let started = both.same(&["dream", "start", "--json"]);
    both.learn("dream", &started, "/dreamId");
    // Three pages, tried out and then done.
    actions(both, &started, "confirm", 60, "confirm.json");
    both.read_same(&["dream", "apply", "<dream>", "--file", "confirm.json", "--dry-run"]);
    both.same(&["dream", "apply", "<dream>", "--file", "confirm.json", "--idempotency-key", "pages"]);
    let again =
        both.same(&["dream", "apply", "<dream>", "--file", "confirm.json", "--idempotency-key", "pages", "--json"]);
    assert_eq!((&again[1]["replayed"], &again[1]["pages"]), (&true.into(), &3.into()));
    assert_eq!(again[1]["results"][59]["index"], 59);
    // What comes too late is a conflict, on every page.
    both.same(&["dream", "apply", "<dream>", "--file", "confirm.json", "--json"]);
    both.read_same(&["dream", "show", "<dream>"]);
    both.read_same(&["dream", "list"]);
    both.read_same(&["dream", "undo", "<dream>", "--dry-run"]);
    both.same(&["dream", "undo", "<dream>"]);
    both.same(&["dream", "undo", "<dream>", "--json"]);
    both.same(&["dream", "apply", "<dream>", "--file", "confirm.json"]);
    both.same(&["dream", "apply", "<dream>", "--file", "confirm.json", "--json"]);
    // The second page goes over the cap: what the first would give is told.
    let started = both.same(&["dream", "start", "--json"]);
    both.learn("second", &started, "/dreamId");
    actions(both, &started, "forget", 40, "forget.json");
    for (side, home) in both.homes().into_iter().enumerate() {
        let mut file: Value = serde_json::from_slice(&std::fs::read(home.join("forget.json")).unwrap()).unwrap();
        for action in file["actions"].as_array_mut().unwrap().iter_mut().take(20) {
            action["op"] = "flag".into();
            action.as_object_mut().unwrap().remove("expected_version");
        }
        assert!(side < 2);
        std::fs::write(home.join("forget.json"), file.to_string()).unwrap();
    }
    let tried = both.same(&["dream", "apply", "<second>", "--file", "forget.json", "--dry-run", "--json"]);
    assert_eq!((&tried[1]["error"], &tried[1]["details"]["page"]), (&"forget_cap_exceeded".into(), &2.into()));
    both.same(&["dream", "apply", "<second>", "--file", "forget.json", "--dry-run"]);
    both.same(&["dream", "apply", "<second>", "--file", "forget.json"]);
    both.same(&["dream", "apply", "<second>", "--file", "forget.json", "--json"]);
    both.write(
        "bad.json",
        r#"[{"op":"forget","key":"a","expected_version":"v1_00000000000000000000000000000000","reason":""}]"#,
    );
    both.same(&["dream", "apply", "<second>", "--file", "bad.json", "--json"]);
    both.same(&["dream", "apply", "<second>", "--report", "enough", "--json"]);
}

fn back(both: &mut Both) {
    let taken = both.same(&["snapshot", "create", "--label", "before", "--json"]);
    both.learn("snapshot", &taken, "/snapshot/id");
    both.same(&["snapshot", "create"]);
    both.read_same(&["snapshot", "list"]);
    both.same(&["commit", "--key", "later", "--value", "1", "--session", "run"]);
    both.same(&["revise", "--key", "a", "--value", "later", "--session", "run"]);
    both.read_same(&["diff", "--from-snapshot", "<snapshot>"]);
    both.read_same(&["diff", "--from-snapshot", "@1", "--to-snapshot", "@3", "--include-values"]);
    both.read_same(&["diff", "--from-snapshot", "30d"]);
    both.read_same(&["diff", "--from-snapshot", "odd"]);
    both.read_same(&["undo", "--session", "run", "--dry-run"]);
    both.same(&["undo", "--session", "run"]);
    both.same(&["undo", "--session", "run", "--json"]);
    both.same(&["commit", "--key", "later", "--value", "2"]);
    let preview = ["rollback", "preview", "--snapshot", "<snapshot>", "--reason", "bad"];
    both.read_same(&preview);
    let token = both.same(&[&preview[..], &["--json"]].concat());
    both.learn("token", &token, "/confirmationToken");
    let execute = ["rollback", "execute", "--snapshot", "<snapshot>", "--reason", "bad"];
    both.read_same(&execute);
    both.same(&[&execute[..], &["--confirmation-token", "<token>"]].concat());
    both.read_same(&[&execute[..], &["--confirmation-token", "<token>"]].concat());
    both.same(&[&execute[..], &["--yes", "--json"]].concat());
}

fn whole(both: &Both) {
    both.read_same(&["status"]);
    both.read_same(&["verify"]);
    both.read_same(&["verify", "--since-head", &"0".repeat(64)]);
    both.read_same(&["health"]);
    both.same(&["export", "-o", "out.jsonl"]);
    both.same(&["export", "-o", "out.jsonl", "--json"]);
    let [here, there] = both.read("out.jsonl");
    let values = |text: &str| {
        let line = |line: &str| serde_json::from_str::<Value>(line).unwrap()["value"].clone();
        text.lines().map(line).collect::<Vec<_>>()
    };
    assert_eq!(values(&here), values(&there));
    assert!(there.contains("the value 59"));
    both.same_with(&["import", "-"], here.as_bytes());
    both.same_with(&["import", "-", "--json"], b"{\"key\":\"k\",\"value\":1}\n{\"key\":\"k\"}\n");
    both.same_with(&["import", "-"], b"not JSON");
    both.same(&["import", "none.jsonl", "--json"]);
}
