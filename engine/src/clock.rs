//! Time and ids, injected: the rules never look at a clock, and tests decide what it shows.

use std::fmt::Debug;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use bilinc_core::Timestamp;
use uuid::{Builder, ClockSequence, ContextV7};

use crate::drawn;

/// Where the time comes from.
pub trait Clock: Send + Sync + Debug {
    /// The present moment. May step back; recorded times do not.
    fn now(&self) -> Timestamp;
}

/// The system's clock, whatever it shows: a machine whose clock has lost its battery is in 1970, or before.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        moment(SystemTime::now())
    }
}

fn moment(time: SystemTime) -> Timestamp {
    let micros = |span: std::time::Duration| i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
    Timestamp::from_micros(match time.duration_since(UNIX_EPOCH) {
        Ok(since) => micros(since),
        Err(before) => -micros(before.duration()),
    })
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

/// Where ids of operations, imports and stores come from. One that is a dream's or a snapshot's already is
/// passed over. Any other that comes twice makes versions that come twice, which nothing here can notice:
/// an expected version may then be taken for met, and two imports are undone as one.
pub trait Ids: Send + Sync + Debug {
    /// 128 bits that never came before.
    fn next_id(&self) -> u128;
}

/// UUIDs of version 7: ordered by time, random in the rest. A process whose clock steps back counts on
/// from the latest time that it has seen.
#[derive(Debug, Clone, Copy, Default)]
pub struct TimeOrderedIds;

/// What the ids of a process have counted to.
static COUNTED: Mutex<ContextV7> = Mutex::new(ContextV7::new());

impl Ids for TimeOrderedIds {
    fn next_id(&self) -> u128 {
        id_at(SystemTime::now())
    }
}

/// An id of that time. One before 1970 has no place in a UUID and counts as the begin of 1970.
fn id_at(time: SystemTime) -> u128 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (counter, secs, nanos) = COUNTED.generate_timestamp_sequence(since.as_secs(), since.subsec_nanos());
    let millis = secs.saturating_mul(1000).saturating_add(u64::from(nanos / 1_000_000));
    // The counter has 42 bits; what it leaves is random. Without random numbers it tells the ids of this process
    // apart, and its begin, drawn anew each millisecond, those of others.
    let mut random = [0_u8; 4];
    let _ = drawn::fill(&mut random);
    // 12 bits stand before the variant and 62 behind it; version and variant are the builder's.
    let (high, low) = (counter >> 30, counter & ((1 << 30) - 1));
    let mut bytes = [0_u8; 10];
    let fields = high.to_be_bytes().into_iter().skip(6);
    let fields = fields.chain(u32::try_from(low).unwrap_or_default().to_be_bytes()).chain(random);
    for (to, from) in bytes.iter_mut().zip(fields) {
        *to = from;
    }
    Builder::from_unix_timestamp_millis(millis, &bytes).into_uuid().as_u128()
}

/// 1, 2, 3 … in the low bits under a fixed high part, for tests and replays. Begins anew in each process:
/// a store that lives longer needs another high part each time.
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::time::Duration;

    use super::*;

    const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);

    fn histories() -> [SystemTime; 6] {
        let now = SystemTime::now();
        [now, UNIX_EPOCH - YEAR, UNIX_EPOCH, now - YEAR, now + 300 * YEAR, UNIX_EPOCH - 2_000 * YEAR]
    }

    #[test]
    fn a_clock_before_1970_or_beyond_9999_is_shown_and_breaks_nothing_off() {
        assert_eq!(moment(UNIX_EPOCH - Duration::from_micros(7)).micros(), -7);
        assert_eq!(moment(UNIX_EPOCH - 2_000 * YEAR), Timestamp::MIN);
        assert_eq!(moment(UNIX_EPOCH + 9_000 * YEAR), Timestamp::MAX);
    }

    #[test]
    fn ids_of_a_clock_that_jumps_are_never_the_same() {
        let mut seen = HashSet::new();
        for time in histories().into_iter().cycle().take(6_000) {
            assert!(seen.insert(id_at(time)), "an id came twice");
        }
        let threads = std::thread::scope(|scope| {
            let count = || (0..1_000).map(|_| id_at(UNIX_EPOCH)).collect::<Vec<_>>();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(count)).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect::<Vec<_>>()
        });
        assert_eq!(threads.len(), 4_000);
        for id in threads {
            assert!(seen.insert(id), "two threads drew one id");
        }
    }
}
