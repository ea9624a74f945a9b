//! Reading the past: at a position, a time or a snapshot.

use serde_json::json;

use crate::shell::{Shell, keys};

#[test]
fn a_memory_is_shown_as_it_was_at_each_kind_of_point() {
    let shell = Shell::new();
    shell.commit("k", "first");
    let first = shell.json(&["get", "k"]);
    let snapshot = shell.json(&["snapshot", "create"])["snapshot"]["id"].as_str().unwrap().to_owned();
    // So that the two times differ in what is shown of them.
    while shell.json(&["snapshot", "create"])["snapshot"]["createdAt"].as_str() <= first["updatedAt"].as_str() {}
    let at = shell.json(&["snapshot", "list", "--limit", "1"])["snapshots"][0]["createdAt"].clone();
    let last = crate::operations::last_position(&shell);
    shell.json(&["revise", "--key", "k", "--value", "second"]);
    for point in ["1", "@1", " @1 ", &last.to_string(), &snapshot, at.as_str().unwrap()] {
        let entry = shell.json(&["get", "k", "--as-of", point]);
        assert_eq!((&entry["value"], &entry["entryVersion"]), (&json!("first"), &first["entryVersion"]), "{point}");
    }
    let head = format!("@{}", last + 1);
    assert_eq!(shell.json(&["get", "k", "--as-of", &head])["value"], "second");
    assert_eq!(shell.value("k"), "second");
    for point in ["0", "@0", "2020-01-01", "365d"] {
        shell.refused("memory_not_found", &["get", "k", "--as-of", point]);
    }
}

#[test]
fn a_time_that_is_shown_is_a_point_as_it_stands() {
    let shell = Shell::new();
    // Whatever microseconds the recorded times have.
    for number in 0..20 {
        let key = format!("k{number}");
        shell.commit(&key, "v");
        let at = shell.json(&["get", &key])["updatedAt"].as_str().unwrap().to_owned();
        assert_eq!(shell.json(&["get", &key, "--as-of", &at])["value"], "v", "{at}");
        let diff = shell.json(&["diff", "--from-snapshot", &at]);
        assert_eq!(diff["fromSeq"], number + 1, "{at}");
        let found = shell.json(&["recall", "--query", &key, "--at", &at]);
        assert!(keys(&found["results"]).contains(&key.as_str()), "{at}");
        for (words, list) in [
            (["list", "--updated-after", &at], "entries"),
            (["list", "--updated-before", &at], "entries"),
            (["log", "--after", &at], "events"),
            (["log", "--before", &at], "events"),
        ] {
            let answer = shell.json(&words);
            assert!(!keys(&answer[list]).contains(&key.as_str()), "{words:?}: {answer}");
        }
        assert_eq!(shell.json(&["undo", "--after", &at])["restored"], json!([]), "{at}");
    }
}

#[test]
fn a_time_with_all_its_digits_is_that_moment() {
    let shell = Shell::new();
    let line = json!({"key": "k", "value": "v", "updatedAt": "2021-01-01T00:00:00.123456Z"});
    shell.json(&["import", &shell.write("one.jsonl", line.to_string())]);
    for (word, time, total) in [
        ("--updated-after", "2021-01-01T00:00:00.123Z", 0),
        ("--updated-after", "2021-01-01T00:00:00.123455Z", 1),
        ("--updated-after", "2021-01-01T00:00:00.123456Z", 0),
        ("--updated-after", "2021-01-01T00:00:00.122Z", 1),
        ("--updated-before", "2021-01-01T00:00:00.123Z", 0),
        ("--updated-before", "2021-01-01T00:00:00.123457Z", 1),
        ("--updated-before", "2021-01-01T00:00:00.124Z", 1),
    ] {
        assert_eq!(shell.json(&["list", word, time])["total"], total, "{word} {time}");
    }
}

#[test]
fn times_are_taken_in_every_spelling_and_nonsense_is_refused_where_it_stands() {
    let shell = Shell::new();
    let line = json!({"key": "k", "value": "v", "updatedAt": "2017-01-01T00:00:00Z"});
    shell.json(&["import", &shell.write("one.jsonl", line.to_string())]);
    for (time, total) in [
        ("2016-12-31T23:59:59Z", 1),
        // A leap second is the moment after it.
        ("2016-12-31T23:59:60Z", 0),
        ("2017-01-01t05:29:59.9+05:30", 1),
        ("2017-01-01T05:30:00+05:30", 0),
        ("2016-12-31t23:59:59.123456789z", 1),
        ("2017-01-01T00:00:00-00:00", 0),
        ("0000-01-01T00:00:00Z", 1),
        ("9999-12-31T23:59:59.999Z", 0),
        ("2016-12-31", 1),
    ] {
        assert_eq!(shell.json(&["list", "--updated-after", time])["total"], total, "{time}");
    }
    shell.json(&["dream", "start", "--since", "0000-01-01T00:00:00Z"]);
    for time in
        ["10000-01-01T00:00:00Z", "9999-12-31T23:59:60Z", "2017-01-01T00:00:61Z", "2017-01-01T00:00", "soon", ""]
    {
        for (words, field) in [
            (["list", "--updated-after", time].as_slice(), "updatedAfter"),
            (&["log", "--after", time], "after"),
            (&["dream", "start", "--since", time], "since"),
            (&["get", "k", "--as-of", time], "asOf"),
        ] {
            let details = shell.refused("invalid_request", words);
            assert_eq!(details["field"], field, "{words:?}");
        }
    }
}

#[test]
fn a_recall_searches_what_was_there_at_a_time() {
    let shell = Shell::new();
    shell.commit("k", "walnut");
    assert_eq!(keys(&shell.json(&["recall", "--query", "walnuts"])["results"]), ["k"]);
    assert_eq!(shell.json(&["recall", "--query", "walnuts", "--at", "1h"])["results"], json!([]));
    assert_eq!(shell.json(&["recall", "--query", "walnuts", "--profile", "fast"])["results"], json!([]));
    let explained = shell.json(&["recall", "--query", "walnuts", "--explain"]);
    let matched = &explained["results"][0]["matched"][0];
    assert_eq!((&matched["how"], &matched["fields"]), (&json!("stem"), &json!(["value"])));
}

#[test]
fn a_recall_keeps_to_types_and_limit_and_ignores_case_and_dots() {
    let shell = Shell::new();
    shell.json(&["commit", "--key", "a", "--value", "Girişimci ruhu", "--type", "episodic"]);
    shell.commit("b", "girisimci");
    let found = |more: &[&str]| {
        let answer = shell.json(&[&["recall", "--query", "GİRİŞİMCİ"], more].concat());
        let mut found: Vec<_> = keys(&answer["results"]).into_iter().map(str::to_owned).collect();
        found.sort_unstable();
        found
    };
    assert_eq!(found(&[]), ["a", "b"]);
    assert_eq!(found(&["--type", "episodic"]), ["a"]);
    assert_eq!(found(&["--type", "episodic", "--type", "semantic"]), ["a", "b"]);
    assert_eq!(found(&["--limit", "1"]).len(), 1);
}
