//! Each kind of damage, and several at once.

use super::*;

/// Positions of the operations in a file.
fn in_file(whole: &Whole, path: &str) -> Vec<u64> {
    whole.frames.iter().filter(|place| place.path == path).flat_map(seqs).collect()
}

/// Erased bodies whose purge is among what is lost have nothing that explains them any more.
fn unexplained(whole: &Whole, lost: &[u64]) -> Vec<u64> {
    let purge = whole.events.iter().find_map(|event| match &event.event {
        Event::Purged(purged) => Some((event.seq.get(), purged.bodies.clone())),
        _ => None,
    });
    let (at, bodies) = purge.unwrap();
    if !lost.contains(&at) {
        return Vec::new();
    }
    bodies.iter().map(|seq| seq.get()).filter(|seq| !lost.contains(seq)).collect()
}

#[test]
fn a_missing_segment_costs_its_operations_and_none_behind_it() {
    let whole = whole();
    for path in paths(&whole.storage) {
        let bad = whole.storage.fork();
        bad.remove(&path).unwrap();
        let lost = in_file(&whole, &path);
        let report = salvage(&bad).unwrap();
        assert_eq!(report.lost_events(), lost.len() as u64, "{path}");
        whole.assert_salvaged(&bad, &lost, &unexplained(&whole, &lost), &path);
    }
}

#[test]
fn every_pair_of_missing_segments_is_told_apart_from_the_others() {
    let whole = whole();
    let paths = paths(&whole.storage);
    for (index, first) in paths.iter().enumerate() {
        for second in &paths[index + 1..] {
            let bad = whole.storage.fork();
            bad.remove(first).unwrap();
            bad.remove(second).unwrap();
            let lost = [in_file(&whole, first), in_file(&whole, second)].concat();
            salvage(&bad).unwrap();
            whole.assert_salvaged(&bad, &lost, &unexplained(&whole, &lost), &format!("{first}, {second}"));
        }
    }
}

#[test]
fn swapped_and_repeated_segments_lose_nothing_that_is_anywhere() {
    let whole = whole();
    let paths = paths(&whole.storage);
    let contents: Vec<Vec<u8>> = paths.iter().map(|path| whole.storage.contents(path).unwrap()).collect();
    for one in 0..paths.len() {
        for other in (0..paths.len()).filter(|other| *other != one) {
            let swapped = whole.storage.fork();
            swapped.put(&paths[one], contents[other].clone());
            swapped.put(&paths[other], contents[one].clone());
            assert!(salvage(&swapped).unwrap().is_needed());
            whole.assert_salvaged(&swapped, &[], &[], &format!("{one} and {other} swapped"));
            let repeated = whole.storage.fork();
            repeated.put(&paths[one], contents[other].clone());
            let lost = in_file(&whole, &paths[one]);
            assert!(salvage(&repeated).unwrap().is_needed());
            let bodies = unexplained(&whole, &lost);
            whole.assert_salvaged(&repeated, &lost, &bodies, &format!("{other} in the place of {one}"));
        }
    }
}

#[test]
fn a_copy_beside_the_log_gives_back_what_is_spoiled_in_the_original() {
    let whole = whole();
    let place = whole.place_of("b", 0);
    let bad = without_frame(&whole.storage, &place);
    bad.put("log/00000000000000000999.seg", whole.storage.contents(&place.path).unwrap());
    assert!(salvage(&bad).unwrap().is_needed());
    whole.assert_salvaged(&bad, &[], &[], "a copy");
}

#[test]
fn spoiled_segment_headers_cost_nothing_not_even_all_of_them() {
    let whole = whole();
    let spoil = |storage: &MemoryStorage, path: &str, upto: usize| {
        damaged(storage, path, |bytes| bytes[..upto].iter_mut().for_each(|byte| *byte ^= 0xa5))
    };
    let mut all = whole.storage.fork();
    let mut kept_id = whole.storage.fork();
    for path in paths(&whole.storage) {
        let bad = spoil(&whole.storage, &path, 108);
        salvage(&bad).unwrap();
        whole.assert_salvaged(&bad, &[], &[], &path);
        all = spoil(&all, &path, 108);
        kept_id = spoil(&kept_id, &path, 8);
    }
    let mut without_mark = all.fork();
    salvage(&all).unwrap();
    whole.assert_salvaged(&all, &[], &[], "all headers");
    // The mark gone, too, a damaged header still names the store, and frames agree.
    kept_id.remove("mark").unwrap();
    salvage(&kept_id).unwrap();
    whole.assert_salvaged(&kept_id, &[], &[], "all headers, and no mark");
    // Nothing at all says which store it was: that is refused, and nothing is changed.
    without_mark.remove("mark").unwrap();
    let before = files(&without_mark);
    assert_eq!(salvage(&without_mark).unwrap_err().code(), "store_corrupt");
    assert_eq!(files(&without_mark), before);
    without_mark = MemoryStorage::new();
    assert_eq!(salvage(&without_mark).unwrap_err().code(), "not_found");
    assert!(without_mark.list("").unwrap_or_default().is_empty(), "where there is no store, nothing is made");
}

