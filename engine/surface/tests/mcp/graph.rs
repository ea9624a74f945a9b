//! The tools of the official memory server.

use serde_json::{Value, json};

use crate::client::{Client, Folder, program, text};
use crate::schema::{hold, listed};

fn graph(folder: &Folder) -> Client {
    folder.client_with(&["--tools", "knowledge-graph"])
}

fn entity(name: &str, observations: &[&str]) -> Value {
    json!({"name": name, "entityType": "person", "observations": observations})
}

fn relation(from: &str, to: &str) -> Value {
    json!({"from": from, "to": to, "relationType": "knows"})
}

/// Calls a tool and holds its answer to the schema that it lists.
fn call(client: &mut Client, tool: &str, arguments: Value) -> Value {
    let schema = listed(client).into_iter().find(|listed| listed["name"] == tool).unwrap()["outputSchema"].clone();
    let result = client.result(tool, arguments);
    assert_eq!(result["isError"], false, "{tool}: {result}");
    hold(&schema, &result["structuredContent"], tool);
    result["structuredContent"].clone()
}

#[test]
fn the_nine_tools_do_what_those_of_the_official_server_do() {
    let folder = Folder::new();
    let mut client = graph(&folder);
    let names: Vec<_> = listed(&mut client).iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    let wanted = "create_entities create_relations add_observations delete_entities delete_observations delete_relations \
                  read_graph search_nodes open_nodes";
    assert_eq!(names.join(" "), wanted);
    assert_eq!(call(&mut client, "read_graph", json!({})), json!({"entities": [], "relations": []}));
    let all = json!([entity("Zoe", &["likes tea"]), entity("Ada", &[]), entity(" Ada ", &["another"])]);
    assert_eq!(call(&mut client, "create_entities", json!({"entities": all}))["entities"], all);
    // What is there stays as it is.
    let again = json!({"entities": [entity("Ada", &["new"]), entity("Bob", &["works at Initech"])]});
    assert_eq!(call(&mut client, "create_entities", again)["entities"], json!([entity("Bob", &["works at Initech"])]));
    let relations = json!([relation("Zoe", "Ada"), relation("Ada", "Bob"), relation("Zoe", "nobody")]);
    assert_eq!(call(&mut client, "create_relations", json!({"relations": relations}))["relations"], relations);
    assert_eq!(call(&mut client, "create_relations", json!({"relations": relations}))["relations"], json!([]));
    let added = json!({"observations": [{"entityName": "Ada", "contents": ["wrote programs", "wrote programs"]}]});
    let results = json!([{"entityName": "Ada", "addedObservations": ["wrote programs", "wrote programs"]}]);
    assert_eq!(call(&mut client, "add_observations", added)["results"], results);
    let found = call(&mut client, "search_nodes", json!({"query": "INITECH"}));
    assert_eq!(
        found,
        json!({"entities": [entity("Bob", &["works at Initech"])], "relations": [relation("Ada", "Bob")]})
    );
    let opened = call(&mut client, "open_nodes", json!({"names": ["Zoe", "none"]}));
    assert_eq!(opened["relations"], json!([relation("Zoe", "Ada"), relation("Zoe", "nobody")]));
    let gone = json!({"deletions": [{"entityName": "Zoe", "observations": ["likes tea", "x"]}, {"entityName": "none", "observations": []}]});
    assert_eq!(call(&mut client, "delete_observations", gone)["success"], true);
    call(&mut client, "delete_relations", json!({"relations": [relation("Zoe", "nobody"), relation("x", "y")]}));
    call(&mut client, "delete_entities", json!({"entityNames": ["Ada", "none"]}));
    let left = call(&mut client, "read_graph", json!({}));
    assert_eq!(
        left["entities"],
        json!([entity("Zoe", &[]), entity(" Ada ", &["another"]), entity("Bob", &["works at Initech"])])
    );
    assert_eq!(left["relations"], json!([]));
    // The text is laid out as that server does it.
    let result = client.result("read_graph", json!({}));
    assert!(text(&result).starts_with("{\n  \"entities\": [\n    {\n      \"name\": \"Zoe\",\n"), "{}", text(&result));
    let read =
        client.ask("resources/read", json!({"uri": "memory://knowledge-graph"}))["result"]["contents"][0].clone();
    assert_eq!(read["text"].as_str().unwrap().parse::<Value>().unwrap(), left);
}

