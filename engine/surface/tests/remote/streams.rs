//! What goes in and out line by line.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::Stdio;

use serde_json::Value;

use crate::place::{Server, feed};

#[test]
fn a_log_is_followed_from_its_tail_and_taken_up_again_when_its_server_comes_back() {
    let mut server = Server::new();
    server.run(&["commit", "--key", "before", "--value", "1"]).text();
    let mut command = server.command(&["log", "--follow", "--json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || serde_json::from_str::<Value>(&lines.next().unwrap().unwrap()).unwrap()["key"].clone();
    assert_eq!(next(), "before");
    server.run(&["commit", "--key", "after", "--value", "2"]).text();
    assert_eq!(next(), "after");
    server.end();
    server.again();
    server.run(&["commit", "--key", "again", "--value", "3"]).text();
    assert_eq!(next(), "again");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn an_export_that_breaks_off_leaves_the_good_one_in_its_place() {
    let server = Server::new();
    let good = server.home.path().join("good.jsonl");
    std::fs::write(&good, "the good one\n").unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let half = std::thread::spawn(move || {
        for _ in 0..2 {
            let (mut stream, _) = listener.accept().unwrap();
            read_head(&mut stream);
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n\r\n";
            stream.write_all(format!("{head}5\r\nline\n\r\n").as_bytes()).unwrap();
        }
    });
    let run = |words: &[&str]| {
        feed(
            {
                let mut command = server.command(words);
                command.env("BILINC_BASE_URL", &url);
                command
            },
            b"",
        )
    };
    let error = run(&["export", "-o", "good.jsonl", "--json"]).error(1);
    assert_eq!(
        (&error["error"], &error["details"]["reason"]),
        (&"cloud_runtime_unavailable".into(), &"broke_off".into())
    );
    assert_eq!(std::fs::read_to_string(&good).unwrap(), "the good one\n");
    // On standard output what came is there, and the end says that it is not all.
    let ran = run(&["export"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), "line\n"));
    half.join().unwrap();
    let left: Vec<_> = std::fs::read_dir(server.home.path()).unwrap().map(|found| found.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with(".bilinc-export")), "{left:?}");
}

#[test]
fn an_import_of_many_megabytes_goes_through_and_a_wrong_key_is_told_before_it_is_sent() {
    let server = Server::new();
    let long = "x".repeat(1_000);
    let lines: Vec<_> = (0..6_000).map(|index| format!("{{\"key\":\"k{index}\",\"value\":\"{long}\"}}")).collect();
    let input = lines.join("\n");
    let answer = feed(server.command(&["import", "-", "--json"]), input.as_bytes()).json();
    assert_eq!(answer["created"], 6_000);
    let mut command = server.command(&["import", "-", "--json"]);
    command.env("BILINC_API_KEY", "bil_live_wrong");
    assert_eq!(feed(command, input.as_bytes()).error(1)["error"], "invalid_api_key");
    // More than a server gives at once is asked for in parts.
    let all = server.run(&["list", "--values", "full", "--limit", "1000", "--all", "--json"]).json();
    assert_eq!((all["entries"].as_array().unwrap().len(), &all["total"]), (6_000, &6_000.into()));
    let page = server.run(&["list", "--values", "full", "--limit", "1000", "--json"]).json();
    assert_eq!(page["entries"].as_array().unwrap().len(), 1_000);
    assert!(page["nextCursor"].is_string());
}

/// Reads up to the empty line behind the head of a request.
pub(crate) fn read_head(stream: &mut impl Read) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() == 1 {
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}
