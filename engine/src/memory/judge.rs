//! Bodies that fail their checksum while the log is read through: erased, or damaged.

use std::sync::{Mutex, PoisonError};

use bilinc_core::Seq;

use crate::error::EngineError;
use crate::store::Store;

/// Judges each such body by the purges there are by then. What keeps it from judging is kept, so that
/// a disk which fails for a moment makes no damage.
pub(super) struct BodyJudge<'a> {
    store: &'a Store,
    failed: Mutex<Option<EngineError>>,
}

impl<'a> BodyJudge<'a> {
    pub(super) fn new(store: &'a Store) -> Self {
        Self { store, failed: Mutex::new(None) }
    }

    /// Whether the body may just be in the erasing, by this process or another.
    pub(super) fn is_being_erased(&self, seq: u64) -> bool {
        self.store.is_named_by_a_purge(Seq::new(seq)).unwrap_or_else(|error| {
            self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            true
        })
    }

    /// What kept it from judging.
    pub(super) fn end(self) -> Result<(), EngineError> {
        self.failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }
}
