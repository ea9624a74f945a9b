//! Recall through the façade: what a write changes is found, or not, by the very next search.

use bilinc::{ActionOp, Commit, Json, MemoryType, Profile, RecallQuery};

use crate::support::*;

fn found(bench: &Bench, query: &RecallQuery) -> Vec<String> {
    bench.memory.recall(query).unwrap().iter().map(|hit| hit.memory.key.to_string()).collect()
}

fn find(bench: &Bench, text: &str) -> Vec<String> {
    found(bench, &RecallQuery::new(text))
}

#[test]
fn the_search_right_after_a_write_knows_of_it() {
    let bench = Bench::new();
    bench.put("warm.up", "nothing");
    assert_eq!(find(&bench, "giraffe"), [""; 0]);
    bench.put("a", "a giraffe eats leaves");
    assert_eq!(find(&bench, "giraffe"), ["a"]);
    bench.revise("a", "an elephant drinks");
    assert_eq!((find(&bench, "giraffe"), find(&bench, "elephant")), (vec![], vec!["a".to_owned()]));
    let forgotten = bench.forget("a");
    assert_eq!(find(&bench, "elephant"), [""; 0]);
    bench.undo(forgotten);
    assert_eq!(find(&bench, "elephant"), ["a"]);
    bench.tick();
    bench.memory.confirm(confirm("a")).unwrap();
    let hits = bench.memory.recall(&RecallQuery::new("elephant")).unwrap();
    assert_eq!(hits[0].memory.entry.version, bench.version("a"));
    assert_eq!(hits[0].memory.value, Some(Json::string("an elephant drinks")));
    // A store that makes its index anew finds the same.
    let again = Bench { memory: bench.open_again(), ..bench };
    assert_eq!((find(&again, "elephant"), find(&again, "giraffe")), (vec!["a".to_owned()], vec![]));
}

#[test]
fn another_handle_finds_what_this_one_wrote() {
    let bench = Bench::new();
    let other = bench.open_again();
    assert!(other.recall(&RecallQuery::new("walrus")).unwrap().is_empty());
    bench.put("a", "walrus");
    assert_eq!(other.recall(&RecallQuery::new("walrus")).unwrap().len(), 1);
    bench.forget("a");
    assert!(other.recall(&RecallQuery::new("walrus")).unwrap().is_empty());
}

#[test]
fn an_expired_entry_is_not_found_although_no_event_removed_it() {
    let bench = Bench::new();
    bench.memory.commit(Commit { ttl: Some(10.0), ..commit("a", "walrus") }).unwrap();
    assert_eq!(find(&bench, "walrus"), ["a"]);
    let then = bench.now();
    bench.clock.advance(11 * SECOND);
    assert_eq!(find(&bench, "walrus"), [""; 0]);
    assert_eq!(found(&bench, &RecallQuery { query_timestamp: Some(then), ..RecallQuery::new("walrus") }), ["a"]);
}

#[test]
fn exact_terms_only_in_the_fast_profile() {
    let bench = Bench::new();
    bench.put("a", "deploying the servers");
    let fast = |text: &str| found(&bench, &RecallQuery { profile: Profile::Fast, ..RecallQuery::new(text) });
    assert_eq!((fast("deploy"), fast("deploying")), (vec![], vec!["a".to_owned()]));
    assert_eq!(find(&bench, "deployed"), ["a"], "a stem");
    assert_eq!(find(&bench, "serv"), ["a"], "a beginning");
    assert_eq!(find(&bench, "deploing"), ["a"], "a typo");
}

#[test]
fn turkish_and_accented_spellings_are_found_by_plain_letters() {
    let bench = Bench::new();
    bench.put("Girişimci", "kurucu");
    bench.put("place", "IĞDIR café");
    for query in ["girisimci", "GİRİŞİMCİ", "Girisimci"] {
        assert_eq!(find(&bench, query), ["Girişimci"], "{query}");
    }
    for query in ["igdir", "cafe", "ığdır"] {
        assert_eq!(find(&bench, query), ["place"], "{query}");
    }
}

