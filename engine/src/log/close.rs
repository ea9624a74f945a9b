//! Leaving the log tidy.

use std::time::Duration;

use super::error::{Doing, LogError};
use super::mark::MARK;
use super::{Log, lock};

impl Log {
    /// Syncs what relaxed durability has left, cuts the preallocation off the last segment and makes
    /// the mark durable; all of it only when no other process is at work just now. Dropping the log
    /// does the same and keeps quiet about failures. Nothing acknowledged depends on it.
    pub fn close(self) -> Result<(), LogError> {
        self.tidy()
    }

    fn tidy(&self) -> Result<(), LogError> {
        let appended = std::mem::take(&mut lock(&self.appending).appended);
        if !appended || self.check_writable().is_err() {
            return Ok(());
        }
        let tidied = self.tidy_alone();
        match tidied {
            Err(LogError::Busy { .. }) => Ok(()),
            other => other,
        }
    }

    fn tidy_alone(&self) -> Result<(), LogError> {
        let append = self.begin_append_within(Duration::ZERO)?;
        let _sync = self.take_sync_lock(Duration::ZERO)?;
        let mark = self.load_mark()?;
        let end = append.end.clone();
        if mark.synced.seq != end.seq || mark.visible.seq != end.seq {
            self.sync_segment(&end, &mark)?;
            (self.marks.store(false, end.clone(), end.clone())).doing("write the mark", MARK)?;
        }
        let segment = append.segment()?;
        let file = segment.writer(self.storage.as_ref())?;
        (file.set_len(end.offset)).and_then(|()| file.sync_data()).doing("cut the preallocation", &segment.path)?;
        self.sync_mark()
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        let _ = self.tidy();
    }
}
