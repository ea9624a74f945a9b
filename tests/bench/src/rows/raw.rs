//! The anchors R and P: writes and syncs of a file, and nothing else.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use crate::Outcome;
use crate::data::Record;

/// A file that records are written to.
#[derive(Debug)]
pub(crate) struct Raw {
    file: File,
    record: Vec<u8>,
}

impl Raw {
    /// Anchor R: the file grows with each write. No checksums, no order, nobody else may write.
    pub(crate) fn growing(path: &Path) -> Outcome<Self> {
        Ok(Self { file: File::create(path)?, record: Record::new(1, 0).bytes()? })
    }

    /// Anchor P: the same on room that was taken before, so that a sync has no length to write.
    pub(crate) fn preallocated(path: &Path, bytes: u64) -> Outcome<Self> {
        let raw = Self::growing(path)?;
        rustix::fs::fallocate(&raw.file, rustix::fs::FallocateFlags::empty(), 0, bytes)?;
        raw.file.sync_all()?;
        Ok(raw)
    }

    /// One write.
    pub(crate) fn write(&mut self) -> Outcome<()> {
        self.file.write_all(&self.record)?;
        Ok(())
    }

    /// One write, made durable.
    pub(crate) fn commit(&mut self) -> Outcome<()> {
        self.write()?;
        self.file.sync_data()?;
        Ok(())
    }
}
