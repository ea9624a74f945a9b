//! The proof from a chain head that was noted earlier.

use std::sync::OnceLock;

use bilinc_core::{Rejection, Seq};

use super::Memory;
use crate::answer::{ChainHash, Head, HeadNotMet, KnownHead, VerifiedSince};
use crate::error::{EngineError, Error};
use crate::log::Proved;

impl Memory {
    /// Proves the whole log, as [`Memory::verify`] does, and that its history up to a head that was
    /// noted earlier is unchanged: the chain, computed anew, goes through it. Purges do not hinder that,
    /// and it holds in a backup, too, from the heads of the store that was copied.
    ///
    /// # Errors
    /// As [`Memory::verify`]; [`EngineError::OtherHistory`] when the log is whole and the chain does not go
    /// through that head; [`Rejection::Invalid`] for a position inside an operation, where no head can be.
    pub fn verify_since(
        &self,
        head: impl Into<KnownHead>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<VerifiedSince, Error> {
        let expected = head.into();
        let met: OnceLock<Proved> = OnceLock::new();
        let verified = self.verify_watched(progress, &|proved| {
            let here = match expected.seq {
                Some(seq) => (proved.first_seq..=proved.last_seq).contains(&seq.get()),
                None => proved.chain == expected.chain.0,
            };
            if here {
                // No two operations share a position, nor a hash.
                let _ = met.set(proved);
            }
        })?;
        let not_met = |found| EngineError::OtherHistory(HeadNotMet { expected, found, last: verified.head }.into());
        let Some(proved) = met.get() else { return Err(not_met(None).into()) };
        let met = Head { seq: Seq::new(proved.last_seq), chain: ChainHash(proved.chain) };
        if let Some(seq) = expected.seq.filter(|seq| *seq != met.seq) {
            return Err(inside(seq, proved).into());
        }
        if met.chain != expected.chain {
            return Err(not_met(Some(met.chain)).into());
        }
        let events_since = verified.head.seq.get().saturating_sub(met.seq.get());
        Ok(VerifiedSince { verified, met, events_since })
    }
}

fn inside(seq: Seq, operation: &Proved) -> Rejection {
    let Proved { first_seq, last_seq, .. } = operation;
    let message = format!(
        "position {seq} lies inside an operation of this log, from {first_seq} to {last_seq}, and a head stands at the \
         end of one: it was noted of another history, or not as it was printed"
    );
    Rejection::invalid("since_head", "inside_an_operation", message)
}
