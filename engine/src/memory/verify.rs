//! The proof.

use std::ops::ControlFlow;

use bilinc_core::{Seq, State};

use super::Memory;
use crate::answer::{ChainHash, Head, Verified};
use crate::codec::Bodies;
use crate::error::{EngineError, Error};
use crate::log::LogError;

impl Memory {
    /// Reads the whole log: checksums, order, the hash chain, salted digests of all bodies; then
    /// folds it anew and compares with the state that answers. `progress` is told bytes done and in
    /// all.
    ///
    /// # Errors
    /// [`crate::log::LogError::Damage`] names the first damage: segment, offset and position.
    pub fn verify(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<Verified, Error> {
        self.store.refresh()?;
        let report = self.store.log.verify(progress).map_err(EngineError::from)?;
        if let Some(damage) = report.damage {
            return Err(EngineError::Log(LogError::Damage(damage)).into());
        }
        let segments = self.store.log.segments().map_err(EngineError::from)?;
        let state_equal = self.folds_to_the_same()?;
        Ok(Verified {
            store: self.store_id(),
            segments: segments.len() as u64,
            bytes: report.bytes,
            operations: report.frames,
            events: report.events,
            bodies: report.bodies,
            erased_bodies: report.zeroed.len() as u64,
            head: Head { seq: Seq::new(report.last_seq), chain: ChainHash(report.chain) },
            state_equal,
        })
    }

    fn folds_to_the_same(&self) -> Result<bool, Error> {
        let mut folded = State::new(self.store.hash_seed());
        loop {
            let (after, through) = (folded.head(), self.store.published().head());
            self.store.visit(after, through, Bodies::ForState, &mut |event| {
                folded.evolve(event);
                ControlFlow::Continue(())
            })?;
            // Others may have written meanwhile; then the fold goes on from where it is.
            let published = self.store.published();
            if published.head() == folded.head() {
                return Ok(published.state == folded);
            }
        }
    }
}