#[test]
fn a_segment_of_another_store_is_set_aside() {
    let whole = whole();
    let other = Bench::new();
    let foreign = MemoryStorage::new();
    let memory = builder(&other.clock, &Arc::new(CountingIds::new(77))).open_in(Arc::new(foreign.clone())).unwrap();
    memory.commit(commit("foreign", "value")).unwrap();
    memory.close();
    let first = paths(&foreign).remove(0);
    let paths = paths(&whole.storage);
    for path in &paths {
        let bad = whole.storage.fork();
        bad.put(path, foreign.contents(&first).unwrap());
        let lost = in_file(&whole, path);
        salvage(&bad).unwrap();
        whole.assert_salvaged(&bad, &lost, &unexplained(&whole, &lost), path);
        assert!(open(&bad).get("foreign").unwrap().is_none());
    }
    // The mark of another store does not make strangers of all segments.
    let bad = whole.storage.fork();
    bad.put("mark", foreign.contents("mark").unwrap());
    assert!(!salvage(&bad).unwrap().is_needed());
    whole.assert_salvaged(&bad, &[], &[], "the mark of another store");
}

#[test]
fn every_length_of_a_cut_segment_costs_what_was_cut_off() {
    let whole = whole();
    for path in paths(&whole.storage) {
        let len = whole.storage.contents(&path).unwrap().len();
        for left in (0..len).step_by(13) {
            let bad = damaged(&whole.storage, &path, |bytes| bytes.truncate(left));
            let cut = |place: &&Place| place.path == path && place.offset + place.len > left as u64;
            let lost: Vec<u64> = whole.frames.iter().filter(cut).flat_map(seqs).collect();
            assert!(salvage(&bad).unwrap().is_needed());
            whole.assert_salvaged(&bad, &lost, &unexplained(&whole, &lost), &format!("{path}, {left} bytes left"));
        }
    }
}

#[test]
fn bytes_between_frames_and_behind_them_cost_nothing() {
    let whole = whole();
    for (path, garbage) in paths(&whole.storage).iter().flat_map(|path| [(path, 0_u8), (path, 0xee)]) {
        // What is moved is not at its place any more, so it is put in at the end only.
        let bad = damaged(&whole.storage, path, |bytes| bytes.extend([garbage; 300]));
        let last = paths(&whole.storage).last() == Some(path);
        let needed = garbage != 0 && !last;
        assert_eq!(salvage(&bad).unwrap().is_needed(), needed, "{path}, {garbage}");
        whole.assert_salvaged(&bad, &[], &[], &format!("{path}, {garbage}"));
    }
    for place in &whole.frames {
        let start = usize::try_from(place.offset).unwrap();
        let bad = damaged(&whole.storage, &place.path, |bytes| {
            bytes.splice(start..start, [0xee; 40]);
        });
        let moved = |other: &&Place| other.path == place.path && other.offset >= place.offset;
        let lost: Vec<u64> = whole.frames.iter().filter(moved).flat_map(seqs).collect();
        salvage(&bad).unwrap();
        whole.assert_salvaged(&bad, &lost, &unexplained(&whole, &lost), &format!("bytes put in before {place:?}"));
    }
}

#[test]
fn a_zeroed_stretch_costs_what_it_covers() {
    let whole = whole();
    for place in &whole.frames {
        let (start, len) = (usize::try_from(place.offset).unwrap(), usize::try_from(place.len).unwrap());
        let bad = damaged(&whole.storage, &place.path, |bytes| bytes[start..start + len].fill(0));
        let lost = seqs(place);
        assert!(salvage(&bad).unwrap().is_needed(), "{place:?}");
        whole.assert_salvaged(&bad, &lost, &unexplained(&whole, &lost), &format!("{place:?}"));
    }
}

#[test]
fn every_pair_of_spoiled_operations_leaves_all_others() {
    let whole = whole();
    for (index, first) in whole.frames.iter().enumerate() {
        for second in &whole.frames[index + 1..] {
            let bad = without_frame(&without_frame(&whole.storage, first), second);
            let lost = [seqs(first), seqs(second)].concat();
            salvage(&bad).unwrap();
            whole.assert_salvaged(&bad, &lost, &unexplained(&whole, &lost), &format!("{first:?} and {second:?}"));
        }
    }
}

#[test]
fn a_log_of_which_nothing_is_left_but_its_mark_keeps_its_positions() {
    let whole = whole();
    let bad = whole.storage.fork();
    for path in paths(&bad) {
        bad.remove(&path).unwrap();
    }
    let lost: Vec<u64> = (1..=whole.head()).collect();
    let report = salvage(&bad).unwrap();
    assert_eq!((report.kept.events, report.lost_events()), (0, whole.head()));
    whole.assert_salvaged(&bad, &lost, &[], "nothing left");
}
