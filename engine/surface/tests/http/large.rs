//! Answers and bodies at their limits.

use std::io::Write;

use serde_json::{Value, json};

use crate::client::{Client, Reply, memory};
use crate::server::Server;

fn large(letter: &str) -> String {
    letter.repeat(600_000)
}

#[test]
fn an_answer_over_a_megabyte_is_refused_but_for_a_single_entry() {
    let server = Server::new();
    let client = &server.client;
    for key in ["a", "b"] {
        client.commit(key, json!(large(key)));
    }
    client.commit("c", json!("x".repeat(1_048_000)));
    let too_large = |reply: Reply| reply.invalid("limit", "response_too_large");
    too_large(client.post(&memory("list"), &json!({"values": "full"})));
    // Also before all of the values are read.
    too_large(client.post(&memory("list"), &json!({"values": "full", "limit": 10})));
    let one = client.write("list", &json!({"values": "full", "limit": 1, "prefix": "c"}));
    assert_eq!(one["entries"][0]["value"].as_str().unwrap().len(), 1_048_000);
    assert_eq!(client.write("list", &json!({}))["entries"].as_array().unwrap().len(), 3);
    client.write("revise", &json!({"key": "a", "value": large("d")}));
    too_large(client.post(&memory("history"), &json!({"key": "a"})));
    too_large(client.post(&memory("history"), &json!({"key": "a", "limit": 2})));
    let newest = client.write("history", &json!({"key": "a", "limit": 1}));
    assert_eq!(newest["entries"][0]["after"].as_str().unwrap(), large("d"));
    client.write("history", &json!({"key": "a", "values": "preview"}));
    for limit in [100, 10] {
        too_large(
            client.post(&memory("diff"), &json!({"fromSnapshotId": "@0", "includeValues": true, "limit": limit})),
        );
    }
    client.write("diff", &json!({"fromSnapshotId": "@0"}));
    client.write("diff", &json!({"fromSnapshotId": "@3", "includeValues": true}));
    assert!(client.entry("c").ok()["value"].is_string());
}

#[test]
fn a_list_is_walked_to_its_end_by_smaller_pages() {
    let server = Server::new();
    let client = &server.client;
    for key in ["a", "b", "c"] {
        client.commit(key, json!(large(key)));
    }
    let (mut keys, mut cursor) = (Vec::new(), Value::Null);
    for limit in [10, 1, 1, 1] {
        let reply = client.post(&memory("list"), &json!({"values": "full", "limit": limit, "cursor": cursor}));
        if reply.status == 200 {
            let page = reply.ok();
            keys.push(page["entries"][0]["key"].as_str().unwrap().to_owned());
            cursor = page["nextCursor"].clone();
        }
    }
    assert_eq!((keys, cursor), (vec!["a".to_owned(), "b".to_owned(), "c".to_owned()], Value::Null));
}

#[test]
fn recall_dream_start_and_log_cut_values_and_say_so() {
    let server = Server::new();
    let client = &server.client;
    for key in ["a", "b"] {
        client.commit(key, json!({"word": large(key)}));
    }
    client.commit("small", json!("word"));
    let check = |items: &Value| {
        for item in items.as_array().unwrap() {
            if item["key"] == "small" {
                assert_eq!((&item["value"], &item["valueTruncated"]), (&json!("word"), &Value::Null));
            } else {
                assert_eq!(item["value"].as_str().unwrap().chars().count(), 2_001);
                assert_eq!(item["valueTruncated"], true);
            }
        }
        assert_eq!(items.as_array().unwrap().len(), 3);
    };
    check(&client.write("recall", &json!({"query": "word"}))["results"]);
    check(&client.write("dreams", &json!({}))["candidates"]);
    check(&client.get(&memory("log?includeValues=true&toSeq=3")).ok()["events"]);
    // Where the answer is small enough, values are whole.
    let whole = client.get(&memory("log?includeValues=true&limit=1&order=oldest")).ok();
    assert_eq!(
        (&whole["events"][0]["value"]["word"], &whole["events"][0]["valueTruncated"]),
        (&json!(large("a")), &Value::Null)
    );
}

#[test]
fn a_body_over_the_limit_is_refused_in_words_of_the_interface() {
    let server = Server::new();
    let client = &server.client;
    let limit: u64 = 32 * 1024 * 1024;
    let body = format!(r#"{{"key":"a","value":"{}"}}"#, "x".repeat(usize::try_from(limit).unwrap()));
    let details = client.post_text(&memory("commit"), &body).refused(413, "payload_too_large");
    assert_eq!(details["limit"], limit);
    // One that asks first is told before it sends.
    let head = client.head("POST", &memory("commit"), &[("content-length", "99999999999"), ("expect", "100-continue")]);
    let mut stream = client.connect();
    stream.write_all(format!("{head}\r\n").as_bytes()).unwrap();
    Reply::read(&mut stream).refused(413, "payload_too_large");
    // Under the limit the value's own limit holds.
    let body = format!(r#"{{"key":"a","value":"{}"}}"#, "x".repeat(2_000_000));
    client.post_text(&memory("commit"), &body).invalid("value", "too_large");
    // What is white space alone counts for nothing.
    let spread = format!(r#"{{"key":"a","value":{}1}}"#, " ".repeat(3_000_000));
    client.post_text(&memory("commit"), &spread).ok();
}

#[test]
fn an_import_may_be_larger_than_any_other_body() {
    let server = Server::new();
    let client: &Client = &server.client;
    let lines: String =
        (0..80).map(|at| json!({"key": format!("k{at}"), "value": large("x")}).to_string() + "\n").collect();
    assert!(lines.len() > 33 * 1024 * 1024);
    let done = client.send("POST", &memory("import"), &[], lines.as_bytes()).ok();
    assert_eq!(done["created"], 80);
    let exported = client.get(&memory("export"));
    assert_eq!(exported.text().lines().count(), 80);
    let undone = client.write("undo", &json!({"importId": done["importId"]}));
    assert_eq!(undone["restored"].as_array().unwrap().len(), 80);
}
