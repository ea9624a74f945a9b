//! Each kind of damage, and several at once.

use super::*;

fn seqs(place: &Place) -> Vec<u64> {
    (place.first..=place.last).collect()
}

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

#[test]
fn a_second_damage_is_salvaged_too_and_the_first_stays_told() {
    let whole = whole();
    let (first, second) = (whole.place_of("b", 0), whole.place_of("d", 0));
    let storage = without_frame(&whole.storage, &first);
    let mark = storage.contents("mark").unwrap();
    salvage(&storage).unwrap();
    assert_ne!(storage.contents("mark").unwrap(), mark);
    let place = places(&storage).into_iter().find(|place| place.first == second.first).unwrap();
    let storage = without_frame(&storage, &place);
    let report = salvage(&storage).unwrap();
    assert_eq!(report.lost.len(), 1, "{report:?}");
    let lost = [seqs(&first), seqs(&second)].concat();
    whole.assert_salvaged(&storage, &lost, &[], "twice");
    assert_eq!(open(&storage).verify(&mut |_, _| {}).unwrap().salvages.len(), 2);
}

#[test]
fn a_lost_record_of_a_salvage_is_written_anew() {
    let whole = whole();
    let (frame, value) = (whole.place_of("b", 0), whole.place_of("d", 0));
    let storage = without_frame(&whole.storage, &frame);
    let (offset, _, seq) = value.bodies[0];
    let storage = damaged(&storage, &value.path, |bytes| bytes[usize::try_from(offset).unwrap() + 21] ^= 1);
    salvage(&storage).unwrap();
    let record = places(&storage).pop().unwrap();
    let storage = without_frame(&storage, &record);
    assert!(salvage(&storage).unwrap().is_needed());
    let memory = open(&storage);
    let verified = memory.verify(&mut |_, _| {}).unwrap();
    let told = &verified.salvages[0];
    let ranges: Vec<_> = told.lost.iter().map(|range| (range.first.get(), range.last.get())).collect();
    assert_eq!(ranges, [(frame.first, frame.last), (record.first, record.last)]);
    assert_eq!(told.bodies, [Seq::new(seq)]);
}

#[test]
fn a_frame_that_the_chain_does_not_lead_to_is_kept_and_said_to_be_unproven() {
    let whole = whole();
    // A store with the same id and other contents, as a tampered copy has.
    let other = MemoryStorage::new();
    let bench = Bench::new();
    let memory = bench.builder().segment_bytes(SEGMENT_BYTES).open_in(Arc::new(other.clone())).unwrap();
    bench.tick();
    memory.commit(commit("a", "first of A")).unwrap();
    memory.close();
    let (mine, theirs) = (&whole.frames[0], &places(&other)[0]);
    assert_eq!((mine.offset, mine.len), (theirs.offset, theirs.len), "the same place");
    let (start, end) = (usize::try_from(mine.offset).unwrap(), usize::try_from(mine.offset + mine.len).unwrap());
    let forged = other.contents(&theirs.path).unwrap()[start..end].to_vec();
    let bad = damaged(&whole.storage, &mine.path, |bytes| bytes[start..end].copy_from_slice(&forged));
    let report = salvage(&bad).unwrap();
    assert!(report.lost.is_empty() && report.unproven == [Seq::new(2)], "{report:?}");
    let memory = open(&bad);
    assert_eq!(memory.verify(&mut |_, _| {}).unwrap().salvages[0].unproven, [Seq::new(2)]);
    assert_eq!(value_of(&memory, "b").as_deref(), Some("first of b"));
    assert_sound(&memory);
}

#[test]
fn a_purged_value_that_a_restored_file_brings_back_does_not_live_on_in_any_file() {
    let storage = MemoryStorage::new();
    let bench = Bench::new();
    let memory = bench.builder().open_in(Arc::new(storage.clone())).unwrap();
    memory.commit(commit("k", "the purged value")).unwrap();
    drop(memory);
    let old = storage.contents("log/00000000000000000001.seg").unwrap();
    let memory = bench.builder().open_in(Arc::new(storage.clone())).unwrap();
    memory.forget(bilinc::Forget { purge: true, ..forget("k") }).unwrap();
    memory.commit(commit("other", "kept")).unwrap();
    memory.close();
    let bad = damaged(&storage, "log/00000000000000000001.seg", |bytes| bytes[..old.len()].copy_from_slice(&old));
    assert!(salvage(&bad).unwrap().is_needed());
    let traces = files(&bad).into_iter().filter(|(_, bytes)| bytes.windows(10).any(|part| part == b"the purged"));
    assert_eq!(traces.map(|(path, _)| path).collect::<Vec<_>>(), [""; 0]);
    let memory = open(&bad);
    assert_eq!(value_of(&memory, "other").as_deref(), Some("kept"));
    assert_sound(&memory);
}

