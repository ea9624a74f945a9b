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
