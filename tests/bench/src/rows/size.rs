//! Rows 11, 12, 13 and 21: bytes on the disk and on the heap.

use std::collections::HashMap;

use bilinc::RecallQuery;

use super::{Better, Measured, Spec};
use crate::Outcome;
use crate::bench::{Bench, builder, bytes_below};
use crate::data::{Record, key_text, value_text};
use crate::measure::heap;

const DISK: Spec = Spec {
    row: "11",
    measure: "disk bytes per event after close, salt and digest apart",
    anchor: "bincode 1.3.3 body + 8 bytes",
    better: Better::Less,
    floor: Some(1.4),
    goal: Some(1.1),
};
const HEAP: Spec = Spec {
    row: "12",
    measure: "heap per live entry, recall apart",
    anchor: "std HashMap<String, Entry>, value inside",
    better: Better::Less,
    floor: Some(1.0),
    goal: Some(0.5),
};
const PEAK: Spec = Spec {
    row: "13",
    measure: "peak memory while opening by replay",
    anchor: "memory after opening",
    better: Better::Less,
    floor: Some(1.25),
    goal: Some(1.1),
};
const INDEX: Spec = Spec {
    row: "21",
    measure: "heap per entry of the recall index",
    anchor: "a plain in-memory BM25",
    better: Better::Less,
    floor: Some(1.0),
    goal: Some(0.5),
};

/// Bytes of a body's salt and of its digest.
const SALT_AND_DIGEST: f64 = 16.0 + 32.0;

/// Row 11. All files of the log after a close, an operation to an event, without the salt and the digest that make a
/// value erasable; the anchor is a length, a CRC and the same facts as bincode 1 makes them.
pub(super) fn disk(bench: &mut Bench) -> Outcome<Vec<Measured>> {
    let events = bench.scale.hundred_thousand;
    let bytes = bytes_below(&bench.store(events, events)?.join("log"))? as f64 / events as f64;
    let mut anchor = 0;
    for number in 0..events {
        anchor += Record::new(number, 0).bytes()?.len() as u64 + 8;
    }
    let anchor = anchor as f64 / events as f64;
    let mut measured = Measured::new(DISK);
    measured.push(bytes - SALT_AND_DIGEST, anchor);
    measured.show("product", &[bytes - SALT_AND_DIGEST], "B");
    measured.show("total", &[bytes], "B");
    measured.show("record", &[anchor], "B");
    Ok(vec![measured])
}

/// An entry as somebody would write it down who keeps entries in a map.
struct Entry {
    _value: String,
    _metadata: String,
    _source: String,
    _session: Option<String>,
    _times: (i64, i64, Option<i64>),
    _version: u128,
    _importance: f64,
    _memory_type: u8,
    _canonical: Option<bool>,
    _priority: Option<f64>,
    _ttl: Option<f64>,
}

/// Rows 12 and 13. What the store holds once it is open, its caches included; the map holds each value and what is
/// said of it. Then the most that was held on the way to that, against that. Bytes that were asked for.
pub(super) fn heap(bench: &mut Bench) -> Outcome<Vec<Measured>> {
    let entries = bench.scale.million;
    let store = bench.store(entries, entries)?;
    let (of_map, map) = heap::measured(|| {
        let entry = |number| Entry {
            _value: value_text(number, 0),
            _metadata: String::new(),
            _source: "bench-agent".to_owned(),
            _session: Some("session-1".to_owned()),
            _times: (0, 0, None),
            _version: 0,
            _importance: 0.5,
            _memory_type: 0,
            _canonical: None,
            _priority: None,
            _ttl: None,
        };
        let mut map: HashMap<String, Entry> = HashMap::new();
        map.extend((0..entries).map(|number| (key_text(number), entry(number))));
        map
    });
    drop(map);
    let (of_store, memory) = heap::measured(|| builder().open(&store));
    drop(memory?);
    let each = |bytes: f64| bytes / entries as f64;
    let (mut live, mut peak) = (Measured::new(HEAP), Measured::new(PEAK));
    live.push(of_store.kept, of_map.kept);
    live.show("product", &[each(of_store.kept)], "B");
    live.show("HashMap", &[each(of_map.kept)], "B");
    peak.push(of_store.peak, of_store.kept);
    peak.show("peak", &[of_store.peak / 1e6], "MB");
    peak.show("after", &[of_store.kept / 1e6], "MB");
    Ok(vec![live, peak])
}

/// Row 21. What the first recall leaves on the heap; the anchor is the plainest index that can rank by BM25: words to
/// lists of documents and counts, a length and a key for each document. It finds words as they are spelled.
pub(super) fn index(bench: &mut Bench) -> Outcome<Vec<Measured>> {
    let entries = bench.scale.hundred_thousand;
    let memory = builder().open(bench.store(entries, entries)?)?;
    let (of_index, found) = heap::measured(|| memory.recall(&RecallQuery::new("nothing-like-this")));
    found?;
    let (of_plain, plain) = heap::measured(|| plain(entries));
    drop(plain);
    let each = |bytes: f64| bytes / entries as f64;
    let mut measured = Measured::new(INDEX);
    measured.push(of_index.kept, of_plain.kept);
    measured.show("product", &[each(of_index.kept)], "B");
    measured.show("plain", &[each(of_plain.kept)], "B");
    Ok(vec![measured])
}

/// Words to documents and counts; lengths and keys of documents.
type Plain = (HashMap<String, Vec<(u32, u32)>>, Vec<(String, u32)>);

fn plain(entries: u64) -> Plain {
    let (mut words, mut documents): Plain = (HashMap::new(), Vec::new());
    for (at, number) in (0_u32..).zip(0..entries) {
        let (key, text) = (key_text(number), value_text(number, 0));
        let mut length = 0;
        for word in key.split('.').chain(text.split(|c: char| !c.is_alphanumeric())).filter(|word| !word.is_empty()) {
            length += 1;
            let holders = words.entry(word.to_owned()).or_default();
            match holders.last_mut() {
                Some((document, count)) if *document == at => *count += 1,
                _ => holders.push((at, 1)),
            }
        }
        documents.push((key, length));
    }
    (words, documents)
}
