//! Reading: in order, by position, by time.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::chain::ChainHash;
use super::error::LogError;
use super::frame::Frame;
use super::scan::{BadFrame, HeaderStep, Scanner, Step};
use super::segment::Segment;
use super::view::{Segments, View, crossing};
use super::{Log, lock};

/// Sequential reads take so much at a time: it fits into the processor's second cache.
const READ_BYTES: usize = 256 * 1024;

impl Log {
    /// Hands over the frames that hold `from_seq` to `through_seq`, whole and in order, until one of
    /// them breaks off. Headers and permanent parts are checked, bodies when they are asked for.
    ///
    /// Only what [`Log::durable`] covers may be shown; under [`Log::begin_append`] one may read
    /// through its head. Reading ends early where nothing further has been appended. Damage is met
    /// where it lies: the frames before it have been handed over by then.
    pub fn read(
        &self,
        from_seq: u64,
        through_seq: u64,
        f: &mut dyn FnMut(Frame) -> ControlFlow<()>,
    ) -> Result<(), LogError> {
        let from_seq = from_seq.max(1);
        if from_seq > through_seq {
            return Ok(());
        }
        let mut scanner = self.seek(from_seq)?.reading(READ_BYTES);
        let mut chain: Option<ChainHash> = None;
        loop {
            match scanner.next()? {
                Step::Frame(frame) => {
                    let last = frame.last_seq();
                    chain = Some(frame.chain());
                    if frame.first_seq() > through_seq || f(frame).is_break() || last >= through_seq {
                        return Ok(());
                    }
                }
                Step::End { .. } => match self.next_segment(&scanner, chain.as_ref())? {
                    Some(next) => scanner = start(next, READ_BYTES),
                    None => return self.ended(&scanner, through_seq),
                },
                Step::Bad(bad) => return self.broken(&scanner, &bad, through_seq),
            }
        }
    }

    /// The frame that holds `seq`. Costs a walk along one block of the sparse index at most, once
    /// the segment's index is there.
    pub fn frame_at(&self, seq: u64) -> Result<Frame, LogError> {
        let mut scanner = self.seek(seq.max(1))?;
        loop {
            match scanner.next()? {
                Step::Frame(frame) if frame.last_seq() >= seq => return Ok(frame),
                Step::Frame(_) => {}
                Step::End { .. } => match self.next_segment(&scanner, None)? {
                    Some(next) => scanner = next.seek(seq)?,
                    None => {
                        self.ended(&scanner, seq)?;
                        return Err(LogError::NoSuchPosition { seq, last: scanner.next_seq().saturating_sub(1) });
                    }
                },
                Step::Bad(bad) => {
                    self.broken(&scanner, &bad, seq)?;
                    return Err(LogError::NoSuchPosition { seq, last: bad.seq.saturating_sub(1) });
                }
            }
        }
    }

    /// The chain after the frame that holds `seq`; before the first position, its start.
    pub fn chain_at(&self, seq: u64) -> Result<ChainHash, LogError> {
        if seq == 0 {
            return Ok(self.genesis());
        }
        self.frame_at(seq).map(|frame| frame.chain())
    }

    /// The last position up to `through` that was recorded at or before `time`, 0 when there is
    /// none. Times may step back, so it is looked for from the end.
    pub fn position_at(&self, time: i64, through: u64) -> Result<u64, LogError> {
        if through == 0 {
            return Ok(0);
        }
        // Learns of segments that others have begun.
        drop(self.seek_known(through)?);
        let segments = self.known_segments();
        for segment in segments.iter().rev().filter(|s| s.first_seq() <= through) {
            // Walks what the segment's index does not know yet.
            let mut scanner = segment.seek(through)?;
            match scanner.peek()? {
                HeaderStep::Header(header) => scanner.pass(&header),
                HeaderStep::Bad(bad) => self.broken(&scanner, &bad, through)?,
                HeaderStep::End { .. } => {}
            }
            drop(scanner);
            let blocks: Vec<(u64, u64)> = (segment.index().blocks().iter().rev())
                .filter(|block| block.first_seq <= through && block.min_time <= time)
                .map(|block| (block.offset, block.first_seq))
                .collect();
            for (offset, first_seq) in blocks {
                if let Some(found) = self.last_in_block(segment, offset, first_seq, time, through)? {
                    return Ok(found);
                }
            }
        }
        Ok(0)
    }

