//! The events themselves.

use std::ops::ControlFlow;
use std::sync::Arc;

use bilinc_core::{Event, History, OperationKind, RecordedEvent, Rejection, Seq, chain_of};

use super::Memory;
use super::cursor::Cursor;
use super::list::page_limit;
use crate::answer::{LogItem, LogPage};
use crate::codec::Bodies;
use crate::error::Error;
use crate::query::LogQuery;
use crate::store::LogHistory;

/// Cursors of the log: newest first, oldest first.
const NEWEST_FIRST: u8 = 16;
const OLDEST_FIRST: u8 = 17;

/// Reading backwards goes in blocks of so many positions.
const BLOCK: u64 = 2_048;

impl Memory {
    /// A page of events, newest first unless asked otherwise.
    ///
    /// Events of one key are read along its own chain; all other filters walk the log.
    ///
    /// # Errors
    /// When the limit or the cursor is wrong, or the log cannot be read.
    pub fn log(&self, query: &LogQuery) -> Result<LogPage, Error> {
        let limit = page_limit(query.limit)?;
        let list = if query.oldest_first { OLDEST_FIRST } else { NEWEST_FIRST };
        let cursor = query.cursor.as_deref().map(|text| Cursor::decode(text, self.store_id(), list)).transpose()?;
        let at = cursor.map(|cursor| Seq::new(u64::try_from(cursor.number).unwrap_or(0)));
        self.store.refresh()?;
        let head = self.store.published().head();
        let mut first = query.from_seq.unwrap_or(Seq::ZERO).max(Seq::new(1));
        let mut last = query.to_seq.unwrap_or(head).min(head);
        match at {
            Some(at) if query.oldest_first => first = first.max(at.plus(1)),
            Some(at) => last = last.min(at.before()),
            None => {}
        }
        // One more than asked for tells whether there is a next page.
        let mut events = self.matching(query, first, last, limit.saturating_add(1))?;
        let more = events.len() > limit;
        events.truncate(limit);
        let next_cursor = events.last().filter(|_| more).map(|event| {
            let number = i64::try_from(event.seq.get()).unwrap_or(i64::MAX);
            Cursor { store: self.store_id(), list, number, key: String::new() }.encode()
        });
        let events = events.into_iter().map(|event| self.log_item(&event, query.include_values));
        Ok(LogPage { events: events.collect::<Result<_, _>>()?, next_cursor })
    }

    fn matching(&self, query: &LogQuery, first: Seq, last: Seq, most: usize) -> Result<Vec<Arc<RecordedEvent>>, Error> {
        let wanted = |event: &RecordedEvent| (first..=last).contains(&event.seq) && matches(event, query);
        if let Some(key) = &query.key {
            let head = self.store.published().state.slot(key.as_str()).map_or(Seq::ZERO, |slot| slot.head);
            let mut chain = chain_of(&LogHistory::new(&self.store, head), head)?;
            chain.retain(|event| wanted(event));
            if !query.oldest_first {
                chain.reverse();
            }
            chain.truncate(most);
            return Ok(chain);
        }
        let mut events = Vec::new();
        if query.oldest_first {
            self.store.visit(first.before(), last, Bodies::None, &mut |event| {
                if wanted(event) {
                    events.push(Arc::new(event.clone()));
                }
                if events.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })?;
            return Ok(events);
        }
        let mut end = last;
        while end >= first && end.is_some() && events.len() < most {
            let start = Seq::new(end.get().saturating_sub(BLOCK).max(first.before().get()));
            let mut block = Vec::new();
            self.store.visit(start, end, Bodies::None, &mut |event| {
                if wanted(event) {
                    block.push(Arc::new(event.clone()));
                }
                ControlFlow::Continue(())
            })?;
            events.extend(block.into_iter().rev());
            end = start;
        }
        events.truncate(most);
        Ok(events)
    }

