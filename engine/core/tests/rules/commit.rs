//! Commit, and what holds for the form of every command.

use bilinc_core::{Command, Commit, Json, MemoryType, Rejection};

use crate::harness::{HOUR, Store, commit, confirm, flag, forget, json, key, on_existing, revise, unflag};

#[test]
fn a_new_entry_takes_every_default() {
    let mut store = Store::new();
    store.commit("k", "v");
    let entry = store.there("k");
    assert_eq!((entry.facts.memory_type, entry.facts.importance), (MemoryType::Semantic, 1.0));
    assert_eq!((entry.facts.source.as_ref(), &entry.facts.session_id), ("ada", &None));
    assert_eq!((entry.facts.canonical, entry.facts.priority, entry.facts.ttl), (None, None, None));
    assert_eq!((entry.created_at, entry.updated_at, entry.confirmed_at), (store.now, store.now, None));
    assert_eq!(store.metadata("k"), "{}");
}

#[test]
fn a_replace_takes_every_field_anew_but_keeps_creation_and_flags() {
    let mut store = Store::new();
    let first = Commit {
        metadata: Json::parse("{\"a\":1.10}", 100).ok(),
        memory_type: Some(MemoryType::Episodic),
        importance: Some(0.2),
        session_id: Some("s".into()),
        canonical: Some(true),
        priority: Some(0.5),
        ttl: Some(3600.0),
        source: Some("web".into()),
        ..commit("k", "old")
    };
    store.ok(Command::Commit(first));
    assert_eq!(store.metadata("k"), "{\"a\":1.10}");
    let created = store.now;
    store.flag("k", "look");
    store.confirm("k");
    store.step(HOUR).by("bob").commit("k", "new");
    let entry = store.there("k").clone();
    assert_eq!((entry.created_at, entry.updated_at, entry.confirmed_at), (created, store.now, None));
    assert_eq!((entry.facts.memory_type, entry.facts.importance), (MemoryType::Semantic, 1.0));
    assert_eq!((entry.facts.source.as_ref(), entry.facts.session_id), ("bob", None));
    assert_eq!((entry.facts.canonical, entry.facts.priority, entry.facts.ttl), (None, None, None));
    assert_eq!((store.metadata("k"), store.flags("k")), ("{}".into(), vec!["look".into()]));
}

#[test]
fn an_equal_value_is_a_change_all_the_same() {
    let mut store = Store::new();
    let first = store.commit("k", "v");
    let head = store.state.head();
    let second = store.commit("k", "v");
    assert_eq!(store.state.head(), head.plus(1));
    assert_ne!(first, second);
}

#[test]
fn if_absent_only_creates() {
    let mut store = Store::new();
    let command =
        |expected| Command::Commit(Commit { if_absent: true, expected_version: expected, ..commit("k", "v") });
    store.ok(command(None));
    let current = store.version("k");
    let exists = Rejection::MemoryExists { key: key("k"), current };
    assert_eq!(store.refused(command(None)), exists);
    // Existence is judged before the version.
    let stale = store.commit("other", "v");
    assert_eq!(store.refused(command(Some(stale))), exists);
}

#[test]
fn an_expected_version_on_a_missing_key_is_not_found() {
    let mut store = Store::new();
    let version = store.commit("other", "v");
    let missing = Rejection::MemoryNotFound { key: key("k") };
    for command in on_existing("k", Some(version)) {
        assert_eq!(store.refused(command), missing);
    }
    let command = Commit { expected_version: Some(version), ..commit("k", "v") };
    assert_eq!(store.refused(Command::Commit(command)), missing);
}

#[test]
fn a_version_conflict_names_the_change_that_came_between() {
    let mut store = Store::new();
    let stale = store.commit("k", "v");
    let current = store.step(HOUR).by("bob").revise("k", "w");
    let (seq, at) = (store.state.head(), store.now);
    store.flag("k", "flags are no changes");
    let mut commands = on_existing("k", Some(stale));
    commands.push(Command::Commit(Commit { expected_version: Some(stale), ..commit("k", "x") }));
    for command in commands {
        let Rejection::VersionConflict { key: named, expected, current: now, change } = store.refused(command) else {
            panic!()
        };
        assert_eq!((named, expected, now), (key("k"), stale, current));
        let change = change.unwrap();
        assert_eq!((change.op.name(), change.source.as_ref(), change.at, change.seq), ("update", "bob", at, seq));
    }
}

#[test]
fn the_right_version_lets_every_command_through() {
    let mut store = Store::new();
    store.commit("k", "v");
    store.flag("k", "look");
    for command in on_existing("k", Some(store.version("k"))).into_iter().rev() {
        let mut copy = store.clone();
        copy.ok(command);
    }
}

#[test]
fn reserved_keys_are_refused_but_may_be_forgotten() {
    let mut store = Store::new();
    let reserved = "bilinc:dream:x";
    let commands = [
        Command::Commit(commit(reserved, "v")),
        Command::Revise(revise(reserved, "v")),
        Command::Confirm(confirm(reserved)),
        Command::Flag(flag(reserved, "look")),
    ];
    for command in commands {
        assert!(matches!(store.refused(command), Rejection::Invalid { reason: "reserved_key", .. }));
    }
    for command in [Command::Forget(forget(reserved)), Command::Unflag(unflag(reserved))] {
        assert!(matches!(store.refused(command), Rejection::MemoryNotFound { .. }));
    }
    store.commit("Bilinc:Dream:x", "another spelling is an ordinary key");
}

#[test]
fn the_form_is_judged_before_the_reserved_key_and_that_before_existence() {
    let mut store = Store::new();
    let field = |rejection| match rejection {
        Rejection::Invalid { field, .. } => field,
        other => panic!("{other:?}"),
    };
    let command = Commit { importance: Some(1.5), ..commit("bilinc:dream:x", "v") };
    assert_eq!(field(store.refused(Command::Commit(command))), "importance");
    let stale = store.commit("k", "v");
    let command = bilinc_core::Revise { expected_version: Some(stale), ..revise("bilinc:dream:x", "v") };
    assert_eq!(field(store.refused(Command::Revise(command))), "key");
}

#[test]
fn what_passes_a_limit_is_refused_by_name_of_the_field() {
    let mut store = Store::new();
    let long = "x".repeat(257);
    let big = |bytes: usize| json(&"x".repeat(bytes - 2));
    let cases: Vec<(&str, Commit)> = vec![
        ("value", Commit { value: big(1024 * 1024 + 1), ..commit("k", "v") }),
        ("metadata", Commit { metadata: Some(json("no object")), ..commit("k", "v") }),
        ("importance", Commit { importance: Some(-0.1), ..commit("k", "v") }),
        ("importance", Commit { importance: Some(f64::NAN), ..commit("k", "v") }),
        ("priority", Commit { priority: Some(1.1), ..commit("k", "v") }),
        ("ttl", Commit { ttl: Some(0.0), ..commit("k", "v") }),
        ("ttl", Commit { ttl: Some(f64::INFINITY), ..commit("k", "v") }),
        ("source", Commit { source: Some(long.as_str().into()), ..commit("k", "v") }),
        ("session_id", Commit { session_id: Some(long.as_str().into()), ..commit("k", "v") }),
    ];
    for (name, command) in cases {
        let Rejection::Invalid { field, .. } = store.refused(Command::Commit(command)) else { panic!() };
        assert_eq!(field, name);
    }
    let whole = Commit { value: big(1024 * 1024), source: Some("x".repeat(256).into()), ..commit("k", "v") };
    store.ok(Command::Commit(whole));
}
