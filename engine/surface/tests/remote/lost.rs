//! An answer that is lost is no reason to act twice.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

use crate::place::{Server, feed};
use crate::streams::read_head;

/// Stands before a server and keeps the answers to the first requests for itself.
fn thief(server: &Server, stolen: usize) -> (String, std::thread::JoinHandle<Vec<String>>) {
    let behind: SocketAddr = server.url.strip_prefix("http://").unwrap().parse().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        let mut names = Vec::new();
        loop {
            let (mut client, _) = listener.accept().unwrap();
            let head = read_head(&mut client);
            if head.starts_with("STOP") {
                return names;
            }
            let header =
                |name: &str| head.lines().find_map(|line| line.to_lowercase().strip_prefix(name).map(str::to_owned));
            let length = header("content-length: ").map_or(0, |length| length.parse().unwrap());
            let mut body = vec![0; length];
            client.read_exact(&mut body).unwrap();
            names.push(header("idempotency-key: ").unwrap_or_default());
            let mut upstream = TcpStream::connect(behind).unwrap();
            let head = head.replacen("\r\n", "\r\nconnection: close\r\n", 1);
            upstream.write_all(head.as_bytes()).unwrap();
            upstream.write_all(&body).unwrap();
            let mut answer = Vec::new();
            upstream.read_to_end(&mut answer).unwrap();
            if names.len() > stolen {
                client.write_all(&answer).unwrap();
            }
        }
    });
    (url, thread)
}

fn stop(url: &str, thread: std::thread::JoinHandle<Vec<String>>) -> Vec<String> {
    let mut stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
    stream.write_all(b"STOP\r\n\r\n").unwrap();
    thread.join().unwrap()
}

#[test]
fn a_lost_answer_is_asked_for_again_under_the_same_name_and_written_once() {
    let server = Server::new();
    let (url, thread) = thief(&server, 1);
    let mut command = server.command(&["commit", "--key", "k", "--value", "1"]);
    command.env("BILINC_BASE_URL", &url);
    // Nobody is told of a replay who did not ask for one.
    let said = feed(command, b"").text();
    assert!(!said.contains("came before"), "{said}");
    let names = stop(&url, thread);
    assert!(names.len() == 2 && names[0] == names[1] && !names[0].is_empty(), "{names:?}");
    let history = server.run(&["history", "k", "--json"]).json();
    assert_eq!(history["entries"].as_array().unwrap().len(), 1);
}

#[test]
fn when_no_answer_comes_the_name_that_settles_it_is_told() {
    let server = Server::new();
    let (url, thread) = thief(&server, usize::MAX);
    let words = ["commit", "--key", "k", "--value", "1", "--json"];
    let mut command = server.command(&words);
    command.env("BILINC_BASE_URL", &url);
    let error = feed(command, b"").error(1);
    assert_eq!(error["error"], "cloud_runtime_unavailable");
    assert_eq!((&error["retryable"], &error["details"]["outcome"]), (&false.into(), &"unknown".into()));
    let name = error["details"]["idempotencyKey"].as_str().unwrap().to_owned();
    let names = stop(&url, thread);
    assert_eq!(names.len(), 3);
    assert!(names.iter().all(|sent| *sent == name), "{names:?}");
    let settled = server.run(&[&words[..], &["--idempotency-key", &name]].concat()).json();
    assert_eq!(settled["replayed"], true);
    let history = server.run(&["history", "k", "--json"]).json();
    assert_eq!(history["entries"].as_array().unwrap().len(), 1);
}
