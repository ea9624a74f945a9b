//! The proof.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use bilinc_core::{Event, RecordedEvent, Seq, State};

use super::Memory;
use super::judge::BodyJudge;
use crate::answer::{ChainHash, CheckpointProof, Head, SalvageRecord, Verified};
use crate::codec::Bodies;
use crate::error::{EngineError, Error};
use crate::log::{LogError, Proved};
use crate::store::{MANY, Store, UNEXPLAINED};

impl Memory {
    /// Reads the whole log: checksums, order, the hash chain, salted digests of all bodies; then
    /// folds it anew and compares with the state that answers and with checkpoints. Every erased body must be
    /// named by a purge, and what a finished purge named must be erased. What was lost and is recorded so is
    /// told in [`Verified::salvages`] and is no new damage. `progress` is told bytes done and in all.
    ///
    /// # Errors
    /// [`crate::log::LogError::Damage`] names the first damage: segment, offset and position.
    pub fn verify(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<Verified, Error> {
        self.verify_watched(progress, &|_| {})
    }

    /// As [`Memory::verify`]; `watch` is told of each operation that was proved, in no order.
    pub(super) fn verify_watched(
        &self,
        progress: &mut dyn FnMut(u64, u64),
        watch: &(dyn Fn(Proved) + Sync),
    ) -> Result<Verified, Error> {
        self.store.refresh()?;
        let judge = BodyJudge::new(&self.store);
        let being_erased = |seq| judge.is_being_erased(seq);
        let mut fold = Fold::new(&self.store);
        let long = self.store.published().head().get() >= MANY;
        let (report, folded) = std::thread::scope(|scope| {
            // What is not folded meanwhile is folded behind the proof.
            let folding = std::thread::Builder::new().name("bilinc fold".to_owned());
            let folding = long.then(|| folding.spawn_scoped(scope, || fold.go_on(&self.store)).ok()).flatten();
            let report = self.store.log.verify_watched(progress, &being_erased, watch);
            let folded = folding.map(|folding| folding.join());
            (report, folded.unwrap_or(Ok(Ok(()))).unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        let report = report.map_err(EngineError::from)?;
        judge.end()?;
        if let Some(damage) = report.damage {
            return Err(EngineError::Log(LogError::Damage(damage)).into());
        }
        // A log whose checksums hold can still hold what is no event.
        if let Some(damage) = self.store.damage() {
            return Err(damage.again().into());
        }
        folded?;
        let segments = self.store.log.segments().map_err(EngineError::from)?;
        // What was erased meanwhile was named before.
        self.store.refresh()?;
        let state_equal = fold.end(&self.store)?;
        let Fold { checkpoint, purges, .. } = fold;
        let half_erased = report.half_erased.iter().copied().map(Seq::new);
        self.hold_halves_against(half_erased.clone(), &purges, Seq::new(report.last_seq))?;
        let erased: HashSet<Seq> = report.zeroed.iter().copied().map(Seq::new).chain(half_erased).collect();
        self.hold_against(&erased, &purges, Seq::new(report.last_seq))?;
        let lost_bodies: usize = purges.salvages.iter().map(|salvage| salvage.bodies.len()).sum();
        let erased_bodies = erased.len().saturating_sub(lost_bodies) as u64;
        Ok(Verified {
            store: self.store_id(),
            segments: segments.len() as u64,
            bytes: report.bytes,
            operations: report.frames,
            events: report.events,
            bodies: report.bodies.saturating_sub(erased.len() as u64),
            erased_bodies,
            salvages: purges.salvages,
            head: Head { seq: Seq::new(report.last_seq), chain: ChainHash(report.chain) },
            state_equal,
            checkpoint,
            recall_checkpoint: (self.store.prove_kept_recall()?)
                .map(|(position, equal)| CheckpointProof { position, equal }),
        })
    }

    /// A body half erased is one that is just being erased. When its purge was finished before the bodies
    /// were looked at, something has been written there since.
    fn hold_halves_against(
        &self,
        mut halves: impl Iterator<Item = Seq>,
        purges: &Purges,
        through: Seq,
    ) -> Result<(), Error> {
        match halves.find(|seq| purges.is_finished(*seq, through)) {
            Some(seq) => {
                Err(self.store.damaged_body(seq, "the body is not all zeros, though a purge erased it")?.into())
            }
            None => Ok(()),
        }
    }

    /// An erased body that no purge names is damage, and so is one that is there although its purge
    /// was finished before the bodies were looked at.
    pub(super) fn hold_against(&self, erased: &HashSet<Seq>, purges: &Purges, through: Seq) -> Result<(), Error> {
        let unexplained = erased.iter().filter(|seq| !purges.named.contains_key(seq)).min();
        if let Some(seq) = unexplained {
            return Err(self.store.damaged_body(*seq, UNEXPLAINED)?.into());
        }
        let mut left: Vec<Seq> = (purges.named.keys())
            .filter(|seq| !erased.contains(seq) && purges.is_finished(**seq, through))
            .copied()
            .collect();
        left.sort_unstable();
        for seq in left {
            // What was fed from another store's log came without its body.
            if self.store.read_body(seq)?.is_some() {
                return Err(self.store.damaged_body(seq, "the body is there, though a purge erased it")?.into());
            }
        }
        Ok(())
    }
}

/// The log folded from its begin, beside the proof of its bytes: what that gives, whether the state that is kept
/// is met on the way, and what purges named.
#[derive(Debug)]
struct Fold {
    folded: State,
    kept: Option<(Seq, State)>,
    checkpoint: Option<CheckpointProof>,
    purges: Purges,
}

impl Fold {
    fn new(store: &Store) -> Self {
        let (folded, kept) = (State::new(store.hash_seed()), store.kept_beside());
        Self { folded, kept, checkpoint: None, purges: Purges::default() }
    }

    /// Folds what is published by now.
    fn go_on(&mut self, store: &Store) -> Result<(), EngineError> {
        let (after, through) = (self.folded.head(), store.published().head());
        store.visit(after, through, Bodies::ForState, &mut |event| {
            self.folded.evolve(event);
            self.purges.learn(event);
            if let Some((position, state)) = self.kept.take_if(|(position, _)| *position == event.seq) {
                self.checkpoint = Some(CheckpointProof { position, equal: state == self.folded });
            }
            ControlFlow::Continue(())
        })
    }

    /// Folds the rest; whether that gives the state that answers.
    fn end(&mut self, store: &Store) -> Result<bool, EngineError> {
        loop {
            self.go_on(store)?;
            // Others may have written meanwhile; then the fold goes on from where it is.
            let published = store.published();
            if published.head() == self.folded.head() {
                if self.checkpoint.is_some_and(|proof| !proof.equal) {
                    store.doubt_checkpoint();
                }
                return Ok(published.state == self.folded);
            }
        }
    }
}

/// What the purges of a log say, and its salvages.
#[derive(Debug, Default)]
pub(super) struct Purges {
    /// Positions of bodies, with the purge that named them first.
    pub(super) named: HashMap<Seq, Seq>,
    /// Purges that were finished, with where that is recorded.
    completed: HashMap<Seq, Seq>,
    salvages: Vec<SalvageRecord>,
}

impl Purges {
    /// Whether a purge that names the body at this position was finished by then.
    fn is_finished(&self, seq: Seq, through: Seq) -> bool {
        let purge = self.named.get(&seq);
        purge.and_then(|purge| self.completed.get(purge)).is_some_and(|at| *at <= through)
    }

    pub(super) fn learn(&mut self, recorded: &RecordedEvent) {
        match &recorded.event {
            Event::Purged(purged) => {
                for seq in &purged.bodies {
                    self.named.entry(*seq).or_insert(recorded.seq);
                }
            }
            Event::PurgeCompleted(completed) => {
                for purge in &completed.purges {
                    self.completed.insert(*purge, recorded.seq);
                }
            }
            Event::Salvaged(salvaged) => {
                // Lost bodies are zeros, as those of a purge that is finished.
                self.completed.insert(recorded.seq, recorded.seq);
                for seq in &salvaged.bodies {
                    self.named.entry(*seq).or_insert(recorded.seq);
                }
                self.salvages.push(SalvageRecord::of(recorded, salvaged));
            }
            _ => {}
        }
    }
}
