//! Idempotency keys of the last 24 hours.

use alloc::collections::VecDeque;
use alloc::sync::Arc;

use foldhash::quality::FixedState;
use hashbrown::HashMap;

use crate::event::{Fingerprint, Operation};
use crate::id::Seq;
use crate::limits::{CLOCK_AHEAD_MICROS, IDEMPOTENCY_MICROS};
use crate::time::Timestamp;

/// The operation that an idempotency key came with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdempotencyRecord {
    /// Its payload's fingerprint; none when that was erased.
    pub fingerprint: Option<Fingerprint>,
    /// Position of the operation's first event.
    pub first: Seq,
    /// How many events it has.
    pub count: u32,
    /// When it was recorded.
    pub at: Timestamp,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct IdempotencyBook {
    by_name: HashMap<Arc<str>, IdempotencyRecord, FixedState>,
    /// In the order they were recorded, to let go of what is older than 24 hours by any clock.
    order: VecDeque<(Timestamp, Arc<str>)>,
}

impl IdempotencyBook {
    pub(super) fn new(hasher: FixedState) -> Self {
        Self { by_name: HashMap::with_hasher(hasher), order: VecDeque::new() }
    }

    /// What the key came with, if that is not over 24 hours ago.
    pub(super) fn get(&self, name: &str, now: Timestamp) -> Option<&IdempotencyRecord> {
        self.by_name.get(name).filter(|record| record.at.plus(IDEMPOTENCY_MICROS) >= now)
    }

    pub(super) fn recorded(&mut self, name: &Arc<str>, operation: &Operation) {
        let at = operation.at;
        // A recorded time may lie ahead of the clock: by CLOCK_AHEAD_MICROS and still be held to, by
        // more for once. Neither may make the store let go of a key too early.
        let surely = self.order.back().map_or(at, |(last, _)| at.min(*last)).plus(-CLOCK_AHEAD_MICROS);
        while let Some((old, name)) = self.order.front().filter(|(old, _)| old.plus(IDEMPOTENCY_MICROS) < surely) {
            // A key that was used again since has a newer record, which stays.
            if self.by_name.get(name).is_some_and(|record| record.at == *old) {
                self.by_name.remove(name);
            }
            self.order.pop_front();
        }
        let record = IdempotencyRecord { fingerprint: None, first: operation.first, count: operation.count, at };
        self.by_name.insert(Arc::clone(name), record);
        self.order.push_back((at, Arc::clone(name)));
    }

    /// By what the payload of the operation is recognised.
    pub(super) fn recognised_by(&mut self, name: &str, fingerprint: Fingerprint, operation: &Operation) {
        if let Some(record) = self.by_name.get_mut(name).filter(|record| record.first == operation.first) {
            record.fingerprint = Some(fingerprint);
        }
    }

    /// An operation of which a body was erased is not recognised by its payload any more. `bodies` are
    /// in order.
    pub(super) fn erased(&mut self, bodies: &[Seq]) {
        for record in self.by_name.values_mut() {
            let from = bodies.partition_point(|seq| *seq < record.first);
            if bodies.get(from).is_some_and(|seq| *seq < record.first.plus(u64::from(record.count))) {
                record.fingerprint = None;
            }
        }
    }

    /// All keys in the order they were recorded, those that were used again more than once; with each the
    /// time at that turn and what is remembered of it now.
    pub(super) fn in_order(&self) -> impl Iterator<Item = (&Arc<str>, Timestamp, Option<&IdempotencyRecord>)> {
        self.order.iter().map(|(at, name)| (name, *at, self.by_name.get(name)))
    }

    /// Takes up the next key in that order.
    pub(super) fn take_up(&mut self, name: Arc<str>, at: Timestamp, record: Option<IdempotencyRecord>) {
        if let Some(record) = record {
            self.by_name.insert(Arc::clone(&name), record);
        }
        self.order.push_back((at, name));
    }
}
