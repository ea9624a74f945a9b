//! Values of entries, and the recall index over them.

use std::ops::ControlFlow;
use std::sync::PoisonError;

use bilinc_core::{Entry, Json, Key, RecordedEvent, Seq};
use bilinc_projections::recall::{Document, Recall};

use super::Store;
use crate::codec::Bodies;
use crate::error::EngineError;

/// Value and metadata of an entry; none where they were erased.
#[derive(Debug, Clone, Default)]
pub(crate) struct Text {
    pub(crate) value: Option<Json>,
    pub(crate) metadata: Option<Json>,
}

/// The recall index, made on first use and brought up to date by each recall.
#[derive(Debug)]
pub(super) struct RecallIndex {
    index: Recall,
    made: bool,
}

impl RecallIndex {
    pub(super) fn new(seed: u64) -> Self {
        Self { index: Recall::new(seed), made: false }
    }
}

impl Store {
    /// The value of an entry, read from the body that it names.
    pub(crate) fn value(&self, entry: &Entry) -> Result<Option<Json>, EngineError> {
        Ok(self.body(entry.value_at)?.and_then(|body| body.value))
    }

    /// Value and metadata of an entry.
    pub(crate) fn text(&self, entry: &Entry) -> Result<Text, EngineError> {
        let body = self.body(entry.value_at)?.unwrap_or_default();
        let metadata = if !entry.metadata_at.is_some() {
            Some(Json::from_recorded("{}"))
        } else if entry.metadata_at == entry.value_at {
            body.metadata
        } else {
            self.body(entry.metadata_at)?.and_then(|body| body.metadata)
        };
        Ok(Text { value: body.value, metadata })
    }

    /// Searches the index of the present entries, made or brought up to date first.
    pub(crate) fn with_recall<T>(&self, search: impl FnOnce(&Recall) -> T) -> Result<T, EngineError> {
        let mut recall = self.recall.lock().unwrap_or_else(PoisonError::into_inner);
        if recall.made {
            let changed = self.published_mut().take_unindexed();
            for key in changed {
                if let Err(error) = self.index_key(&mut recall.index, &key) {
                    // Which keys are left is forgotten: the next recall makes the index anew.
                    *recall = RecallIndex::new(self.hash_seed);
                    return Err(error);
                }
            }
        } else {
            if let Err(error) = self.make_index(&mut recall.index) {
                *recall = RecallIndex::new(self.hash_seed);
                return Err(error);
            }
            recall.made = true;
        }
        Ok(search(&recall.index))
    }

    /// Takes the words of purged keys out of memory, those of their earlier values too.
    pub(super) fn forget_words(&self, purged: &[Key]) {
        let mut recall = self.recall.lock().unwrap_or_else(PoisonError::into_inner);
        if recall.made {
            for key in purged {
                recall.index.remove(key.as_str());
            }
            recall.index.compact();
        }
    }

    fn index_key(&self, index: &mut Recall, key: &Key) -> Result<(), EngineError> {
        let entry =
            self.published().state.slot(key.as_str()).and_then(|slot| slot.entry.clone().map(|e| (e, slot.changed)));
        let Some((entry, changed)) = entry else {
            index.remove(key.as_str());
            return Ok(());
        };
        let text = self.text(&entry)?;
        put(index, key, &entry, changed, &text);
        Ok(())
    }

    /// Reads the log once from end to end, which is faster than body by body, and takes the bodies
    /// that entries still name. The few entries whose metadata stands elsewhere than their value,
    /// or that were brought back, are read singly, and so is an entry whose body could not be read: a
    /// damaged body that no entry names any more harms no recall.
    fn make_index(&self, index: &mut Recall) -> Result<(), EngineError> {
        let head = {
            let mut published = self.published_mut();
            published.keep_unindexed();
            published.head()
        };
        let mut rest: Vec<Key> = Vec::new();
        self.visit(Seq::ZERO, head, Bodies::Readable, &mut |event| {
            if let Some(key) = event.event.key() {
                self.index_event(index, event, key, &mut rest);
            }
            ControlFlow::Continue(())
        })?;
        for key in rest {
            self.index_key(index, &key)?;
        }
        Ok(())
    }

    fn index_event(&self, index: &mut Recall, event: &RecordedEvent, key: &Key, rest: &mut Vec<Key>) {
        let published = self.published();
        let Some(slot) = published.state.slot(key.as_str()).filter(|slot| slot.changed == event.seq) else { return };
        let Some(entry) = slot.entry.as_ref() else { return };
        let here = entry.value_at == event.seq && (!entry.metadata_at.is_some() || entry.metadata_at == event.seq);
        let (entry, changed) = (entry.clone(), slot.changed);
        drop(published);
        match &event.body {
            Some(body) if here => {
                let text = Text { value: body.value.clone(), metadata: body.metadata.clone() };
                put(index, key, &entry, changed, &text);
            }
            _ => rest.push(key.clone()),
        }
    }
}

/// Puts an entry into an index under its key.
pub(crate) fn put(index: &mut Recall, key: &Key, entry: &Entry, changed: Seq, text: &Text) {
    index.put(Document {
        key: key.shared(),
        value_json: text.value.as_ref().map_or("null", Json::as_str),
        metadata_json: text.metadata.as_ref().map_or("{}", Json::as_str),
        memory_type: entry.facts.memory_type as u8,
        importance: entry.facts.importance,
        changed: changed.get(),
    });
}
