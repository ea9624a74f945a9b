//! What can be read of a log, whatever lies between.

use std::sync::Arc;

use super::identity;
use super::layout::{self, Part};
use super::walk::Walk;
use crate::log::chain::{self, ChainHash};
use crate::log::error::{Damage, Doing, LogError};
use crate::log::frame::Frame;
use crate::log::mark::{MARK, Mark};
use crate::log::mark_file::MarkFile;
use crate::log::open::has_segments;
use crate::log::recover::end_fault;
use crate::log::scan::{Scanner, Step};
use crate::log::segment::{LOG_DIR, Segment};
use crate::log::segment_header::{
    SEGMENT_HEADER_BYTES, SEGMENT_VERSION, SegmentFault, SegmentHeader, parse_segment_name,
};
use crate::log::view::link_fault;
use crate::storage::{OpenMode, Storage, StorageFile, read_full};

pub(super) const READ_BYTES: usize = 256 * 1024;

/// A file under the name of a segment.
#[derive(Debug)]
pub(super) struct Named {
    pub name: String,
    /// What its name states.
    pub first_seq: u64,
    pub file: Arc<dyn StorageFile>,
    pub header: Result<SegmentHeader, &'static str>,
    /// What stands where a header has the store's id.
    pub stated_id: u128,
}

/// As [`Named`], once it is known which store this is.
#[derive(Debug)]
pub(crate) struct Source {
    pub name: String,
    /// As its header says it, or, where that is damaged, as its name does.
    pub segment: Arc<Segment>,
    /// Whether header and name are as they were written.
    pub sound: bool,
    /// Whether anything in it is not.
    pub faulty: bool,
}

/// Whole frames that follow each other in one file without a gap.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub source: usize,
    pub offset: u64,
    pub end: u64,
    pub first: u64,
    pub last: u64,
    /// Chain and time behind the last of them, as they are recorded.
    pub chain: ChainHash,
    pub time: i64,
}

/// A place where something else lies than what was written.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    pub source: usize,
    pub offset: u64,
    /// Where the next thing lies that can be read, or the file ends.
    pub until: u64,
    /// The position that belongs there.
    pub position: u64,
    pub reason: &'static str,
}

/// What can be read of a log. Takes no lock and changes nothing.
#[derive(Debug)]
pub(crate) struct Survey {
    pub storage: Arc<dyn Storage>,
    pub store_id: u128,
    pub mark: Option<Mark>,
    pub sources: Vec<Source>,
    /// What is kept and what is missing, in the order of positions.
    pub parts: Vec<Part>,
    pub faults: Vec<Fault>,
    /// Damage by which nothing of the frames is lost.
    pub loose: Vec<Damage>,
    /// Everything through this position was durable once.
    pub durable: u64,
}

impl Survey {
    /// Looks at everything. `reached` tells, for the store's id, what something else knows of how far the log
    /// once was durable, 0 for nothing.
    ///
    /// # Errors
    /// [`LogError::NotFound`] when there is no log, [`LogError::NewerFormat`] when a part of it is of a
    /// later version, [`LogError::Damage`] when nothing says which store this was.
    pub(crate) fn of(storage: Arc<dyn Storage>, reached: &dyn Fn(u128) -> u64) -> Result<Self, LogError> {
        refuse_nothing(storage.as_ref())?;
        let files = named_files(storage.as_ref())?;
        let store_id = identity::store_id(storage.as_ref(), &files)?;
        let mark = MarkFile::new(Arc::clone(&storage), store_id, false).load()?;
        let marked = mark.as_ref().map_or(0, |mark| mark.synced.seq);
        let mut walk = Walk { durable: marked.max(reached(store_id)), ..Walk::default() };
        let mut sources = Vec::new();
        for file in files {
            if let Some(source) = walk.source(file, store_id, sources.len())? {
                sources.push(source);
            }
        }
        let Walk { mut loose, runs, faults, durable } = walk;
        let laid = layout::lay_out(&sources, &runs, durable)?;
        let parts = layout::parts(&sources, &laid, durable);
        // What an interrupted write left behind all that was ever durable is a torn end, as at open.
        let end = parts.last().map_or(0, Part::last);
        let last_source = sources.len().saturating_sub(1);
        let torn = |fault: &Fault| fault.source == last_source && fault.position > end;
        let faults: Vec<Fault> = faults.into_iter().filter(|fault| !torn(fault)).collect();
        for fault in &faults {
            if let Some(source) = sources.get_mut(fault.source) {
                source.faulty = true;
            }
        }
        loose.extend(broken_links(&sources, &parts));
        let survey = Self { storage, store_id, mark, sources, parts, faults, loose, durable };
        survey.judge_mark()
    }

    /// The mark may speak of other frames than there are.
    fn judge_mark(mut self) -> Result<Self, LogError> {
        let whole = self.faults.is_empty() && self.loose.is_empty() && self.gaps().next().is_none();
        if let Some(mark) = self.mark.as_ref().filter(|_| whole) {
            let segments: Vec<_> = self.sources.iter().map(|source| Arc::clone(&source.segment)).collect();
            self.loose.extend(end_fault(&segments, &mark.synced)?);
        }
        Ok(self)
    }

