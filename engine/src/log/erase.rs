//! Erasing bodies for good.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::sync::Arc;

use super::append::Append;
use super::error::{Doing, LogError};
use super::frame::Frame;
use super::salvage::SALVAGE_DIR;
use super::segment::{LOG_DIR, Segment};
use super::torn::QUARANTINE_DIR;
use super::view::View;
use super::{CHECKPOINTS_DIR, Log, lock};
use crate::storage::{StorageFile, join};

/// Folders that may hold copies are no deeper.
const MOST_DEPTH: u32 = 8;

/// How much is overwritten with one write.
const ZEROS: &[u8] = &[0; 64 * 1024];

/// What is overwritten in one segment: offsets and lengths.
pub(super) struct Regions {
    pub(super) segment: Arc<Segment>,
    pub(super) regions: Vec<(u64, u64)>,
}

impl Append<'_> {
    /// Overwrites the bodies of these positions with zeros, all of salt, checksum and bytes, and syncs;
    /// then removes what else in the store's folder could hold copies of them. `through` is the position
    /// of what says that they are to be erased, and is made durable before.
    ///
    /// Doing it again comes to the same. A position whose event has no body is passed over. The first
    /// failure stops the writer ([`LogError::Poisoned`]).
    pub fn erase(&mut self, positions: &[u64], through: u64) -> Result<(), LogError> {
        self.erase_all(positions, through).map_err(|error| match error {
            // What asked for it is recorded, so its caller must not take an error for "nothing done".
            error @ (LogError::Io { .. } | LogError::Busy { .. }) => self.log.poison(&error.to_string()),
            other => other,
        })
    }

    fn erase_all(&mut self, positions: &[u64], through: u64) -> Result<(), LogError> {
        let log = self.log;
        log.harden_through(through)?;
        self.synced_through = self.synced_through.max(through);
        let found = log.regions(positions)?;
        let sync = log.take_sync_lock(log.options.lock_timeout)?;
        let mark = log.load_mark()?;
        for Regions { segment, regions } in found.values() {
            let file = segment.writer(log.storage.as_ref())?;
            for (offset, len) in regions {
                zero(file.as_ref(), *offset, *len)
                    .map_err(|error| log.poison(&format!("erasing in {} failed: {error}", segment.path)))?;
            }
            file.sync_data().map_err(|error| {
                log.set_failed(&mark);
                log.poison(&format!("a sync of {} failed: {error}", segment.path))
            })?;
        }
        drop(sync);
        log.remove_copies()
    }
}

impl Log {
    /// Where the bodies of these positions, in order, lie.
    pub(super) fn regions(&self, positions: &[u64]) -> Result<BTreeMap<u64, Regions>, LogError> {
        let mut found: BTreeMap<u64, Regions> = BTreeMap::new();
        let mut frame: Option<Frame> = None;
        for seq in positions.iter().copied() {
            let here = match frame.take().filter(|frame| (frame.first_seq()..=frame.last_seq()).contains(&seq)) {
                Some(frame) => frame,
                None => self.frame_at(seq)?,
            };
            let index = u32::try_from(seq.saturating_sub(here.first_seq())).unwrap_or(u32::MAX);
            if let Some(body) = here.body_of(index) {
                let start = here.location().segment;
                let segments = self.known_segments();
                let segment = segments.get(View::index_of(&segments, start)).map(Arc::clone);
                let segment = segment.ok_or_else(|| self.poison("the segment has gone"))?;
                let place = found.entry(start).or_insert_with(|| Regions { segment, regions: Vec::new() });
                place.regions.push(body.region());
            }
            frame = Some(here);
        }
        Ok(found)
    }

    /// Torn ends that were set aside may hold copies of what was erased, and files in the making and
    /// checkpoints too. Under `append.lock` and `checkpoint.lock`, so nobody is at work on any of them.
    fn remove_copies(&self) -> Result<(), LogError> {
        let mut removed = self.remove_files(QUARANTINE_DIR, MOST_DEPTH, &|_| true)?;
        removed |= self.remove_files(LOG_DIR, 0, &|name| name.ends_with(".tmp"))?;
        removed |= self.remove_files(SALVAGE_DIR, MOST_DEPTH, &|_| true)?;
        self.remove_files(CHECKPOINTS_DIR, MOST_DEPTH, &|_| true)?;
        if removed {
            lock(&self.torn_ends).clear();
        }
        Ok(())
    }

    /// Removes the files in a folder that are copies, and those in folders in it, so many levels deep; whether
    /// there were any.
    fn remove_files(&self, dir: &str, deeper: u32, is_copy: &dyn Fn(&str) -> bool) -> Result<bool, LogError> {
        let storage = self.storage.as_ref();
        // A folder that is not there holds nothing, nor does one that is none.
        let names = match storage.list(dir) {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(false),
            names => names.doing("list a folder", dir)?,
        };
        let mut removed = false;
        for entry in names {
            let path = join(dir, &entry.name);
            if entry.is_dir {
                if let Some(deeper) = deeper.checked_sub(1) {
                    removed |= self.remove_files(&path, deeper, is_copy)?;
                }
            } else if is_copy(&entry.name) {
                storage.remove(&path).doing("remove what may hold a copy of something erased", &path)?;
                removed = true;
            }
        }
        // Also when there was nothing to remove: an earlier attempt may have been cut off here.
        storage.sync_dir(dir).doing("sync a folder", dir)?;
        Ok(removed)
    }
}

pub(super) fn zero(file: &dyn StorageFile, offset: u64, len: u64) -> std::io::Result<()> {
    let (mut at, mut left) = (offset, len);
    while left > 0 {
        let piece = left.min(ZEROS.len() as u64);
        let bytes = ZEROS.get(..usize::try_from(piece).unwrap_or(0)).unwrap_or_default();
        file.write_at(bytes, at)?;
        at = at.saturating_add(piece);
        left = left.saturating_sub(piece);
    }
    Ok(())
}