#[test]
fn nothing_is_added_when_one_entity_is_not_there() {
    let mut client = graph(&Folder::new());
    call(&mut client, "create_entities", json!({"entities": [entity("a", &[])]}));
    let contents = |name: &str| json!({"entityName": name, "contents": ["new"]});
    let error = client.fail("add_observations", json!({"observations": [contents("a"), contents("none")]}));
    assert_eq!(error["error"], "memory_not_found");
    assert_eq!(call(&mut client, "read_graph", json!({}))["entities"], json!([entity("a", &[])]));
    for wrong in [json!({}), json!({"entities": [1]}), json!({"entities": [{"name": "x"}]}), json!({"entities": {}})] {
        assert_eq!(client.fail("create_entities", wrong)["details"]["field"], "entities");
    }
}

#[test]
fn observations_that_two_clients_add_at_once_are_all_there() {
    let folder = Folder::new();
    let mut clients = [graph(&folder), graph(&folder)];
    call(&mut clients[0], "create_entities", json!({"entities": [entity("shared", &[])]}));
    for number in 0..50 {
        for (who, client) in clients.iter_mut().enumerate() {
            let arguments =
                json!({"observations": [{"entityName": "shared", "contents": [format!("{who}.{number}")]}]});
            client.send(&Client::request(number, "add_observations", arguments));
        }
    }
    for client in &mut clients {
        for _ in 0..50 {
            assert_eq!(client.next().unwrap()["result"]["isError"], false);
        }
    }
    let left = call(&mut clients[0], "read_graph", json!({}));
    assert_eq!(left["entities"][0]["observations"].as_array().unwrap().len(), 100);
}

#[test]
fn a_deletion_is_in_the_history_and_can_be_taken_back() {
    let folder = Folder::new();
    let mut client = graph(&folder);
    call(&mut client, "create_entities", json!({"entities": [entity("a", &["kept"])]}));
    call(&mut client, "delete_entities", json!({"entityNames": ["a"]}));
    let mut memories = folder.client();
    assert_eq!(memories.call("history", json!({"key": "graph:entity:a"}))["entries"][0]["op"], "forget");
    memories.call("undo", json!({"seqs": [2]}));
    assert_eq!(call(&mut client, "read_graph", json!({}))["entities"], json!([entity("a", &["kept"])]));
}

#[test]
fn a_file_of_the_official_server_is_imported_in_its_order() {
    let folder = Folder::new();
    let file = folder.store().with_file_name("memory.jsonl");
    let lines: Vec<String> = [
        json!({"type": "entity", "name": "Zoe", "entityType": "person", "observations": ["1"]}),
        json!({"type": "entity", "name": "Ada", "entityType": "person", "observations": []}),
        json!({"type": "relation", "from": "Zoe", "to": "Ada", "relationType": "knows"}),
    ]
    .iter()
    .map(Value::to_string)
    .collect();
    let import = |text: &str| {
        std::fs::write(&file, text).unwrap();
        let mut command = program();
        command.arg("import").arg(&file).args(["--format", "mcp-memory", "--json", "--store"]).arg(folder.store());
        command.output().unwrap()
    };
    let bad = import(&format!("{}\n{{\"type\":\"other\"}}\n", lines[0]));
    let error: Value = serde_json::from_slice(&bad.stderr).unwrap();
    assert_eq!((&error["details"]["line"], &error["details"]["reason"]), (&2.into(), &"unknown_type".into()));
    assert!(!folder.store().exists());
    assert!(import(&lines.join("\n")).status.success());
    let left = call(&mut graph(&folder), "read_graph", json!({}));
    assert_eq!(left["entities"], json!([entity("Zoe", &["1"]), entity("Ada", &[])]));
    assert_eq!(left["relations"], json!([relation("Zoe", "Ada")]));
}

#[test]
fn a_large_graph_fits_and_says_what_is_left_out() {
    let mut client = graph(&Folder::new());
    let all: Vec<_> =
        (0..300).map(|number| entity(&format!("{number} {}", "n".repeat(300)), &[&"o".repeat(2_000)])).collect();
    call(&mut client, "create_entities", json!({"entities": all}));
    let result = client.result("read_graph", json!({}));
    assert!(text(&result).chars().count() < 50_000);
    let shown = &result["structuredContent"];
    let left_out = shown["omitted"]["entities"].as_u64().unwrap();
    assert_eq!(shown["entities"].as_array().unwrap().len() as u64 + left_out, 300);
}
