//! Pages of entries: filters, orders and previews.

use std::collections::BTreeSet;

use bilinc::{Commit, ListQuery, MemoryType, Order, PREVIEW_CHARS, Values};

use crate::support::*;

fn walk(bench: &Bench, query: &ListQuery) -> Vec<String> {
    let (mut keys, mut query) = (Vec::new(), query.clone());
    loop {
        let page = bench.memory.list(&query).unwrap();
        keys.extend(page.entries.iter().map(|entry| entry.key.to_string()));
        match page.next_cursor {
            Some(cursor) => query.cursor = Some(cursor),
            None => return keys,
        }
    }
}

fn ordered(order: Order) -> ListQuery {
    ListQuery { limit: Some(2), order, ..ListQuery::default() }
}

#[test]
fn the_three_orders_give_every_entry_once() {
    let bench = Bench::new();
    for name in ["b", "ç", "a", "Z", "aa"] {
        bench.put(name, "v");
    }
    bench.revise("b", "w");
    assert_eq!(walk(&bench, &ordered(Order::Key)), ["Z", "a", "aa", "b", "ç"], "bytes of UTF-8");
    assert_eq!(walk(&bench, &ordered(Order::Newest)), ["b", "aa", "Z", "a", "ç"]);
    assert_eq!(walk(&bench, &ordered(Order::Oldest)), ["ç", "a", "Z", "aa", "b"]);
}

#[test]
fn entries_of_one_moment_are_neither_skipped_nor_given_twice() {
    let bench = Bench::new();
    for index in 0..7 {
        bench.memory.commit(commit(&format!("k{index}"), "v")).unwrap();
    }
    for order in [Order::Key, Order::Newest, Order::Oldest] {
        for limit in 1..=8 {
            let keys = walk(&bench, &ListQuery { limit: Some(limit), order, ..ListQuery::default() });
            assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), 7, "{order:?} by {limit}: {keys:?}");
            assert_eq!(keys.len(), 7);
        }
    }
}

#[test]
fn an_entry_that_does_not_change_is_given_once_while_others_write() {
    for order in [Order::Key, Order::Newest, Order::Oldest] {
        let bench = Bench::new();
        for index in 0..10 {
            bench.put(&format!("still.{index}"), "v");
            bench.put(&format!("moving.{index}"), "v");
        }
        let mut query = ListQuery { limit: Some(3), order, ..ListQuery::default() };
        let mut seen = Vec::new();
        for round in 0.. {
            let page = bench.memory.list(&query).unwrap();
            seen.extend(page.entries.iter().map(|entry| entry.key.to_string()));
            bench.revise(&format!("moving.{}", round % 10), "w");
            bench.put(&format!("another.{round}"), "v");
            if round < 5 {
                bench.forget(&format!("moving.{}", 9 - round));
                bench.put(&format!("moving.{}", 9 - round), "back");
            }
            match page.next_cursor {
                Some(cursor) if round < 100 => query.cursor = Some(cursor),
                _ => break,
            }
        }
        let still: Vec<_> = seen.iter().filter(|key| key.starts_with("still.")).collect();
        assert_eq!(still.len(), 10, "{order:?}: {seen:?}");
        assert_eq!(still.iter().collect::<BTreeSet<_>>().len(), 10);
    }
}

#[test]
fn filters_narrow_the_page_and_the_total() {
    let bench = Bench::new();
    bench.put("work.a", "v");
    bench.put("work.b", "v");
    let third = bench.now().plus(SECOND);
    bench.put("home.c", "v");
    bench.tick();
    let named =
        Commit { memory_type: Some(MemoryType::Working), source: Some("agent".into()), ..commit("work.d", "v") };
    bench.memory.commit(named).unwrap();
    bench.memory.flag(flag("work.a")).unwrap();
    let list = |query: ListQuery| {
        let page = bench.memory.list(&query).unwrap();
        assert_eq!(page.total, page.entries.len() as u64);
        page.entries.iter().map(|entry| entry.key.to_string()).collect::<Vec<_>>()
    };
    let all = ListQuery::default();
    assert_eq!(list(ListQuery { prefix: Some("work.".into()), ..all.clone() }), ["work.a", "work.b", "work.d"]);
    assert_eq!(list(ListQuery { prefix: Some(" work".into()), ..all.clone() }), [""; 0], "not trimmed");
    assert_eq!(list(ListQuery { memory_type: Some(MemoryType::Working), ..all.clone() }), ["work.d"]);
    assert_eq!(list(ListQuery { sources: vec!["agent".into()], ..all.clone() }), ["work.d"]);
    assert_eq!(list(ListQuery { sources: vec![String::new()], ..all.clone() }).len(), 3);
    assert_eq!(list(ListQuery { sources: vec![String::new(), "agent".into()], ..all.clone() }).len(), 4);
    for order in [Order::Key, Order::Newest, Order::Oldest] {
        let query = ListQuery { order, ..all.clone() };
        assert_eq!(list(ListQuery { updated_after: Some(third), ..query.clone() }), ["work.d"], "exclusive");
        assert_eq!(list(ListQuery { updated_before: Some(third), ..query }).len(), 2, "exclusive");
    }
    assert_eq!(list(ListQuery { flagged: Some(true), ..all.clone() }), ["work.a"]);
    assert_eq!(list(ListQuery { flagged: Some(false), ..all }).len(), 3);
}

#[test]
fn a_prefix_is_brought_to_the_form_of_keys() {
    let bench = Bench::new();
    bench.put("caf\u{e9}.menu", "v");
    let query = ListQuery { prefix: Some("cafe\u{301}.".into()), ..ListQuery::default() };
    assert_eq!(bench.memory.list(&query).unwrap().total, 1);
}

#[test]
fn a_preview_is_cut_at_its_limit_and_never_inside_a_character() {
    let bench = Bench::new();
    bench.put("exact", &"ğ".repeat(PREVIEW_CHARS));
    bench.put("longer", &"ğ".repeat(PREVIEW_CHARS + 1));
    let value = json(r#"{ "b": 1.10, "a": [1e400] }"#);
    bench.memory.commit(Commit::new(key("object"), value)).unwrap();
    let query = ListQuery { values: Values::Preview, ..ListQuery::default() };
    let page = bench.memory.list(&query).unwrap();
    let texts: Vec<_> = page.entries.iter().map(|e| e.value.as_ref().unwrap().as_plain_string().unwrap()).collect();
    assert_eq!(texts[0], "ğ".repeat(PREVIEW_CHARS));
    assert_eq!(texts[1], format!("{}…", "ğ".repeat(PREVIEW_CHARS)));
    assert_eq!(texts[2], r#"{"b":1.10,"a":[1e400]}"#);
    let none = bench.memory.list(&ListQuery { values: Values::None, ..ListQuery::default() }).unwrap();
    assert!(none.entries.iter().all(|entry| entry.value.is_none() && entry.metadata.is_none()));
}

#[test]
fn an_empty_store_lists_nothing() {
    let page = Bench::new().memory.list(&ListQuery::default()).unwrap();
    assert_eq!((page.entries.len(), page.total, page.next_cursor), (0, 0, None));
}
