//! The proof.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use bilinc_core::{Event, RecordedEvent, Seq, State};

use super::Memory;
use crate::answer::{ChainHash, Head, SalvageRecord, Verified};
use crate::codec::Bodies;
use crate::error::{EngineError, Error};
use crate::log::LogError;
use crate::store::UNEXPLAINED;

impl Memory {
    /// Reads the whole log: checksums, order, the hash chain, salted digests of all bodies; then
    /// folds it anew and compares with the state that answers. Every erased body must be named by a
    /// purge, and what a finished purge named must be erased. What was lost and is recorded so is told in
    /// [`Verified::salvages`] and is no new damage. `progress` is told bytes done and in all.
    ///
    /// # Errors
    /// [`crate::log::LogError::Damage`] names the first damage: segment, offset and position.
    pub fn verify(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<Verified, Error> {
        self.store.refresh()?;
        // A body may just be in the erasing, by this process or another.
        let being_erased = |seq| self.store.is_named_by_a_purge(Seq::new(seq)).unwrap_or(false);
        let report = self.store.log.verify_judging(progress, &being_erased).map_err(EngineError::from)?;
        if let Some(damage) = report.damage {
            return Err(EngineError::Log(LogError::Damage(damage)).into());
        }
        let segments = self.store.log.segments().map_err(EngineError::from)?;
        // What was erased meanwhile was named before.
        self.store.refresh()?;
        let (state_equal, purges) = self.fold_anew()?;
        let erased: HashSet<Seq> = report.zeroed.iter().copied().map(Seq::new).collect();
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
        })
    }

    /// Folds the log from its begin: whether that gives the state that answers, and what purges named.
    fn fold_anew(&self) -> Result<(bool, Purges), Error> {
        let mut folded = State::new(self.store.hash_seed());
        let mut purges = Purges::default();
        loop {
            let (after, through) = (folded.head(), self.store.published().head());
            self.store.visit(after, through, Bodies::ForState, &mut |event| {
                folded.evolve(event);
                purges.learn(event);
                ControlFlow::Continue(())
            })?;
            // Others may have written meanwhile; then the fold goes on from where it is.
            let published = self.store.published();
            if published.head() == folded.head() {
                return Ok((published.state == folded, purges));
            }
        }
    }

    /// An erased body that no purge names is damage, and so is one that is there although its purge
    /// was finished before the bodies were looked at.
    fn hold_against(&self, erased: &HashSet<Seq>, purges: &Purges, through: Seq) -> Result<(), Error> {
        let unexplained = erased.iter().filter(|seq| !purges.named.contains_key(seq)).min();
        if let Some(seq) = unexplained {
            return Err(self.store.damaged_body(*seq, UNEXPLAINED)?.into());
        }
        let completed = |purge: &Seq| purges.completed.get(purge).is_some_and(|at| *at <= through);
        let mut left: Vec<Seq> = (purges.named.iter())
            .filter(|(seq, purge)| !erased.contains(seq) && completed(purge))
            .map(|(seq, _)| *seq)
            .collect();
        left.sort_unstable();
        for seq in left {
            // What was fed from another store's log came without its body.
            if self.store.body(seq)?.is_some() {
                return Err(self.store.damaged_body(seq, "the body is there, though a purge erased it")?.into());
            }
        }
        Ok(())
    }
}

/// What the purges of a log say, and its salvages.
#[derive(Debug, Default)]
struct Purges {
    /// Positions of bodies, with the purge that named them first.
    named: HashMap<Seq, Seq>,
    /// Purges that were finished, with where that is recorded.
    completed: HashMap<Seq, Seq>,
    salvages: Vec<SalvageRecord>,
}

impl Purges {
    fn learn(&mut self, recorded: &RecordedEvent) {
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
