use super::support::*;
use crate::log::*;
use crate::storage::MemoryStorage;

const OPERATIONS: u64 = 3;

/// Opens and reads all of it; what was shown, or the damage that was told of.
fn look(storage: &MemoryStorage) -> (Vec<u64>, Option<LogError>) {
    let (log, report) = match try_open(storage, options()) {
        Ok(opened) => opened,
        Err(error) => return (Vec::new(), Some(error)),
    };
    let durable = log.durable().unwrap().seq;
    let mut numbers = Vec::new();
    let read = log.read(1, durable, &mut |frame| {
        numbers.push(number(&frame));
        std::ops::ControlFlow::Continue(())
    });
    let mut shown = Vec::new();
    for number in numbers {
        match number {
            Ok(number) => shown.push(number),
            Err(error) => return (shown, Some(error)),
        }
    }
    let damage = report.damage.map(LogError::Damage);
    (shown, read.err().or(damage))
}

#[test]
fn every_truncation_past_the_mark_leaves_whole_operations() {
    let storage = without_mark(&store_of(OPERATIONS, options()));
    let whole = storage.contents(FIRST).unwrap();
    let frame = usize::try_from(draft(1).frame_len().unwrap()).unwrap();
    for len in 108..=whole.len() {
        let cut = with_file(&storage, FIRST, whole[..len].to_vec());
        let (log, report) = open(&cut, options());
        let kept = (len - 108) / frame;
        let expected: Vec<u64> = (1..=kept as u64).collect();
        assert_eq!(shown(&log).unwrap(), expected, "cut at {len}");
        assert_eq!(report.torn.is_some(), (len - 108) % frame != 0, "cut at {len}");
        if let Some(torn) = report.torn {
            assert_eq!(torn.offset as usize, 108 + kept * frame);
            let aside = cut.contents(&torn.quarantined_as).unwrap();
            let rest = whole[torn.offset as usize..len].strip_prefix(&aside[..]).unwrap();
            assert!(rest.iter().all(|byte| *byte == 0), "only zeros are left out");
        }
        commit(&log, &[draft(9)]).unwrap();
        assert_eq!(shown(&log).unwrap().last(), Some(&9));
        drop(log);
        let (log, report) = open(&cut, options());
        assert!(report.torn.is_none());
        assert_eq!(shown(&log).unwrap().len(), kept + 1);
    }
}

#[test]
fn every_truncation_before_the_mark_is_damage() {
    let storage = store_of(OPERATIONS, options());
    let whole = storage.contents(FIRST).unwrap();
    for len in 0..whole.len() {
        let cut = with_file(&storage, FIRST, whole[..len].to_vec());
        let (shown, error) = look(&cut);
        assert!(matches!(error, Some(LogError::Damage(_))), "cut at {len}: {error:?}");
        assert!(shown.len() < OPERATIONS as usize);
        if let Ok((_, report)) = try_open(&cut, LogOptions { read_only: true, ..options() }) {
            assert!(report.damage.is_some(), "a reader is told too, cut at {len}");
        }
        assert_eq!(cut.contents(FIRST).unwrap(), whole[..len], "nothing is changed");
    }
}

#[test]
fn no_flipped_byte_of_a_durable_log_goes_unnoticed() {
    let storage = store_of(OPERATIONS, options());
    let whole = storage.contents(FIRST).unwrap();
    for at in 0..whole.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] ^= flip;
            let bad = with_file(&storage, FIRST, bytes.clone());
            let (shown, error) = look(&bad);
            let expected: Vec<u64> = (1..=OPERATIONS).collect();
            assert!(expected.starts_with(&shown), "a wrong answer at byte {at}");
            if error.is_none() {
                assert_eq!(shown, expected, "frames are missing in silence, byte {at}");
                let (log, _) = open(&bad, options());
                let report = log.verify(&mut |_, _| {}).unwrap();
                assert!(report.damage.is_some(), "byte {at} flipped by {flip} unnoticed");
            }
            assert_eq!(bad.contents(FIRST).unwrap(), bytes, "nothing is changed");
        }
    }
}

#[test]
fn no_flipped_byte_of_the_mark_is_an_error_or_loses_anything() {
    let storage = store_of(OPERATIONS, options());
    let mark = storage.contents("mark").unwrap();
    for at in 0..mark.len() {
        let mut bytes = mark.clone();
        bytes[at] ^= 0x10;
        let (shown, error) = look(&with_file(&storage, "mark", bytes));
        assert!(error.is_none(), "byte {at}: {error:?}");
        assert_eq!(shown, [1, 2, 3], "byte {at}");
    }
    for garbage in [Vec::new(), vec![0xa5; 5_000], vec![0; 1_024]] {
        let (shown, error) = look(&with_file(&storage, "mark", garbage));
        assert!(error.is_none());
        assert_eq!(shown, [1, 2, 3]);
    }
}

#[test]
fn damage_opens_for_reading_what_lies_before_it_and_refuses_writes() {
    let storage = store_of(OPERATIONS, options());
    let mut bytes = storage.contents(FIRST).unwrap();
    let frame = usize::try_from(draft(1).frame_len().unwrap()).unwrap();
    bytes[108 + 2 * frame + 90] ^= 1;
    let bad = with_file(&storage, FIRST, bytes);
    let (log, _) = open(&bad, options());
    let error = frames(&log, 1, 6).unwrap_err();
    let LogError::Damage(damage) = error else { panic!("{error}") };
    assert_eq!(damage.segment, "00000000000000000001.seg");
    assert_eq!((damage.offset as usize, damage.position), (108 + 2 * frame, 5));
    assert_eq!(number(&log.frame_at(3).unwrap()).unwrap(), 2);
    assert!(matches!(log.frame_at(5), Err(LogError::Damage(_))));
    assert!(matches!(append(&log, &[draft(4)]), Err(LogError::Damage(_))));
}

