//! Any bytes under the names of a store: opening and reading end with an answer or a typed error.
//!
//! The first byte says how the rest is laid over a small sound store: as the segment, as the mark, or
//! as flips in the segment. So the fuzzer gets past the checksums of what it leaves alone.
#![no_main]

use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use bilinc::log::{Log, LogOptions};
use bilinc::storage::MemoryStorage;
use bilinc::{Commit, Forget, Json, Key, Memory};
use libfuzzer_sys::fuzz_target;

const SEGMENT: &str = "log/00000000000000000001.seg";

fn sound() -> &'static MemoryStorage {
    static STORE: OnceLock<MemoryStorage> = OnceLock::new();
    STORE.get_or_init(|| {
        let storage = MemoryStorage::new();
        let memory = Memory::builder().open_in(Arc::new(storage.clone())).expect("a new store");
        for name in ["a", "b", "c"] {
            let key = Key::new(name).expect("a key");
            memory.commit(Commit::new(key, Json::string("value"))).expect("a commit");
        }
        let key = Key::new("b").expect("a key");
        memory.forget(Forget { key, reason: "stale".into(), expected_version: None, purge: false }).expect("a forget");
        drop(memory);
        storage
    })
}

fuzz_target!(|data: &[u8]| {
    let Some((how, rest)) = data.split_first() else { return };
    let storage = sound().fork();
    match how % 3 {
        0 => storage.put(SEGMENT, rest.to_vec()),
        1 => storage.put("mark", rest.to_vec()),
        _ => {
            let mut bytes = storage.contents(SEGMENT).expect("the segment");
            for flip in rest.chunks_exact(3) {
                let at = usize::from(flip[0]) << 8 | usize::from(flip[1]);
                let len = bytes.len();
                bytes[at % len] ^= flip[2];
            }
            storage.put(SEGMENT, bytes);
        }
    }
    let options = LogOptions { create: false, ..LogOptions::default() };
    if let Ok((log, _)) = Log::open(Arc::new(storage.clone()), options, 1) {
        let through = log.durable().map_or(0, |durable| durable.seq);
        let _ = log.read(1, through, &mut |frame| {
            let _ = frame.check_bodies();
            ControlFlow::Continue(())
        });
        let _ = log.verify(&mut |_, _| {});
        let _ = log.position_at(0, through);
    }
    if let Ok(memory) = Memory::builder().create(false).open_in(Arc::new(storage)) {
        let _ = memory.get("a");
        let _ = memory.history("b", 10, true);
        let _ = memory.verify(&mut |_, _| {});
    }
});
