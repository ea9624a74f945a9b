//! What a search finds, and that it depends on nothing but the documents.

#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic, reason = "a test may fail loudly")]

mod naive;
mod saving;
mod spelling;

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use proptest::prelude::*;

use super::*;

/// A document that owns its text.
#[derive(Clone, Debug)]
struct Note {
    key: String,
    value: String,
    metadata: String,
    memory_type: u8,
    importance: f64,
    changed: u64,
}

fn note(key: &str, value: &str) -> Note {
    Note { key: key.into(), value: value.into(), metadata: "{}".into(), memory_type: 0, importance: 1.0, changed: 0 }
}

fn put(recall: &mut Recall, note: &Note) {
    recall.put(Document {
        key: Arc::from(note.key.as_str()),
        value_json: &note.value,
        metadata_json: &note.metadata,
        memory_type: note.memory_type,
        importance: note.importance,
        changed: note.changed,
    });
}

/// The second half first: neither waits for the other.
fn one_by_one(first: &mut (dyn FnMut() + Send), second: &mut dyn FnMut()) {
    second();
    first();
}

fn index(notes: &[Note]) -> Recall {
    let mut recall = Recall::new(1);
    notes.iter().for_each(|note| put(&mut recall, note));
    recall
}

/// An index in which the key of each document says its place, not its content.
fn texts(texts: &[&str]) -> Recall {
    let notes: Vec<Note> = (0..).zip(texts).map(|(place, text)| note(&alloc::format!("k{place}"), text)).collect();
    index(&notes)
}

fn search(recall: &Recall, query: &str, profile: Profile) -> Vec<String> {
    let options = SearchOptions { profile, limit: 100, ..SearchOptions::default() };
    let hits = recall.search(query, &options, &mut |_| true);
    hits.iter().map(|hit| String::from(&*hit.key)).collect()
}

fn fast(recall: &Recall, query: &str) -> Vec<String> {
    search(recall, query, Profile::Fast)
}

fn balanced(recall: &Recall, query: &str) -> Vec<String> {
    search(recall, query, Profile::Balanced)
}

#[test]
fn reports_are_found_only_by_their_prefix() {
    let recall = index(&[note("bilinc:dream:0190", "\"merged duplicates\""), note("Bilinc:Dream:1", "\"merged too\"")]);
    assert_eq!(balanced(&recall, "merged duplicates"), ["Bilinc:Dream:1"]);
    assert_eq!(balanced(&recall, "dream"), ["Bilinc:Dream:1"]);
    assert_eq!(balanced(&recall, "duplicate"), Vec::<String>::new());
    assert_eq!(balanced(&recall, "0190"), Vec::<String>::new());
    assert!(balanced(&recall, "bilinc:dream: duplicates").contains(&"bilinc:dream:0190".into()));
    assert_eq!(balanced(&recall, "bilinc:dream:0190")[0], "bilinc:dream:0190");
}

#[test]
fn ties_go_to_importance_then_newest_then_key() {
    let tied = |key: &str, importance, changed| Note { importance, changed, ..note(key, "\"tea\"") };
    let notes = [tied("d", 0.5, 9), tied("b", 0.5, 9), tied("c", 0.5, 10), tied("a", 0.9, 1)];
    let recall = index(&notes);
    assert_eq!(balanced(&recall, "tea"), ["a", "c", "b", "d"]);
    let options = SearchOptions { limit: 2, ..SearchOptions::default() };
    let hits = recall.search("tea", &options, &mut |key| key != "a");
    assert_eq!(hits.iter().map(|hit| &*hit.key).collect::<Vec<_>>(), ["c", "b"]);
}

#[test]
fn a_key_finds_its_entry_first() {
    let recall = index(&[note("tea", "1"), note("tea tea", "\"tea tea\""), note("!?", "2")]);
    assert_eq!(balanced(&recall, " tea ")[0], "tea");
    assert_eq!(balanced(&recall, "tea tea")[0], "tea tea");
    assert_eq!(balanced(&recall, "!?"), ["!?"]);
}

#[test]
fn nothing_is_found_by_nothing() {
    let recall = index(&[note("a", "\"tea\"")]);
    for query in ["", " ", "\"", "AND OR", "***", "tea"] {
        let options = SearchOptions { limit: 0, ..SearchOptions::default() };
        assert!(recall.search(query, &options, &mut |_| true).is_empty());
    }
    assert!(balanced(&recall, "").is_empty());
    assert!(balanced(&Recall::new(0), "tea").is_empty());
}

#[test]
fn memory_types_can_be_chosen() {
    let recall = index(&[note("a", "\"tea\""), Note { memory_type: 3, ..note("b", "\"tea\"") }]);
    let options = SearchOptions { memory_types: 1 << 3, ..SearchOptions::default() };
    let hits = recall.search("tea", &options, &mut |_| true);
    assert_eq!(hits.iter().map(|hit| &*hit.key).collect::<Vec<_>>(), ["b"]);
}

#[test]
fn words_of_removed_documents_leave_the_index() {
    let mut recall = Recall::new(1);
    for round in 0..40 {
        for place in 0..300 {
            let text = alloc::format!("\"w{round}x{place} tea\"");
            put(&mut recall, &note(&alloc::format!("k{place}"), &text));
        }
    }
    assert_eq!(recall.len(), 300);
    // 12,000 words went in.
    assert!(recall.dictionary.len() < 3_000, "{recall:?}");
    assert_eq!(balanced(&recall, "tea").len(), 100);
    recall.remove("k7");
    recall.compact();
    assert_eq!(recall.dictionary.find("w39x7"), None);
    assert_eq!(fast(&recall, "w39x8"), ["k8"]);
}

proptest! {
    #[test]
    fn no_text_is_a_problem(key in ".{0,20}", value in ".{0,60}", query in ".{0,60}") {
        let recall = index(&[note(&key, &value), note("b", &query)]);
        for profile in [Profile::Fast, Profile::Balanced] {
            let _ = search(&recall, &query, profile);
        }
    }
    #[test]
    fn changed_bytes_are_refused_or_searched_without_harm(
        at in any::<proptest::sample::Index>(),
        bits in 1_u8..,
        cut in any::<bool>(),
    ) {
        let notes: Vec<Note> = (0..30).map(|place| note(&alloc::format!("key {place}"),
            "\"she paints and painted tea\"")).collect();
        let mut recall = index(&notes);
        put(&mut recall, &note("key 3", "\"other\""));
        let mut bytes = recall.save();
        let at = at.index(bytes.len());
        if cut {
            bytes.truncate(at);
        } else {
            bytes[at] ^= bits;
        }
        let loaded = Recall::load(1, &bytes, &mut |key| Some(Arc::from(key)), &mut one_by_one);
        prop_assert!(loaded.is_none() || !cut);
        if let Some(mut loaded) = loaded {
            for query in ["painting", "paint tea", "key", "othre", "p"] {
                balanced(&loaded, query);
            }
            put(&mut loaded, &note("key 4", "\"painter\""));
            loaded.compact();
        }
    }

    #[test]
    fn no_bytes_are_a_problem(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
        let _ = Recall::load(1, &bytes, &mut |key| Some(Arc::from(key)), &mut one_by_one);
    }
}

#[test]
fn a_stored_text_of_nothing_but_apostrophes_is_searched_like_any_other() {
    let hostile = alloc::format!("\"{}a\"", "a'".repeat(128 * 1024));
    let recall = index(&[note("hostile", &hostile), note("plain", "\"hello\"")]);
    assert_eq!(balanced(&recall, "hello"), ["plain"]);
}
