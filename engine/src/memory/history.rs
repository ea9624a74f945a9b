//! The recorded changes of one key.

use std::sync::Arc;

use bilinc_core::{ChangeOp, Entry, OperationKind, RecordedEvent, Slot, chain_of};

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
                items.push(self.history_item(event, &before, &after, &slot, values)?);
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
        present: &Slot,
        values: bool,
    ) -> Result<HistoryItem, Error> {
        // An entry made anew over an expired one had nothing before it.
        let before_entry = before.entry.as_ref().filter(|_| !event.event.creates());
        let after_entry = after.entry.as_ref();
        let hidden = |entry: Option<&Entry>| entry.is_some_and(|entry| present.hides_entry(entry));
        Ok(HistoryItem {
            op: event.change_op().unwrap_or(ChangeOp::Update),
            at: event.operation.at,
            seq: event.seq,
            reason: event.event.reason().map(Arc::from),
            source: Arc::clone(event.source()),
            session_id: event.session_id().cloned(),
            values_redacted: hidden(before_entry) || hidden(after_entry),
            before: self.side(before_entry, present, values)?,
            after: self.side(after_entry, present, values)?,
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
    pub(super) fn side(
        &self,
        entry: Option<&Entry>,
        present: &Slot,
        values: bool,
    ) -> Result<Option<HistoryState>, Error> {
        let Some(entry) = entry else { return Ok(None) };
        let hidden = present.hides_entry(entry);
        let value = if values && !hidden { self.store.value(entry)? } else { None };
        let lost = !hidden && self.store.published().state.has_lost(entry);
        Ok(Some(HistoryState { entry: entry.clone(), value, lost }))
    }
}
