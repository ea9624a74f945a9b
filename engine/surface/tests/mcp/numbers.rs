//! Numbers and texts that come through, and those that cannot.

use serde_json::json;

use crate::client::{Folder, text};

#[test]
fn a_value_keeps_its_text_and_order_in_the_store_and_in_the_text_of_an_answer() {
    let folder = Folder::new();
    let mut client = folder.client();
    let value = r#"{"z":1.10,"a":[12345678901234567890,-0,1E5,0.1],"ğ":"\u0001\"\\ğ😀"}"#;
    client.line(&format!(
        r#"{{"jsonrpc":"2.0","id":1000,"method":"tools/call","params":{{"arguments":{{"value":{value},"key":"k"}},"name":"commit_mem"}}}}"#
    ));
    assert_eq!(client.next().unwrap()["result"]["isError"], false);
    assert_eq!(folder.memory().get("k").unwrap().unwrap().value.unwrap().as_str(), value);
    assert!(text(&client.result("get", json!({"key": "k"}))).contains(value));
}

#[test]
fn a_number_that_the_protocol_cannot_carry_is_refused_on_every_way_in() {
    let folder = Folder::new();
    let mut client = folder.client();
    let version = client.commit("a", 1)["entryVersion"].as_str().unwrap().to_owned();
    let dream = client.call("dream_start", json!({}))["dreamId"].as_str().unwrap().to_owned();
    let revise =
        format!(r#"{{"op":"revise","key":"a","expected_version":"{version}","reason":"r","new_value":[1e400]}}"#);
    for (tool, arguments, field) in [
        ("commit_mem", r#"{"key":"k","value":{"a":[1e400]}}"#.to_owned(), "value"),
        ("commit_mem", r#"{"key":"k","value":123456789012345678901234567890}"#.to_owned(), "value"),
        ("commit_mem", r#"{"key":"k","value":1,"metadata":{"a":-1e400}}"#.to_owned(), "metadata"),
        ("revise", r#"{"key":"a","value":0.12345678901234567890123}"#.to_owned(), "value"),
        ("recall", r#"{"query":"a","limit":1e400}"#.to_owned(), "limit"),
        ("dream_apply", format!(r#"{{"dream_id":"{dream}","actions":[{revise}]}}"#), "actions"),
        ("dream_apply", format!(r#"{{"dream_id":"{dream}","report":{{"n":1e999}}}}"#), "report"),
    ] {
        client.line(&format!(
            r#"{{"jsonrpc":"2.0","id":"n","method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
        ));
        let answer = client.next().unwrap();
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        let error: serde_json::Value = serde_json::from_str(text(&answer["result"])).unwrap();
        assert_eq!(
            (&error["details"]["field"], &error["details"]["reason"]),
            (&field.into(), &"number_not_kept".into())
        );
    }
    assert_eq!(folder.memory().get("a").unwrap().unwrap().value.unwrap().as_str(), "1");
}

#[test]
fn a_number_that_another_surface_put_in_is_text_where_the_protocol_cannot_carry_it() {
    let folder = Folder::new();
    let memory = folder.memory();
    let value = bilinc::Json::parse(r#"{"big":1e400,"ok":1.5}"#, 100).unwrap();
    memory.commit(bilinc::Commit::new(bilinc::Key::new("k").unwrap(), value)).unwrap();
    let mut client = folder.client();
    let result = client.result("get", json!({"key": "k"}));
    assert_eq!(result["structuredContent"]["value"], json!({"big": "1e400", "ok": 1.5}));
    assert!(text(&result).contains(r#""value":{"big":1e400,"ok":1.5}"#));
}

#[test]
fn whole_numbers_come_in_the_spellings_of_models() {
    let mut client = Folder::new().client();
    for number in 0..5 {
        client.commit(&format!("k{number}"), number);
    }
    for limit in [json!(3), json!(3.0), json!("3"), json!("3.0")] {
        let page = client.call("list_memories", json!({"limit": limit}));
        assert_eq!(page["entries"].as_array().unwrap().len(), 3, "{limit}");
    }
    for wrong in [json!(0), json!(-1), json!(1.5), json!("three"), json!([3]), json!(1001)] {
        assert_eq!(client.fail("list_memories", json!({"limit": wrong}))["details"]["field"], "limit", "{wrong}");
    }
    let undone = client.call("undo", json!({"seqs": ["5", 4.0], "dry_run": "true"}));
    assert_eq!(undone["restored"].as_array().unwrap().len(), 2);
}

#[test]
fn members_named_twice_and_half_characters_are_refused() {
    let mut client = Folder::new().client();
    for (arguments, field, reason) in [
        (r#"{"key":"k","value":{"a":1,"a":2}}"#, "value", "duplicate_member"),
        (r#"{"key":"k","value":1,"value":2}"#, "value", "duplicate_member"),
        (r#"{"key":"k","value":"\ud800"}"#, "value", "invalid_json"),
        (r#"{"key":"\ud800","value":1}"#, "key", "invalid_json"),
    ] {
        client.line(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"commit_mem","arguments":{arguments}}}}}"#
        ));
        let answer = client.next().unwrap();
        let error: serde_json::Value = serde_json::from_str(text(&answer["result"])).unwrap();
        assert_eq!(
            (&error["details"]["field"], &error["details"]["reason"]),
            (&field.into(), &reason.into()),
            "{arguments}"
        );
    }
}
