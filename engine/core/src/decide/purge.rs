//! Purges: what is to be erased, and that it is.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::batch::Batch;
use super::entry::existing;
use super::{Refusal, history};
use crate::command::Forget;
use crate::event::{Actor, Event, Operation, OperationKind, PurgeCompleted, Purged, RecordedEvent};
use crate::history::{History, chain_of};
use crate::id::{OperationId, Seq};
use crate::key::Key;
use crate::rejection::Rejection;
use crate::time::Timestamp;

pub(super) fn purge<H: History>(batch: &mut Batch<'_, H>, command: &Forget) -> Result<(), Refusal<H::Error>> {
    let key = &command.key;
    let not_found = || Rejection::MemoryNotFound { key: key.clone() };
    if batch.entry(key).is_some() || command.expected_version.is_some() {
        existing(batch, key, command.expected_version)?;
    }
    let slot = batch.slot(key).ok_or_else(not_found)?;
    let purged_through = slot.purged_through;
    let chain = chain_of(batch.history(), slot.head).map_err(history)?;
    let own: Vec<&Arc<RecordedEvent>> =
        chain.iter().filter(|event| event.seq > purged_through && event.event.body_bytes() > 0).collect();
    if own.is_empty() {
        return Err(not_found().into());
    }
    let mut bodies: BTreeSet<Seq> = own.iter().map(|event| event.seq).collect();
    for event in &own {
        bodies.extend(fingerprint_beside(batch.history(), &event.operation).map_err(history)?);
    }
    let purged = Purged {
        key: key.clone(),
        reason: command.reason.as_str().into(),
        bodies: bodies.into_iter().collect(),
        events: own.len() as u64,
        bytes: own.iter().map(|event| event.event.body_bytes()).sum(),
        also_in: also_in(batch, key).map_err(history)?,
    };
    batch.push(Event::Purged(purged));
    Ok(())
}

/// The body of an operation that holds nothing but the fingerprint of its command, if there is one.
/// From that fingerprint, which has no salt of its own, a short value could be guessed back.
fn fingerprint_beside<H: History>(from: &H, operation: &Operation) -> Result<Option<Seq>, H::Error> {
    if operation.idempotency.is_none() || operation.count < 2 {
        return Ok(None);
    }
    let mut without_values = Vec::new();
    let last = operation.first.plus(u64::from(operation.count)).before();
    from.between(operation.first.before(), last, &mut |event| {
        if event.event.body_bytes() == 0 {
            without_values.push(event.seq);
        }
    })?;
    for seq in without_values {
        if from.body(seq)?.is_some_and(|body| body.fingerprint.is_some()) {
            return Ok(Some(seq));
        }
    }
    Ok(None)
}

/// The keys into which a revise folded this one, unless that was erased itself. Reads the whole log.
fn also_in<H: History>(batch: &Batch<'_, H>, key: &Key) -> Result<Vec<Key>, H::Error> {
    let mut found: BTreeSet<Key> = BTreeSet::new();
    batch.history().between(Seq::ZERO, batch.state.head(), &mut |recorded| {
        if let Event::Revised(event) = &recorded.event
            && event.merged_from.contains(key)
            && event.key != *key
            && batch.state.slot(event.key.as_str()).is_some_and(|slot| !slot.is_purged(recorded.seq))
        {
            found.insert(event.key.clone());
        }
    })?;
    Ok(found.into_iter().collect())
}

/// Records that what these purges named is erased, as an operation of the engine's own.
#[must_use]
pub fn complete_purges(
    purges: Vec<Seq>,
    operation: OperationId,
    (at, clock_back): (Timestamp, bool),
    first: Seq,
) -> RecordedEvent {
    let operation = Operation {
        id: operation,
        at,
        clock_back,
        actor: Actor::default(),
        kind: OperationKind::PurgeCompletion,
        idempotency: None,
        first,
        count: 1,
    };
    RecordedEvent {
        seq: first,
        prev: Seq::ZERO,
        operation: Arc::new(operation),
        event: Event::PurgeCompleted(PurgeCompleted { purges }),
        body: None,
    }
}
