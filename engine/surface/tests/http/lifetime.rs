//! Starts, stops and what is between.

use std::io::{Read, Write};

use rustix::process::Signal;
use serde_json::json;

use crate::client::{Reply, memory};
use crate::server::Server;

#[test]
fn a_stop_finishes_what_has_begun() {
    let mut server = Server::new();
    let client = server.client.clone();
    let body = json!({"key": "begun", "value": "whole"}).to_string();
    let length = body.len().to_string();
    let head = client.head("POST", &memory("commit"), &[("content-length", &length)]);
    let mut stream = client.connect();
    let (first, rest) = body.split_at(10);
    stream.write_all(format!("{head}\r\n{first}").as_bytes()).unwrap();
    // Once another request was answered, the server has seen that one.
    client.get("/api/cloud/health");
    client.get("/api/cloud/status").ok();
    server.signal(Signal::TERM);
    stream.write_all(rest.as_bytes()).unwrap();
    Reply::read(&mut stream).ok();
    let (status, said) = server.wait();
    assert!(status.success(), "{said}");
    server.restart(&[]);
    assert_eq!(server.client.entry("begun").ok()["value"], "whole");
}

#[test]
fn a_stop_waits_for_nobody_who_has_asked_for_nothing() {
    let mut server = Server::new();
    let mut held = [server.client.connect(), server.client.connect(), server.client.connect()];
    held[0].write_all(b"GET / HTTP/1.1\r\nhost:").unwrap();
    let head = server.client.head("GET", "/api/cloud/health", &[]).replace("connection: close\r\n", "");
    held[1].write_all(format!("{head}\r\n").as_bytes()).unwrap();
    held[1].read_exact(&mut [0; 12]).unwrap();
    let said = server.stop();
    assert!(!said.contains("did not end in time"), "{said}");
}

#[test]
fn an_interrupt_stops_it_as_well() {
    let mut server = Server::new();
    server.client.commit("a", json!(1));
    server.signal(Signal::INT);
    let (status, said) = server.wait();
    assert!(status.success(), "{said}");
}

#[test]
fn nothing_acknowledged_is_lost_however_it_ends() {
    let mut server = Server::new();
    let mut written = Vec::new();
    for round in 0..5 {
        for number in 0..5 {
            let key = format!("k{round}-{number}");
            let version = server.client.commit(&key, json!({"round": round}));
            written.push((key, version));
        }
        if round % 2 == 0 {
            server.signal(Signal::KILL);
            server.wait();
        } else {
            server.stop();
        }
        server.restart(&[]);
        for (key, version) in &written {
            assert_eq!(server.client.entry(key).ok()["entryVersion"], *version);
        }
    }
    let verified = server.client.get(&memory("verify")).ok();
    assert_eq!(verified["stateEqual"], true);
}

#[test]
fn a_log_that_nobody_reads_holds_up_nobody() {
    let mut server = Server::new();
    // More than fits between two programs.
    for number in 0..1_000 {
        server.client.get(&format!("/api/cloud/status?{number}"));
    }
    server.client.commit("a", json!(1));
    server.stop();
}

#[test]
fn many_write_at_once_and_none_is_lost() {
    let server = Server::new();
    std::thread::scope(|scope| {
        for writer in 0..16 {
            let client = server.client.clone();
            scope.spawn(move || {
                for number in 0..20 {
                    client.commit(&format!("{writer}-{number}"), json!(number));
                }
            });
        }
    });
    assert_eq!(server.client.write("list", &json!({"limit": 1}))["total"], 320);
    assert_eq!(server.client.position(), 320);
}
