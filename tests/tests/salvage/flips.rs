use super::*;

/// What a salvage loses of a log whose byte at this place is spoiled.
fn cost(whole: &Whole, path: &str, at: u64) -> (Vec<u64>, Vec<u64>) {
    let holds = |place: &&Place| place.path == path && (place.offset..place.offset + place.len).contains(&at);
    let Some(place) = whole.frames.iter().find(holds) else { return (Vec::new(), Vec::new()) };
    let body = place.bodies.iter().find(|(offset, len, _)| (*offset..offset + len).contains(&at));
    match body {
        // A purge erased it: what lies there is of no use to anybody.
        Some((_, _, seq)) if is_erased(whole, *seq) => (Vec::new(), Vec::new()),
        Some((_, _, seq)) => (Vec::new(), vec![*seq]),
        None => ((place.first..=place.last).collect(), Vec::new()),
    }
}

fn is_erased(whole: &Whole, seq: u64) -> bool {
    whole.events.iter().any(|event| match &event.event {
        Event::Purged(purged) => purged.bodies.contains(&Seq::new(seq)),
        _ => false,
    })
}

/// Each byte is spoiled and salvaged; all that a store can do afterwards is tried behind one in so many.
fn whole_check_every() -> u64 {
    if std::env::var_os("BILINC_SALVAGE_ALL").is_some() { 1 } else { 23 }
}

#[test]
fn any_spoiled_byte_of_a_log_costs_the_operation_or_the_body_that_it_belongs_to_and_nothing_else() {
    let whole = whole();
    let good = files(&whole.storage);
    for path in paths(&whole.storage) {
        for at in 0..good[&path].len() as u64 {
            let what = format!("{path}, byte {at}");
            let bad = damaged(&whole.storage, &path, |bytes| bytes[usize::try_from(at).unwrap()] ^= 0x11);
            let (mut lost, bodies) = cost(&whole, &path, at);
            let before = files(&bad);
            let told = preview(&bad);
            assert_eq!(files(&bad), before, "a preview writes nothing: {what}");
            let report = salvage(&bad).unwrap_or_else(|error| panic!("{what}: {error}"));
            // What a finished purge erased is all zeros again, and nothing else was touched.
            let of_purged = lost.is_empty() && bodies.is_empty() && at >= 108;
            assert!(report.is_needed(), "{what}: {report:?}");
            // The purge itself: what it named is erased, and nothing says any more that it should be.
            let mut bodies = bodies;
            let purge = whole.events.iter().find(|event| matches!(event.event, Event::Purged(_))).unwrap();
            if lost.contains(&purge.seq.get()) {
                bodies.extend(whole.events.iter().map(|event| event.seq.get()).filter(|seq| is_erased(&whole, *seq)));
            }
            let told_lost: Vec<u64> =
                report.lost.iter().flat_map(|range| range.first.get()..=range.last.get()).collect();
            assert_eq!(told_lost, lost, "{what}");
            let told_bodies: Vec<u64> = report.lost_bodies.iter().map(|body| body.seq.get()).collect();
            assert_eq!(told_bodies, bodies, "{what}");
            let told = (&told.lost, &told.lost_bodies, &told.damage);
            assert_eq!(told, (&report.lost, &report.lost_bodies, &report.damage), "{what}");
            lost.sort_unstable();
            if at.is_multiple_of(whole_check_every()) {
                whole.assert_salvaged(&bad, &lost, &bodies, &what);
            } else {
                whole.assert_recorded(&open(&bad), &lost, &bodies, &what);
            }
            let finished = whole.events.iter().find(|event| matches!(event.event, Event::PurgeCompleted(_))).unwrap();
            // A purge of which nothing says that it was finished is finished again, and that removes copies.
            if lost.contains(&finished.seq.get()) {
                assert_eq!(report.quarantined, [""; 0], "{what}");
                continue;
            }
            if of_purged {
                continue;
            }
            let after = files(&bad);
            let kept = before.iter().filter(|(path, _)| path.starts_with("log/"));
            for (path, bytes) in kept {
                let name = path.trim_start_matches("log/");
                let aside = after.iter().find(|(aside, _)| aside.starts_with("quarantine/") && aside.ends_with(name));
                assert!(aside.is_none_or(|(_, aside)| aside == bytes), "{what}: {path} was set aside changed");
                assert!(aside.is_some() || after.get(path) == Some(bytes), "{what}: {path} is neither kept nor aside");
            }
        }
    }
}

#[test]
fn a_spoiled_mark_needs_no_salvage_and_loses_nothing() {
    let whole = whole();
    for at in (0..1_024).step_by(37) {
        let bad = damaged(&whole.storage, "mark", |bytes| {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 0xff;
            }
        });
        let report = salvage(&bad).unwrap();
        assert!(!report.is_needed(), "byte {at}: {report:?}");
        whole.assert_salvaged(&bad, &[], &[], &format!("byte {at} of the mark"));
    }
}

#[test]
fn a_whole_store_is_left_as_it_is() {
    let whole = whole();
    let before = files(&whole.storage);
    let report = salvage(&whole.storage).unwrap();
    assert!(!report.is_needed() && report.quarantined.is_empty(), "{report:?}");
    assert_eq!(report.head.unwrap().seq.get(), whole.head());
    assert_eq!(report.kept.events, whole.events.len() as u64);
    assert_eq!(files(&whole.storage), before);
}
