//! Snapshots and rollbacks.

use bilinc_core::{
    Command, Confirmation, Json, Key, Outcome, Rejection, Rollback, Snapshot, SnapshotId, SnapshotRecord, rollback_plan,
};

use super::Memory;
use super::list::page_limit;
use super::write::unexpected;
use crate::answer::{ChainHash, RollbackAnswer, RollbackPreview, SnapshotInfo, Written};
use crate::error::{EngineError, Error};
use crate::store::LogHistory;

impl Memory {
    /// Names the present position: one event, whatever the size of the store.
    ///
    /// # Errors
    /// [`Rejection`] when the command is refused; nothing is written then.
    pub fn snapshot(&self, snapshot: Snapshot) -> Result<Written<SnapshotInfo>, Error> {
        let written = self.write(Command::Snapshot(snapshot))?;
        let Outcome::Snapshot { taken, seq, at } = written.answer else { return Err(unexpected(&written.answer)) };
        let record = SnapshotRecord {
            id: taken.snapshot,
            seq,
            at,
            label: taken.label,
            metadata: taken.metadata,
            by_type: taken.by_type,
        };
        let answer = self.snapshot_info(record).map_err(EngineError::behind_a_write)?;
        Ok(Written { answer, replayed: written.replayed })
    }

    /// Snapshots, newest first.
    ///
    /// # Errors
    /// When the limit is wrong or the log cannot be read.
    pub fn snapshots(&self, limit: usize) -> Result<Vec<SnapshotInfo>, Error> {
        let limit = page_limit(Some(limit))?;
        self.store.refresh()?;
        let records: Vec<_> = self.store.published().state.snapshots().iter().rev().take(limit).cloned().collect();
        records.into_iter().map(|record| self.snapshot_info(record)).collect()
    }

    fn snapshot_info(&self, record: SnapshotRecord) -> Result<SnapshotInfo, Error> {
        let chain = self.store.log.chain_at(record.seq.get()).map_err(EngineError::from)?;
        Ok(SnapshotInfo {
            id: record.id,
            seq: record.seq,
            created_at: record.at,
            label: record.label,
            metadata: record.metadata.unwrap_or_else(|| Json::from_recorded("{}")),
            by_type: record.by_type,
            root_hash: ChainHash(chain),
        })
    }

    /// What a rollback to a snapshot would do, and the token that confirms it: good for 15 minutes,
    /// for this reason, as long as nothing is written.
    ///
    /// Costs what was recorded since the snapshot, whatever the size of the store.
    ///
    /// # Errors
    /// When the reason is malformed, the snapshot is not there or the log cannot be read.
    pub fn rollback_preview(&self, snapshot: SnapshotId, reason: &str, limit: usize) -> Result<RollbackPreview, Error> {
        let limit = page_limit(Some(limit))?;
        // A token that no rollback could use would be worth nothing.
        self.check_form(&Command::Rollback(Rollback {
            snapshot,
            reason: reason.to_owned(),
            confirmation: Confirmation::Mismatch,
        }))?;
        self.store.refresh()?;
        let now = self.now();
        let (plan, head) = {
            let published = self.store.published();
            let record = published.state.snapshot(snapshot).ok_or(Rejection::SnapshotNotFound(snapshot))?;
            let history = LogHistory::new(&self.store, published.head());
            (rollback_plan(&published.state, &history, record, now)?, published.head())
        };
        let (confirmation_token, expires_at) = self.store.rollback_token(snapshot, head, reason)?;
        let keys = |entries: &[(Key, bilinc_core::Entry)]| -> Vec<Key> {
            entries.iter().take(limit).map(|(key, _)| key.clone()).collect()
        };
        let lengths = [plan.create.len(), plan.update.len(), plan.remove.len()];
        Ok(RollbackPreview {
            counts: lengths.map(|length| length as u64),
            create_keys: keys(&plan.create),
            update_keys: keys(&plan.update),
            remove_keys: plan.remove.iter().take(limit).cloned().collect(),
            skipped_keys: plan.purged.iter().take(limit).cloned().collect(),
            truncated: lengths.iter().chain([&plan.purged.len()]).any(|length| *length > limit),
            confirmation_token,
            expires_at,
        })
    }

    /// Brings back the state of a snapshot by compensating events, as one operation. Needs the token
    /// of a preview with the same reason.
    ///
    /// # Errors
    /// [`Rejection`] when the token is wrong or old, or something was written since the preview.
    pub fn rollback(
        &self,
        snapshot: SnapshotId,
        reason: &str,
        confirmation_token: &str,
    ) -> Result<Written<RollbackAnswer>, Error> {
        let confirmation = self.store.check_rollback_token(confirmation_token, snapshot, reason)?;
        let written = self.write(Command::Rollback(Rollback { snapshot, reason: reason.to_owned(), confirmation }))?;
        match written.answer {
            Outcome::RolledBack { done, seq } => {
                Ok(Written { answer: RollbackAnswer { done, seq }, replayed: written.replayed })
            }
            other => Err(unexpected(&other)),
        }
    }
}
