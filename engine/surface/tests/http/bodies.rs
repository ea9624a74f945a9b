//! Bodies that are no JSON, or no whole ones.

use std::io::Write;
use std::net::Shutdown;

use serde_json::json;

use crate::client::{Reply, memory};
use crate::server::Server;

#[test]
fn a_body_that_says_it_is_something_else_is_refused() {
    let server = Server::new();
    let body = br#"{"key":"a","value":1}"#;
    let send = |kind| server.client.send("POST", &memory("commit"), &[("content-type", kind)], body);
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "json"] {
        send(kind).invalid("contentType", "wrong_content_type");
    }
    for kind in ["application/json", "application/json; charset=utf-8", "Application/JSON", "application/x+json"] {
        send(kind).ok();
    }
    server.client.send("POST", &memory("commit"), &[], body).ok();
    let latin = server.client.send("POST", &memory("commit"), &[], b"{\"key\":\"\xe9\",\"value\":1}");
    latin.invalid("body", "invalid_utf8");
}

#[test]
fn a_request_without_needed_fields_may_have_no_body() {
    let server = Server::new();
    server.client.commit("a", json!(1));
    for path in ["list", "dreams", "snapshots"] {
        server.client.send("POST", &memory(path), &[], b"").ok();
    }
}

#[test]
fn a_half_sent_body_writes_nothing() {
    let server = Server::new();
    let client = &server.client;
    let whole = r#"{"key":"a","value":"whole"}"#;
    for part in ["", r#"{"key":"a","va"#, r#"{"key":"a","value":"who"#] {
        let mut stream = client.connect();
        let length = whole.len().to_string();
        let head = client.head("POST", &memory("commit"), &[("content-length", &length)]);
        stream.write_all(format!("{head}\r\n{part}").as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        // Whether it still hears that the body broke off is open; nothing is written.
        let _ = std::io::Read::read_to_end(&mut stream, &mut answer);
        if !answer.is_empty() {
            Reply::parse(&answer).invalid("body", "cut_off");
        }
    }
    // An import of whole lines that ends before its end is no import.
    for framing in [("content-length", "1000"), ("transfer-encoding", "chunked")] {
        let mut stream = client.connect();
        let head = client.head("POST", &memory("import"), &[framing]);
        let line = json!({"key": "b", "value": 1}).to_string() + "\n";
        let sent = if framing.1 == "chunked" { format!("{:x}\r\n{line}\r\n", line.len()) } else { line };
        stream.write_all(format!("{head}\r\n{sent}").as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let _ = std::io::Read::read_to_end(&mut stream, &mut Vec::new());
    }
    assert_eq!(client.position(), 0);
}

#[test]
fn a_bad_line_refuses_the_import_with_its_number() {
    let server = Server::new();
    let client = &server.client;
    let details = client
        .send("POST", &memory("import"), &[], b"{\"key\":\"a\",\"value\":1}\n{\"key\":\"b\"}\n")
        .refused(400, "invalid_request");
    assert_eq!(details["line"], 2);
    // Also when much more comes behind it.
    let many = format!("nonsense\n{}", "{\"key\":\"a\",\"value\":1}\n".repeat(1_000_000));
    let details = client.send("POST", &memory("import"), &[], many.as_bytes()).refused(400, "invalid_request");
    assert_eq!(details["line"], 1);
    assert_eq!(client.position(), 0);
    client.send("POST", &memory("import?ifAbsent=true"), &[], b"{\"key\":\"a\",\"value\":1}").ok();
    let again = client.send("POST", &memory("import?ifAbsent=true"), &[], b"{\"key\":\"a\",\"value\":2}").ok();
    assert_eq!(again["skippedExisting"], 1);
}

#[test]
fn a_body_may_come_in_chunks() {
    let server = Server::new();
    let client = &server.client;
    let mut stream = client.connect();
    let head = client.head("POST", &memory("commit"), &[("transfer-encoding", "chunked")]);
    stream.write_all(format!("{head}\r\n").as_bytes()).unwrap();
    for part in [r#"{"key":"a","#, r#""value":1}"#] {
        stream.write_all(format!("{:x}\r\n{part}\r\n", part.len()).as_bytes()).unwrap();
    }
    stream.write_all(b"0\r\n\r\n").unwrap();
    Reply::read(&mut stream).ok();
    assert_eq!(client.entry("a").ok()["value"], 1);
}
