//! Lists and logs page by page.

use serde_json::{Value, json};

use crate::client::memory;
use crate::server::Server;

#[test]
fn pages_give_everything_once_with_every_filter_and_order() {
    let server = Server::new();
    let client = &server.client;
    for number in 0..7 {
        let kind = if number % 2 == 0 { "semantic" } else { "working" };
        client.write(
            "commit",
            &json!({"key": format!("k{number}"), "value": number, "memoryType": kind, "source": format!("s{}", number % 3)}),
        );
    }
    client.write("flag", &json!({"key": "k3", "reason": "r"}));
    for (filter, wanted) in [
        (json!({}), vec![0, 1, 2, 3, 4, 5, 6]),
        (json!({"order": "newest"}), vec![6, 5, 4, 3, 2, 1, 0]),
        (json!({"order": "oldest"}), vec![0, 1, 2, 3, 4, 5, 6]),
        (json!({"memoryType": "working"}), vec![1, 3, 5]),
        (json!({"sources": ["s0", "s2"], "order": "newest"}), vec![6, 5, 3, 2, 0]),
        (json!({"prefix": "k6"}), vec![6]),
        (json!({"flagged": true}), vec![3]),
        (json!({"flagged": false, "order": "key"}), vec![0, 1, 2, 4, 5, 6]),
        (json!({"updatedAfter": "2999-01-01"}), vec![]),
    ] {
        let (mut found, mut cursor) = (Vec::new(), Value::Null);
        loop {
            let mut page = filter.clone();
            page["limit"] = json!(2);
            page["values"] = json!("full");
            page["cursor"] = cursor;
            let page = client.write("list", &page);
            assert_eq!(page["total"], wanted.len(), "{filter}");
            assert_eq!(page["order"], filter.get("order").cloned().unwrap_or(json!("key")));
            assert_eq!(page["sources"], filter.get("sources").cloned().unwrap_or(json!([])));
            found.extend(page["entries"].as_array().unwrap().iter().map(|entry| entry["value"].as_i64().unwrap()));
            cursor = page["nextCursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        assert_eq!(found, wanted, "{filter}");
    }
}

#[test]
fn a_log_is_paged_in_both_orders() {
    let server = Server::new();
    let client = &server.client;
    for number in 0..5 {
        client.commit(&format!("k{number}"), json!(number));
    }
    let pages = |order: &str| {
        let (mut seqs, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = client.get(&memory(&format!("log?limit=2&includeValues=true&order={order}{cursor}"))).ok();
            seqs.extend(page["events"].as_array().unwrap().iter().map(|event| event["seq"].as_u64().unwrap()));
            match page["nextCursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return seqs,
            }
        }
    };
    assert_eq!(pages("oldest"), [1, 2, 3, 4, 5]);
    assert_eq!(pages("newest"), [5, 4, 3, 2, 1]);
    let filtered = client.get(&memory("log?key=k3")).ok();
    assert_eq!(filtered["events"].as_array().unwrap().len(), 1);
    // More than are held at once, and a limit in the middle of them.
    for number in 0..120 {
        client.commit("many", json!(number));
    }
    let page = client.get(&memory("log?limit=110&includeValues=true&key=many&order=oldest")).ok();
    let values: Vec<_> =
        page["events"].as_array().unwrap().iter().map(|event| event["value"].as_u64().unwrap()).collect();
    assert_eq!(values, (0..110).collect::<Vec<_>>());
    let cursor = page["nextCursor"].as_str().unwrap();
    let rest =
        client.get(&memory(&format!("log?limit=110&includeValues=true&key=many&order=oldest&cursor={cursor}"))).ok();
    assert_eq!((rest["events"].as_array().unwrap().len(), &rest["nextCursor"]), (10, &Value::Null));
}
