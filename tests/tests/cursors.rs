//! Cursors that are not for the list they are used on.

use bilinc::{ListQuery, LogQuery, Order};

use crate::support::*;

fn some() -> Bench {
    let bench = Bench::new();
    for name in ["a", "b", "c"] {
        bench.put(name, "v");
    }
    bench
}

fn list_cursor(bench: &Bench, order: Order) -> String {
    bench.memory.list(&ListQuery { limit: Some(1), order, ..ListQuery::default() }).unwrap().next_cursor.unwrap()
}

fn refused(result: Result<impl std::fmt::Debug, bilinc::Error>) {
    assert_eq!(invalid(result.unwrap_err()), ("cursor".to_owned(), "invalid_cursor"));
}

fn use_in_list(bench: &Bench, cursor: &str, order: Order) -> Result<bilinc::ListPage, bilinc::Error> {
    bench.memory.list(&ListQuery { cursor: Some(cursor.to_owned()), order, ..ListQuery::default() })
}

#[test]
fn a_cursor_of_another_order_list_or_store_is_refused() {
    let bench = some();
    let cursor = list_cursor(&bench, Order::Key);
    assert!(use_in_list(&bench, &cursor, Order::Key).is_ok());
    refused(use_in_list(&bench, &cursor, Order::Newest));
    refused(use_in_list(&bench, &cursor, Order::Oldest));
    refused(bench.memory.log(&LogQuery { cursor: Some(cursor.clone()), ..LogQuery::default() }));
    let log = bench.memory.log(&LogQuery { limit: Some(1), ..LogQuery::default() }).unwrap().next_cursor;
    let oldest = LogQuery { oldest_first: true, cursor: log.clone(), ..LogQuery::default() };
    refused(bench.memory.log(&oldest));
    refused(use_in_list(&bench, &log.unwrap(), Order::Key));
    let other = bilinc::Memory::in_memory().unwrap();
    refused(other.list(&ListQuery { cursor: Some(cursor), ..ListQuery::default() }));
}

#[test]
fn a_text_that_is_no_cursor_is_refused_and_nothing_else_happens() {
    let bench = some();
    let cursor = list_cursor(&bench, Order::Key);
    let cut = &cursor[..cursor.len() - 1];
    let wide = format!("{cursor}é");
    let signed = cursor.replace("c1", "c1+0");
    for text in ["", "c1", "c100", "c2", "zz", "c1zz", "ç1", cut, &wide, &signed, &cursor.to_uppercase()] {
        refused(use_in_list(&bench, text, Order::Key));
    }
}

#[test]
fn limits_outside_their_range_are_refused() {
    let bench = some();
    for limit in [0, 1_001, usize::MAX] {
        let list = bench.memory.list(&ListQuery { limit: Some(limit), ..ListQuery::default() });
        assert_eq!(invalid(list.unwrap_err()), ("limit".to_owned(), "out_of_range"));
        let log = bench.memory.log(&LogQuery { limit: Some(limit), ..LogQuery::default() });
        assert_eq!(invalid(log.unwrap_err()), ("limit".to_owned(), "out_of_range"));
        assert!(bench.memory.history("a", limit, false).is_err());
        assert!(bench.memory.snapshots(limit).is_err());
        assert!(bench.memory.dreams(limit).is_err());
    }
}