    pub(crate) fn gaps(&self) -> impl Iterator<Item = &layout::Gap> {
        self.parts.iter().filter_map(|part| match part {
            Part::Gap(gap) => Some(gap),
            Part::Run(_) => None,
        })
    }

    /// The last position there is or was.
    pub(crate) fn end(&self) -> u64 {
        self.parts.last().map_or(0, Part::last)
    }

    /// Hands over the frames of a run, in order, until `f` breaks off.
    pub(crate) fn frames<E: From<LogError>>(
        &self,
        run: &Run,
        f: &mut dyn FnMut(&Frame) -> Result<bool, E>,
    ) -> Result<bool, E> {
        let Some(source) = self.sources.get(run.source) else { return Ok(true) };
        let mut scanner = Scanner::new(Arc::clone(&source.segment), run.offset, run.first, READ_BYTES);
        while scanner.offset() < run.end {
            match scanner.next()? {
                Step::Frame(frame) => {
                    if !f(&frame)? {
                        return Ok(false);
                    }
                }
                // It was read a moment ago.
                Step::End { .. } | Step::Bad(_) => {
                    return Err(LogError::Damage(scanner.damage("the file reads otherwise than a moment ago")).into());
                }
            }
        }
        Ok(true)
    }

    /// Bytes between a fault and the next thing that can be read, as far as the file goes.
    pub(crate) fn bytes_of(&self, fault: &Fault) -> u64 {
        let len = self.sources.get(fault.source).and_then(|source| source.segment.file.len().ok());
        fault.until.min(len.unwrap_or(fault.until)).saturating_sub(fault.offset)
    }

    /// The chain before the first position.
    pub(crate) fn genesis(&self) -> ChainHash {
        chain::genesis(self.store_id)
    }

    /// Where in the files a fault lies.
    pub(crate) fn damage_of(&self, fault: &Fault) -> Damage {
        Damage {
            segment: self.sources.get(fault.source).map(|source| source.name.clone()).unwrap_or_default(),
            offset: fault.offset,
            position: fault.position,
            reason: fault.reason.to_owned(),
        }
    }
}

/// Refuses a folder in which there is nothing of a log.
pub(crate) fn refuse_nothing(storage: &dyn Storage) -> Result<(), LogError> {
    let there =
        has_segments(storage)? || storage.exists(MARK).doing("look for the mark", MARK)? || super::is_decided(storage)?;
    if there { Ok(()) } else { Err(LogError::NotFound { path: storage.describe() }) }
}

fn named_files(storage: &dyn Storage) -> Result<Vec<Named>, LogError> {
    let entries = match storage.list(LOG_DIR) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error).doing("list the segments", LOG_DIR),
    };
    let mut files = Vec::new();
    for (name, first_seq) in entries.into_iter().filter_map(|entry| {
        let first_seq = parse_segment_name(&entry.name)?;
        Some((entry.name, first_seq))
    }) {
        let path = format!("{LOG_DIR}/{name}");
        let file = storage.open(&path, OpenMode::Read).doing("open a segment", &path)?;
        let mut bytes = [0_u8; SEGMENT_HEADER_BYTES];
        let read = read_full(file.as_ref(), &mut bytes, 0).doing("read a segment header", &path)?;
        let header = match SegmentHeader::decode(bytes.get(..read).unwrap_or_default()) {
            Ok(header) => Ok(header),
            Err(SegmentFault::Broken(reason)) => Err(reason),
            Err(SegmentFault::Newer(found)) => {
                let (found, supported) = (u32::from(found), u32::from(SEGMENT_VERSION));
                return Err(LogError::NewerFormat { path, found, supported });
            }
        };
        let stated_id = SegmentHeader::stated_store_id(&bytes);
        files.push(Named { name, first_seq, file, header, stated_id });
    }
    files.sort_unstable_by_key(|file| file.first_seq);
    Ok(files)
}

/// Segments that do not follow each other as their headers say.
fn broken_links(sources: &[Source], parts: &[Part]) -> Vec<Damage> {
    let mut found = Vec::new();
    let mut previous: Option<&Arc<Segment>> = None;
    for source in sources.iter().filter(|source| source.sound) {
        let segment = &source.segment;
        if let Some(reason) = link_fault(previous, segment) {
            found.push(segment.damage(0, segment.first_seq(), reason));
        } else if let Some(run) = parts.iter().find_map(|part| match part {
            Part::Run(run) if run.last.saturating_add(1) == segment.first_seq() => Some(run),
            _ => None,
        }) && run.chain != segment.header.previous_chain
        {
            found.push(segment.damage(0, segment.first_seq(), "the chain is broken between two segments"));
        }
        previous = Some(segment);
    }
    found
}
