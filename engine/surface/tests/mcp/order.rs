//! Many calls at once, several servers on one store, and servers that are killed.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::client::{Client, Folder};

#[test]
fn calls_of_a_connection_take_effect_in_the_order_in_which_they_came() {
    let mut client = Folder::new().client();
    for number in 0..100 {
        client.send(&Client::request(format!("w{number}"), "commit_mem", json!({"key": "k", "value": number})));
        client.send(&Client::request(format!("r{number}"), "get", json!({"key": "k"})));
    }
    let (rest, _) = client.rest();
    let answers: BTreeMap<_, _> =
        rest.iter().map(|answer| (answer["id"].as_str().unwrap(), &answer["result"])).collect();
    assert_eq!(answers.len(), 200);
    for number in 0..100 {
        assert_eq!(answers[format!("r{number}").as_str()]["structuredContent"]["value"], number);
    }
}

#[test]
fn two_servers_on_one_store_lose_nothing_and_see_each_other() {
    let folder = Folder::new();
    let mut clients = [folder.client(), folder.client()];
    for number in 0..100 {
        for (writer, client) in clients.iter_mut().enumerate() {
            let arguments = json!({"key": format!("w{writer}.{number}"), "value": number});
            client.send(&Client::request(format!("{number}"), "commit_mem", arguments));
        }
    }
    for client in &mut clients {
        for _ in 0..100 {
            assert_eq!(client.next().unwrap()["result"]["isError"], false);
        }
    }
    for client in &mut clients {
        assert_eq!(client.call("list_memories", json!({}))["total"], 200);
    }
    let [first, second] = &mut clients;
    let version = first.call("get", json!({"key": "w0.0"}))["entryVersion"].clone();
    let revise = json!({"key": "w0.0", "value": "new", "expected_version": version});
    second.call("revise", revise.clone());
    assert_eq!(first.fail("revise", revise)["error"], "version_conflict");
}

#[test]
fn a_server_killed_in_the_middle_loses_nothing_that_it_answered() {
    let folder = Folder::new();
    let mut answered = Vec::new();
    for round in 0..5 {
        let mut client = folder.client();
        for number in 0..100 {
            let key = format!("{round}.{number}");
            client.send(&Client::request(key.clone(), "commit_mem", json!({"key": key, "value": number})));
        }
        for _ in 0..round * 20 + 5 {
            answered.push(client.next().unwrap()["id"].as_str().unwrap().to_owned());
        }
        client.kill();
    }
    let mut client = folder.client();
    for key in &answered {
        client.call("get", json!({"key": key}));
    }
    let memory = folder.memory();
    assert!(memory.verify(&mut |_, _| {}).unwrap().state_equal);
}

#[test]
fn a_default_store_is_made_by_the_first_call_that_puts_something_in() {
    let home = tempfile::tempdir().unwrap();
    let store = home.path().join("data/bilinc");
    let start = || {
        let mut command = crate::client::program();
        command.arg("mcp").env("XDG_DATA_HOME", home.path().join("data"));
        let mut client = Client::of(command);
        client.shake_hands("2025-06-18");
        client
    };
    let mut client = start();
    let mut other = start();
    assert_eq!(client.call("list_memories", json!({}))["total"], 0);
    assert_eq!(client.call("status", json!({}))["store"]["exists"], false);
    assert_eq!(client.fail("forget", json!({"key": "a", "reason": "r"}))["error"], "memory_not_found");
    assert_eq!(client.call("dream_start", json!({}))["dreamId"], Value::Null);
    assert!(!store.exists());
    client.commit("a", 1);
    assert!(store.exists());
    // One that looked before finds it, too.
    assert_eq!(other.call("get", json!({"key": "a"}))["value"], 1);
}

#[test]
fn a_store_that_is_named_to_be_read_must_be_there() {
    let folder = Folder::new();
    let (rest, well) = folder.silent(&["--read-only"]).rest();
    assert!(rest.is_empty() && !well);
}
