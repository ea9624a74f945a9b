//! What the threads of the load do.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bilinc::{Commit, Forget, ListQuery, Memory, Order, RecallQuery, Revise, Strategy};

use crate::Outcome;
use crate::data::{self, Random};
use crate::measure::Latencies;
use crate::work::{dream_of, undo};

/// What is done, in the order of [`Load::take`].
pub(super) const KINDS: [&str; 9] =
    ["commit", "revise", "forget", "get", "recall", "list", "dream of 25", "undo of 25", "checkpoint"];

/// A store, which entries are live, and how long things took.
pub(super) struct Load {
    pub(super) memory: Memory,
    entries: Mutex<Entries>,
    took: Mutex<[Latencies; KINDS.len()]>,
}

/// Numbers of entries.
struct Entries {
    live: Vec<u64>,
    gone: Vec<u64>,
    random: Random,
}

type Worker = fn(&Load) -> Outcome<()>;

impl Load {
    /// Two threads that write, one that reads, one that dreams: each waits for its own answers.
    pub(super) const WORKERS: [Worker; 4] = [Self::write, Self::write, Self::read, Self::dream];

    /// A tenth more keys are used than there are entries.
    pub(super) fn new(memory: Memory, entries: u64) -> Self {
        let entries = Entries {
            live: (0..entries).collect(),
            gone: (entries..entries + entries / 10).collect(),
            random: Random::new(60),
        };
        Self { memory, entries: Mutex::new(entries), took: Mutex::default() }
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The latencies since this was last asked.
    pub(super) fn take(&self) -> [Latencies; KINDS.len()] {
        std::mem::take(&mut *self.took.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn timed<T>(&self, kind: usize, work: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
        let begun = Instant::now();
        let done = work()?;
        let took = begun.elapsed();
        if let Some(latencies) = self.took.lock().unwrap_or_else(PoisonError::into_inner).get_mut(kind) {
            latencies.push(took);
        }
        Ok(done)
    }

    /// Forgets one entry, commits one that is not there, revises two.
    fn write(&self) -> Outcome<()> {
        let Some(old) = self.entries().take_live() else { return Ok(()) };
        let forget = Forget {
            key: data::key(old)?,
            reason: "it is out of date".to_owned(),
            expected_version: None,
            purge: false,
        };
        self.timed(2, || Ok(self.memory.forget(forget)?))?;
        let (new, version) = self.entries().replace(old);
        let commit = Commit::new(data::key(new)?, data::value(new, version)?);
        self.timed(0, || Ok(self.memory.commit(commit)?))?;
        self.entries().live.push(new);
        for _ in 0..2 {
            // Taken out meanwhile, so that the other thread does not forget it under this one.
            let Some(number) = self.entries().take_live() else { return Ok(()) };
            let version = self.entries().random.next();
            let revise = Revise {
                key: data::key(number)?,
                value: data::value(number, version)?,
                importance: None,
                strategy: Strategy::Recency,
                reason: None,
                expected_version: None,
            };
            self.timed(1, || Ok(self.memory.revise(revise)?))?;
            self.entries().live.push(number);
        }
        Ok(())
    }

    /// Gets ten entries, asks once, and now and then looks at the newest; rests as long as an agent would not.
    fn read(&self) -> Outcome<()> {
        for _ in 0..10 {
            let number = self.entries().random.below(1 << 40);
            let number = self.entries().some_live(number);
            self.timed(3, || Ok(self.memory.get(&data::key_text(number))?))?;
        }
        let (word, list) = {
            let random = &mut self.entries().random;
            (data::word(300 + random.below(700)), random.below(1_000) == 0)
        };
        self.timed(4, || Ok(self.memory.recall(&RecallQuery::new(word))?))?;
        if list {
            let newest = ListQuery { order: Order::Newest, ..ListQuery::default() };
            self.timed(5, || Ok(self.memory.list(&newest)?))?;
        }
        std::thread::sleep(Duration::from_millis(5));
        Ok(())
    }

    /// A dream every few seconds, taken back half of the time; a checkpoint now and then. Entries that the writers
    /// changed meanwhile are left alone by either.
    fn dream(&self) -> Outcome<()> {
        let draw = self.entries().random.next();
        let (dream, _) = self.timed(6, || dream_of(&self.memory, 25))?;
        if draw.is_multiple_of(2) {
            self.timed(7, || undo(&self.memory, dream))?;
        }
        if draw % 16 < 2 {
            self.timed(8, || Ok(self.memory.checkpoint()?))?;
        }
        std::thread::sleep(Duration::from_secs(3));
        Ok(())
    }
}

impl Entries {
    /// Takes some live entry out.
    fn take_live(&mut self) -> Option<u64> {
        let at = usize::try_from(self.random.below(self.live.len() as u64)).ok()?;
        (at < self.live.len()).then(|| self.live.swap_remove(at))
    }

    fn some_live(&self, number: u64) -> u64 {
        let at = usize::try_from(number % self.live.len().max(1) as u64).unwrap_or(0);
        self.live.get(at).copied().unwrap_or(0)
    }

    /// Notes that one is gone, and draws another to come, with a version that it did not have.
    fn replace(&mut self, gone: u64) -> (u64, u64) {
        let version = self.random.next();
        let at = usize::try_from(self.random.below(self.gone.len() as u64)).unwrap_or(0);
        match self.gone.get_mut(at) {
            Some(slot) => (std::mem::replace(slot, gone), version),
            None => (gone, version),
        }
    }
}
