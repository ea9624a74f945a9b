//! Answers that fit, whatever is stored.

use serde_json::{Value, json};

use crate::client::{Client, Folder};

/// Reads a value whole, part by part.
fn whole(client: &mut Client, key: &str) -> String {
    let (mut read, mut offset) = (String::new(), json!(0));
    loop {
        let part = client.call("get", json!({"key": key, "value_offset": offset}));
        read.push_str(part["value"].as_str().unwrap());
        match part.get("nextValueOffset") {
            Some(next) => offset = next.clone(),
            None => return read,
        }
    }
}

#[test]
fn a_long_value_is_read_in_parts() {
    let mut client = Folder::new().client();
    for text in ["x".repeat(500_000), "ğ\"\\\n\u{1}😀".repeat(20_000)] {
        client.commit("long", text.clone());
        let first = client.call("get", json!({"key": "long"}));
        assert_eq!((&first["valueTruncated"], &first["valueChars"]), (&true.into(), &text.chars().count().into()));
        assert_eq!(whole(&mut client, "long"), text);
    }
    let object = json!({"a": vec!["y".repeat(1_000); 200]});
    client.commit("object", object.clone());
    assert_eq!(serde_json::from_str::<Value>(&whole(&mut client, "object")).unwrap(), object);
    // What fits comes whole, with its type.
    client.commit("short", json!({"a": 1}));
    let short = client.call("get", json!({"key": "short"}));
    assert_eq!((short.get("valueTruncated"), &short["value"]), (None, &json!({"a": 1})));
}

#[test]
fn long_metadata_is_read_in_parts() {
    let mut client = Folder::new().client();
    let metadata = json!({"m": "z".repeat(60_000)});
    client.call("commit_mem", json!({"key": "k", "value": "v".repeat(100_000), "metadata": metadata}));
    let (mut read, mut offset) = (String::new(), json!(0));
    loop {
        let part = client.call("get", json!({"key": "k", "metadata_offset": offset}));
        read.push_str(part["metadata"].as_str().unwrap());
        match part.get("nextMetadataOffset") {
            Some(next) => offset = next.clone(),
            None => break,
        }
    }
    assert_eq!(serde_json::from_str::<Value>(&read).unwrap(), metadata);
}

#[test]
fn candidates_with_long_values_are_cut_and_marked() {
    let mut client = Folder::new().client();
    for number in 0..50 {
        client.commit(&format!("k{number:03}"), format!("{number} {}", "long ".repeat(2_000)));
    }
    client.commit("short", "short");
    let started = client.call("dream_start", json!({"limit": 60}));
    let candidates = started["candidates"].as_array().unwrap();
    assert_eq!(candidates.len(), 51);
    assert_eq!((&candidates[0]["value"], candidates[0].get("valueTruncated")), (&"short".into(), None));
    assert!(candidates[1..].iter().all(|candidate| candidate["valueTruncated"] == true));
    assert!(candidates[1]["value"].as_str().unwrap().ends_with('…'));
    assert_eq!(whole(&mut client, "k000").len(), 10_002);
}

/// Everything at its limits: names, reasons, values, metadata, flags.
fn at_the_limits(folder: &Folder) {
    let memory = folder.memory();
    for number in 0..200 {
        let key = bilinc::Key::new(&format!("{number:03}{}", "\u{1f600}".repeat(509))).unwrap();
        let value = bilinc::Json::string(&"\u{1}".repeat(5_000));
        let metadata = bilinc::Json::parse(&json!({"m": "\"".repeat(5_000)}).to_string(), 100_000).unwrap();
        let commit = bilinc::Commit { metadata: Some(metadata), ..bilinc::Commit::new(key.clone(), value) };
        memory.commit(commit).unwrap();
        if number % 20 == 0 {
            for _ in 0..20 {
                let evidence_keys = vec![key.clone(); 1];
                let reason = "\"".repeat(512);
                memory.flag(bilinc::Flag { key: key.clone(), reason, evidence_keys, expected_version: None }).unwrap();
            }
        }
    }
}

#[test]
fn answers_fit_with_everything_at_its_limits_and_nothing_is_lost_on_the_way() {
    let folder = Folder::new();
    at_the_limits(&folder);
    let mut client = folder.client();
    let started = client.call("dream_start", json!({"limit": 200}));
    let shown = started["candidates"].as_array().unwrap();
    let left_out = started["omitted"]["candidates"].as_u64().unwrap();
    assert_eq!(shown.len() as u64 + left_out, 200);
    // Those that were left out can be read from the dream.
    let (mut keys, mut offset) = (Vec::new(), 0);
    loop {
        let part = client.call("dream_show", json!({"dream_id": started["dreamId"], "candidates_offset": offset}));
        let candidates = part["candidates"].as_array().unwrap().clone();
        offset += candidates.len();
        keys.extend(candidates);
        if part["omitted"].get("candidates").is_none() {
            break;
        }
    }
    assert_eq!(keys.len(), 200);
    client.call("recall", json!({"query": "000", "limit": 100, "explain": true}));
    client.call("diff", json!({"from_snapshot_id": "@0", "include_values": true, "limit": 1000}));
    client.call("get", json!({"key": keys[199]["key"]}));
    let (mut listed, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let page = client.call("list_memories", json!({"limit": 1000, "values": "full", "cursor": cursor}));
        listed.extend(page["entries"].as_array().unwrap().iter().map(|entry| entry["key"].clone()));
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(listed.len(), 200);
    listed.dedup();
    assert_eq!(listed.len(), 200);

    // Flags on every candidate, in forty pages.
    let flag = |it: &Value| json!({"op": "flag", "key": it["key"], "reason": "\"".repeat(512)});
    let actions: Vec<_> = keys.iter().cycle().take(1_000).map(flag).collect();
    let applied = client
        .call("dream_apply", json!({"dream_id": started["dreamId"], "actions": actions, "report": "r".repeat(60_000)}));
    let told = applied["results"].as_array().unwrap().len() as u64;
    assert_eq!(told + applied["omitted"]["results"].as_u64().unwrap(), 1_000);
    client.call("dream_show", json!({"dream_id": started["dreamId"], "actions_offset": 990}));
    let history = client.call("history", json!({"key": keys[0]["key"], "limit": 1000}));
    assert!(history["entries"].as_array().unwrap().len() > 1);
    client.call("dream_undo", json!({"dream_id": started["dreamId"]}));
    client.call("undo", json!({"from_seq": 1, "to_seq": 1000, "dry_run": true}));
}

#[test]
fn an_error_of_a_long_dream_fits() {
    let folder = Folder::new();
    at_the_limits(&folder);
    let mut client = folder.client();
    let started = client.call("dream_start", json!({"limit": 10}));
    let keys: Vec<_> = started["candidates"].as_array().unwrap().iter().map(|it| it["key"].clone()).collect();
    let version = &started["candidates"][0]["entryVersion"];
    let forget = |key: &Value| json!({"op": "forget", "key": key, "expected_version": version, "reason": "r"});
    let flag = |key: &Value| json!({"op": "flag", "key": key, "reason": "r"});
    let mut actions: Vec<_> = keys.iter().cycle().take(500).map(flag).collect();
    actions.extend(keys.iter().cycle().take(25).map(forget));
    let error = client.fail("dream_apply", json!({"dream_id": started["dreamId"], "actions": actions}));
    assert_eq!((&error["error"], &error["details"]["page"]), (&"forget_cap_exceeded".into(), &21.into()));
    assert_eq!(error["details"]["notTried"].as_array().unwrap().len(), 25);
}
