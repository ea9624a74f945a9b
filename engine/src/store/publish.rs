//! Bringing what readers see up to what is durable.

use std::ops::ControlFlow;
use std::sync::{PoisonError, RwLockReadGuard, RwLockWriteGuard};

use bilinc_core::Seq;

use super::{Published, Store};
use crate::codec::Bodies;
use crate::error::EngineError;

impl Store {
    /// Brings what readers see up to the mark.
    pub(crate) fn refresh(&self) -> Result<(), EngineError> {
        if self.damage().is_some() {
            return Ok(());
        }
        self.publish_up_to(Seq::new(self.log.durable_seq()?))
    }

    /// Brings what readers see up to a position, if it is not there.
    pub(super) fn publish_up_to(&self, durable: Seq) -> Result<(), EngineError> {
        if self.published().head() < durable { self.publish_through(durable) } else { Ok(()) }
    }

    pub(super) fn publish_through(&self, durable: Seq) -> Result<(), EngineError> {
        let mut published = self.published_mut();
        let folded = self.fold_through(&mut published, durable);
        let purged = published.take_purged();
        let erased = published.take_erased();
        let lost = published.take_lost();
        drop(published);
        self.learn_lost(lost);
        if erased {
            self.forget_read();
            self.forget_earlier();
        }
        if !purged.is_empty() {
            self.forget_words(&purged);
        }
        self.keep_if_due();
        folded
    }

    fn fold_through(&self, published: &mut Published, durable: Seq) -> Result<(), EngineError> {
        let mut pending = self.pending();
        while pending.events.front().is_some_and(|event| event.seq <= durable) {
            if let Some(event) = pending.events.pop_front()
                && event.seq == published.head().plus(1)
            {
                published.apply(&event);
            }
        }
        drop(pending);
        if published.head() >= durable {
            return Ok(());
        }
        let after = published.head();
        self.visit(after, durable, Bodies::ForState, &mut |event| {
            published.apply(event);
            ControlFlow::Continue(())
        })
    }

    /// Takes note of bodies that a salvage recorded as lost.
    pub(super) fn learn_lost(&self, bodies: impl IntoIterator<Item = Seq>) {
        self.lost_bodies.lock().unwrap_or_else(PoisonError::into_inner).extend(bodies);
    }

    /// Whether a salvage recorded that the body at this position was lost. Asked for while a decision holds
    /// what is published, so it has a place of its own.
    pub(super) fn is_lost_body(&self, seq: Seq) -> bool {
        self.lost_bodies.lock().unwrap_or_else(PoisonError::into_inner).contains(&seq)
    }

    pub(crate) fn published(&self) -> RwLockReadGuard<'_, Published> {
        self.published.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn published_mut(&self) -> RwLockWriteGuard<'_, Published> {
        self.published.write().unwrap_or_else(PoisonError::into_inner)
    }
}
