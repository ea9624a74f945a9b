//! Time and ids, injected: the rules never look at a clock, and tests decide what it shows.

use std::fmt::Debug;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use bilinc_core::Timestamp;

/// Where the time comes from.
pub trait Clock: Send + Sync + Debug {
    /// The present moment. May step back; recorded times do not.
    fn now(&self) -> Timestamp;
}

/// The system's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(chrono::Utc::now().timestamp_micros())
    }
}

/// A clock that shows what it is told, for tests and replays.
#[derive(Debug, Default)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// A clock that shows this moment.
    #[must_use]
    pub fn at(time: Timestamp) -> Self {
        Self(AtomicI64::new(time.micros()))
    }

    /// Shows this moment from now on.
    pub fn set(&self, time: Timestamp) {
        self.0.store(time.micros(), Ordering::SeqCst);
    }

    /// Moves on by so many microseconds; a negative number moves back.
    pub fn advance(&self, micros: i64) {
        self.0.fetch_add(micros, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::SeqCst))
    }
}

/// Where ids of operations, imports and stores come from. An id that comes twice makes versions that
/// come twice, which nothing here can notice.
pub trait Ids: Send + Sync + Debug {
    /// 128 bits that never came before.
    fn next_id(&self) -> u128;
}

/// UUIDs of version 7: ordered by time, random in the rest.
#[derive(Debug, Clone, Copy, Default)]
pub struct TimeOrderedIds;

impl Ids for TimeOrderedIds {
    fn next_id(&self) -> u128 {
        uuid::Uuid::now_v7().as_u128()
    }
}

/// 1, 2, 3 … in the low bits under a fixed high part, for tests and replays.
#[derive(Debug)]
pub struct CountingIds {
    high: u64,
    next: AtomicU64,
}

impl CountingIds {
    /// Ids with that high half.
    #[must_use]
    pub fn new(high: u64) -> Self {
        Self { high, next: AtomicU64::new(1) }
    }
}

impl Ids for CountingIds {
    fn next_id(&self) -> u128 {
        // Counting in steps leaves room for the indexes of an operation's events, from which
        // versions come.
        let count = self.next.fetch_add(1, Ordering::SeqCst);
        (u128::from(self.high) << 64) | (u128::from(count) << 24)
    }
}
