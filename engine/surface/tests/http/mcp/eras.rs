//! Both eras of the protocol over HTTP, and what its versions differ in.

use serde_json::{Value, json};

use super::{BOTH, INLINE, JSON, NEWEST_HANDSHAKE, hello, inline, refused, request, said};
use crate::client::Client;
use crate::server::Server;

#[test]
fn each_version_with_a_handshake_is_served_without_a_session() {
    let server = Server::new();
    let client = &server.client;
    for version in ["2025-03-26", "2025-06-18", NEWEST_HANDSHAKE] {
        let result = said(&client.mcp(&[], &hello(version)))["result"].clone();
        assert_eq!(result["protocolVersion"], version);
        assert_eq!(result["serverInfo"]["name"], "bilinc");
        assert!(result["instructions"].as_str().unwrap().contains("dream"));
        let named = [("mcp-protocol-version", version)];
        let told = client.mcp(&named, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        assert_eq!((told.status, told.body.len()), (202, 0));
        let listed = said(&client.mcp(&named, &json!({"jsonrpc": "2.0", "id": "a", "method": "tools/list"})));
        assert_eq!((listed["result"]["tools"].as_array().unwrap().len(), &listed["id"]), (18, &json!("a")));
        let saved = said(&client.mcp(&named, &request(2, "commit_mem", json!({"key": version, "value": 1}))));
        assert_eq!(saved["result"]["isError"], false, "{saved}");
    }
    // One that names no version speaks the first that there was over HTTP.
    let status = said(&client.mcp(&[], &request(2, "status", json!({}))));
    assert_eq!(status["result"]["structuredContent"]["usage"]["memories"], 3, "{status}");
}

#[test]
fn a_version_that_nobody_knows_is_refused_and_in_a_handshake_gets_the_newest() {
    let server = Server::new();
    let named = [("mcp-protocol-version", "2099-01-01")];
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let answer = refused(&server.client.mcp(&named, &list), 400, -32600);
    assert_eq!(answer["id"], 1);
    let result = said(&server.client.mcp(&[], &hello("2099-01-01")))["result"].clone();
    assert_eq!(result["protocolVersion"], NEWEST_HANDSHAKE);
}

#[test]
fn the_era_without_a_handshake_is_served() {
    let server = Server::new();
    let client = &server.client;
    let found = said(&inline(client, "server/discover", json!({})))["result"].clone();
    let versions = found["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&INLINE.into()) && versions.contains(&NEWEST_HANDSHAKE.into()), "{found}");
    assert!(found["instructions"].as_str().unwrap().contains("dream"));
    let tools = said(&inline(client, "tools/list", json!({})));
    assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), 18);
    let call =
        |name: &str, arguments: Value| inline(client, "tools/call", json!({"name": name, "arguments": arguments}));
    let saved = said(&call("commit_mem", json!({"key": "a", "value": 1})));
    assert_eq!(saved["result"]["resultType"], "complete", "{saved}");
    assert_eq!(said(&call("get", json!({"key": "a"})))["result"]["structuredContent"]["value"], 1);
    assert_eq!(said(&call("get", json!({"key": "b"})))["result"]["isError"], true);
    assert_eq!(said(&call("nothing", json!({})))["error"]["code"], -32602);
    refused(&inline(client, "no/such/method", json!({})), 404, -32601);
    // What a proxy reads in the head has to be what is in the body.
    let headers = [("mcp-protocol-version", INLINE), ("mcp-method", "tools/list")];
    assert_eq!(client.mcp(&headers, &request(1, "status", json!({}))).status, 400);
}

#[test]
fn a_batch_is_served_in_the_one_version_that_has_them() {
    let server = Server::new();
    let client = &server.client;
    let told = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let calls = json!([
        request("x", "commit_mem", json!({"key": "a", "value": 1})),
        told,
        7,
        request("y", "get", json!({"key": "a"}))
    ]);
    for headers in [&[][..], &[("mcp-protocol-version", "2025-03-26")]] {
        let answers = said(&client.mcp(headers, &calls));
        let ids: Vec<_> = answers.as_array().unwrap().iter().map(|answer| answer["id"].clone()).collect();
        assert_eq!(ids, [json!("x"), json!(null), json!("y")], "{answers}");
        assert_eq!(answers[2]["result"]["structuredContent"]["value"], 1);
    }
    assert_eq!(client.mcp(&[], &json!([told, told])).status, 202);
    refused(&client.mcp(&[], &json!([])), 400, -32600);
    refused(&client.mcp(&[], &json!(vec![told; 101])), 400, -32600);
    for version in ["2025-06-18", NEWEST_HANDSHAKE, INLINE] {
        refused(&client.mcp(&[("mcp-protocol-version", version)], &calls), 400, -32600);
    }
}

#[test]
fn tools_answer_fail_and_keep_the_text_of_numbers() {
    let server = Server::new();
    let client = &server.client;
    let saved = client.call("commit_mem", json!({"key": "a", "value": "v"}));
    assert_eq!(client.call("get", json!({"key": "a"}))["entryVersion"], saved["entryVersion"]);
    assert_eq!(client.entry("a").ok()["source"], "bilinc_mcp");
    assert_eq!(client.fail("get", json!({"key": "none"}))["error"], "memory_not_found");
    assert_eq!(client.fail("get", json!({"key": "a", "nonsense": 1}))["details"]["field"], "nonsense");
    assert_eq!(client.ask("tools/call", json!({"name": "nothing"}))["error"]["code"], -32602);
    let call = |arguments: &str| {
        let params = format!(r#"{{"name":"commit_mem","arguments":{arguments}}}"#);
        client.mcp_text(&[], &format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#))
    };
    assert_eq!(said(&call(r#"{"key":"n","value":[1.10,1e2]}"#))["result"]["isError"], false);
    assert!(client.entry("n").text().contains(r#""value":[1.10,1e2]"#));
    assert_eq!(said(&call(r#"{"key":"n","value":1,"value":2}"#))["result"]["isError"], true);
    assert_eq!(said(&call(r#"{"key":"n","value":12345678901234567890123}"#))["result"]["isError"], true);
    assert!(client.ask("ping", json!({}))["result"].is_object());
    let read = client.ask("resources/read", json!({"uri": "memory://a"}));
    assert!(read["result"]["contents"][0]["text"].as_str().unwrap().contains(r#""key":"a""#), "{read}");
}

#[test]
fn the_tools_of_the_official_memory_server_have_a_path_of_their_own() {
    let server = Server::new();
    let near = Client { host: "localhost".to_owned(), ..server.client.clone() };
    let ask = |message: Value| {
        said(&near.send("POST", "/mcp/knowledge-graph", &[BOTH, JSON], message.to_string().as_bytes()))["result"]
            .clone()
    };
    let listed = ask(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
    assert_eq!(listed["tools"].as_array().unwrap().len(), 9);
    let entity = json!({"name": "Zoe", "entityType": "person", "observations": ["likes tea"]});
    ask(request(1, "create_entities", json!({"entities": [entity]})));
    let read = ask(request(1, "read_graph", json!({})));
    assert_eq!(read["structuredContent"]["entities"][0]["name"], "Zoe", "{read}");
    // It is the same memory.
    assert_eq!(server.client.call("recall", json!({"query": "tea"}))["results"].as_array().unwrap().len(), 1);
    assert_eq!(server.client.entry("graph:entity:Zoe").ok()["source"], "bilinc_mcp");
}
