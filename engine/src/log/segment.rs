//! One segment file and what is remembered of it.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::error::{Damage, Doing, LogError};
use super::frame_header::{Place, place_seed};
use super::index::{BLOCK_FRAMES, Entry, SegmentIndex};
use super::mark::End;
use super::scan::{HeaderStep, Scanner};
use super::segment_header::{SEGMENT_HEADER_BYTES, SEGMENT_VERSION, SegmentFault, SegmentHeader, segment_name};
use crate::storage::{OpenMode, Storage, StorageFile, is_no_file, read_full};

pub(crate) const LOG_DIR: &str = "log";

/// How much a walk along headers reads at a time.
const WALK_BYTES: usize = 16 * 1024;

#[derive(Debug)]
pub(crate) struct Segment {
    pub header: SegmentHeader,
    /// The file's path in the store.
    pub path: String,
    pub file: Arc<dyn StorageFile>,
    seed: u32,
    writer: OnceLock<Arc<dyn StorageFile>>,
    index: Mutex<SegmentIndex>,
    /// Whether this process has made the file's name durable.
    named: AtomicBool,
}

/// Why a segment could not be taken up.
pub(crate) enum Refused {
    Damaged(Damage),
    Failed(LogError),
}

impl Segment {
    pub(crate) fn new(header: SegmentHeader, file: Arc<dyn StorageFile>) -> Self {
        Self {
            path: segment_path(header.first_seq),
            seed: place_seed(header.store_id, header.first_seq),
            index: Mutex::new(SegmentIndex::new(SEGMENT_HEADER_BYTES as u64, header.first_seq)),
            writer: OnceLock::new(),
            named: AtomicBool::new(false),
            header,
            file,
        }
    }

    pub(crate) fn open(storage: &dyn Storage, first_seq: u64) -> Result<Self, Refused> {
        let path = segment_path(first_seq);
        let mut bytes = [0_u8; SEGMENT_HEADER_BYTES];
        let damaged = |reason: &str| {
            Refused::Damaged(Damage {
                segment: segment_name(first_seq),
                offset: 0,
                position: first_seq,
                reason: reason.to_owned(),
            })
        };
        let file = match storage.open(&path, OpenMode::Read) {
            Ok(file) => file,
            Err(error) if is_no_file(&error) => {
                return Err(damaged(&format!("the name leads to no file ({error})")));
            }
            Err(error) => return Err(error).doing("open a segment", &path).map_err(Refused::Failed),
        };
        let read =
            read_full(file.as_ref(), &mut bytes, 0).doing("read a segment header", &path).map_err(Refused::Failed)?;
        match SegmentHeader::decode(bytes.get(..read).unwrap_or_default()) {
            Ok(header) if header.first_seq == first_seq => Ok(Self::new(header, file)),
            Ok(_) => Err(damaged("the file's name is not the one its header states")),
            Err(SegmentFault::Broken(reason)) => Err(damaged(reason)),
            Err(SegmentFault::Newer(found)) => Err(Refused::Failed(LogError::NewerFormat {
                path,
                found: u32::from(found),
                supported: u32::from(SEGMENT_VERSION),
            })),
        }
    }

    pub(crate) fn first_seq(&self) -> u64 {
        self.header.first_seq
    }

    pub(crate) fn place(&self, offset: u64) -> Place {
        Place { seed: self.seed, offset }
    }

    /// The end of the log before this segment's first frame.
    pub(crate) fn start(&self) -> End {
        End {
            seq: self.first_seq().saturating_sub(1),
            chain: self.header.previous_chain,
            time: self.header.previous_time,
            segment: self.first_seq(),
            frame: 0,
            offset: SEGMENT_HEADER_BYTES as u64,
        }
    }

    /// A handle for writing, opened when it is first needed.
    pub(crate) fn writer(&self, storage: &dyn Storage) -> Result<Arc<dyn StorageFile>, LogError> {
        if let Some(writer) = self.writer.get() {
            return Ok(Arc::clone(writer));
        }
        let opened = (storage.open(&self.path, OpenMode::ReadWrite)).doing("open a segment for writing", &self.path)?;
        Ok(Arc::clone(self.writer.get_or_init(|| opened)))
    }

    /// Makes the file's name durable: whoever gave it may have stopped before that.
    pub(crate) fn sync_name(&self, storage: &dyn Storage) -> io::Result<()> {
        if !self.named.load(Ordering::Acquire) {
            storage.sync_dir(LOG_DIR)?;
            self.named.store(true, Ordering::Release);
        }
        Ok(())
    }

    pub(crate) fn damage(&self, offset: u64, position: u64, reason: &str) -> Damage {
        Damage { segment: segment_name(self.first_seq()), offset, position, reason: reason.to_owned() }
    }

    /// What a frame of a later format in it means.
    pub(crate) fn newer(&self, found: u8, supported: u8) -> LogError {
        LogError::NewerFormat { path: self.path.clone(), found: found.into(), supported: supported.into() }
    }

    pub(crate) fn index(&self) -> MutexGuard<'_, SegmentIndex> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes frames that were just written.
    pub(crate) fn learn(&self, entries: &[Entry]) {
        let mut index = self.index();
        for entry in entries {
            index.push(entry);
        }
    }

    /// A scanner that stands before the frame with `seq`; or, when the frames end before it, where
    /// they end. Walks at most one block of the index, or what the index does not know yet; not at all to a
    /// frame of whose start the index has been told.
    pub(crate) fn seek(self: &Arc<Self>, seq: u64) -> Result<Scanner, LogError> {
        let found = self.index().start_of(seq);
        let len = found.len.and_then(|len| usize::try_from(len).ok());
        let read_bytes = len.filter(|len| *len < WALK_BYTES).unwrap_or(WALK_BYTES);
        let mut walk = Scanner::new(Arc::clone(self), found.offset, found.first_seq, read_bytes);
        let mut met = Vec::new();
        loop {
            match walk.peek()? {
                HeaderStep::Header(header) if header.last_seq() < seq => {
                    if met.len() < BLOCK_FRAMES {
                        met.push(Entry::new(walk.offset(), &header));
                    }
                    walk.pass(&header);
                }
                HeaderStep::Header(header) if !met.is_empty() => {
                    met.push(Entry::new(walk.offset(), &header));
                    self.index().note(&met);
                    return Ok(walk);
                }
                _ => return Ok(walk),
            }
        }
    }
}

fn segment_path(first_seq: u64) -> String {
    format!("{LOG_DIR}/{}", segment_name(first_seq))
}
