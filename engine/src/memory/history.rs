//! The recorded changes of one key.

use std::sync::Arc;

use bilinc_core::{ChangeOp, Event, OperationKind, RecordedEvent, Seq, Slot, chain_of};

use super::Memory;
use super::list::page_limit;
use super::point::parse_key;
use crate::answer::{HistoryItem, HistoryState, KeyHistory};
use crate::error::Error;
use crate::store::LogHistory;

impl Memory {
    /// The recorded changes of one key, newest first. A key that was never used has none.
    ///
    /// # Errors
    /// When the key or the limit is malformed, or the log cannot be read.
    pub fn history(&self, key: &str, limit: usize, values: bool) -> Result<KeyHistory, Error> {
        let key = parse_key(key)?;
        let limit = page_limit(Some(limit))?;
        self.store.refresh()?;
        let now = self.now();
        let slot = self.store.published().state.slot(key.as_str()).cloned().unwrap_or_default();
        let chain = chain_of(&LogHistory::new(&self.store, slot.head), slot.head)?;
        let skipped = chain.len().saturating_sub(limit);
        let mut items = Vec::with_capacity(chain.len().min(limit));
        let mut before = Slot::default();
        for (index, event) in chain.iter().enumerate() {
            let mut after = before.clone();
            after.apply(event);
            if index >= skipped {
                items.push(self.history_item(event, &before, &after, slot.hidden_through, values)?);
            }
            before = after;
        }
        items.reverse();
        Ok(KeyHistory { exists: slot.live(now).is_some(), key, items, truncated: skipped > 0 })
    }

    fn history_item(
        &self,
        event: &Arc<RecordedEvent>,
        before: &Slot,
        after: &Slot,
        hidden_through: Seq,
        values: bool,
    ) -> Result<HistoryItem, Error> {
        // An entry made anew over an expired one had nothing before it.
        let made_anew = match &event.event {
            Event::Committed(event) => event.created,
            Event::Restored(event) => event.created,
            Event::ReportWritten(event) => event.created,
            _ => false,
        };
        let before_state = if made_anew { None } else { self.side(before, hidden_through, values)? };
        let after_state = self.side(after, hidden_through, values)?;
        let hidden = |slot: &Slot| slot.entry.is_some() && hidden_through > slot.changed;
        Ok(HistoryItem {
            op: event.change_op().unwrap_or(ChangeOp::Update),
            at: event.operation.at,
            seq: event.seq,
            reason: event.event.reason().map(Arc::from),
            source: Arc::clone(event.source()),
            session_id: event.session_id().cloned(),
            values_redacted: hidden(before) || hidden(after),
            before: before_state,
            after: after_state,
            rollback_snapshot: match event.operation.kind {
                OperationKind::Rollback(snapshot) => Some(snapshot),
                _ => None,
            },
            dream: match event.operation.kind {
                OperationKind::DreamApply(dream) | OperationKind::DreamUndo(dream) => Some(dream),
                _ => None,
            },
            undoes: event.event.undoes().to_vec(),
        })
    }

    /// One side of a change; its value is hidden when a later forget stands.
    pub(super) fn side(&self, slot: &Slot, hidden_through: Seq, values: bool) -> Result<Option<HistoryState>, Error> {
        let Some(entry) = &slot.entry else { return Ok(None) };
        let value = if values && hidden_through <= slot.changed { self.store.value(entry)? } else { None };
        Ok(Some(HistoryState { entry: entry.clone(), value }))
    }
}
