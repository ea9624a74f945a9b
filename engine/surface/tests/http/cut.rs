//! Connections that are cut, wherever.

use std::io::Write;
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;
use serde_json::json;

use crate::client::memory;
use crate::server::Server;

/// How a connection ends.
type Ending = fn(TcpStream);

/// With a reset.
fn torn(stream: TcpStream) {
    set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
}

/// In order, without waiting for an answer.
fn closed(stream: TcpStream) {
    stream.shutdown(Shutdown::Both).unwrap();
}

const ENDINGS: [Ending; 2] = [torn, closed];

#[test]
fn a_request_that_is_cut_at_any_byte_writes_nothing() {
    let server = Server::new();
    let client = &server.client;
    let body = json!({"key": "cut", "value": "whole"}).to_string();
    let length = body.len().to_string();
    for framing in [("content-length", length.as_str()), ("transfer-encoding", "chunked")] {
        let framed = if framing.0 == "content-length" {
            body.clone()
        } else {
            format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len())
        };
        let request = format!("{}\r\n{framed}", client.head("POST", &memory("commit"), &[framing]));
        for (at, ending) in (0..request.len()).flat_map(|at| ENDINGS.map(|ending| (at, ending))) {
            let mut stream = client.connect();
            stream.write_all(&request.as_bytes()[..at]).unwrap();
            ending(stream);
        }
    }
    assert_eq!(client.position(), 0);
    client.commit("after", json!(1));
    assert_eq!(client.position(), 1);
}

#[test]
fn an_import_that_is_cut_at_any_line_writes_nothing() {
    let server = Server::new();
    let client = &server.client;
    let lines: Vec<_> =
        (0..20).map(|number| json!({"key": format!("k{number}"), "value": 1}).to_string() + "\n").collect();
    let length = lines.concat().len().to_string();
    for (at, ending) in (0..lines.len()).flat_map(|at| ENDINGS.map(|ending| (at, ending))) {
        let mut stream = client.connect();
        let head = client.head("POST", &memory("import"), &[("content-length", &length)]);
        stream.write_all(format!("{head}\r\n{}", lines[..at].concat()).as_bytes()).unwrap();
        ending(stream);
    }
    assert_eq!(client.position(), 0);
    // None of them holds its place among the few long ones.
    for line in lines.iter().take(8) {
        client.send("POST", &memory("import"), &[], line.as_bytes()).ok();
    }
}

#[test]
fn answers_that_nobody_takes_cost_nobody_else_anything() {
    let server = Server::new();
    let client = &server.client;
    for number in 0..4 {
        client.commit(&format!("k{number}"), json!("x".repeat(500_000)));
    }
    let paths = ["export", "verify", "log?follow=true&fromSeq=1", "log", "entry?key=k1"];
    for round in 0..20 {
        for ending in ENDINGS {
            let mut stream = client.connect();
            let path = memory(paths[round % paths.len()]);
            stream.write_all(format!("{}\r\n", client.head("GET", &path, &[])).as_bytes()).unwrap();
            ending(stream);
        }
    }
    // The few places of long requests are free again, one after the other.
    for _ in 0..8 {
        assert_eq!(client.get(&memory("export")).status, 200);
        client.get(&memory("verify")).ok();
    }
}
