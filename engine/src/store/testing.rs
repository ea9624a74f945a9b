//! What tests of the store write.
#![allow(clippy::unwrap_used)]

use bilinc_core::{Actor, Command, Commit, Forget, Json, Key};

use super::{Request, Store};

fn write(store: &Store, command: Command) {
    store.write(Request { command, actor: Actor::default(), idempotency: None }).unwrap();
}

pub(super) fn commit(store: &Store, key: &str, value: &str) {
    write(store, Command::Commit(Commit::new(Key::new(key).unwrap(), Json::string(value))));
}

pub(super) fn purge(store: &Store, key: &str) {
    let key = Key::new(key).unwrap();
    write(store, Command::Forget(Forget { key, reason: "r".into(), expected_version: None, purge: true }));
}