#[test]
fn damage_in_the_middle_of_an_unmarked_log_is_no_torn_end() {
    let storage = without_mark(&store_of(OPERATIONS, options()));
    let whole = storage.contents(FIRST).unwrap();
    let frame = usize::try_from(draft(1).frame_len().unwrap()).unwrap();
    // The third operation was written after the first was durable: its header says so.
    for at in 108..108 + frame {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        let bad = with_file(&storage, FIRST, bytes.clone());
        let (_, error) = look(&bad);
        assert!(matches!(error, Some(LogError::Damage(_))), "byte {at}: {error:?}");
        assert_eq!(bad.contents(FIRST).unwrap(), bytes);
    }
}

#[test]
fn frames_of_one_unacknowledged_batch_that_arrived_out_of_order_are_a_torn_end() {
    let storage = MemoryStorage::new();
    let (log, _) = open(&storage, options());
    commit(&log, &[draft(1)]).unwrap();
    append(&log, &[draft(2), draft(3)]).unwrap();
    let mut bytes = storage.contents(FIRST).unwrap();
    let frame = usize::try_from(draft(1).frame_len().unwrap()).unwrap();
    bytes[108 + frame..108 + 2 * frame].fill(0);
    let left = with_file(&storage, FIRST, bytes);
    let (log, report) = open(&left, options());
    let torn = report.torn.unwrap();
    assert_eq!((torn.position, torn.offset as usize), (3, 108 + frame));
    // The third operation must not come back behind a new second one of the same length.
    commit(&log, &[draft(7)]).unwrap();
    assert_eq!(shown(&log).unwrap(), [1, 7]);
}

#[test]
fn garbage_behind_the_last_frame_is_set_aside() {
    let storage = store_of(OPERATIONS, options());
    let whole = storage.contents(FIRST).unwrap();
    for tail in [vec![0xff; 3], vec![0xff; 3_000], [vec![0; 5_000], vec![1]].concat()] {
        let bad = with_file(&storage, FIRST, [whole.clone(), tail.clone()].concat());
        let (log, report) = open(&bad, options());
        let torn = report.torn.unwrap();
        assert_eq!(torn.offset as usize, whole.len());
        assert_eq!(bad.contents(&torn.quarantined_as).unwrap(), tail);
        assert_eq!(shown(&log).unwrap(), [1, 2, 3]);
        commit(&log, &[draft(4)]).unwrap();
        assert_eq!(shown(&log).unwrap(), [1, 2, 3, 4]);
    }
    let zeros = with_file(&storage, FIRST, [whole, vec![0; 9_999]].concat());
    let (log, report) = open(&zeros, options());
    assert!(report.torn.is_none());
    assert_eq!(shown(&log).unwrap(), [1, 2, 3]);
}

#[test]
fn a_body_that_holds_a_frame_is_not_taken_for_one() {
    let other = store_of(4, options()).contents(FIRST).unwrap();
    let storage = MemoryStorage::new();
    let (log, _) = open(&storage, options());
    commit(&log, &[draft(1)]).unwrap();
    let mut hostile = draft(2);
    hostile.bodies[0].bytes = other;
    append(&log, &[hostile]).unwrap();
    let mut bytes = storage.contents(FIRST).unwrap();
    let frame = usize::try_from(draft(1).frame_len().unwrap()).unwrap();
    bytes[108 + frame + 10] ^= 1;
    let (_, report) = open(&with_file(&storage, FIRST, bytes), options());
    assert!(report.damage.is_none());
    assert_eq!(report.torn.unwrap().position, 3);
}

#[test]
fn a_missing_segment_is_damage() {
    let storage = store_of(12, small_segments());
    let (log, _) = open(&storage, small_segments());
    let segments = log.segments().unwrap();
    assert!(segments.len() >= 3);
    drop(log);
    for (at, segment) in segments.iter().enumerate() {
        let bad = storage.fork();
        crate::storage::Storage::remove(&bad, &segment.path).unwrap();
        let (shown, error) = look(&bad);
        assert!(matches!(error, Some(LogError::Damage(_))), "{at}: {error:?}");
        assert_eq!(shown.last().map_or(0, |last| last * 2) + 1, if at == 0 { 1 } else { segment.first_seq });
    }
    let bad = storage.fork();
    for segment in &segments {
        crate::storage::Storage::remove(&bad, &segment.path).unwrap();
    }
    let (_, error) = look(&bad);
    assert!(matches!(error, Some(LogError::Damage(_))), "never start empty: {error:?}");
}

#[test]
fn a_bad_frame_in_an_earlier_segment_is_damage() {
    let storage = without_mark(&store_of(12, small_segments()));
    let whole = storage.contents(FIRST).unwrap();
    for bytes in [whole[..whole.len() - 1].to_vec(), whole[..300].to_vec()] {
        let (_, error) = look(&with_file(&storage, FIRST, bytes));
        assert!(matches!(error, Some(LogError::Damage(_))), "{error:?}");
    }
}
