//! Lines that are wrong, and inputs and outputs that end.

use serde_json::{Value, json};

use crate::client::{Client, Folder};

#[test]
fn garbage_never_ends_the_session() {
    let mut client = Folder::new().client();
    let deep = "[".repeat(100_000);
    let lines: [&[u8]; 12] = [
        b"",
        b"   ",
        b"garbage",
        b"{",
        b"\"text\"x",
        b"\xff\xfe{}",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xc3\x28\"}",
        b"\0\0\0",
        b"\x1b[31m",
        deep.as_bytes(),
        b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unknown\",\"params\":{\"a\":1e400}}",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"$/cancelRequest\",\"params\":{\"id\":1}}",
    ];
    for line in lines {
        client.bytes(line);
        client.bytes(b"\n");
        // Nothing of it is answered: the next message is the answer to this.
        client.ask("ping", json!({}));
    }
    client.bytes(b"\xef\xbb\xbf");
    client.ask("ping", json!({}));
    client.bytes(b"{\"jsonrpc\":\"2.0\",\"id\":\"cr\",\"method\":\"ping\"}\r\n");
    assert_eq!(client.next().unwrap()["id"], "cr");
}

#[test]
fn json_that_is_no_message_is_refused_and_ends_nothing() {
    let mut client = Folder::new().client();
    for (line, id) in [
        ("1", Value::Null),
        ("[]", Value::Null),
        ("null", Value::Null),
        ("{}", Value::Null),
        (r#"{"jsonrpc":"2.0"}"#, Value::Null),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, Value::Null),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, Value::Null),
        (r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, Value::Null),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, Value::Null),
        (r#"{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"}"#, Value::Null),
        (r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#, 7.into()),
        (r#"{"id":"x","method":"ping"}"#, "x".into()),
        (r#"{"jsonrpc":"2.0","id":8,"method":5}"#, 8.into()),
    ] {
        client.line(line);
        let answer = client.next().unwrap();
        assert_eq!(answer["error"]["code"], -32600, "{line}: {answer}");
        assert_eq!(answer.get("id").cloned().unwrap_or_default(), id, "{line}");
    }
    client.ask("ping", json!({}));
}

#[test]
fn any_id_of_the_protocol_comes_back_as_it_came() {
    let mut client = Folder::new().client();
    for id in
        [json!(0), json!(-1), json!(i64::MAX), json!(""), json!("1"), json!("ğ\n\"\\\u{1}"), json!("x".repeat(10_000))]
    {
        client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "ping"}));
        assert_eq!(client.next().unwrap()["id"], id);
    }
}

#[test]
fn an_unknown_method_is_an_error_and_an_unknown_notification_is_nothing() {
    let mut client = Folder::new().client();
    assert_eq!(client.ask("tools/remove", json!({}))["error"]["code"], -32601);
    client.send(
        &json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}}),
    );
    client.send(&json!({"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "status", "arguments": {}}}));
    client.send(&json!({"jsonrpc": "2.0", "id": 1000, "error": {"code": 1, "message": "x"}}));
    client.ask("ping", json!({}));
}

#[test]
fn a_line_over_the_limit_is_refused_and_the_next_one_read() {
    let mut client = Folder::new().client();
    let mut long =
        Client::request(1, "commit_mem", json!({"key": "k", "value": "x".repeat(33 * 1024 * 1024)})).to_string();
    long.push('\n');
    client.bytes(long.as_bytes());
    assert_eq!(client.next().unwrap()["error"]["code"], -32600);
    // Under it, the limits are those of values.
    let error = client.fail("commit_mem", json!({"key": "k", "value": "x".repeat(2 * 1024 * 1024)}));
    assert_eq!((&error["details"]["field"], &error["details"]["reason"]), (&"value".into(), &"too_large".into()));
    client.commit("k", "x".repeat(1024 * 1024 - 2));
}

#[test]
fn a_batch_is_answered_one_by_one() {
    let mut client = Folder::new().client();
    client.line(r#"[{"jsonrpc":"2.0","id":"a","method":"ping"},1,{"jsonrpc":"2.0","id":"b","method":"ping"}]"#);
    let answers: Vec<_> = (0..3).map(|_| client.next().unwrap()).collect();
    let has = |id: &str| answers.iter().any(|answer| answer["id"] == id && answer["result"].is_object());
    assert!(has("a") && has("b"), "{answers:?}");
}

#[test]
fn replies_are_drained_when_the_input_ends() {
    let folder = Folder::new();
    let mut client = folder.client();
    for number in 0..300 {
        client.send(&Client::request(
            format!("c{number}"),
            "commit_mem",
            json!({"key": format!("k{number}"), "value": number}),
        ));
    }
    // The last line need not end in a line break.
    client.bytes(Client::request("last", "status", json!({})).to_string().as_bytes());
    let (rest, well) = client.rest();
    assert!(well);
    let answered: std::collections::BTreeSet<_> = rest.iter().filter_map(|answer| answer["id"].as_str()).collect();
    assert_eq!(answered.len(), 301);
    assert!(rest.iter().all(|answer| answer["result"]["isError"] == false));
    assert!(folder.memory().get("k299").unwrap().is_some());
}

#[test]
fn an_output_that_nobody_takes_ends_the_program() {
    let folder = Folder::new();
    let mut client = folder.client();
    client.commit("a", 1);
    let (mut child, input) = client.close_output();
    use std::io::Write;
    let mut input = input.unwrap();
    // The first answer meets the closed pipe.
    writeln!(input, r#"{{"jsonrpc":"2.0","id":1000,"method":"ping"}}"#).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(folder.memory().get("a").unwrap().is_some());
}

#[test]
fn a_cancelled_call_is_not_answered_and_the_others_are() {
    let mut client = Folder::new().client();
    client.commit("a", 1);
    for number in 0..50 {
        client.send(&Client::request(format!("c{number}"), "commit_mem", json!({"key": "a", "value": number})));
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": format!("c{number}")}}));
    }
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "never sent"}}));
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {}}));
    client.send(&Client::request("after", "get", json!({"key": "a"})));
    let (rest, well) = client.rest();
    assert!(well);
    // One that was done before it was cancelled may have been answered.
    assert!(rest.iter().any(|answer| answer["id"] == "after" && answer["result"]["isError"] == false), "{rest:?}");
}
