//! Keeping a checkpoint on request.

use bilinc_core::Seq;

use super::Memory;
use crate::error::Error;

impl Memory {
    /// Keeps a checkpoint of the store as it is now, so that the next open need not read what was recorded
    /// until here; answers the position it was made at. It is made in the background by itself, after many
    /// events or a slow open: this is for whoever knows better when.
    ///
    /// None when there is nothing to keep, or where none can be kept: in memory, while the store is damaged,
    /// or while a purge is not finished. A checkpoint holds nothing that the log does not give again.
    ///
    /// # Errors
    /// [`crate::log::LogError::Busy`] when another process is at work on checkpoints for longer than the lock
    /// timeout; [`crate::log::LogError::Io`] when the disk says no. Nothing depends on it having been kept.
    pub fn checkpoint(&self) -> Result<Option<Seq>, Error> {
        Ok(self.store.keep_checkpoint(self.store.options.lock_timeout)?)
    }
}
