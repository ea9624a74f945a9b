//! The recall index over the values of entries.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::{MutexGuard, PoisonError};
use std::thread;

use bilinc_core::{Entry, Event, Json, Key, RecordedEvent, Seq};
use bilinc_projections::recall::{Document, Recall};

use super::Store;
use super::reading::Text;
use crate::codec::Bodies;
use crate::error::EngineError;

/// The recall index, made on first use and brought up to date by each recall.
#[derive(Debug)]
pub(super) struct RecallIndex {
    pub(super) index: Recall,
    pub(super) made: bool,
    /// Keys that were indexed anew since a saving began; none when none did.
    pub(super) since: Option<HashSet<Key>>,
}

impl RecallIndex {
    pub(super) fn new(seed: u64) -> Self {
        Self { index: Recall::new(seed), made: false, since: None }
    }
}

impl Store {
    /// Searches the index of the present entries, made or brought up to date first.
    pub(crate) fn with_recall<T>(&self, search: impl FnOnce(&Recall) -> T) -> Result<T, EngineError> {
        let mut recall = self.recall();
        self.bring_up(&mut recall)?;
        Ok(search(&recall.index))
    }

    pub(super) fn recall(&self) -> MutexGuard<'_, RecallIndex> {
        self.recall.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the index, or brings it up to what is published; says where it stands then.
    pub(super) fn bring_up(&self, recall: &mut RecallIndex) -> Result<Seq, EngineError> {
        let brought = if recall.made { self.index_changes(recall) } else { self.make_index(recall) };
        if brought.is_err() {
            // Which keys are left is forgotten: the next recall makes the index anew.
            *recall = RecallIndex::new(self.hash_seed);
        }
        recall.index.settle();
        brought
    }

    fn index_changes(&self, recall: &mut RecallIndex) -> Result<Seq, EngineError> {
        let (changed, head) = {
            let mut published = self.published_mut();
            (published.take_unindexed(), published.head())
        };
        for key in changed {
            self.index_key(&mut recall.index, &key)?;
            if let Some(since) = &mut recall.since {
                since.insert(key);
            }
        }
        Ok(head)
    }

    /// Takes the words of purged keys out of memory, those of their earlier values too.
    pub(super) fn forget_words(&self, purged: &[Key]) {
        let mut recall = self.recall();
        if recall.made {
            for key in purged {
                recall.index.remove(key.as_str());
            }
            recall.index.compact();
        }
    }

    pub(super) fn index_key(&self, index: &mut Recall, key: &Key) -> Result<(), EngineError> {
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

    fn make_index(&self, recall: &mut RecallIndex) -> Result<Seq, EngineError> {
        let head = {
            let mut published = self.published_mut();
            published.keep_unindexed();
            published.head()
        };
        match self.load_index(head)? {
            Some((_, index)) => recall.index = index,
            None => {
                self.index_all(&mut recall.index, head)?;
                if head.get() >= self.settings.checkpoint_every {
                    self.keep_in_background();
                }
            }
        }
        recall.made = true;
        Ok(head)
    }

    /// The index that was kept, with what has changed since, and where it was kept; none when it must be made
    /// anew.
    fn load_index(&self, head: Seq) -> Result<Option<(Seq, Recall)>, EngineError> {
        let Some((at, bytes)) = self.kept_recall_through(head) else { return Ok(None) };
        let Some(mut index) = self.recall_from(&bytes) else {
            self.doubt_kept_recall();
            return Ok(None);
        };
        let (mut changed, mut gone) = (HashSet::new(), false);
        self.visit(at, head, Bodies::None, &mut |event| {
            gone |= matches!(event.event, Event::Purged(_) | Event::Salvaged(_));
            changed.extend(event.event.key().filter(|_| event.event.is_change()).cloned());
            ControlFlow::Continue(())
        })?;
        // Its words may be among those that are to be gone, or are lost.
        if gone {
            return Ok(None);
        }
        for key in &changed {
            self.index_key(&mut index, key)?;
        }
        Ok(Some((at, index)))
    }

    /// The index that was saved, where its bytes are sound. Writers go on meanwhile.
    pub(super) fn recall_from(&self, bytes: &[u8]) -> Option<Recall> {
        let share = &mut |key: &str| self.published().state.key(key).map(Key::shared);
        Recall::load(self.hash_seed, bytes, share, &mut side_by_side)
    }

    /// Reads the log once from end to end, which is faster than body by body, and takes the bodies
    /// that entries still name. The few entries whose metadata stands elsewhere than their value,
    /// or that were brought back, are read singly, and so is an entry whose body could not be read: a
    /// damaged body that no entry names any more harms no recall.
    fn index_all(&self, index: &mut Recall, head: Seq) -> Result<(), EngineError> {
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

impl Store {
    /// Whether the index that is kept, brought up to the present, equals one made anew, and where it was
    /// kept; none when there is none, or others write so fast that the two never stand at one position.
    pub(crate) fn prove_kept_recall(&self) -> Result<Option<(Seq, bool)>, EngineError> {
        const TRIES: u32 = 3;
        for _ in 0..TRIES {
            let head = self.published().head();
            let Some((at, kept)) = self.load_index(head)? else { return Ok(None) };
            let mut made = Recall::new(self.hash_seed);
            self.index_all(&mut made, head)?;
            if self.published().head() == head {
                let equal = kept.is_same(&made);
                if !equal {
                    self.doubt_kept_recall();
                }
                return Ok(Some((at, equal)));
            }
        }
        Ok(None)
    }
}

/// Does the first on another thread, where there is one to be had, while this one does the second.
pub(super) fn side_by_side(first: &mut (dyn FnMut() + Send), second: &mut dyn FnMut()) {
    let begun = thread::scope(|scope| {
        let first = &mut *first;
        let begun = thread::Builder::new().name("bilinc-index".to_owned()).spawn_scoped(scope, first);
        second();
        begun.is_ok()
    });
    if !begun {
        first();
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
