//! Every byte of every file changed, cut off or followed by others.
//!
//! The usual form turns one bit of each byte; `BILINC_FLIPS=all` turns each bit and sets each byte to
//! 0x00 and 0xff, tries every length of a tail, and asks every question each time.

use bilinc::storage::{MemoryStorage, Storage};

use super::oracle::{Fate, Truth, long_form};

/// What a byte becomes; the usual form takes another bit from byte to byte.
fn changed(at: usize, byte: u8) -> Vec<u8> {
    if !long_form() {
        return vec![byte ^ (1 << (at % 8))];
    }
    let mut bytes: Vec<u8> = (0..8).map(|bit| byte ^ (1 << bit)).chain([0x00, 0xff]).collect();
    bytes.sort_unstable();
    bytes.dedup();
    bytes.retain(|new| *new != byte);
    bytes
}

fn with(storage: &MemoryStorage, path: &str, bytes: Vec<u8>) -> MemoryStorage {
    let copy = storage.fork();
    copy.put(path, bytes);
    copy
}

fn without_mark(storage: &MemoryStorage) -> MemoryStorage {
    let copy = storage.fork();
    copy.remove("mark").unwrap();
    copy
}

#[test]
fn every_changed_byte_of_a_segment_is_told_of_and_harms_nothing_before_it() {
    let truth = Truth::new();
    let mut cases = 0;
    for (path, bytes) in truth.segments() {
        for at in 0..bytes.len() {
            for new in changed(at, bytes[at]) {
                let mut bytes = bytes.clone();
                bytes[at] = new;
                let damaged = with(&truth.storage, &path, bytes);
                truth.check(&format!("{path} byte {at} is {new:#04x}"), &damaged, truth.of_byte(&path, at));
                cases += 1;
            }
        }
    }
    println!("{cases} changed bytes of {} segments", truth.segments().len());
}

#[test]
fn every_length_of_a_segment_that_was_durable_is_told_of() {
    let truth = Truth::new();
    let (mut cases, step) = (0, if long_form() { 1 } else { 3 });
    for (path, bytes) in truth.segments() {
        let first = path == truth.segments()[0].0;
        // Round each end of a frame every length is tried, in between every third.
        let near = |len: usize| truth.ends(&path).any(|end| len.abs_diff(end) < 3) || len.abs_diff(108) < 3;
        for len in (0..bytes.len()).filter(|len| len % step == 0 || near(*len)) {
            let fate = if first && len < 108 { Fate::Closed } else { Fate::Prefix(truth.before(&path, len)) };
            let damaged = with(&truth.storage, &path, bytes[..len].to_vec());
            truth.check(&format!("{path} cut to {len}"), &damaged, fate);
            cases += 1;
        }
    }
    println!("{cases} lengths of durable segments");
}

#[test]
fn every_length_of_the_last_segment_without_a_mark_leaves_whole_operations() {
    let truth = Truth::new();
    let storage = without_mark(&truth.storage);
    let (path, bytes) = truth.segments().pop().unwrap();
    let mut cases = 0;
    for len in 108..bytes.len() {
        let cut = with(&storage, &path, bytes[..len].to_vec());
        let last = truth.before(&path, len);
        if last == truth.erased {
            // Mark and purge are gone, so nothing explains the erased body: it is torn off or told of.
            continue;
        }
        cases += 1;
        if len == 108 || last == truth.purged || truth.ends(&path).any(|end| end == len) {
            truth.check_end(&format!("cut to {len}"), &cut, last);
            continue;
        }
        truth.check(&format!("cut to {len}"), &cut, Fate::Torn(last));
        // What was cut off lies in quarantine, whole but for zeros at its end.
        let start = truth.ends(&path).filter(|end| *end <= len).max().unwrap_or(108);
        let used = bytes[start..len].iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1);
        assert_eq!(set_aside(&cut), [bytes[start..start + used].to_vec()], "cut to {len}");
    }
    println!("{cases} lengths of a segment without a mark");
}

/// What lies in quarantine.
fn set_aside(storage: &MemoryStorage) -> Vec<Vec<u8>> {
    let names = storage.list("quarantine").unwrap();
    names.iter().map(|entry| storage.contents(&format!("quarantine/{}", entry.name)).unwrap()).collect()
}

#[test]
fn no_byte_and_no_length_of_the_mark_loses_anything_or_stops_writing() {
    let truth = Truth::new();
    let mark = truth.storage.contents("mark").unwrap();
    let mut cases = 0;
    for at in (0..mark.len()).filter(|at| long_form() || *at < 200 || (512..700).contains(at)) {
        for new in changed(at, mark[at]) {
            let mut bytes = mark.clone();
            bytes[at] = new;
            truth.check(&format!("mark byte {at} is {new:#04x}"), &with(&truth.storage, "mark", bytes), Fate::Whole);
            cases += 1;
        }
    }
    for len in (0..mark.len()).filter(|len| long_form() || len % 7 == 0) {
        truth.check(&format!("mark cut to {len}"), &with(&truth.storage, "mark", mark[..len].to_vec()), Fate::Whole);
        cases += 1;
    }
    for other in [vec![0; 1_024], vec![0xa5; 100_000], [mark.clone(), vec![7; 9_000]].concat()] {
        truth.check("another mark", &with(&truth.storage, "mark", other), Fate::Whole);
        cases += 1;
    }
    truth.check("no mark", &without_mark(&truth.storage), Fate::Whole);
    println!("{cases} marks");
}

#[test]
fn tails_of_zeros_are_room_and_others_are_set_aside_or_told_of() {
    let truth = Truth::new();
    let segments = truth.segments();
    let (last, bytes) = segments.last().unwrap();
    let usual = [1, 2, 7, 83, 84, 85, 187, 188, 300, 511, 512, 513, 1_000, 4_095, 4_096, 8_191, 8_192];
    let lengths: Vec<usize> = if long_form() { (1..=8_192).collect() } else { usual.to_vec() };
    let mut cases = 0;
    for len in lengths {
        let garbage: Vec<u8> = (0..len).map(|at| (at as u8).wrapping_mul(167) | 1).collect();
        for storage in [truth.storage.fork(), without_mark(&truth.storage)] {
            let zeros = with(&storage, last, [bytes.clone(), vec![0; len]].concat());
            truth.check(&format!("{len} zeros"), &zeros, Fate::Whole);
            let torn = with(&storage, last, [bytes.clone(), garbage.clone()].concat());
            truth.check(&format!("{len} bytes of garbage"), &torn, Fate::Torn(truth.head()));
            assert_eq!(set_aside(&torn), std::slice::from_ref(&garbage));
            cases += 2;
        }
        let (inner, bytes) = &segments[1];
        let zeros = with(&truth.storage, inner, [bytes.clone(), vec![0; len]].concat());
        truth.check(&format!("{len} zeros in {inner}"), &zeros, Fate::Whole);
        let garbage = with(&truth.storage, inner, [bytes.clone(), garbage].concat());
        let fate = Fate::Prefix(truth.before(inner, bytes.len()));
        truth.check(&format!("{len} bytes of garbage in {inner}"), &garbage, fate);
        cases += 2;
    }
    println!("{cases} tails");
}
