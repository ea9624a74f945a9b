//! Beginning a new segment.

use std::sync::Arc;

use super::append::{Append, is_full};
use super::error::{Doing, LogError};
use super::lock;
use super::locks::SyncHeld;
use super::segment::{LOG_DIR, Segment};
use super::segment_header::{SegmentHeader, segment_name};
use crate::storage::{OpenMode, Storage, StorageFile};

impl Append<'_> {
    /// Closes this segment and begins the next: everything so far synced and marked, the file cut to
    /// its real length, the new one made whole under another name, renamed, its name made durable.
    /// Only then can a frame follow.
    pub(crate) fn roll(&mut self, _sync: &SyncHeld<'_>) -> Result<(), LogError> {
        let log = self.log;
        let segment = self.segment()?;
        let mark = log.load_mark()?;
        log.sync_segment(&self.end, &mark)?;
        let stopped = |error: std::io::Error| log.poison(&format!("a segment could not end: {error}"));
        (log.marks.store(false, self.end.clone(), self.end.clone())).map_err(stopped)?;
        log.marks.sync().map_err(stopped)?;
        let file = segment.writer(log.storage.as_ref())?;
        // Others take a file with no room left as the sign to look for a new segment.
        file.set_len(self.end.offset).map_err(stopped)?;
        file.sync_data().map_err(stopped)?;
        self.state.segment = 0;
        let header = SegmentHeader {
            store_id: log.store_id,
            first_seq: self.end.seq.saturating_add(1),
            previous_first_seq: segment.first_seq(),
            previous_chain: self.end.chain,
            previous_time: self.end.time,
            created_at: log.options.now(),
        };
        let draft = match SegmentDraft::write(log.storage.as_ref(), header) {
            Ok(draft) => draft,
            // The log ends where it did, and a later append tries again.
            Err(LogError::Io { source, path, doing }) if is_full(&source) => {
                return Err(LogError::Io { source, path, doing });
            }
            Err(error) => return Err(log.poison(&error.to_string())),
        };
        let made = draft.install(log.storage.as_ref());
        let made = Arc::new(made.map_err(|error| log.poison(&error.to_string()))?);
        self.end = made.start();
        let mut view = lock(&log.view);
        let mut segments = view.segments.as_ref().clone();
        segments.push(made);
        view.segments = Arc::new(segments);
        view.end = self.end.clone();
        Ok(())
    }
}

/// A segment file under a name that nobody looks at.
pub(crate) struct SegmentDraft {
    header: SegmentHeader,
    file: Arc<dyn StorageFile>,
    path: String,
    temporary: String,
}

impl SegmentDraft {
    /// One that an earlier attempt left over is overwritten.
    pub(crate) fn write(storage: &dyn Storage, header: SegmentHeader) -> Result<Self, LogError> {
        let path = format!("{LOG_DIR}/{}", segment_name(header.first_seq));
        let temporary = format!("{path}.tmp");
        let file = storage.open(&temporary, OpenMode::Truncate);
        let file = file.doing("make a segment", &temporary)?;
        (file.write_at(&header.encode(), 0)).doing("write a segment header", &temporary)?;
        Ok(Self { header, file, path, temporary })
    }

    /// Gives it its name, which thus never shows anything but a whole header.
    pub(crate) fn install(self, storage: &dyn Storage) -> Result<Segment, LogError> {
        (self.file.sync_data()).doing("sync a segment", &self.temporary)?;
        (storage.rename(&self.temporary, &self.path)).doing("name a segment", &self.path)?;
        let segment = Segment::new(self.header, self.file);
        segment.sync_name(storage).doing("sync a folder", LOG_DIR)?;
        Ok(segment)
    }
}
