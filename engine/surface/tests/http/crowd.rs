//! More connections than there are places.

use std::io::Write;
use std::net::TcpStream;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};

use crate::client::{Kept, Reply, memory};
use crate::server::Server;

/// So many idle connections; 10,000 with `BILINC_SERVER_IDLE=10000`.
fn crowd() -> usize {
    std::env::var("BILINC_SERVER_IDLE").map_or(1_500, |number| number.parse().expect("a number"))
}

/// This program needs a file for each connection, too.
fn allow_files(number: usize) {
    let limit = getrlimit(Resource::Nofile);
    let needed = number as u64 + 200;
    if limit.current.is_some_and(|current| current < needed) {
        setrlimit(Resource::Nofile, Rlimit { current: Some(needed), maximum: limit.maximum }).unwrap();
    }
}

/// Memory of a process in KiB, now or at most.
fn memory_of(server: &Server, line: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).ok()?;
    status.lines().find_map(|found| found.strip_prefix(line))?.split_whitespace().next()?.parse().ok()
}

#[test]
fn a_crowd_that_idles_is_refused_politely_and_those_inside_are_served() {
    let (places, crowd) = (1_000, crowd());
    allow_files(crowd + 10);
    let server = Server::with(&["--max-connections", &places.to_string(), "--pause-limit", "3600", "--log", "error"]);
    let client = &server.client;
    let mut kept: Vec<_> = (0..10).map(|_| Kept::new(client).unwrap()).collect();
    for kept in &mut kept {
        kept.send("GET", "/api/cloud/status", &[], "").unwrap().ok();
    }
    let before = memory_of(&server, "VmRSS:");
    let mut idle: Vec<_> = (0..crowd).map(|_| client.connect()).collect();
    // All that came after the last place was taken are told so, though they asked for nothing.
    for refused in idle.drain(places - kept.len()..) {
        refused_politely(refused);
    }
    for (number, kept) in kept.iter_mut().enumerate() {
        kept.commit(&format!("name{number}"), &format!("k{number}"), &json!(number)).unwrap().ok();
    }
    // One that has sent its request hears the same, and no reset.
    let body = json!({"key": "refused", "value": "x".repeat(10_000)}).to_string();
    for _ in 0..100 {
        let reply = client.post_text(&memory("commit"), &body);
        assert_eq!((reply.status, reply.header("retry-after")), (503, Some("1")), "{}", reply.text());
    }
    if let (Some(before), Some(most)) = (before, memory_of(&server, "VmHWM:")) {
        assert!(most - before < 64 * 1024, "{before} KiB before, {most} KiB at most");
    }
    drop(idle);
    // There is room again as soon as the server has seen them go.
    while client.get("/api/cloud/health").status == 503 {}
    assert_eq!(client.position(), 10);
}

#[track_caller]
fn refused_politely(mut stream: TcpStream) {
    let reply = Reply::read(&mut stream);
    let said: Value = serde_json::from_slice(&reply.body).unwrap();
    assert_eq!((reply.status, reply.header("retry-after")), (503, Some("1")));
    assert_eq!(reply.header("content-type"), Some("application/json"));
    assert_eq!((&said["error"], &said["retryable"]), (&json!("cloud_runtime_unavailable"), &json!(true)));
}

#[test]
fn connections_leave_the_stores_their_files() {
    // The system allows 256 open files, and no more.
    let server = Server::new_under("ulimit -n 256");
    let client = &server.client;
    let idle: Vec<_> = (0..400).map(|_| client.connect()).collect();
    // The store was not opened before.
    let mut kept = Kept::new(client).unwrap();
    drop(idle);
    while !kept.commit("name", "a", &json!(1)).is_ok_and(|reply| reply.status == 200) {
        kept = Kept::new(client).unwrap();
    }
    let idle: Vec<_> = (0..400).map(|_| client.connect()).collect();
    let verified = kept.send("GET", &memory("verify"), &[], "").unwrap().ok();
    assert_eq!(verified["stateEqual"], true);
    kept.commit("other", "b", &json!(2)).unwrap().ok();
    drop(idle);
}

#[test]
fn more_requests_at_once_than_may_wait_are_told_so_or_served() {
    let server = Server::with(&["--max-connections", "4000", "--log", "error"]);
    let client = &server.client;
    let body = json!({"key": "same", "value": 1}).to_string();
    let length = body.len().to_string();
    let request = format!("{}\r\n{body}", client.head("POST", &memory("commit"), &[("content-length", &length)]));
    let mut asked: Vec<_> = (0..1_300)
        .map(|_| {
            let mut stream = client.connect();
            stream.write_all(request.as_bytes()).unwrap();
            stream
        })
        .collect();
    let mut served = 0;
    for stream in &mut asked {
        let reply = Reply::read(stream);
        match reply.status {
            200 => served += 1,
            _ => assert_eq!(reply.refused(503, "cloud_runtime_unavailable")["reason"], "queue_full"),
        }
    }
    assert_eq!(client.position(), served);
}
