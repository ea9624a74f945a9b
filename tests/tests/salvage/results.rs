//! What a salvage leaves: files, records, and what later ones make of them.

use super::*;

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

/// Appends an operation that passes every checksum.
fn append(storage: &MemoryStorage, permanent: &[u8]) {
    let options = LogOptions { segment_bytes: SEGMENT_BYTES, ..LogOptions::default() };
    let (log, _) = Log::open(Arc::new(storage.clone()), options, 0).unwrap();
    let draft = FrameDraft {
        count: 1,
        time: START.micros() + DAY,
        clock_back: false,
        codec: 1,
        permanent: permanent.to_vec(),
        bodies: Vec::new(),
    };
    let metas = log.begin_append().unwrap().append(&[draft]).unwrap();
    log.sync_through(metas[0].last_seq()).unwrap();
    log.close().unwrap();
}

#[test]
fn an_operation_that_passes_its_checksums_and_cannot_be_read_is_lost() {
    let whole = whole();
    let storage = whole.storage.fork();
    append(&storage, b"\xff no operation");
    assert!(open(&storage).damage().is_some(), "it stops the store");
    let report = salvage(&storage).unwrap();
    let lost: Vec<_> = report.lost.iter().map(|range| (range.first.get(), range.last.get())).collect();
    assert_eq!(lost, [(whole.head() + 1, whole.head() + 1)]);
    assert_sound(&open(&storage));
}

#[test]
fn a_body_that_was_never_written_to_its_end_is_a_torn_end_and_no_loss() {
    let whole = whole();
    let storage = whole.storage.fork();
    let mark = storage.contents("mark").unwrap();
    let memory = open(&storage);
    memory.commit(commit("late", "never acknowledged")).unwrap();
    memory.close();
    let place = places(&storage).pop().unwrap();
    let (offset, ..) = place.bodies[0];
    let storage = damaged(&storage, &place.path, |bytes| bytes[usize::try_from(offset).unwrap() + 21] ^= 1);
    storage.put("mark", mark);
    let frame = whole.place_of("b", 0);
    let storage = without_frame(&storage, &frame);
    let report = salvage(&storage).unwrap();
    assert_eq!((report.before.seq.get(), report.lost_bodies.len()), (whole.head(), 0), "{report:?}");
    whole.assert_salvaged(&storage, &seqs(&frame), &[], "a torn body");
    assert!(open(&storage).get("late").unwrap().is_none());
}