    fn log_item(&self, event: &Arc<RecordedEvent>, values: bool) -> Result<LogItem, Error> {
        let published = self.store.published();
        let present = event.event.key().and_then(|key| published.state.slot(key.as_str()));
        let hidden = present.is_some_and(|slot| slot.hides_value(event.seq));
        let has_value = event.event.body_bytes() > 0;
        let lost = has_value && !hidden && published.state.is_lost(event.seq);
        drop(published);
        let value =
            if values && has_value && !hidden { self.store.body(event.seq)?.and_then(|body| body.value) } else { None };
        Ok(LogItem {
            seq: event.seq,
            operation: Arc::clone(&event.operation),
            op: op(event),
            source: Arc::clone(event.source()),
            session_id: event.session_id().cloned(),
            dream: dream_of(event.operation.kind),
            event: event.event.clone(),
            value,
            values_redacted: hidden && has_value,
            lost,
        })
    }

    /// The recorded events after a position, bodies included: what [`Memory::feed`] takes.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn recorded(&self, after: Seq) -> Result<Vec<RecordedEvent>, Error> {
        let mut events = Vec::new();
        self.visit_recorded(after, &mut |event| {
            events.push(event);
            ControlFlow::Continue(())
        })?;
        Ok(events)
    }

    /// As [`Memory::recorded`], one event after the other, until the visitor breaks off: a long history is never
    /// in memory at once. Events recorded meanwhile do not come.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use std::ops::ControlFlow;
    ///
    /// use bilinc::{Commit, Json, Key, Memory, Seq};
    ///
    /// let memory = Memory::in_memory()?;
    /// memory.commit(Commit::new(Key::new("a")?, Json::string("one")))?;
    /// memory.commit(Commit::new(Key::new("b")?, Json::string("two")))?;
    ///
    /// let mut keys = Vec::new();
    /// memory.visit_recorded(Seq::ZERO, &mut |event| {
    ///     keys.extend(event.event.key().cloned());
    ///     ControlFlow::Continue(())
    /// })?;
    /// assert_eq!(keys, [Key::new("a")?, Key::new("b")?]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the log cannot be read; what lies before has been visited then.
    pub fn visit_recorded(
        &self,
        after: Seq,
        visit: &mut dyn FnMut(RecordedEvent) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        self.store.refresh()?;
        let head = self.store.published().head();
        Ok(self.store.take(after, head, Bodies::All, visit)?)
    }

    /// The operation that holds a position.
    pub(super) fn operation_at(&self, seq: Seq) -> Result<Arc<bilinc_core::Operation>, Error> {
        let head = self.store.published().head();
        if !seq.is_some() || seq > head {
            let message = format!("there is no position {seq}; the last one is {head}");
            return Err(Rejection::invalid("seq", "out_of_range", message).into());
        }
        Ok(Arc::clone(&LogHistory::new(&self.store, head).event(seq)?.operation))
    }
}

fn matches(event: &RecordedEvent, query: &LogQuery) -> bool {
    let operation = &event.operation;
    query.source.as_ref().is_none_or(|source| **source == **event.source())
        && query.session_id.as_ref().is_none_or(|session| event.session_id().is_some_and(|id| **id == **session))
        && query.dream.is_none_or(|dream| dream_of(operation.kind) == Some(dream))
        && query.import.is_none_or(|import| operation.kind == OperationKind::Import(import))
        && query.operation.is_none_or(|id| operation.id == id)
        && query.after.is_none_or(|after| operation.at > after)
        && query.before.is_none_or(|before| operation.at < before)
}

fn dream_of(kind: OperationKind) -> Option<bilinc_core::DreamId> {
    match kind {
        OperationKind::DreamStart(dream) | OperationKind::DreamApply(dream) | OperationKind::DreamUndo(dream) => {
            Some(dream)
        }
        _ => None,
    }
}

/// What an event is, in one word.
fn op(event: &RecordedEvent) -> &'static str {
    match &event.event {
        Event::SnapshotTaken(_) => "snapshot",
        Event::DreamStarted(_) => "dream_start",
        Event::DreamPageApplied(_) => "dream_page",
        Event::DreamFinished(_) => "dream_finish",
        Event::Undone(_) => "undo",
        Event::RolledBack(_) => "rollback",
        Event::Imported(_) => "import",
        Event::PurgeCompleted(_) => "purge_complete",
        Event::Lost(_) => "lost",
        Event::Salvaged(_) => "salvage",
        Event::Revised(_) => "revise",
        _ => event.change_op().map_or("unknown", bilinc_core::ChangeOp::name),
    }
}
