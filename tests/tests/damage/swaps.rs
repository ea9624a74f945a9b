//! Segments that change places, come twice, are missing, or are another store's.

use bilinc::storage::Storage;

use super::oracle::{Fate, Truth};
use super::story::story;

#[test]
fn segments_in_each_others_places_are_told_of() {
    let truth = Truth::new();
    let segments = truth.segments();
    for (one, (to, _)) in segments.iter().enumerate() {
        for (two, (from, bytes)) in segments.iter().enumerate().filter(|(two, _)| *two != one) {
            let fate = if one == 0 { Fate::Closed } else { Fate::Prefix(truth.before(to, 0)) };
            let copied = truth.storage.fork();
            copied.put(to, bytes.clone());
            truth.check(&format!("{from} in the place of {to}"), &copied, fate);
            if two > one {
                copied.put(from, segments[one].1.clone());
                truth.check(&format!("{from} and {to} swapped"), &copied, fate);
            }
        }
    }
}

#[test]
fn missing_segments_are_told_of_whichever_they_are() {
    let truth = Truth::new();
    let segments = truth.segments();
    for missing in 1_u32..(1 << segments.len()) {
        let damaged = truth.storage.fork();
        let is_missing = |at: &usize| missing & (1 << at) != 0;
        for at in (0..segments.len()).filter(is_missing) {
            damaged.remove(&segments[at].0).unwrap();
        }
        let first = (0..segments.len()).find(is_missing).unwrap();
        let fate = if first == 0 { Fate::Closed } else { Fate::Prefix(truth.before(&segments[first].0, 0)) };
        truth.check(&format!("segments {missing:#b} are missing"), &damaged, fate);
    }
}

#[test]
fn copies_under_other_names_are_told_of_and_hide_nothing() {
    let truth = Truth::new();
    let segments = truth.segments();
    for (from, bytes) in &segments {
        for name in [0, 2, 7, truth.head() + 1, truth.head() + 50, u64::MAX] {
            let path = format!("log/{name:020}.seg");
            if segments.iter().any(|(there, _)| *there == path) {
                continue;
            }
            let damaged = truth.storage.fork();
            damaged.put(&path, bytes.clone());
            truth.check(&format!("{from} copied to {path}"), &damaged, Fate::Any);
        }
        // Names that are none of the log's are left alone.
        for name in ["1.seg", "copy of 00000000000000000001.seg", "00000000000000000001.seg.bak", "99.seg.tmp"] {
            let beside = truth.storage.fork();
            beside.put(&format!("log/{name}"), bytes.clone());
            truth.check(&format!("{from} beside the log as {name}"), &beside, Fate::Whole);
        }
    }
}

#[test]
fn segments_of_another_store_with_the_same_story_are_told_of() {
    let (truth, other) = (Truth::new(), story().storage);
    // One that begins with another store's segment is that store, and the rest is none of it.
    for (path, _) in &truth.segments()[1..] {
        let mixed = truth.storage.fork();
        mixed.put(path, other.contents(path).unwrap());
        truth.check(&format!("{path} of another store"), &mixed, Fate::Prefix(truth.before(path, 0)));
    }
}

#[test]
fn an_earlier_state_of_the_last_segment_or_of_the_mark_loses_nothing_in_silence() {
    let truth = Truth::new();
    let (last, bytes) = truth.segments().pop().unwrap();
    // A backup that put an older file back.
    let end = truth.ends(&last).min().unwrap();
    let older = truth.storage.fork();
    older.put(&last, [bytes[..end].to_vec(), vec![0; 5_000]].concat());
    truth.check("an older last segment", &older, Fate::Prefix(truth.before(&last, end)));
    for mark in truth.marks() {
        let older = truth.storage.fork();
        older.put("mark", mark);
        truth.check("an older mark", &older, Fate::Whole);
    }
}
