//! Connections that are many, cut, or no HTTP.

use std::io::{Read, Write};

use serde_json::json;

use crate::client::{Reply, memory};
use crate::server::Server;

#[test]
fn a_connection_past_the_limit_is_told_so() {
    let server = Server::with(&["--max-connections", "2"]);
    let client = &server.client;
    // Each of these has been taken once it has been answered; it stays open for the next request.
    let keep = |stream: &mut std::net::TcpStream| {
        let head = client.head("GET", "/api/cloud/health", &[]).replace("connection: close\r\n", "");
        stream.write_all(format!("{head}\r\n").as_bytes()).unwrap();
        let mut answer = [0; 16];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer[..12], b"HTTP/1.1 200");
    };
    let mut held = [client.connect(), client.connect()];
    held.iter_mut().for_each(keep);
    let mut refused = client.connect();
    let reply = Reply::read(&mut refused);
    assert_eq!((reply.status, reply.header("retry-after")), (503, Some("1")));
    let said: serde_json::Value = serde_json::from_slice(&reply.body).unwrap();
    assert_eq!((&said["error"], &said["retryable"]), (&json!("cloud_runtime_unavailable"), &json!(true)));
    drop(held);
    // A place is free as soon as the server has seen that they went.
    while client.get("/api/cloud/health").status == 503 {}
}

#[test]
fn what_is_no_http_and_what_is_cut_off_leaves_others_alone() {
    let server = Server::new();
    let client = &server.client;
    for noise in [&b"\x16\x03\x01\x02\x00"[..], b"GET\r\n\r\n", b"nonsense", b"GET / HTTP/9.9\r\n\r\n", b""] {
        let mut stream = client.connect();
        stream.write_all(noise).unwrap();
        drop(stream);
    }
    let many = "x: y\r\n".repeat(5_000);
    let mut stream = client.connect();
    stream.write_all(format!("GET / HTTP/1.1\r\n{many}\r\n").as_bytes()).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    assert!(answer.starts_with(b"HTTP/1.1 4"), "{:?}", String::from_utf8_lossy(&answer));
    client.commit("a", json!(1));
}

#[test]
fn a_write_whose_caller_goes_away_is_whole_or_not_there() {
    let server = Server::new();
    let client = &server.client;
    for number in 0..20 {
        let body = json!({"key": format!("k{number}"), "value": "x".repeat(10_000)}).to_string();
        let length = body.len().to_string();
        let head = client.head("POST", &memory("commit"), &[("content-length", &length)]);
        let mut stream = client.connect();
        stream.write_all(format!("{head}\r\n{body}").as_bytes()).unwrap();
        // Gone without waiting for the answer.
        drop(stream);
    }
    client.commit("after", json!(1));
    for entry in client.write("list", &json!({"values": "full"}))["entries"].as_array().unwrap() {
        assert!(entry["key"] == "after" || entry["value"].as_str().unwrap().len() == 10_000);
    }
}

#[test]
fn one_connection_serves_many_requests() {
    let server = Server::new();
    let client = &server.client;
    let mut stream = client.connect();
    let head = client.head("GET", "/api/cloud/health", &[]);
    let keep = head.replace("connection: close\r\n", "");
    stream.write_all(format!("{keep}\r\n{keep}\r\n{head}\r\n").as_bytes()).unwrap();
    let mut answers = String::new();
    stream.read_to_string(&mut answers).unwrap();
    assert_eq!(answers.matches("HTTP/1.1 200").count(), 3, "{answers}");
}
