//! Small logs with contents that follow from their positions.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use crate::log::*;
use crate::storage::{MemoryStorage, Storage};

pub(super) const STORE: u128 = 0x1234_5678_9abc_def0_1122_3344_5566_7788;
pub(super) const FIRST: &str = "log/00000000000000000001.seg";

/// Salts that are the same in every run.
#[derive(Debug)]
struct FixedSalts;

impl SaltSource for FixedSalts {
    fn fill(&self, bytes: &mut [u8]) -> io::Result<()> {
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::try_from(at % 251).unwrap() ^ 0x5a;
        }
        Ok(())
    }
}

pub(super) fn options() -> LogOptions {
    LogOptions {
        salts: Arc::new(FixedSalts),
        created_at: Some(1_000),
        lock_timeout: Duration::from_secs(20),
        holder: "test".to_owned(),
        ..LogOptions::default()
    }
}

pub(super) fn small_segments() -> LogOptions {
    LogOptions { segment_bytes: 1_000, ..options() }
}

pub(super) fn open(storage: &MemoryStorage, options: LogOptions) -> (Log, OpenReport) {
    try_open(storage, options).unwrap()
}

pub(super) fn try_open(storage: &MemoryStorage, options: LogOptions) -> Result<(Log, OpenReport), LogError> {
    Log::open(Arc::new(storage.clone()), options, STORE)
}

/// An operation of two events, the second with a body; recognisable by `n`.
pub(super) fn draft(n: u64) -> FrameDraft {
    FrameDraft {
        count: 2,
        time: i64::try_from(n).unwrap() * 10,
        clock_back: false,
        codec: 1,
        permanent: format!("permanent {n}").into_bytes(),
        bodies: vec![Body { event_index: 1, bytes: format!("body {n}").into_bytes() }],
    }
}

pub(super) fn append(log: &Log, drafts: &[FrameDraft]) -> Result<Vec<FrameMeta>, LogError> {
    log.begin_append()?.append(drafts)
}

/// Appends and waits until it is durable.
pub(super) fn commit(log: &Log, drafts: &[FrameDraft]) -> Result<u64, LogError> {
    let metas = append(log, drafts)?;
    let last = metas.last().unwrap().last_seq();
    assert!(log.sync_through(last)?.seq >= last);
    Ok(last)
}

pub(super) fn frames(log: &Log, from: u64, through: u64) -> Result<Vec<Frame>, LogError> {
    let mut frames = Vec::new();
    log.read(from, through, &mut |frame| {
        frames.push(frame);
        ControlFlow::Continue(())
    })?;
    Ok(frames)
}

/// What can be shown, each frame as the number of its draft, its contents checked against it.
pub(super) fn shown(log: &Log) -> Result<Vec<u64>, LogError> {
    let durable = log.durable()?.seq;
    let frames = frames(log, 1, durable)?;
    let numbers = frames.iter().map(number).collect::<Result<Vec<_>, _>>()?;
    assert_eq!(frames.last().map_or(0, Frame::last_seq), durable);
    Ok(numbers)
}

/// The number of the draft that a frame was made from.
pub(super) fn number(frame: &Frame) -> Result<u64, LogError> {
    let text = std::str::from_utf8(frame.permanent()).unwrap();
    let n: u64 = text.strip_prefix("permanent ").unwrap().parse().unwrap();
    let expected = draft(n);
    assert_eq!(frame.time(), expected.time);
    assert_eq!(frame.count(), expected.count);
    let body = frame.body_of(1).unwrap();
    let state = body.read().map_err(LogError::Damage)?;
    assert_eq!(state, BodyState::Present(&expected.bodies[0].bytes));
    Ok(n)
}

/// A closed log of `count` operations.
pub(super) fn store_of(count: u64, options: LogOptions) -> MemoryStorage {
    let storage = MemoryStorage::new();
    let (log, _) = open(&storage, options);
    for n in 1..=count {
        commit(&log, &[draft(n)]).unwrap();
    }
    log.close().unwrap();
    storage
}

pub(super) fn with_file(storage: &MemoryStorage, path: &str, bytes: Vec<u8>) -> MemoryStorage {
    let copy = storage.fork();
    copy.put(path, bytes);
    copy
}

pub(super) fn without_mark(storage: &MemoryStorage) -> MemoryStorage {
    let copy = storage.fork();
    copy.remove("mark").unwrap();
    copy
}
