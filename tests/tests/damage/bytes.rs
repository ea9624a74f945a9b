//! Every byte of every file changed, cut off or followed by others.
//!
//! The usual form turns one bit of each byte; `BILINC_FLIPS=all` turns each bit and sets each byte to
//! 0x00 and 0xff, and tries every length of a tail.

use super::oracle::{Fate, Truth};

fn all() -> bool {
    std::env::var("BILINC_FLIPS").is_ok_and(|form| form == "all")
}

/// What a byte becomes; the usual form takes another bit from byte to byte.
fn changed(at: usize, byte: u8) -> Vec<u8> {
    if !all() {
        return vec![byte ^ (1 << (at % 8))];
    }
    let mut bytes: Vec<u8> = (0..8).map(|bit| byte ^ (1 << bit)).chain([0x00, 0xff]).collect();
    bytes.retain(|new| *new != byte);
    bytes.sort_unstable();
    bytes.dedup();
    bytes
}

#[test]
fn every_changed_byte_of_a_segment_is_told_of_and_harms_nothing_before_it() {
    let truth = Truth::new();
    let mut cases = 0;
    for (path, bytes) in truth.segments() {
        for at in 0..bytes.len() {
            for new in changed(at, bytes[at]) {
                let damaged = truth.storage.fork();
                let mut bytes = bytes.clone();
                bytes[at] = new;
                damaged.put(&path, bytes);
                truth.check(&format!("{path} byte {at} is {new:#04x}"), &damaged, truth.of_byte(&path, at));
                cases += 1;
            }
        }
    }
    println!("{cases} changed bytes of {} segments", truth.segments().len());
}
