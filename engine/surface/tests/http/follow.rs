//! The log as it grows.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::client::{Client, memory};
use crate::server::{Server, json as program_json, make_key, program};

/// Somebody who follows a log.
struct Follower(BufReader<TcpStream>);

impl Follower {
    #[track_caller]
    fn new(client: &Client, query: &str, headers: &[(&str, &str)]) -> Self {
        let mut stream = client.connect();
        let head = client.head("GET", &memory(&format!("log?follow=true{query}")), headers);
        stream.write_all(format!("{head}\r\n").as_bytes()).unwrap();
        let mut follower = Self(BufReader::new(stream));
        assert!(follower.line().unwrap().starts_with("HTTP/1.1 200"));
        // From here on it stands, and nothing that is written is missed.
        while follower.line().unwrap() != ": following" {}
        follower
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.0.read_line(&mut line) {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(line.trim_end().to_owned()),
        }
    }

    /// The next event, by its id.
    #[track_caller]
    fn next(&mut self) -> (u64, Value) {
        let id = loop {
            let line = self.line().expect("the stream ended");
            if let Some(id) = line.strip_prefix("id: ") {
                break id.parse().unwrap();
            }
        };
        let line = self.line().unwrap();
        (id, serde_json::from_str(line.strip_prefix("data: ").unwrap()).unwrap())
    }

    fn ends(mut self) {
        while self.line().is_some() {}
    }
}

#[test]
fn each_event_comes_once_and_in_order_whoever_wrote_it() {
    let server = Server::new();
    let client = &server.client;
    client.commit("before", json!(1));
    let mut follower = Follower::new(client, "&includeValues=true", &[]);
    for number in 0..5 {
        client.commit("k", json!(number));
        let (id, event) = follower.next();
        assert_eq!((id, &event["seq"], &event["value"]), (number + 2, &json!(number + 2), &json!(number)));
    }
    // Another process writes.
    let words = ["commit", "--key", "other", "--value", "7", "--store"];
    assert!(program(server.data(), &words).arg(server.store()).output().unwrap().status.success());
    assert_eq!(follower.next().1["key"], "other");
}

#[test]
fn a_follower_goes_on_where_it_was_cut_off() {
    let server = Server::new();
    let client = &server.client;
    for number in 0..4 {
        client.commit("k", json!(number));
    }
    let mut whole = Follower::new(client, "&fromSeq=1", &[]);
    let all: Vec<_> = (0..4).map(|_| whole.next().0).collect();
    assert_eq!(all, [1, 2, 3, 4]);
    let mut resumed = Follower::new(client, "&fromSeq=1", &[("last-event-id", "2")]);
    assert_eq!((resumed.next().0, resumed.next().0), (3, 4));
    client.commit("k", json!("later"));
    assert_eq!((whole.next().0, resumed.next().0), (5, 5));
    let mut filtered = Follower::new(client, "&key=wanted", &[]);
    client.commit("k", json!("unwanted"));
    client.commit("wanted", json!(1));
    assert_eq!(filtered.next().1["key"], "wanted");
    let wrong = client.send("GET", &memory("log?follow=true"), &[("last-event-id", "x")], b"");
    wrong.invalid("lastEventId", "wrong_type");
}

#[test]
fn a_stream_ends_with_its_key_and_with_the_server() {
    let mut server = Server::new();
    let made = make_key(server.data(), "p", &["--read-only"]);
    let reader = server.client.with_key(made["key"].as_str().unwrap());
    let of_key = Follower::new(&reader, "", &[]);
    let of_server = Follower::new(&server.client, "", &[]);
    program_json(server.data(), &["keys", "revoke", made["id"].as_str().unwrap()]);
    of_key.ends();
    server.stop();
    of_server.ends();
}
