//! Clients that dawdle are cut off by the server, and keep nobody waiting.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;

use crate::client::{Client, Reply, memory};
use crate::server::Server;

/// Sends these bytes again and again, one at a time and slowly, until the server has had enough; what it said.
fn dribble(mut stream: TcpStream, bytes: &[u8]) -> Vec<u8> {
    // Waiting for an answer is what makes this one slow.
    stream.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    let mut said = Vec::new();
    let mut cut = false;
    for byte in bytes.iter().cycle() {
        cut |= stream.write_all(&[*byte]).is_err();
        let mut some = [0; 4096];
        match stream.read(&mut some) {
            Ok(0) => break,
            Ok(read) => said.extend_from_slice(&some[..read]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) && !cut => {}
            Err(_) => break,
        }
    }
    said
}

fn begun(client: &Client, path: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
    let mut stream = client.connect();
    stream.write_all(format!("{}\r\n{body}", client.head("POST", path, headers)).as_bytes()).unwrap();
    stream
}

#[test]
fn whoever_sends_byte_by_byte_is_cut_off_and_others_are_served_meanwhile() {
    let server = Server::with(&["--pause-limit", "1"]);
    let client = &server.client;
    let long = [("content-length", "1000000")];
    let chunked = [("transfer-encoding", "chunked")];
    let line = json!({"key": "lines", "value": 1}).to_string() + "\n";
    std::thread::scope(|scope| {
        let head = scope.spawn(|| {
            let mut stream = client.connect();
            stream.write_all(client.head("POST", &memory("commit"), &[]).as_bytes()).unwrap();
            dribble(stream, b"x-slow: yes\r\n")
        });
        let body = scope.spawn(|| dribble(begun(client, &memory("commit"), &long, r#"{"key":"body","value":""#), b"x"));
        let chunks =
            scope.spawn(|| dribble(begun(client, &memory("commit"), &chunked, "1\r\n{\r\n1\r\n\"\r\n"), b"1\r\nx\r\n"));
        let import = scope.spawn(|| dribble(begun(client, &memory("import"), &long, &line), line.as_bytes()));
        let mut slow = vec![head, body, chunks, import];
        let mut served = 0;
        while slow.iter().any(|one| !one.is_finished()) {
            client.commit(&format!("quick{served}"), json!(served));
            served += 1;
        }
        assert!(served > 0);
        let said: Vec<_> = slow.drain(..).map(|one| one.join().unwrap()).collect();
        assert!(said[0].is_empty() || said[0].starts_with(b"HTTP/1.1 408"), "{:?}", String::from_utf8_lossy(&said[0]));
        for said in &said[1..] {
            Reply::parse(said).invalid("body", "too_slow");
        }
        assert_eq!(client.position(), served);
    });
}

#[test]
fn a_body_that_stops_in_the_middle_is_cut_off() {
    let server = Server::with(&["--pause-limit", "1"]);
    let client = &server.client;
    for path in ["commit", "import"] {
        let half = r#"{"key":"half","value":1}"#;
        let mut stream = begun(client, &memory(path), &[("content-length", "1000")], half);
        Reply::read(&mut stream).invalid("body", "too_slow");
    }
    assert_eq!(client.position(), 0);
}

#[test]
fn a_connection_that_asks_for_nothing_gives_its_place_back() {
    let server = Server::with(&["--pause-limit", "1", "--max-connections", "1"]);
    let client = &server.client;
    let kept = client.head("GET", "/api/cloud/health", &[]).replace("connection: close\r\n", "");
    // Before its first request, in the middle of it, and after it.
    for sent in [String::new(), kept.clone(), format!("{kept}\r\n")] {
        let mut stream = client.connect();
        stream.write_all(sent.as_bytes()).unwrap();
        // The end comes from the server.
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        // The place is free as soon as the server has seen its own end of it.
        while client.get("/api/cloud/health").status == 503 {}
    }
}

#[test]
fn a_reader_that_takes_nothing_gives_its_place_back() {
    let server = Server::with(&["--pause-limit", "1", "--max-connections", "1"]);
    let client = &server.client;
    // More than the system keeps on its way.
    for number in 0..24 {
        let body = json!({"key": format!("k{number}"), "value": "x".repeat(1_000_000)});
        while client.post(&memory("commit"), &body).status == 503 {}
    }
    let mut stream = loop {
        let mut stream = client.connect();
        stream.write_all(format!("{}\r\n", client.head("GET", &memory("export"), &[])).as_bytes()).unwrap();
        let mut status = [0; 12];
        stream.read_exact(&mut status).unwrap();
        if &status == b"HTTP/1.1 200" {
            break stream;
        }
    };
    while client.get("/api/cloud/health").status == 503 {}
    // It has not got the whole, and can tell: the last piece is missing.
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    assert!(!rest.ends_with(b"0\r\n\r\n"));
}
