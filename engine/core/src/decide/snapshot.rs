//! Snapshots.

use super::batch::Batch;
use crate::command::Snapshot;
use crate::event::{Event, SnapshotTaken};
use crate::history::History;

/// One event, whatever the size of the store: the state at its position can be folded again.
pub(super) fn snapshot<H: History>(batch: &mut Batch<'_, H>, command: &Snapshot) {
    batch.push(Event::SnapshotTaken(SnapshotTaken {
        snapshot: batch.operation().id.into(),
        label: command.label.as_deref().map(Into::into),
        metadata: command.metadata.clone().filter(|metadata| metadata.as_str() != "{}"),
        by_type: batch.state.counts(batch.now()).by_type,
    }));
}
