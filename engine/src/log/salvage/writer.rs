//! The segments of the log to be, one frame after the other.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::layout::{Gap, Part};
use super::plan::staged;
use super::rewrite::Repair;
use super::survey::{Run, Survey};
use crate::log::chain::{self, ChainHash, genesis};
use crate::log::draft::FrameDraft;
use crate::log::error::{Doing, LogError};
use crate::log::frame::Frame;
use crate::log::frame_header::{FrameHeader, Place, place_seed};
use crate::log::mark::End;
use crate::log::options::LogOptions;
use crate::log::segment_header::{SEGMENT_HEADER_BYTES, SegmentHeader, segment_name};
use crate::storage::{OpenMode, StorageFile};

const WRITE_BYTES: usize = 1024 * 1024;

/// A segment in the making.
struct Target {
    name: String,
    source: Option<usize>,
    file: Arc<dyn StorageFile>,
    seed: u32,
    /// What is not written yet, and where it goes.
    buffer: Vec<u8>,
    written: u64,
}

pub(super) struct Writer<'a> {
    survey: &'a Survey,
    repair: &'a Repair,
    options: &'a LogOptions,
    target: Option<Target>,
    /// First position of the segment before the present one.
    previous: u64,
    pub end: End,
    /// Names of the segments that were written.
    pub made: Vec<String>,
    /// Names of the segments that stay as they are.
    pub kept: BTreeSet<String>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(survey: &'a Survey, repair: &'a Repair, options: &'a LogOptions) -> Self {
        let end = End { seq: 0, chain: genesis(survey.store_id), time: None, segment: 0, frame: 0, offset: 0 };
        let (made, kept) = (Vec::new(), BTreeSet::new());
        Self { survey, repair, options, target: None, previous: 0, end, made, kept }
    }

    pub(super) fn write_all(&mut self) -> Result<(), LogError> {
        let (survey, repair) = (self.survey, self.repair);
        let mut parts = survey.parts.iter().peekable();
        while let Some(part) = parts.next() {
            let last = parts.peek().is_none();
            match part {
                Part::Gap(gap) => self.gap(gap)?,
                Part::Run(run) if !last && self.may_stay(run) => self.keep(run)?,
                Part::Run(run) => {
                    let cut = !survey.frames(run, &mut |frame| self.frame(frame, run))?;
                    if cut {
                        break;
                    }
                }
            }
        }
        // A log of which nothing is left still begins with its first segment.
        for draft in &repair.summary {
            self.draft(draft, None)?;
        }
        self.finish()
    }

    /// Whether a segment is already what it would be written as.
    fn may_stay(&self, run: &Run) -> bool {
        let Some(source) = self.survey.sources.get(run.source) else { return false };
        let header = &source.segment.header;
        let changed = |positions: &BTreeSet<u64>| positions.range(run.first..=run.last).next().is_some();
        !source.faulty
            && run.first == header.first_seq
            && self.repair.end.is_none_or(|end| run.last <= end)
            && run.offset == SEGMENT_HEADER_BYTES as u64
            && header.previous_first_seq == self.last_segment()
            && header.previous_chain == self.end.chain
            && !changed(&self.repair.zeroed)
            && !changed(&self.repair.unproven)
            && self.repair.fillers.range(run.first..=run.last).next().is_none()
            && self.is_alone(run)
            // Whatever follows its last frame, there is more of it than a segment that ended has.
            && source.segment.file.len().is_ok_and(|len| len == run.end)
    }

    /// Whether nothing else is taken from the run's file.
    fn is_alone(&self, run: &Run) -> bool {
        let same = |part: &&Part| match part {
            Part::Run(other) => other.source == run.source,
            Part::Gap(gap) => gap.source == Some(run.source),
        };
        self.survey.parts.iter().filter(same).count() == 1
    }

    /// First position of the segment that a new one would follow.
    fn last_segment(&self) -> u64 {
        if self.target.is_some() { self.end.segment } else { self.previous }
    }

    fn keep(&mut self, run: &Run) -> Result<(), LogError> {
        self.finish()?;
        let Some(source) = self.survey.sources.get(run.source) else { return Ok(()) };
        self.kept.insert(source.name.clone());
        self.previous = run.first;
        self.end = End { seq: run.last, chain: run.chain, time: Some(run.time), ..self.end.clone() };
        Ok(())
    }

    fn gap(&mut self, gap: &Gap) -> Result<(), LogError> {
        let apart = gap.source.is_some() && self.target.as_ref().is_some_and(|target| target.source != gap.source);
        if apart {
            self.finish()?;
        }
        self.fill(gap.first, gap.source)
    }

    fn fill(&mut self, first: u64, source: Option<usize>) -> Result<(), LogError> {
        let repair = self.repair;
        repair.fillers.get(&first).into_iter().flatten().try_for_each(|draft| self.draft(draft, source))
    }

    /// Takes a frame over, or what stands in its place; whether the log goes on behind it.
    fn frame(&mut self, frame: &Frame, run: &Run) -> Result<bool, LogError> {
        if self.repair.end.is_some_and(|end| frame.last_seq() > end) {
            return Ok(false);
        }
        if self.target.as_ref().is_some_and(|target| target.source != Some(run.source)) {
            self.finish()?;
        }
        if self.repair.fillers.contains_key(&frame.first_seq()) {
            self.fill(frame.first_seq(), Some(run.source))?;
            return Ok(true);
        }
        let place = self.place(Some(run.source))?;
        let chain = chain::link(&self.end.chain, frame.header(), frame.stored_permanent());
        let header = FrameHeader { chain, ..frame.header().clone() };
        let mut bytes = header.encode(place).to_vec();
        bytes.extend_from_slice(frame.stored_permanent());
        bytes.extend_from_slice(frame.stored_bodies());
        for body in frame.bodies().filter(|body| self.repair.zeroed.contains(&body.seq())) {
            let (offset, len) = body.region();
            let at = usize::try_from(offset.saturating_sub(frame.location().offset)).unwrap_or(usize::MAX);
            let until = at.saturating_add(usize::try_from(len).unwrap_or(usize::MAX));
            if let Some(region) = bytes.get_mut(at..until) {
                region.fill(0);
            }
        }
        self.append(&bytes, frame.last_seq(), chain, frame.time())?;
        Ok(true)
    }

    fn draft(&mut self, draft: &FrameDraft, source: Option<usize>) -> Result<(), LogError> {
        draft.frame_len()?;
        let place = self.place(source)?;
        let mut bytes = Vec::new();
        let (first, chain) = (self.end.seq.saturating_add(1), self.end.chain);
        // All of it is synced before any of it counts.
        let salts = self.options.salts.as_ref();
        let (meta, _) = draft.encode(&mut bytes, first, self.end.seq, &chain, place, salts)?;
        self.append(&bytes, meta.last_seq(), meta.chain, draft.time)
    }

    /// Where the next frame goes; begins a segment where there is none.
    fn place(&mut self, source: Option<usize>) -> Result<Place, LogError> {
        if self.target.is_none() {
            self.begin(source)?;
        }
        let seed = self.target.as_ref().map_or(0, |target| target.seed);
        Ok(Place { seed, offset: self.end.offset })
    }

    fn begin(&mut self, source: Option<usize>) -> Result<(), LogError> {
        let first_seq = self.end.seq.saturating_add(1);
        let as_it_was = source.and_then(|at| self.survey.sources.get(at)).filter(|source| source.sound);
        let created_at = as_it_was.map(|source| source.segment.header.created_at);
        let header = SegmentHeader {
            store_id: self.survey.store_id,
            first_seq,
            previous_first_seq: self.previous,
            previous_chain: self.end.chain,
            previous_time: self.end.time,
            created_at: created_at.unwrap_or_else(|| self.options.now()),
        };
        let name = segment_name(first_seq);
        let path = staged(&name);
        let file = self.survey.storage.open(&path, OpenMode::Truncate).doing("make a segment", &path)?;
        let seed = place_seed(self.survey.store_id, first_seq);
        let buffer = header.encode().to_vec();
        self.target = Some(Target { name, source, file, seed, buffer, written: 0 });
        self.end = End { segment: first_seq, frame: 0, offset: SEGMENT_HEADER_BYTES as u64, ..self.end.clone() };
        Ok(())
    }

    fn append(&mut self, bytes: &[u8], last: u64, chain: ChainHash, time: i64) -> Result<(), LogError> {
        let frame = self.end.offset;
        let offset = frame.saturating_add(bytes.len() as u64);
        self.end = End { seq: last, chain, time: Some(time), segment: self.end.segment, frame, offset };
        match &mut self.target {
            Some(target) => {
                target.buffer.extend_from_slice(bytes);
                if target.buffer.len() >= WRITE_BYTES { target.flush() } else { Ok(()) }
            }
            None => Ok(()),
        }
    }

    fn finish(&mut self) -> Result<(), LogError> {
        let Some(mut target) = self.target.take() else { return Ok(()) };
        target.flush()?;
        target.file.sync_data().doing("sync a segment", &staged(&target.name))?;
        self.previous = self.end.segment;
        self.made.push(target.name);
        Ok(())
    }
}

impl Target {
    fn flush(&mut self) -> Result<(), LogError> {
        let path = staged(&self.name);
        self.file.write_at(&self.buffer, self.written).doing("write a segment", &path)?;
        self.written = self.written.saturating_add(self.buffer.len() as u64);
        self.buffer.clear();
        Ok(())
    }
}
