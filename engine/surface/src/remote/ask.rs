//! A request as its route reads it.

use bilinc::Rejection;
use serde_json::value::RawValue;

use super::address::encoded;
use crate::catalogue::Operation;
use crate::wire::requests::{Request, members};

/// A request, ready to be sent.
#[derive(Debug)]
pub(super) struct Ask {
    pub(super) method: &'static str,
    pub(super) path: String,
    pub(super) query: Vec<(String, String)>,
    pub(super) body: Option<String>,
    pub(super) writes: bool,
    /// The name under which it may be sent again.
    pub(super) once: Option<String>,
}

impl Ask {
    /// Writes a request down. Its members stand in the body of a POST and in the query of a GET, but
    /// for an id, which is a part of the path.
    pub(super) fn of<R: Request>(request: &R, once: Option<&str>) -> Result<Self, Rejection> {
        let Operation { method, path, writes, .. } = R::OPERATION;
        let unwritten = |error: serde_json::Error| Rejection::invalid("request", "invalid_json", error.to_string());
        let text = serde_json::to_string(request).map_err(unwritten)?;
        let raw: &RawValue = serde_json::from_str(&text).map_err(unwritten)?;
        let (ids, members): (Vec<_>, Vec<_>) =
            members("request", raw)?.into_iter().partition(|(name, _)| name == "id" && path.contains("{id}"));
        let id = ids.first().and_then(|(_, raw)| serde_json::from_str::<String>(raw.get()).ok()).unwrap_or_default();
        let ask = Self {
            method,
            path: path.replace("{id}", &encoded(&id)),
            query: Vec::new(),
            body: None,
            writes,
            once: once.filter(|_| writes).map(str::to_owned),
        };
        if method == "GET" {
            return Ok(Self {
                query: members.iter().flat_map(|(name, raw)| parameters(name, raw.get())).collect(),
                ..ask
            });
        }
        let members: Vec<_> = members.iter().map(|(name, raw)| format!("\"{name}\":{raw}")).collect();
        Ok(Self { body: Some(format!("{{{}}}", members.join(","))), ..ask })
    }
}

/// A member as parameters of a query; none when it is null, several when it is a list.
pub(super) fn parameters(name: &str, raw: &str) -> Vec<(String, String)> {
    let one = |raw: &str| match serde_json::from_str::<String>(raw) {
        Ok(text) => text,
        Err(_) => raw.to_owned(),
    };
    match serde_json::from_str::<Vec<&RawValue>>(raw) {
        _ if raw == "null" => Vec::new(),
        Ok(items) => items.iter().map(|item| (name.to_owned(), one(item.get()))).collect(),
        Err(_) => vec![(name.to_owned(), one(raw))],
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use bilinc::Json;

    use super::*;
    use crate::wire::requests::{DreamUndoRequest, GetRequest, Members, Read, ReviseRequest};

    #[test]
    fn values_go_out_as_they_are_and_an_id_stands_in_the_path_alone() {
        let value = r#"{"z":1.10,"a":[1e400,null]}"#;
        let request = ReviseRequest {
            key: "k".to_owned(),
            value: Json::parse(value, 1000).unwrap(),
            importance: None,
            strategy: None,
            reason: None,
            expected_version: None,
            source: None,
            session_id: None,
        };
        let ask = Ask::of(&request, Some("once")).unwrap();
        assert!(ask.body.as_ref().unwrap().contains(&format!(r#""value":{value},"#)), "{ask:?}");
        assert_eq!((ask.method, ask.once.as_deref()), ("POST", Some("once")));
        let undo = DreamUndoRequest {
            id: "a/b".to_owned(),
            dry_run: Some(true),
            restore_metadata: None,
            source: None,
            session_id: None,
        };
        let ask = Ask::of(&undo, None).unwrap();
        assert_eq!(ask.path, "/api/cloud/memory/dreams/a%2Fb/undo");
        let members = Members::of_body(ask.body.as_ref().unwrap()).unwrap().with("id", "a/b");
        assert_eq!(DreamUndoRequest::read_all(members).unwrap().dry_run, Some(true));
    }

    #[test]
    fn a_read_has_its_members_in_the_query_and_no_key_of_its_own() {
        let ask = Ask::of(&GetRequest { key: "\"7".to_owned(), as_of: None }, Some("once")).unwrap();
        assert_eq!(ask.query, [("key".to_owned(), "\"7".to_owned())]);
        assert_eq!((ask.body, ask.once), (None, None));
        assert_eq!(parameters("seqs", "[1,2]").len(), 2);
        assert_eq!(parameters("limit", "7"), [("limit".to_owned(), "7".to_owned())]);
    }
}
