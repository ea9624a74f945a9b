//! Keeping the recall index while recalls go on.

use std::collections::HashSet;
use std::thread;
use std::time::Duration;

use bilinc_core::Seq;
use bilinc_projections::recall::Saved;

use super::Store;
use crate::error::EngineError;

/// Rest between two steps: a lock that is let go and taken again at once never comes to those who wait.
const REST: Duration = Duration::from_micros(100);
/// An index is renewed once there is a dead document for so many living ones.
const MOST_DEAD: usize = 8;
/// So few changed keys are indexed while recalls wait.
const FEW: usize = 16;

/// The recall index as it was.
#[derive(Debug)]
pub(super) struct SavedRecall {
    /// Where it stood.
    pub(super) at: Seq,
    pub(super) bytes: Vec<u8>,
    generation: u64,
}

impl Store {
    /// The index as it is when this begins; none as long as nobody has needed it, and where it
    /// was made anew or compacted meanwhile. A recall waits for one step at most.
    pub(super) fn saved_recall(&self) -> Result<Option<SavedRecall>, EngineError> {
        let (at, generation, mut saving) = {
            let mut recall = self.recall();
            if !recall.made {
                return Ok(None);
            }
            let at = self.bring_up(&mut recall)?;
            recall.since = Some(HashSet::new());
            (at, recall.index.generation(), recall.index.begin_saving())
        };
        loop {
            let step = {
                let recall = self.recall();
                // Without: it was made anew.
                recall.since.as_ref().map(|_| recall.index.go_on_saving(&mut saving))
            };
            match step {
                Some(Saved::Partly) => thread::sleep(REST),
                Some(Saved::Whole) => {
                    return Ok(Some(SavedRecall { at, bytes: saving.into_bytes(), generation }));
                }
                Some(Saved::Outdated) | None => return Ok(None),
            }
        }
    }

    /// Puts the index that was saved in place of the one that it was saved from, when much in that is dead. Then no
    /// recall has to wait for a compaction.
    pub(super) fn renew_recall(&self, saved: &SavedRecall) -> Result<(), EngineError> {
        let (dead, living) = {
            let recall = self.recall();
            (recall.index.dead(), recall.index.len())
        };
        if dead <= living / MOST_DEAD {
            return Ok(());
        }
        let Some(mut index) = self.recall_from(&saved.bytes) else { return Ok(()) };
        loop {
            let changed = {
                let mut recall = self.recall();
                self.bring_up(&mut recall)?;
                // A purge compacts, and its words are in what was saved.
                if recall.index.generation() != saved.generation {
                    return Ok(());
                }
                let Some(changed) = recall.since.replace(HashSet::new()) else { return Ok(()) };
                if changed.len() <= FEW {
                    for key in &changed {
                        self.index_key(&mut index, key)?;
                    }
                    index.settle();
                    recall.since = None;
                    std::mem::swap(&mut recall.index, &mut index);
                    // The old one is let go when recalls wait no longer.
                    drop(recall);
                    return Ok(());
                }
                changed
            };
            for key in &changed {
                self.index_key(&mut index, key)?;
            }
            index.settle();
        }
    }

    /// Changes need not be noted any more.
    pub(super) fn end_saving(&self) {
        self.recall().since = None;
    }
}

#[cfg(test)]
#[path = "saving_tests.rs"]
mod tests;
