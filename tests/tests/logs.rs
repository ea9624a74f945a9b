//! The events themselves: filters, and paging in both directions.

use bilinc::{ActionOp, Actor, Event, LogItem, LogQuery, Memory, Seq, Snapshot, Timestamp};

use crate::support::*;

fn seqs(events: &[LogItem]) -> Vec<u64> {
    events.iter().map(|event| event.seq.get()).collect()
}

fn all(memory: &Memory, query: &LogQuery) -> Vec<u64> {
    let (mut found, mut query) = (Vec::new(), query.clone());
    loop {
        let page = memory.log(&query).unwrap();
        found.extend(seqs(&page.events));
        match page.next_cursor {
            Some(cursor) => query.cursor = Some(cursor),
            None => return found,
        }
    }
}

/// Both directions, by pages of every small size, give the same events.
fn assert_found(bench: &Bench, query: &LogQuery, expected: &[u64]) {
    for limit in [1, 2, 3, 100] {
        let query = LogQuery { limit: Some(limit), ..query.clone() };
        let forward = LogQuery { oldest_first: true, ..query.clone() };
        assert_eq!(all(&bench.memory, &forward), expected, "oldest first by {limit}");
        let reversed: Vec<_> = expected.iter().rev().copied().collect();
        assert_eq!(all(&bench.memory, &query), reversed, "newest first by {limit}");
    }
}

#[test]
fn filters_select_in_both_directions_whatever_the_page() {
    let bench = Bench::new();
    let writer = |source: &str, session: &str| {
        bench.memory.acting_as(Actor { source: source.into(), session_id: Some(session.into()) })
    };
    let mut times: Vec<Timestamp> = Vec::new();
    for (source, session, name) in [("x", "1", "a"), ("y", "1", "b"), ("x", "2", "a"), ("y", "2", "c")] {
        bench.tick();
        writer(source, session).commit(commit(name, "v")).unwrap();
        times.push(bench.now());
    }
    let all = LogQuery::default();
    assert_found(&bench, &all, &[1, 2, 3, 4]);
    assert_found(&bench, &LogQuery { key: Some(key("a")), ..all.clone() }, &[1, 3]);
    assert_found(&bench, &LogQuery { key: Some(key("never")), ..all.clone() }, &[]);
    assert_found(&bench, &LogQuery { source: Some("y".into()), ..all.clone() }, &[2, 4]);
    assert_found(&bench, &LogQuery { session_id: Some("2".into()), ..all.clone() }, &[3, 4]);
    assert_found(&bench, &LogQuery { source: Some("nobody".into()), ..all.clone() }, &[]);
    let between = LogQuery { after: Some(times[0]), before: Some(times[3]), ..all.clone() };
    assert_found(&bench, &between, &[2, 3]);
    let range = |from, to| LogQuery { from_seq: Some(Seq::new(from)), to_seq: Some(Seq::new(to)), ..all.clone() };
    assert_found(&bench, &range(2, 3), &[2, 3]);
    assert_found(&bench, &range(0, 1), &[1]);
    assert_found(&bench, &range(4, 1_000), &[4]);
    assert_found(&bench, &range(3, 2), &[]);
    assert_found(&bench, &range(9, 12), &[]);
    assert_found(&bench, &LogQuery { key: Some(key("a")), ..range(2, 4) }, &[3]);
}

#[test]
fn an_empty_log_has_an_empty_page() {
    assert_found(&Bench::new(), &LogQuery::default(), &[]);
}

#[test]
fn a_log_longer_than_one_block_is_read_backwards_without_a_gap() {
    let bench = Bench::new();
    let lines: String = (0..5_000).map(|index| format!("{{\"key\":\"k{index}\",\"value\":{index}}}\n")).collect();
    bench.memory.import(lines.as_bytes(), bilinc::ImportOptions::default(), &mut |_, _| {}).unwrap();
    bench.put("last", "v");
    let head = bench.head().get();
    assert_eq!(head, 5_006);
    let found = all(&bench.memory, &LogQuery { limit: Some(700), ..LogQuery::default() });
    assert_eq!(found, (1..=head).rev().collect::<Vec<_>>());
    let far = LogQuery { source: Some("nobody".into()), ..LogQuery::default() };
    assert!(bench.memory.log(&far).unwrap().events.is_empty());
}

#[test]
fn a_cursor_goes_on_where_it_was_although_events_were_added() {
    let bench = Bench::new();
    for index in 0..4 {
        bench.put(&format!("k{index}"), "v");
    }
    let first = bench.memory.log(&LogQuery { limit: Some(2), ..LogQuery::default() }).unwrap();
    bench.put("more", "v");
    let query = LogQuery { limit: Some(5), cursor: first.next_cursor, ..LogQuery::default() };
    assert_eq!(seqs(&bench.memory.log(&query).unwrap().events), [2, 1]);
}

#[test]
fn a_dream_s_own_events_are_its_start_its_pages_and_its_undo() {
    let bench = Bench::new();
    bench.put("a", "v");
    let dream = bench.dream();
    bench.put("b", "v");
    let one = action(ActionOp::Revise, "a", Some(bench.version("a")));
    bench.memory.dream_apply(dream, vec![one], None, false).unwrap();
    bench.memory.snapshot(Snapshot::default()).unwrap();
    bench.memory.dream_undo(bilinc::DreamUndo { dream, dry_run: false, restore_metadata: false }).unwrap();
    let query = LogQuery { dream: Some(dream), oldest_first: true, include_values: true, ..LogQuery::default() };
    let page = bench.memory.log(&query).unwrap();
    let ops: Vec<_> = page.events.iter().map(|event| event.op).collect();
    let expected = ["dream_start", "revise", "dream_page", "dream_finish", "create", "restore", "update", "undo"];
    assert_eq!(ops, expected);
    assert!(page.events[1].value.is_some() && page.events[0].value.is_none());
    let operation = page.events[1].operation.id;
    let same = bench.memory.log(&LogQuery { operation: Some(operation), ..LogQuery::default() }).unwrap();
    assert_eq!(same.events.len(), 4);
    assert!(matches!(same.events[0].event, Event::ReportWritten(_)));
}
