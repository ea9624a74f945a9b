//! What becomes of confirmation tokens when their key is damaged: they lose their worth, no more.

use std::sync::Arc;

use bilinc::storage::MemoryStorage;
use bilinc::{Memory, Snapshot};

use crate::support::*;

const KEY_FILE: &str = "token.key";

#[test]
fn no_damaged_key_accepts_a_token_or_stops_a_new_one() {
    let storage = MemoryStorage::new();
    let bench = Bench::on(Arc::new(storage.clone()));
    bench.put("a", "one");
    let snapshot = bench.memory.snapshot(Snapshot::default()).unwrap().answer.id;
    bench.revise("a", "two");
    let token = |memory: &Memory| memory.rollback_preview(snapshot, "back", 10).unwrap().confirmation_token;
    let good = token(&bench.memory);
    let whole = storage.contents(KEY_FILE).unwrap();
    assert_eq!(whole.len(), 32);
    let flips = (0..256).map(|bit| {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        bytes
    });
    let lengths = (0..32).map(|len| whole[..len].to_vec());
    let others = [vec![0; 32], vec![0xff; 32], [whole.clone(), vec![0]].concat(), vec![7; 9_000]];
    for key in flips.chain(lengths).chain(others) {
        let damaged = storage.fork();
        damaged.put(KEY_FILE, key.clone());
        let memory = bench.builder().open_in(Arc::new(damaged.clone())).unwrap();
        let refused = memory.rollback(snapshot, "back", &good).unwrap_err();
        assert_eq!(invalid(refused).1, "confirmation_mismatch", "{key:?}");
        assert_eq!(value_of(&memory, "a").as_deref(), Some("two"));
        let made = damaged.contents(KEY_FILE).unwrap();
        let again = token(&memory);
        let made_anew = damaged.contents(KEY_FILE).unwrap() != made;
        assert_eq!(made_anew, key.len() != 32 || key == [0; 32], "{key:?}");
        memory.rollback(snapshot, "back", &again).unwrap();
    }
    let memory = bench.builder().open_in(Arc::new(storage.fork())).unwrap();
    memory.rollback(snapshot, "back", &good).unwrap();
}
