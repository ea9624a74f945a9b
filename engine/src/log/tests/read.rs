use std::ops::ControlFlow;

use super::support::*;
use crate::log::*;
use crate::storage::MemoryStorage;

#[test]
fn a_read_gives_whole_frames_in_order_and_stops_when_told() {
    let storage = store_of(5, options());
    let (log, _) = open(&storage, options());
    let firsts = |from, through| -> Vec<u64> {
        let frames = frames(&log, from, through).unwrap();
        frames.iter().map(Frame::first_seq).collect()
    };
    assert_eq!(firsts(0, 0), [0_u64; 0]);
    assert_eq!(firsts(1, 1), [1]);
    assert_eq!(firsts(2, 3), [1, 3]);
    assert_eq!(firsts(10, 10), [9]);
    assert_eq!(firsts(9, 99), [9]);
    assert_eq!(firsts(11, 99), [0_u64; 0]);
    let mut seen = 0;
    log.read(1, 10, &mut |_| {
        seen += 1;
        if seen == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
    .unwrap();
    assert_eq!(seen, 2);
}

/// Many frames, so that blocks of the index end by frames and by bytes.
fn long_log(step: impl Fn(i64) -> i64, options: LogOptions) -> (Log, Vec<(u64, i64)>) {
    let (log, _) = open(&MemoryStorage::new(), options);
    let mut times = Vec::new();
    let mut drafts = Vec::new();
    for n in 1..=300_i64 {
        let mut draft = draft(u64::try_from(n).unwrap());
        draft.time = step(n);
        draft.clock_back = times.last().is_some_and(|(_, last)| *last > draft.time);
        if n % 50 == 0 {
            draft.bodies[0].bytes = vec![1; 100_000];
        }
        times.push((u64::try_from(n).unwrap() * 2, draft.time));
        drafts.push(draft);
    }
    for drafts in drafts.chunks(7) {
        commit(&log, drafts).unwrap();
    }
    (log, times)
}

#[test]
fn the_last_position_at_a_time_is_found_though_clocks_step_back() {
    let steps: [fn(i64) -> i64; 4] = [
        |n| n * 10,
        |n| n * 10 - (n % 37) * 25,
        |n| if n > 150 { n * 10 - 2_000 } else { n * 10 },
        |n| (n * 7_919) % 1_000,
    ];
    let bounded = LogOptions { segment_bytes: 30_000, ..options() };
    for (options, step) in [options(), bounded].into_iter().flat_map(|o| steps.map(|s| (o.clone(), s))) {
        let (log, times) = long_log(step, options);
        for through in [0, 1, 2, 3, 64, 65, 301, 599, 600] {
            for time in (-600..3_200).step_by(97) {
                let naive = (times.iter().rev())
                    .filter(|(last, _)| last - 1 <= through)
                    .find(|(_, at)| *at <= time)
                    .map_or(0, |(last, _)| (*last).min(through));
                assert_eq!(log.position_at(time, through).unwrap(), naive, "{time} {through}");
            }
        }
    }
}

#[test]
fn every_position_is_found_with_and_without_an_index() {
    let (log, _) = long_log(|n| n, options());
    let storage = MemoryStorage::new();
    storage.put(FIRST, {
        let path = log.segments().unwrap()[0].path.clone();
        let file = log.storage.open(&path, crate::storage::OpenMode::Read).unwrap();
        let mut bytes = vec![0; usize::try_from(file.len().unwrap()).unwrap()];
        file.read_at(&mut bytes, 0).unwrap();
        bytes
    });
    let (fresh, _) = open(&storage, options());
    for seq in (1..=600).rev().step_by(11) {
        for log in [&log, &fresh] {
            let frame = log.frame_at(seq).unwrap();
            assert!(frame.first_seq() <= seq && seq <= frame.last_seq());
            assert_eq!(log.chain_at(seq).unwrap(), frame.chain());
        }
    }
    assert_eq!(log.chain_at(0).unwrap(), log.genesis());
}

#[test]
fn a_frame_outlives_the_read_that_gave_it() {
    let storage = store_of(5, options());
    let (log, _) = open(&storage, options());
    let kept = frames(&log, 1, 10).unwrap();
    let _ = frames(&log, 1, 10).unwrap();
    for (at, frame) in kept.iter().enumerate() {
        assert_eq!(number(frame).unwrap(), at as u64 + 1);
        assert_eq!(frame.bodies().count(), 1);
        assert!(frame.body_of(0).is_none());
        assert_eq!(frame.body_of(1).unwrap().seq(), frame.last_seq());
    }
}
