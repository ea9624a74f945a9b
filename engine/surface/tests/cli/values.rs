//! Values in and out, exactly as they came.

use crate::shell::Shell;

/// The value in an answer as the very text that was printed; a number keeps its digits.
#[track_caller]
fn raw(text: &str) -> &str {
    let start = text.find(r#""value":"#).unwrap() + 8;
    &text[start..text.find(r#","memoryType""#).unwrap()]
}

#[test]
fn json_comes_back_with_its_digits_and_the_order_of_its_members() {
    let shell = Shell::new();
    for value in [
        "1.10",
        "-0",
        "-0.0",
        "1e400",
        "1E+2",
        "12345678901234567890123456789",
        "true",
        "null",
        "[]",
        "{}",
        r#"{"z":1.10,"a":{"y":[1,2.50],"b":null},"":0}"#,
        r#""quoted""#,
        r#""esc \" \\ \n \u0001""#,
        "\"日本 🎉\"",
    ] {
        shell.json(&["commit", "--key", "k", "--value", value]);
        assert_eq!(raw(&shell.text(&["get", "k", "--json"])), value);
        assert_eq!(raw(&shell.text(&["list", "--values", "full", "--json"])), value);
        assert_eq!(raw(&shell.text(&["recall", "--query", "k", "--json"])), value);
        shell.json(&["revise", "--key", "k", "--value", value]);
        assert_eq!(raw(&shell.text(&["get", "k", "--json"])), value);
    }
}

#[test]
fn white_space_around_tokens_goes_and_inside_strings_stays() {
    let shell = Shell::new();
    shell.commit("k", " { \"a\" : [ 1.10 ,\n 2 ] , \"b\" : \" x \" } ");
    assert_eq!(raw(&shell.text(&["get", "k", "--json"])), r#"{"a":[1.10,2],"b":" x "}"#);
}

#[test]
fn what_is_not_json_is_a_plain_string() {
    let shell = Shell::new();
    for value in ["plain", "", " ", "{broken", "01", "+1", "'single'", "True", "NaN", "--key", "-5 apples", "a\nb"] {
        shell.json(&["commit", "--key", "k", "--value", value]);
        assert_eq!(shell.value("k"), value);
    }
}

#[test]
fn a_dash_reads_standard_input_without_its_last_line_break() {
    let shell = Shell::new();
    for (input, value) in
        [("text\n", "text"), ("text\r\n", "text"), ("a\n\n", "a\n"), ("", ""), ("\n", ""), ("a\0b", "a\0b")]
    {
        shell.feed(&["commit", "--key", "k", "--value", "-"], input.as_bytes()).text();
        assert_eq!(shell.value("k"), value);
    }
    shell.feed(&["revise", "--key", "k", "--value", "-"], b"{\"n\":1.10}\n").text();
    assert_eq!(raw(&shell.text(&["get", "k", "--json"])), r#"{"n":1.10}"#);
}

#[test]
fn a_value_up_to_the_limit_is_kept_and_one_byte_more_is_refused() {
    let shell = Shell::new();
    let most = "x".repeat((1 << 20) - 2);
    shell.feed(&["commit", "--key", "k", "--value", "-"], most.as_bytes()).text();
    assert_eq!(shell.value("k"), most);
    let error =
        shell.feed(&["commit", "--key", "k", "--value", "-", "--json"], (most.clone() + "x").as_bytes()).error(1);
    assert_eq!((&error["error"], &error["details"]["reason"]), (&"invalid_request".into(), &"too_large".into()));
    let deep = "[".repeat(5_000_000) + &"]".repeat(5_000_000);
    let error = shell.feed(&["commit", "--key", "k", "--value", "-", "--json"], deep.as_bytes()).error(1);
    assert_eq!(error["error"], "invalid_request");
    let levels = "[".repeat(100) + &"]".repeat(100);
    shell.commit("deep", &levels);
    assert_eq!(raw(&shell.text(&["get", "deep", "--json"])), levels);
}

#[test]
fn standard_input_is_read_up_to_a_limit_only() {
    let shell = Shell::new();
    let error = shell.feed(&["commit", "--key", "k", "--value", "-", "--json"], &vec![b' '; (16 << 20) + 1]).error(1);
    assert_eq!((&error["error"], &error["details"]["field"]), (&"invalid_request".into(), &"value".into()));
    assert_eq!(error["details"]["reason"], "too_large");
    // White space counts for nothing in the value itself.
    let padded = [&vec![b' '; 15 << 20][..], b"[1]"].concat();
    shell.feed(&["commit", "--key", "k", "--value", "-"], &padded).text();
    assert_eq!(raw(&shell.text(&["get", "k", "--json"])), "[1]");
}

#[test]
fn options_take_texts_that_begin_with_a_dash() {
    let shell = Shell::new();
    let more = ["--source", "-w", "--session", "-s", "--idempotency-key", "-once"];
    shell.json(&[&["commit", "--key", "-k", "--value", "-1"], &more[..]].concat());
    assert_eq!(shell.json(&["list", "--prefix", "-", "--source", "-w"])["total"], 1);
    shell.json(&["revise", "--key", "-k", "--value", "v", "--reason", "--because"]);
    shell.commit("-5", "five");
    assert_eq!(
        (shell.value("-5"), &shell.json(&["confirm", "-5", "--reason", "-r"])["key"]),
        ("five".into(), &"-5".into())
    );
    shell.json(&["flag", "-5", "--reason", "- see there", "--evidence", "-k"]);
    assert_eq!(shell.json(&["flags", "--prefix", "-5"])["total"], 1);
    shell.json(&["unflag", "-5", "--reason", "-"]);
    assert_eq!(shell.json(&["history", "-5"])["exists"], true);
    let log = shell.json(&["log", "--key", "-k", "--source", "-w", "--session", "-s"]);
    assert_eq!(log["events"].as_array().unwrap().len(), 1);
    let snapshot = shell.json(&["snapshot", "create", "--label", "-before-"])["snapshot"]["id"].clone();
    let preview = ["rollback", "preview", "--snapshot", snapshot.as_str().unwrap(), "--reason", "-r"];
    assert_eq!(shell.json(&preview)["destructive"], true);
    shell.invalid("metadata", "not_an_object", &["snapshot", "create", "--metadata", "-1"]);
    shell.invalid("metadata", "not_an_object", &["commit", "--key", "k", "--value", "v", "--metadata", "-1"]);
    assert!(shell.json(&["dream", "start", "--prefix", "-"])["dreamId"].is_string());
    shell.json(&["forget", "--key", "-k", "--reason", "-r"]);
    assert_eq!(shell.json(&["undo", "--session", "-s", "--dry-run"])["dryRun"], true);
    assert_eq!(shell.json(&["undo", "--source", "-w", "--dry-run"])["dryRun"], true);
    // A key that is an operand stands behind a double dash, so that a mistyped option is none.
    assert_eq!(shell.run(&["get", "-k", "--json"]).error(2)["details"]["reason"], "usage");
    assert_eq!(shell.run(&["get", "--as-of=0", "--json", "--", "-k"]).error(1)["error"], "memory_not_found");
}

#[test]
fn keys_are_exact_whatever_stands_in_them() {
    let shell = Shell::new();
    for key in [
        "it's \"q\" $x `y` \\ / %00 *",
        "日本 🎉",
        "a/../b",
        "{\"json\":1}",
        "K",
        "k",
        "true",
        "--",
        "-dash",
        "--json",
        "@1",
    ] {
        shell.json(&["commit", &format!("--key={key}"), "--value", key]);
        let entry = shell.run(&["--json", "get", "--", key]).json();
        assert_eq!(entry["key"], key);
        assert!(shell.text(&["history", "--", key]).contains("create"), "{key}");
    }
    // One key, however its accents are composed and whatever stands around it.
    shell.commit(" e\u{301} ", "composed");
    assert_eq!(shell.json(&["get", "\u{e9}"])["key"], "\u{e9}");
}
