//! Servers that are not there, or are something else, and commands that no server can be asked for.

use std::io::Write;
use std::net::TcpListener;

use serde_json::Value;

use crate::place::{Ran, Server, feed, make_key, program};
use crate::streams::read_head;

/// Answers every request of a command with this, and gives the error.
fn answered_with(answer: &'static str, words: &[&str]) -> Value {
    let home = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        read_head(&mut stream);
        stream.write_all(answer.as_bytes()).unwrap();
    });
    let mut command = program(home.path(), words);
    command.env("BILINC_BASE_URL", url).env("BILINC_API_KEY", "bil_live_secret");
    let ran = feed(command, b"");
    thread.join().unwrap();
    assert!(!ran.err.contains("secret"), "{ran:?}");
    ran.error(1)
}

#[test]
fn a_server_that_cannot_be_reached_is_said_at_once() {
    let home = tempfile::tempdir().unwrap();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let run = |json: &[&str]| -> Ran {
        let url = format!("http://{free}");
        let words = [&["commit", "--key", "k", "--value", "1", "--base-url", &url], json].concat();
        program(home.path(), &words).env("BILINC_API_KEY", "k").output().unwrap().into()
    };
    let error = run(&["--json"]).error(1);
    assert_eq!((&error["error"], &error["retryable"]), (&"cloud_runtime_unavailable".into(), &true.into()));
    assert_eq!(error["details"], serde_json::json!({"reason": "unreachable"}));
    let ran = run(&[]);
    assert!(ran.err.starts_with("bilinc: error: cannot reach the server at http://127.0.0.1:"), "{ran:?}");
    assert!(ran.err.contains("hint:"), "{ran:?}");
}

#[test]
fn what_is_no_bilinc_server_is_named_as_such() {
    for (answer, code, reason) in [
        ("HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n<html>", "cloud_runtime_unavailable", "not_bilinc"),
        ("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n", "not_found", "not_bilinc"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}", "cloud_runtime_unavailable", "unreadable_answer"),
        (
            "HTTP/1.1 301 Moved\r\nlocation: https://elsewhere.test/\r\ncontent-length: 0\r\n\r\n",
            "cloud_runtime_unavailable",
            "redirect",
        ),
    ] {
        let error = answered_with(answer, &["status", "--json"]);
        assert_eq!((&error["error"], &error["details"]["reason"]), (&code.into(), &reason.into()), "{error}");
    }
    let error = answered_with("HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n", &["confirm", "k", "--json"]);
    assert_eq!(error["details"]["outcome"], "unknown");
    assert!(error["details"]["idempotencyKey"].is_string());
}

#[test]
fn keys_open_what_they_may_and_their_lack_is_told() {
    let server = Server::new();
    let with = |key: &str, words: &[&str]| -> Ran {
        server.command(words).env("BILINC_API_KEY", key).output().unwrap().into()
    };
    assert_eq!(with("", &["status", "--json"]).error(1)["error"], "missing_api_key");
    assert_eq!(with("bil_live_wrong", &["status", "--json"]).error(1)["error"], "invalid_api_key");
    assert_eq!(with("ğ", &["status", "--json"]).error(1)["error"], "invalid_api_key");
    let reader = make_key(server.home.path(), &["--read-only"]);
    assert_eq!(with(&reader, &["status", "--json"]).json()["capabilities"]["write"], false);
    assert_eq!(with(&reader, &["commit", "--key", "k", "--value", "1", "--json"]).error(1)["error"], "read_only");
    // A client of a server that somebody asks for nothing but its health needs no key.
    assert_eq!(with("", &["health", "--json"]).json()["status"], "ok");
}

#[test]
fn options_name_one_place_and_what_is_local_says_what_to_do() {
    let server = Server::new();
    let usage = |words: &[&str], told: &str| {
        let ran = server.run(words);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{words:?}: {ran:?}");
        assert!(ran.err.contains(told), "{words:?}: {ran:?}");
        let error = server.run(&[words, &["--json"]].concat()).error(2);
        assert_eq!(error["error"], "invalid_request", "{words:?}");
    };
    let url = server.url.as_str();
    usage(&["status", "--base-url", url, "--store", "s"], "name one of the two");
    usage(&["status", "--base-url", "nonsense"], "http://127.0.0.1:8787");
    for words in
        [&["salvage"][..], &["backup", "b"], &["serve"], &["keys", "list"], &["demo"], &["completions", "bash"]]
    {
        usage(&[words, &["--base-url", url]].concat(), "cannot be asked of a server");
    }
    usage(&["mcp", "--tools", "knowledge-graph"], "knowledge graph");
    usage(&["commit", "--key", "k", "--value", "1", "--allow-secrets"], "bilinc serve --allow-secrets");
    // The variable is for commands that can be asked of a server; the others go on as ever.
    assert_eq!(server.run(&["completions", "bash"]).code, Some(0));
    assert_eq!(server.run(&["keys", "list"]).code, Some(0));
    assert_eq!(server.run(&["salvage"]).code, Some(0));
    let local = server.run(&["mcp", "install", "--client", "json"]).text();
    assert!(!local.contains(url), "a set-up for a server is printed where one is named by the option: {local}");
    assert!(server.run(&["mcp", "install", "--client", "json", "--base-url", url]).text().contains(url));
    let both: Ran = server.command(&["status", "--json"]).env("BILINC_STORE", "s").output().unwrap().into();
    assert!(both.error(2)["message"].as_str().unwrap().contains("BILINC_STORE"));
    let store: Ran = server.command(&["status", "--json", "--store", "none"]).output().unwrap().into();
    assert_eq!(store.error(1)["error"], "not_found");
    let option: Ran =
        server.command(&["status", "--json", "--base-url", url]).env("BILINC_STORE", "s").output().unwrap().into();
    assert_eq!(option.json()["workspace"]["project"], "p");
}

#[test]
fn a_next_step_names_the_server_that_was_named() {
    let server = Server::new();
    server.run(&["commit", "--key", "a", "--value", "1", "--session", "s"]).text();
    let ran = server.run(&["undo", "--session", "s", "--base-url", &server.url]);
    assert!(ran.out.contains(&format!("bilinc --base-url {} undo --seq", server.url)), "{ran:?}");
}

#[test]
fn a_store_that_is_not_well_says_so_and_fails() {
    let home = tempfile::tempdir().unwrap();
    let run = |words: &[&str]| -> Ran { program(home.path(), words).output().unwrap().into() };
    assert_eq!(run(&["health"]).text(), "ok\n");
    run(&["commit", "--key", "damaged.key", "--value", "1", "--store", "s"]).text();
    assert_eq!(run(&["health", "--store", "s", "--json"]).text(), "{\"status\":\"ok\",\"success\":true}\n");
    let segment = std::fs::read_dir(home.path().join("s/log")).unwrap().next().unwrap().unwrap().path();
    let mut bytes = std::fs::read(&segment).unwrap();
    let place = bytes.windows(11).position(|part| part == b"damaged.key").unwrap();
    bytes[place] ^= 1;
    std::fs::write(segment, bytes).unwrap();
    let ran = run(&["health", "--store", "s"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""), "{ran:?}");
    assert!(ran.out.starts_with("degraded: "), "{ran:?}");
}