    /// A scanner before the frame that holds `seq`, in the segment that should hold it.
    fn seek(&self, seq: u64) -> Result<Scanner, LogError> {
        let segments = self.known_segments();
        let at = View::index_of(&segments, seq);
        match segments.get(at) {
            Some(segment) => segment.seek(seq),
            None => Err(LogError::NoSuchPosition { seq, last: 0 }),
        }
    }

    /// As `seek`, after making sure that `seq` is in a segment known here.
    fn seek_known(&self, seq: u64) -> Result<Scanner, LogError> {
        let mut scanner = self.seek(seq)?;
        while let HeaderStep::End { .. } = scanner.peek()? {
            match self.next_segment(&scanner, None)? {
                Some(next) => scanner = next.seek(seq)?,
                None => break,
            }
        }
        Ok(scanner)
    }

    /// The segment after the scanner's, which has ended; one that others have begun too.
    fn next_segment(&self, scanner: &Scanner, chain: Option<&ChainHash>) -> Result<Option<Arc<Segment>>, LogError> {
        let after = |segments: &Segments| {
            let at = View::index_of(segments, scanner.segment().first_seq());
            segments.get(at.saturating_add(1)).map(Arc::clone)
        };
        let mut next = after(&self.known_segments());
        if next.is_none() {
            let mut view = lock(&self.view);
            let refreshed = view.refresh(self.storage.as_ref());
            next = after(&view.segments);
            drop(view);
            refreshed.map_err(|error| self.noting(error))?;
        }
        let Some(next) = next else { return Ok(None) };
        match crossing(scanner, chain, &next) {
            Some(damage) => Err(self.damaged(damage)),
            None => Ok(Some(next)),
        }
    }

    /// The frames ended before `wanted`: damage when the mark says that they go on.
    fn ended(&self, scanner: &Scanner, wanted: u64) -> Result<(), LogError> {
        let durable = self.visible()?.seq;
        if scanner.next_seq() <= wanted.min(durable) {
            let reason = format!("the log ends here, but is durable through position {durable}");
            return Err(self.damaged(scanner.damage(&reason)));
        }
        Ok(())
    }

    /// No frame where one should be: past the mark one may just be in the writing.
    fn broken(&self, scanner: &Scanner, bad: &BadFrame, wanted: u64) -> Result<(), LogError> {
        let last_segment =
            (self.known_segments().last()).is_some_and(|last| last.first_seq() == scanner.segment().first_seq());
        if !last_segment || bad.seq <= wanted.min(self.visible()?.seq) {
            return Err(self.damaged(scanner.damage(bad.reason)));
        }
        Ok(())
    }
}

fn start(segment: Arc<Segment>, read_bytes: usize) -> Scanner {
    let start = segment.start();
    let first_seq = segment.first_seq();
    Scanner::new(segment, start.offset, first_seq, read_bytes)
}

impl Log {
    fn last_in_block(
        &self,
        segment: &Arc<Segment>,
        offset: u64,
        first_seq: u64,
        time: i64,
        through: u64,
    ) -> Result<Option<u64>, LogError> {
        let mut walk = Scanner::new(Arc::clone(segment), offset, first_seq, 16 * 1024);
        let mut found = None;
        // A block's frames are followed by later ones, which are looked at for no more than their place.
        let end = {
            let index = segment.index();
            let after = index.blocks().partition_point(|block| block.offset <= offset);
            (index.blocks().get(after)).map_or(u64::MAX, |block| block.offset)
        };
        while walk.offset() < end {
            match walk.peek()? {
                HeaderStep::Header(header) if header.first_seq <= through => {
                    if header.time <= time {
                        found = Some(header.last_seq().min(through));
                    }
                    walk.pass(&header);
                }
                HeaderStep::Bad(bad) => {
                    self.broken(&walk, &bad, through)?;
                    break;
                }
                HeaderStep::Header(_) | HeaderStep::End { .. } => break,
            }
        }
        Ok(found)
    }
}
