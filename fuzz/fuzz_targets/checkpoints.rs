//! Anything as what checkpoints hold: rows of a state, places of frames, a recall index, a manifest.
//! It is taken as a whole or refused, with no more memory than its bytes vouch for, and a store opens
//! whatever its manifest says.
#![no_main]

use std::sync::{Arc, OnceLock};

use arbitrary::Arbitrary;
use bilinc::{Memory, RecallQuery, Seq, Timestamp, fuzzing};
use bilinc_core::{RecordedEvent, State};
use bilinc_fuzz::{Splice, spliced, stores};
use bilinc_projections::recall::{Document, Recall, SearchOptions};
use libfuzzer_sys::fuzz_target;

#[derive(Debug, Arbitrary)]
struct Input {
    what: What,
    /// Begins with what a real store keeps rather than with no bytes.
    of_real: bool,
    splices: Vec<Splice>,
}

#[derive(Debug, Clone, Copy, Arbitrary)]
enum What {
    Rows,
    Places,
    Recall,
    Manifest,
}

/// A real store with checkpoints, and what it keeps.
struct Real {
    folder: tempfile::TempDir,
    replayed: Memory,
    events: Vec<RecordedEvent>,
    rows: Vec<u8>,
    recall: Vec<u8>,
    manifest: Vec<u8>,
}

/// A segment from 1 on, its frames from 1 and 9 on, its end.
const PLACES: [u8; 10] = [1, 2, 1, 108, 0, 9, 200, 1, 250, 20];

fuzz_target!(|input: Input| {
    let real = real();
    let base = match input.what {
        What::Rows => &real.rows,
        What::Places => &PLACES[..],
        What::Recall => &real.recall,
        What::Manifest => &real.manifest,
    };
    let bytes = spliced(if input.of_real { base } else { &[] }, &input.splices);
    match input.what {
        What::Rows => rows(&bytes, &real.events),
        What::Places => same_again(&bytes, fuzzing::places),
        What::Recall => recall(&bytes),
        What::Manifest => manifest(bytes, real),
    }
});

/// What decodes encodes to bytes that decode to themselves.
fn same_again(bytes: &[u8], again: fn(&[u8]) -> Result<Vec<u8>, String>) {
    if let Ok(once) = again(bytes) {
        assert!(once.len() <= bytes.len(), "it grew");
        assert_eq!(again(&once).as_ref(), Ok(&once));
    }
}

/// What decodes is a state that encodes to itself, answers, and takes events.
fn rows(bytes: &[u8], events: &[RecordedEvent]) {
    let Ok(mut state) = fuzzing::state(bytes) else { return };
    let again = fuzzing::rows(&state).expect("it was decoded");
    let twice = fuzzing::rows(&fuzzing::state(&again).expect("its own rows")).expect("it was decoded");
    assert_eq!(again.len(), twice.len(), "rows of a state make another one");
    let now = stores::NOW;
    let _ = (state.counts(now), state.entries(now).count(), state.dream_mark(), state.flagged().count());
    let _ = (state.changed_since(Seq::ZERO, true).count(), state.expiring(Timestamp::MIN, now).count());
    events.iter().for_each(|event| drop(state.evolve(event)));
}

fn recall(bytes: &[u8]) {
    let share = &mut |key: &str| Some(Arc::from(key));
    let both = &mut |first: &mut (dyn FnMut() + Send), second: &mut dyn FnMut()| {
        first();
        second();
    };
    let Some(mut index) = Recall::load(1, bytes, share, both) else { return };
    let _ = index.search("every field value", &SearchOptions::default(), &mut |_| true);
    index.remove("full");
    index.put(document("new", "\"every value\""));
    let _ = index.save();
    let _ = index.search("every field value", &SearchOptions::default(), &mut |_| true);
}

fn document<'a>(key: &str, value_json: &'a str) -> Document<'a> {
    Document { key: key.into(), value_json, metadata_json: "{}", memory_type: 1, importance: 0.5, changed: 9 }
}

/// A store opens with any manifest, and gives what its log gives.
fn manifest(mut bytes: Vec<u8>, real: &Real) {
    let end = bytes.len().saturating_sub(4);
    let crc = crc32fast::hash(&bytes[..end]).to_le_bytes();
    bytes.splice(end.., crc);
    same_again(&bytes, fuzzing::manifest);
    let path = |name: &str| real.folder.path().join("checkpoints").join(name);
    std::fs::write(path("state/manifest"), &bytes).expect("a file");
    let memory = stores::builder(7).open(real.folder.path()).expect("it opens");
    assert!(memory.damage().is_some() || memory.is_same_state(&real.replayed).expect("both read"), "another state");
    drop(memory);
    if !path("state").exists() {
        std::fs::rename(path("doubted"), path("state")).expect("it was set aside");
    }
}

fn real() -> &'static Real {
    static REAL: OnceLock<Real> = OnceLock::new();
    REAL.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let golden = stores::golden();
        std::fs::create_dir(folder.path().join("log")).expect("a folder");
        for name in [stores::SEGMENT, "mark"] {
            std::fs::write(folder.path().join(name), golden.contents(name).expect("it is there")).expect("a file");
        }
        let memory = stores::builder(7).open(folder.path()).expect("it opens");
        memory.recall(&RecallQuery::new("value")).expect("a recall");
        memory.checkpoint().expect("a checkpoint").expect("its position");
        drop(memory);
        let replayed = stores::builder(7).open_in(Arc::new(golden)).expect("it opens");
        let events = replayed.recorded(Seq::ZERO).expect("its events");
        let mut state = State::new(0);
        events.iter().for_each(|event| drop(state.evolve(event)));
        let mut index = Recall::new(1);
        for (key, value) in [("full", "\"every field\""), ("numbers", "[1.10,null]"), ("ölçü", "{\"a\":\"karış\"}")]
        {
            index.put(document(key, value));
        }
        let manifest = std::fs::read(folder.path().join("checkpoints/state/manifest")).expect("a manifest");
        Real { folder, replayed, events, rows: fuzzing::rows(&state).expect("rows"), recall: index.save(), manifest }
    })
}
