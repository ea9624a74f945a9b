//! How a store is.

use bilinc_core::{DreamId, DreamPhase, DreamRecord};

use super::Memory;
use crate::answer::{OpenDream, Status};
use crate::error::{EngineError, Error};
use crate::log::Durability;

/// One day, in microseconds.
const DAY: i64 = 24 * bilinc_core::Timestamp::HOUR;

impl Memory {
    /// How the store is: where it stands, what it holds, and why it takes no writes if it takes none.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn status(&self) -> Result<Status, Error> {
        self.store.refresh()?;
        let now = self.now();
        let log = &self.store.log;
        let segments = log.segments().map_err(EngineError::from)?;
        let published = self.store.published();
        let open = |(dream, record): (DreamId, &DreamRecord)| {
            let left = record.undo_until().micros().saturating_sub(now.micros());
            let undone = matches!(record.phase(), DreamPhase::Undone | DreamPhase::PartlyUndone);
            (left >= 0 && !undone).then(|| OpenDream {
                dream,
                phase: record.phase(),
                days_left: left.saturating_add(DAY - 1) / DAY,
            })
        };
        let dreams = published.state.dreams().filter_map(open).collect();
        let torn = log.torn_ends();
        Ok(Status {
            store: self.store_id(),
            head: self.head()?,
            counts: published.state.counts(now),
            log_bytes: segments.iter().map(|segment| segment.bytes).sum(),
            segments: segments.len() as u64,
            snapshots: published.state.snapshots().len() as u64,
            dreams,
            checkpoint: self.store.checkpoint_at(),
            durability: match self.store.options.durability {
                Durability::Durable => "durable",
                Durability::Relaxed => "relaxed",
            },
            read_only: self
                .damage()
                .or_else(|| log.read_only().map(str::to_owned))
                .or_else(|| log.stopped().map(|error| error.to_string())),
            lost: published.state.losses(),
            recovered: (!torn.is_empty()).then(|| {
                let told = torn.iter().map(|end| {
                    let (bytes, position, path) = (end.bytes, end.position, &end.quarantined_as);
                    format!("cut {bytes} bytes of an interrupted write off before position {position}, kept in {path}")
                });
                told.collect::<Vec<_>>().join("; ")
            }),
        })
    }
}