#[test]
fn frames_before_the_first_loss_stay_where_they_are_byte_for_byte() {
    let whole = whole();
    for place in &whole.frames {
        let storage = without_frame(&whole.storage, place);
        let before = files(&storage);
        salvage(&storage).unwrap();
        let after = files(&storage);
        for (path, bytes) in before.iter().filter(|(path, _)| path.starts_with("log/") && **path <= place.path) {
            let same = if *path == place.path { usize::try_from(place.offset).unwrap() } else { bytes.len() };
            assert!(after[path][..same] == bytes[..same], "{path} changed before {place:?}");
        }
    }
}

#[test]
fn a_lost_body_changes_no_segment_but_its_own_and_the_last() {
    let whole = whole();
    let (place, paths) = (whole.place_of("a", 0), paths(&whole.storage));
    assert_eq!(place.path, paths[0]);
    let (offset, _, seq) = place.bodies[0];
    let storage = damaged(&whole.storage, &place.path, |bytes| bytes[usize::try_from(offset).unwrap() + 21] ^= 1);
    let before = files(&storage);
    salvage(&storage).unwrap();
    let after = files(&storage);
    let changed: Vec<_> = paths.iter().filter(|path| before[*path] != after[*path]).collect();
    assert_eq!(changed, [&paths[0], paths.last().unwrap()]);
    // But for the zeros and what is appended, what changed is as it was.
    let differ = before[&paths[0]].iter().zip(&after[&paths[0]]).filter(|(then, now)| then != now);
    assert!(differ.clone().count() > 0 && differ.clone().all(|(_, now)| *now == 0));
    let last = paths.last().unwrap();
    assert!(after[last].starts_with(&before[last]));
    whole.assert_salvaged(&storage, &[], &[seq], "a body");
}

#[test]
fn an_empty_log_with_a_spoiled_header_begins_again() {
    let storage = MemoryStorage::new();
    drop(open(&storage));
    let bad = damaged(&storage, "log/00000000000000000001.seg", |bytes| bytes[30] ^= 1);
    assert!(salvage(&bad).unwrap().is_needed());
    let memory = open(&bad);
    memory.commit(commit("k", "v")).unwrap();
    assert_sound(&memory);
}

#[test]
fn a_torn_end_beside_damage_is_cut_as_it_would_be_without() {
    let whole = whole();
    let last = whole.frames.last().unwrap().path.clone();
    let storage = damaged(&whole.storage, &last, |bytes| bytes.extend(b"BLf\xd7 the start of a frame"));
    let storage = without_frame(&storage, &whole.place_of("b", 0));
    let lost = seqs(&whole.place_of("b", 0));
    assert_eq!(salvage(&storage).unwrap().damage.len(), 1);
    whole.assert_salvaged(&storage, &lost, &[], "a torn end");
}

#[test]
fn many_lost_positions_and_their_keys_fit_their_frames() {
    let storage = MemoryStorage::new();
    let bench = Bench::new();
    let memory = bench.builder().segment_bytes(1 << 20).open_in(Arc::new(storage.clone())).unwrap();
    let name = |n: usize| format!("{n}-{}", "k".repeat(490));
    let lines = |from: usize| -> String {
        (from..from + 1_000).map(|n| format!("{{\"key\":\"{}\",\"value\":{n}}}\n", name(n))).collect()
    };
    for from in (0..20_000).step_by(1_000) {
        memory.import(lines(from).as_bytes(), bilinc::ImportOptions::default(), &mut |_, _| {}).unwrap();
    }
    for from in (0..20_000).step_by(1_000) {
        memory.import(lines(from).as_bytes(), bilinc::ImportOptions::default(), &mut |_, _| {}).unwrap();
    }
    memory.close();
    let places = places(&storage);
    let half = places.len() / 2;
    for path in places[..half].iter().map(|place| &place.path) {
        let _ = storage.remove(path);
    }
    let report = salvage(&storage).unwrap();
    assert!(report.incomplete.len() > 19_000, "{}", report.incomplete.len());
    let memory = open(&storage);
    let entry = memory.get(&name(7)).unwrap().unwrap();
    assert_eq!((entry.value, entry.entry.incomplete), (Some(json("7")), true));
    assert!(memory.verify(&mut |_, _| {}).unwrap().state_equal);
}
