//! Values come back as they came.

use serde_json::json;

use crate::client::memory;
use crate::server::Server;

const TEXT: &str = r#"{"z":1.10,"a":[12345678901234567890,1e400,-0.0],"s":"ğ\u0001"}"#;

#[test]
fn number_text_and_member_order_are_kept_through_every_answer() {
    let server = Server::new();
    let client = &server.client;
    let body = format!(r#"{{"value": {TEXT}, "metadata" : {{"m": 1.50}}, "key":"a"}}"#);
    client.post_text(&memory("commit"), &body).ok();
    let has = |text: &str| assert!(text.contains(TEXT), "{text}");
    has(client.entry("a").text());
    assert!(client.entry("a").text().contains(r#""metadata":{"m":1.50}"#));
    has(client.post_text(&memory("list"), r#"{"values":"full"}"#).text());
    has(client.post_text(&memory("history"), r#"{"key":"a"}"#).text());
    has(client.post_text(&memory("recall"), r#"{"query":"a"}"#).text());
    has(client.post_text(&memory("diff"), r#"{"fromSnapshotId":"@0","includeValues":true}"#).text());
    has(client.get(&memory("log?includeValues=true")).text());
    has(client.get(&memory("export")).text());
    has(client.post_text(&memory("dreams"), "").text());
    let exported = client.get(&memory("export")).body;
    client.write("forget", &json!({"key": "a", "reason": "r", "purge": true}));
    client.send("POST", &memory("import"), &[], &exported).ok();
    has(client.entry("a").text());
    client.post_text(&memory("revise"), r#"{"key":"a","value":1e400}"#).ok();
    assert!(client.entry("a").text().contains(r#""value":1e400"#));
    client.post_text(&memory("commit"), r#"{"key":"n","value":null}"#).ok();
    assert!(client.entry("n").text().contains(r#""value":null"#));
}

#[test]
fn a_dream_keeps_the_text_of_new_values_and_reports() {
    let server = Server::new();
    let client = &server.client;
    let version = client.commit("a", json!("v"));
    let id = client.write("dreams", &json!({}))["dreamId"].as_str().unwrap().to_owned();
    let page = format!(
        r#"{{"report":{TEXT},"actions":[{{"op":"revise","key":"a","expectedVersion":"{version}","newValue":{TEXT},"reason":"r"}}]}}"#
    );
    let applied = client.post_text(&memory(&format!("dreams/{id}/apply")), &page).ok();
    assert_eq!((&applied["state"], &applied["results"][0]["status"]), (&json!("finished"), &json!("applied")));
    assert!(client.entry("a").text().contains(TEXT));
    assert!(client.get(&memory(&format!("dreams/{id}"))).text().contains(TEXT));
}

#[test]
fn who_writes_is_the_surface_unless_somebody_is_named() {
    let server = Server::new();
    let client = &server.client;
    client.commit("a", json!(1));
    assert_eq!(client.entry("a").ok()["source"], "bilinc_cloud");
    client.write("commit", &json!({"key": "b", "value": 1, "source": "me", "sessionId": "s"}));
    let entry = client.entry("b").ok();
    assert_eq!((&entry["source"], &entry["sessionId"]), (&json!("me"), &json!("s")));
    client.send("POST", &memory("import?source=importer"), &[], br#"{"key":"c","value":1}"#).ok();
    assert_eq!(client.entry("c").ok()["source"], "importer");
    client.write("revise", &json!({"key": "b", "value": 2, "source": "she"}));
    let history = client.write("history", &json!({"key": "b"}));
    assert_eq!(history["entries"][0]["source"], "she");
}

#[test]
fn times_may_be_days_and_may_leave_out_their_offset() {
    let server = Server::new();
    let client = &server.client;
    client.commit("a", json!(1));
    for time in ["2020-01-01", "2020-01-01T00:00:00", "2020-01-01T00:00:00.5", "2020-01-01T00:00:00+00:00"] {
        assert_eq!(client.write("list", &json!({"updatedAfter": time}))["total"], 1, "{time}");
        assert_eq!(client.write("list", &json!({"updatedBefore": time}))["total"], 0, "{time}");
    }
    let then = client.write("recall", &json!({"query": "a", "queryTimestamp": "2020-01-01"}));
    assert_eq!(then["results"], json!([]));
    assert_eq!(client.get(&memory("entry?key=a&asOf=1")).ok()["value"], 1);
    client.get(&memory("entry?key=a&asOf=@0")).refused(404, "memory_not_found");
}
