//! Entities and relations, and the memories that hold them.

use bilinc::{Error, Json, Key, ListQuery, Memory, Rejection, Values};
use serde::{Deserialize, Serialize};

use crate::wire::fields;

/// Keys of entities and of relations begin so.
const ENTITY: &str = "graph:entity";
const RELATION: &str = "graph:relation";

/// A thing that is known about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Entity {
    pub(crate) name: String,
    pub(crate) entity_type: String,
    pub(crate) observations: Vec<String>,
}

/// How one thing stands to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Relation {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) relation_type: String,
}

/// All of them, in the order in which they were created.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Graph {
    pub(crate) entities: Vec<Entity>,
    pub(crate) relations: Vec<Relation>,
}

/// What one memory of the graph holds.
pub(super) trait Node: Serialize + for<'de> Deserialize<'de> {
    /// Its keys begin so.
    const PREFIX: &'static str;

    /// What names it, in a text that no other has.
    fn identity(&self) -> String;

    /// Its key: its name where a key can hold that as it is, else a digest of it.
    fn key(&self) -> Result<Key, Rejection> {
        let identity = self.identity();
        let plain = format!("{}:{identity}", Self::PREFIX);
        match Key::new(&plain) {
            Ok(key) if key.as_str() == plain => Ok(key),
            _ => fields::key("name", &format!("{}#{}", Self::PREFIX, blake3::hash(identity.as_bytes()).to_hex())),
        }
    }

    /// Its value.
    fn value(&self) -> Json {
        Json::from_serialize(self)
    }

    /// What a value holds, if it is one of these.
    fn of(value: &Json) -> Option<Self> {
        serde_json::from_str(value.as_str()).ok()
    }
}

impl Node for Entity {
    const PREFIX: &'static str = ENTITY;

    fn identity(&self) -> String {
        self.name.clone()
    }
}

impl Node for Relation {
    const PREFIX: &'static str = RELATION;

    fn identity(&self) -> String {
        // As JSON, so that no two relations read the same.
        Json::from_serialize(&[&self.from, &self.relation_type, &self.to]).as_str().to_owned()
    }
}

/// The key of the entity of that name.
pub(super) fn entity_key(name: &str) -> Result<Key, Rejection> {
    Entity { name: name.to_owned(), entity_type: String::new(), observations: Vec::new() }.key()
}

/// All nodes of a kind, in the order in which they were created.
fn all<T: Node>(memory: &Memory) -> Result<Vec<T>, Error> {
    let mut query = ListQuery {
        limit: Some(bilinc::MAX_PAGE),
        prefix: Some(T::PREFIX.to_owned()),
        values: Values::Full,
        ..ListQuery::default()
    };
    let mut found = Vec::new();
    loop {
        let page = memory.list(&query)?;
        found.extend(page.entries.into_iter().filter_map(|listed| {
            let node = T::of(listed.value.as_ref()?)?;
            Some(((listed.entry.created_at, order(listed.metadata.as_ref()), listed.key), node))
        }));
        query.cursor = page.next_cursor;
        if query.cursor.is_none() {
            break;
        }
    }
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(found.into_iter().map(|(_, node)| node).collect())
}

/// The place in the file that it was imported from: an import creates all at one moment.
fn order(metadata: Option<&Json>) -> u64 {
    #[derive(Default, Deserialize)]
    struct Order {
        #[serde(default)]
        order: u64,
    }
    metadata.and_then(|json| serde_json::from_str::<Order>(json.as_str()).ok()).unwrap_or_default().order
}

impl Graph {
    /// The whole graph.
    pub(crate) fn of(memory: &Memory) -> Result<Self, Error> {
        Ok(Self { entities: all(memory)?, relations: all(memory)? })
    }

    /// The relations alone.
    pub(super) fn relations_of(memory: &Memory) -> Result<Vec<Relation>, Error> {
        all(memory)
    }

    /// The entities for which something is so, with the relations that begin or end at one.
    pub(super) fn part(self, wanted: impl Fn(&Entity) -> bool) -> Self {
        let entities: Vec<_> = self.entities.into_iter().filter(|entity| wanted(entity)).collect();
        let names: std::collections::HashSet<_> = entities.iter().map(|entity| entity.name.as_str()).collect();
        let touches = |relation: &Relation| names.contains(&*relation.from) || names.contains(&*relation.to);
        let relations = self.relations.into_iter().filter(touches).collect();
        Self { entities, relations }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::collections::BTreeSet;

    use super::*;

    fn key(name: &str) -> String {
        entity_key(name).unwrap().to_string()
    }

    #[test]
    fn every_name_has_a_key_of_its_own() {
        assert_eq!(key("Ada Lovelace"), "graph:entity:Ada Lovelace");
        let names = ["a", "A", " a", "a ", "a\n", "", "\u{e9}", "e\u{301}", &"x".repeat(600), &"x".repeat(601)];
        let keys: BTreeSet<_> = names.iter().map(|name| key(name)).collect();
        assert_eq!(keys.len(), names.len());
    }

    #[test]
    fn relations_that_read_alike_have_different_keys() {
        let key = |from: &str, kind: &str, to: &str| {
            let [from, relation_type, to] = [from, kind, to].map(str::to_owned);
            Relation { from, to, relation_type }.key().unwrap().to_string()
        };
        assert_eq!(key("a", "knows", "b"), r#"graph:relation:["a","knows","b"]"#);
        assert_ne!(key("a\",\"b", "c", "d"), key("a", "b\",\"c", "d"));
    }
}
