//! What is said of routes that are not there, and of the server itself.

use serde_json::{Value, json};

use crate::client::memory;
use crate::server::Server;

#[test]
fn what_is_no_route_is_said_as_json() {
    let server = Server::new();
    let client = &server.client;
    for path in ["/", "/api", "/api/cloud/memory", "/api/cloud/memory/nothing", "/api/cloud/memory/dreams/a/b/c", "//"]
    {
        client.get(path).refused(404, "not_found");
        client.nobody().post(path, &json!({})).refused(404, "not_found");
    }
    for (method, path, allow) in [
        ("GET", memory("commit"), "POST"),
        ("DELETE", memory("commit"), "POST"),
        ("POST", "/api/cloud/status".to_owned(), "GET, HEAD"),
        ("POST", "/api/cloud/health".to_owned(), "GET, HEAD"),
        ("PUT", memory("dreams"), "GET, HEAD, POST"),
        ("GET", memory("dreams/some/apply"), "POST"),
        ("PATCH", memory("dreams/some"), "GET, HEAD"),
    ] {
        let reply = client.send(method, &path, &[], b"");
        reply.refused(405, "method_not_allowed");
        assert_eq!(reply.header("allow"), Some(allow), "{method} {path}");
    }
}

#[test]
fn health_and_the_description_need_no_key() {
    let server = Server::new();
    let nobody = server.client.nobody();
    let health = nobody.get("/api/cloud/health");
    assert_eq!((health.status, health.text()), (200, r#"{"status":"ok","success":true}"#));
    let document: Value = serde_json::from_str(nobody.get("/api/openapi.json").text()).unwrap();
    assert!(document.is_object());
    // A key that opens nothing is no reason to hide how the service is.
    assert_eq!(nobody.with_key("bil_live_wrong").get("/api/cloud/health").status, 200);
}

#[test]
fn numbers_are_for_this_machine_and_not_for_whom_a_proxy_speaks() {
    let server = Server::new();
    server.client.commit("a", json!(1));
    let metrics = server.client.nobody().get("/metrics");
    let line = r#"bilinc_requests_total{route="/api/cloud/memory/commit",method="POST",status="200"} 1"#;
    assert!(metrics.text().lines().any(|found| found == line), "{}", metrics.text());
    assert!(metrics.text().lines().any(|found| found == "bilinc_open_stores 1"), "{}", metrics.text());
    let forwarded = [("x-forwarded-for", "203.0.113.9")];
    server.client.send("GET", "/metrics", &forwarded, b"").refused(404, "not_found");
    let public = Server::with(&["--public-metrics"]);
    assert_eq!(public.client.send("GET", "/metrics", &forwarded, b"").status, 200);
}

#[test]
fn the_head_of_a_read_can_be_asked_for_alone() {
    let server = Server::new();
    let reply = server.client.send("HEAD", "/api/cloud/status", &[], b"");
    assert_eq!((reply.status, reply.body.len()), (200, 0));
}