#[test]
fn metadata_types_and_explanations_are_told() {
    let bench = Bench::new();
    bench.tick();
    let rich = Commit {
        metadata: Some(json(r#"{"team":"walrus"}"#)),
        memory_type: Some(MemoryType::Procedural),
        ..commit("a.walrus", "how to swim")
    };
    bench.memory.commit(rich).unwrap();
    bench.put("b", "walrus");
    bench.clock.advance(90 * SECOND);
    let only =
        |kinds: Vec<MemoryType>| found(&bench, &RecallQuery { memory_types: kinds, ..RecallQuery::new("walrus") });
    assert_eq!(only(vec![MemoryType::Procedural]), ["a.walrus"]);
    assert_eq!(only(vec![MemoryType::Semantic]), ["b"]);
    assert_eq!(only(vec![MemoryType::Spatial]), [""; 0]);
    assert_eq!(only(vec![MemoryType::Semantic, MemoryType::Procedural]).len(), 2);
    let hits = bench.memory.recall(&RecallQuery { explain: true, ..RecallQuery::new("walrus swim") }).unwrap();
    let hit = hits.iter().find(|hit| hit.memory.key.as_str() == "a.walrus").unwrap();
    let term = hit.matched.iter().find(|term| term.term == "walrus").unwrap();
    assert_eq!((term.how, term.fields.contains(&"key"), term.fields.contains(&"metadata")), ("exact", true, true));
    assert_eq!(hit.age_seconds, 91);
    assert!(bench.memory.recall(&RecallQuery::new("walrus")).unwrap().iter().all(|hit| hit.matched.is_empty()));
}

#[test]
fn dream_reports_are_found_only_when_asked_for_by_their_prefix() {
    let bench = Bench::new();
    bench.put("a", "walrus");
    let dream = bench.dream();
    let one = action(ActionOp::Confirm, "a", Some(bench.version("a")));
    bench.memory.dream_apply(dream, vec![one], Some(Json::string("walrus looked at")), false).unwrap();
    assert_eq!(find(&bench, "walrus"), ["a"]);
    assert_eq!(find(&bench, "bilinc:dream:"), [format!("bilinc:dream:{dream}")]);
    let now = bench.now();
    let then = |text: &str| found(&bench, &RecallQuery { query_timestamp: Some(now), ..RecallQuery::new(text) });
    assert_eq!(then("walrus"), ["a"]);
    assert_eq!(then("bilinc:dream: walrus").len(), 2, "the entry and the report");
}

#[test]
fn queries_out_of_range_are_refused_and_syntax_is_only_text() {
    let bench = Bench::new();
    bench.put("a", "walrus");
    for text in ["\" OR 1=1", "wal* AND (", "\\", "key:walrus^2", "%%", "\u{0}"] {
        bench.memory.recall(&RecallQuery::new(text)).unwrap();
    }
    let long = "x".repeat(bilinc::QUERY_CHARS + 1);
    for text in ["", "  ", &long] {
        assert_eq!(invalid(bench.memory.recall(&RecallQuery::new(text)).unwrap_err()).0, "query");
    }
    for limit in [0, 101] {
        let query = RecallQuery { limit, ..RecallQuery::new("walrus") };
        assert_eq!(invalid(bench.memory.recall(&query).unwrap_err()).0, "limit");
    }
    assert!(bench.memory.recall(&RecallQuery::new("x".repeat(bilinc::QUERY_CHARS))).is_ok());
}

/// What a deep recall finds: each key, and where the value stood by which it was found.
fn deep(bench: &Bench, query: &RecallQuery) -> Vec<(String, Option<u64>)> {
    let query = RecallQuery { profile: Profile::Deep, ..query.clone() };
    let hits = bench.memory.recall(&query).unwrap();
    hits.iter().map(|hit| (hit.memory.key.to_string(), hit.earlier_at.map(|at| at.get()))).collect()
}

#[test]
fn a_verified_recall_puts_confirmed_entries_first_and_doubted_ones_last() {
    let bench = Bench::new();
    bench.put("a", "walrus walrus");
    bench.put("b", "a walrus swims far out in the cold sea");
    bench.put("c", "walrus and seal and whale");
    bench.put("d", "walrus, it is said");
    bench.put("e", "nothing of the kind");
    bench.tick();
    bench.memory.confirm(confirm("b")).unwrap();
    bench.memory.confirm(confirm("c")).unwrap();
    bench.memory.confirm(confirm("e")).unwrap();
    bench.memory.flag(flag("c")).unwrap();
    let query = RecallQuery { profile: Profile::Verified, ..RecallQuery::new("walrus") };
    let balanced = find(&bench, "walrus");
    let rest: Vec<&String> = balanced.iter().filter(|key| *key == "a" || *key == "d").collect();
    assert_ne!(balanced[0], "b", "else this shows nothing");
    assert_eq!(found(&bench, &query), ["b", rest[0], rest[1], "c"]);
    assert_eq!(found(&bench, &RecallQuery { limit: 2, ..query.clone() }), ["b", rest[0]]);
    // A change takes the confirmation away.
    bench.revise("b", "a walrus swims far out in the cold sea, now");
    assert_eq!(found(&bench, &query).last().unwrap(), "c");
    assert_ne!(found(&bench, &query)[0], "b");
    // As it was then.
    let then = RecallQuery { query_timestamp: Some(bench.now()), ..query.clone() };
    bench.tick();
    bench.memory.confirm(confirm("d")).unwrap();
    assert_eq!(found(&bench, &query)[0], "d");
    assert_eq!(found(&bench, &then).last().unwrap(), "c");
}

#[test]
fn a_deep_recall_finds_by_earlier_values_and_says_where_they_stood() {
    let bench = Bench::new();
    bench.put("db.port", "Postgres listens on 5432");
    bench.put("other", "the walrus listens");
    assert_eq!(deep(&bench, &RecallQuery::new("5432")), [("db.port".into(), None)]);
    bench.revise("db.port", "Postgres listens on 5433");
    bench.revise("db.port", "Postgres listens on 5434");
    assert_eq!(find(&bench, "5432"), [""; 0]);
    assert_eq!(deep(&bench, &RecallQuery::new("5432")), [("db.port".into(), Some(1))]);
    assert_eq!(deep(&bench, &RecallQuery::new("5433")), [("db.port".into(), Some(3))]);
    assert_eq!(deep(&bench, &RecallQuery::new("5434")), [("db.port".into(), None)]);
    let hits = bench.memory.recall(&RecallQuery { profile: Profile::Deep, ..RecallQuery::new("5432") }).unwrap();
    assert_eq!(hits[0].memory.value, Some(Json::string("Postgres listens on 5434")), "the entry as it is");
    // What the entry answers now as well, it answers by its present value.
    for query in ["port", "db.port", "postgres", "listens"] {
        let found = deep(&bench, &RecallQuery::new(query));
        assert!(found.contains(&("db.port".into(), None)), "{query}: {found:?}");
        assert!(found.iter().all(|(_, at)| at.is_none()), "{query}: {found:?}");
    }
    // A present weak answer does not stand before an earlier strong one.
    bench.put("db", "the port is not told here");
    assert_eq!(deep(&bench, &RecallQuery::new("postgres port 5432"))[0], ("db.port".into(), Some(1)));
    // Types are those of the entry, and as of then what stood before then is found.
    let of = |kind| RecallQuery { memory_types: vec![kind], ..RecallQuery::new("5432") };
    assert_eq!(deep(&bench, &of(MemoryType::Procedural)), []);
    assert_eq!(deep(&bench, &of(MemoryType::Semantic)).len(), 1);
    let then = RecallQuery { query_timestamp: Some(bench.now()), ..RecallQuery::new("5432") };
    bench.tick();
    bench.revise("db.port", "Postgres is gone");
    assert_eq!(deep(&bench, &then), [("db.port".into(), Some(1))]);
    assert_eq!(deep(&bench, &RecallQuery { query_timestamp: then.query_timestamp, ..RecallQuery::new("gone") }), []);
}

#[test]
fn a_deep_recall_shows_nothing_that_a_forget_hides_or_a_purge_erased() {
    let bench = Bench::new();
    bench.put("a", "an old walrus");
    bench.revise("a", "a seal");
    let walrus = RecallQuery::new("walrus");
    assert_eq!(deep(&bench, &walrus), [("a".into(), Some(1))]);
    let before = RecallQuery { query_timestamp: Some(bench.now()), ..walrus.clone() };
    let forgotten = bench.forget("a");
    assert_eq!((deep(&bench, &walrus), deep(&bench, &before)), (vec![], vec![]));
    bench.put("a", "a whale");
    assert_eq!((deep(&bench, &walrus), deep(&bench, &before)), (vec![], vec![]));
    bench.forget("a");
    bench.undo(forgotten);
    let other = bench.open_again();
    assert_eq!(
        other.recall(&RecallQuery { profile: Profile::Deep, ..walrus.clone() }).unwrap().len(),
        deep(&bench, &walrus).len()
    );
    bench.put("b", "a purged walrus");
    let purged = bench.head().get();
    bench.revise("b", "a dolphin");
    assert!(deep(&bench, &walrus).contains(&("b".into(), Some(purged))), "{:?}", deep(&bench, &walrus));
    bench.memory.forget(bilinc::Forget { purge: true, ..forget("b") }).unwrap();
    bench.put("b", "again");
    assert!(deep(&bench, &walrus).iter().all(|(key, _)| key != "b"));
}

#[test]
fn many_earlier_values_of_one_entry_take_no_places_from_others() {
    let bench = Bench::new();
    for round in 0..40 {
        let text = format!("walrus number {round}");
        if round == 0 {
            bench.put("often", &text)
        } else {
            bench.revise("often", &text)
        };
    }
    bench.revise("often", "a seal");
    bench.put("once", "long ago there was one walrus, among many other animals");
    bench.revise("once", "a seal");
    let query = RecallQuery { limit: 2, ..RecallQuery::new("walrus") };
    let mut keys: Vec<String> = deep(&bench, &query).into_iter().map(|(key, _)| key).collect();
    keys.sort();
    assert_eq!(keys, ["often", "once"]);
}
