//! Copying the log, as it stands at one position, into a store of its own.
//!
//! The copy has the same segments, frames at the same offsets and the same chain. Only what the store's
//! id goes into is written anew: the headers of segments, and the checksums of the headers of frames.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::Log;
use super::claim::Claim;
use super::erase::{Regions, zero};
use super::error::{Doing, LogError};
use super::frame::Frame;
use super::frame_header::{Place, place_seed};
use super::mark::{End, MARK};
use super::mark_file::MarkFile;
use super::prove::Prover;
use super::segment::Segment;
use super::segment_header::{SEGMENT_HEADER_BYTES, SegmentHeader};
use super::verify::{PROGRESS_BYTES, VerifyReport};
use super::view::View;
use crate::storage::{Storage, StorageFile};

/// So much is written at a time.
const WRITE_BYTES: usize = 256 * 1024;

/// A copy in the making. Nothing is left of it unless it is finished.
#[derive(Debug)]
#[must_use]
pub(crate) struct LogCopy<'a> {
    log: &'a Log,
    claim: Claim,
    store_id: u128,
    end: End,
    prover: Prover,
    writing: Option<Writing>,
    report: VerifyReport,
}

/// What was copied, and the chain at its end.
#[derive(Debug)]
pub(crate) struct Copied {
    pub report: VerifyReport,
    pub segments: u64,
}

/// The last segment of the copy.
#[derive(Debug)]
struct Writing {
    source: Arc<Segment>,
    seed: u32,
    file: Arc<dyn StorageFile>,
    /// What is not written yet, and where it goes.
    buffer: Vec<u8>,
    at: u64,
}

impl Log {
    /// Begins a copy under another store's id, in a folder that is empty or not there
    /// ([`LogError::NotAStore`] when it is neither).
    pub(crate) fn copy_to(&self, target: Arc<dyn Storage>, store_id: u128) -> Result<LogCopy<'_>, LogError> {
        let claim = Claim::take(target, &self.options)?;
        let end = self.start();
        let mut copy = LogCopy {
            log: self,
            claim,
            store_id,
            report: VerifyReport { last_seq: end.seq, chain: end.chain, ..VerifyReport::default() },
            end,
            prover: Prover::default(),
            writing: None,
        };
        copy.begin_segment(copy.end.segment)?;
        Ok(copy)
    }
}

impl LogCopy<'_> {
    /// Copies on through the last position that can be shown now, and says which that is. Every frame is
    /// proved on the way: checksums, the chain computed anew, each body against its digest; one that
    /// fails is no damage when `being_erased` says so of its position. `visit` may break off.
    pub(crate) fn advance(
        &mut self,
        progress: &mut dyn FnMut(u64, u64),
        being_erased: &(dyn Fn(u64) -> bool + Sync),
        visit: &mut dyn FnMut(&Frame) -> ControlFlow<()>,
    ) -> Result<u64, LogError> {
        let log = self.log;
        let through = log.visible()?;
        let before = log.segments()?.into_iter().filter(|segment| segment.first_seq < through.segment);
        let total = before.fold(through.offset, |total, segment| total.saturating_add(segment.bytes));
        let mut failed = None;
        let mut told = 0;
        log.read(self.end.seq.saturating_add(1), through.seq, &mut |frame| {
            if let Err(error) = self.take(&frame, being_erased) {
                failed = Some(error);
                return ControlFlow::Break(());
            }
            if self.report.bytes.saturating_sub(told) >= PROGRESS_BYTES {
                told = self.report.bytes;
                progress(told.min(total), total);
            }
            visit(&frame)
        })?;
        match failed {
            Some(error) => Err(error),
            None => {
                progress(total, total);
                Ok(self.end.seq)
            }
        }
    }

    /// The positions of the bodies that were erased already, or half erased.
    pub(crate) fn erased(&self) -> &[u64] {
        &self.report.zeroed
    }

    /// Erases the bodies at these positions, in order, and makes a store of the copy, synced to its last
    /// name.
    pub(crate) fn finish(mut self, erase: &[u64]) -> Result<Copied, LogError> {
        self.end_segment()?;
        for Regions { segment, regions } in self.log.regions(erase)?.into_values() {
            let file = self.claim.open_segment(&segment.path)?;
            let zeroed = regions.iter().try_for_each(|(offset, len)| zero(file.as_ref(), *offset, *len));
            (zeroed.and_then(|()| file.sync_data())).doing("erase in the copy", &self.claim.path(&segment.path))?;
        }
        // With it, a copy that was cut short later is known for damage.
        let marks = MarkFile::new(Arc::clone(self.claim.target()), self.store_id, true);
        let marked = marks.store(false, self.end.clone(), self.end.clone());
        marked.doing("write the mark", &self.claim.path(MARK))?;
        let segments = self.claim.segments();
        self.claim.finish()?;
        Ok(Copied { report: self.report, segments })
    }

    fn take(&mut self, frame: &Frame, being_erased: &(dyn Fn(u64) -> bool + Sync)) -> Result<(), LogError> {
        let location = frame.location();
        if location.segment != self.end.segment {
            self.end_segment()?;
            self.begin_segment(location.segment)?;
        }
        let Some(writing) = &mut self.writing else { return Ok(()) };
        self.prover.add(frame.clone(), &self.report.chain);
        (self.prover.prove(&writing.source, being_erased, &mut self.report, &mut |_| {}))
            .map_err(|damage| self.log.damaged(damage))?;
        let place = Place { seed: writing.seed, offset: location.offset };
        writing.buffer.extend_from_slice(&frame.header().encode(place));
        writing.buffer.extend_from_slice(frame.stored_parts());
        self.end = End {
            seq: frame.last_seq(),
            chain: frame.chain(),
            time: Some(frame.time()),
            segment: location.segment,
            frame: location.offset,
            offset: location.offset.saturating_add(location.len),
        };
        if writing.buffer.len() >= WRITE_BYTES { writing.flush(&self.claim) } else { Ok(()) }
    }

    fn begin_segment(&mut self, first_seq: u64) -> Result<(), LogError> {
        let segments = self.log.known_segments();
        let source = segments.get(View::index_of(&segments, first_seq)).map(Arc::clone);
        let Some(source) = source.filter(|source| source.first_seq() == first_seq) else {
            return Err(LogError::NoSuchPosition { seq: first_seq, last: self.end.seq });
        };
        let start = source.start();
        if start.chain != self.report.chain {
            let damage = source.damage(0, first_seq, "the chain is broken between two segments");
            return Err(self.log.damaged(damage));
        }
        let header = SegmentHeader { store_id: self.store_id, ..source.header.clone() };
        self.writing = Some(Writing {
            file: self.claim.make_segment(&source.path)?,
            seed: place_seed(self.store_id, first_seq),
            buffer: header.encode().to_vec(),
            at: 0,
            source,
        });
        self.end = start;
        self.report.bytes = self.report.bytes.saturating_add(SEGMENT_HEADER_BYTES as u64);
        Ok(())
    }

    fn end_segment(&mut self) -> Result<(), LogError> {
        let Some(mut writing) = self.writing.take() else { return Ok(()) };
        writing.flush(&self.claim)?;
        writing.file.sync_data().doing("sync a segment", &self.claim.path(&writing.source.path))
    }
}

impl Writing {
    fn flush(&mut self, claim: &Claim) -> Result<(), LogError> {
        let written = self.file.write_at(&self.buffer, self.at);
        written.doing("write a segment", &claim.path(&self.source.path))?;
        self.at = self.at.saturating_add(self.buffer.len() as u64);
        self.buffer.clear();
        Ok(())
    }
}
