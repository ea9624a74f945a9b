//! Rollbacks to a snapshot.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::batch::Batch;
use super::{Refusal, history};
use crate::command::{Confirmation, Rollback};
use crate::entry::Entry;
use crate::event::{Event, FlagsEffect, Removed, Restored, RolledBack, SkippedKey};
use crate::history::{History, chain_of, slot_at};
use crate::id::Version;
use crate::key::Key;
use crate::rejection::Rejection;
use crate::state::{SnapshotRecord, State};
use crate::time::Timestamp;

/// What a rollback would do, keys in order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RollbackPlan {
    /// Entries to make, as they stood.
    pub create: Vec<(Key, Entry)>,
    /// Entries to change, as they stood.
    pub update: Vec<(Key, Entry)>,
    /// Entries to remove.
    pub remove: Vec<Key>,
    /// Keys that cannot be brought back, because their content was erased or lost.
    pub purged: Vec<Key>,
}

/// Compares the store with a snapshot. Walks what was recorded since, and the chains of the keys
/// named there, nothing else.
///
/// # Errors
/// When the history cannot be read.
pub fn rollback_plan<H: History>(
    state: &State,
    from: &H,
    snapshot: &SnapshotRecord,
    now: Timestamp,
) -> Result<RollbackPlan, H::Error> {
    let mut keys: BTreeSet<Key> = state.expiring(snapshot.at, now).cloned().collect();
    from.between(snapshot.seq, state.head(), &mut |recorded| {
        if let Some(key) = recorded.event.key().filter(|_| recorded.event.is_change()) {
            keys.insert(key.clone());
        }
    })?;
    let mut plan = RollbackPlan::default();
    for key in keys.into_iter().filter(|key| !key.is_reserved()) {
        let Some(slot) = state.slot(key.as_str()) else {
            continue;
        };
        let chain = chain_of(from, slot.head)?;
        let then = slot_at(&chain, snapshot.seq);
        if then.is_unknown() {
            plan.purged.push(key);
            continue;
        }
        let gone = |then: &Entry| slot.has_purged(then) || state.has_lost(then);
        match (then.live(snapshot.at), slot.live(now)) {
            (Some(then), Some(current)) if then.same_content(current) => {}
            (Some(then), None) if gone(then) => plan.purged.push(key),
            (Some(then), None) => plan.create.push((key, then.clone())),
            (Some(then), Some(_)) if gone(then) => plan.purged.push(key),
            (Some(then), Some(_)) => plan.update.push((key, then.clone())),
            (None, Some(_)) => plan.remove.push(key),
            (None, None) => {}
        }
    }
    Ok(plan)
}

pub(super) fn rollback<H: History>(batch: &mut Batch<'_, H>, command: &Rollback) -> Result<(), Refusal<H::Error>> {
    let head = match command.confirmation {
        Confirmation::Valid { head } => head,
        Confirmation::Expired => return Err(Rejection::ConfirmationExpired.into()),
        Confirmation::Mismatch => {
            let message = "not the token that the preview of this rollback gave, with this reason";
            return Err(Rejection::invalid("confirmation_token", "confirmation_mismatch", message).into());
        }
    };
    let state = batch.state;
    let snapshot = state.snapshot(command.snapshot).ok_or(Rejection::SnapshotNotFound(command.snapshot))?;
    if head != state.head() {
        return Err(Rejection::StateChangedSincePreview.into());
    }
    let plan = rollback_plan(state, batch.history(), snapshot, batch.now()).map_err(history)?;
    let summary = RolledBack {
        snapshot: command.snapshot,
        reason: Arc::from(command.reason.as_str()),
        created: plan.create.len() as u64,
        updated: plan.update.len() as u64,
        deleted: plan.remove.len() as u64,
        skipped: plan.purged.into_iter().map(|key| SkippedKey { key }).collect(),
    };
    for (key, entry) in plan.create {
        let event = restored(key, entry, true, batch.next_version());
        batch.push(event);
    }
    for (key, entry) in plan.update {
        let event = restored(key, entry, false, batch.next_version());
        batch.push(event);
    }
    for key in plan.remove {
        batch.push(Event::Removed(Removed { key, undoes: Vec::new(), hidden_through: None }));
    }
    batch.push(Event::RolledBack(summary));
    Ok(())
}

fn restored(key: Key, entry: Entry, created: bool, version: Version) -> Event {
    Event::Restored(Box::new(Restored {
        key,
        created,
        facts: entry.facts,
        created_at: entry.created_at,
        updated_at: None,
        confirmed_at: entry.confirmed_at,
        version,
        value_at: entry.value_at,
        metadata_at: entry.metadata_at,
        value_bytes: entry.value_bytes,
        metadata_bytes: entry.metadata_bytes,
        flags: FlagsEffect::Keep,
        undoes: Vec::new(),
        hidden_through: None,
    }))
}
