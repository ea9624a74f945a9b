//! What this process knows of the log's extent, and how it catches up with other processes.
//!
//! The end moves forward in three cases only: under `append.lock`; under `sync.lock` as part of a
//! sync that the mark then records; and up to the mark. So no frame is ever in a view that its writer
//! may still take back.

use std::sync::Arc;

use super::error::{Damage, Doing, LogError};
use super::mark::End;
use super::scan::{BadFrame, Scanner, Step};
use super::segment::{LOG_DIR, Refused, Segment};
use super::segment_header::parse_segment_name;
use super::torn::later_frame;
use crate::storage::{Storage, read_full};

const CATCH_UP_BYTES: usize = 64 * 1024;

pub(crate) type Segments = Arc<Vec<Arc<Segment>>>;

#[derive(Debug)]
pub(crate) struct View {
    pub segments: Segments,
    pub end: End,
}

/// How the frames end.
#[derive(Debug)]
pub(crate) enum Tail {
    Clean,
    Bad(BadFrame),
}

/// The segments that hold together, and what is wrong with the next one.
#[derive(Debug)]
pub(crate) struct Listed {
    pub segments: Vec<Arc<Segment>>,
    pub damage: Option<Damage>,
}

/// Lists the segments, taking up those of `known` again.
pub(crate) fn list_segments(storage: &dyn Storage, known: &[Arc<Segment>]) -> Result<Listed, LogError> {
    let names = storage.list(LOG_DIR).doing("list the segments", LOG_DIR)?;
    let mut starts: Vec<u64> = (names.iter()).filter_map(|entry| parse_segment_name(&entry.name)).collect();
    starts.sort_unstable();
    let mut listed = Listed { segments: Vec::with_capacity(starts.len()), damage: None };
    // A later format is looked for in every header before any damage is spoken of.
    for start in starts {
        let there = known.iter().find(|segment| segment.first_seq() == start);
        let segment = match there {
            Some(segment) => Arc::clone(segment),
            None => match Segment::open(storage, start) {
                Ok(segment) => Arc::new(segment),
                Err(Refused::Failed(error)) => return Err(error),
                Err(Refused::Damaged(damage)) => {
                    listed.damage.get_or_insert(damage);
                    continue;
                }
            },
        };
        if listed.damage.is_none() {
            match link_fault(listed.segments.last(), &segment) {
                Some(reason) => listed.damage = Some(segment.damage(0, start, reason)),
                None => listed.segments.push(segment),
            }
        }
    }
    Ok(listed)
}

pub(crate) fn link_fault(previous: Option<&Arc<Segment>>, segment: &Segment) -> Option<&'static str> {
    let header = &segment.header;
    let Some(previous) = previous else {
        return if header.first_seq != 1 || header.previous_first_seq != 0 {
            Some("the segments before it are missing")
        } else {
            None
        };
    };
    if header.store_id != previous.header.store_id {
        Some("the segment belongs to another store")
    } else if header.previous_first_seq != previous.first_seq() {
        Some("a segment before it is missing")
    } else {
        None
    }
}

/// The damage, if any, of crossing from the end of one segment to the next.
pub(crate) fn crossing(end: &Scanner, chain: Option<&[u8; 32]>, next: &Segment) -> Option<Damage> {
    if next.first_seq() != end.next_seq() {
        let missing = format!("the frames end before the next segment, at {}", next.first_seq());
        return Some(end.damage(&missing));
    }
    if chain.is_some_and(|chain| *chain != next.header.previous_chain) {
        return Some(next.damage(0, next.first_seq(), "the chain is broken between two segments"));
    }
    None
}

impl View {
    /// The segment that would hold `seq`.
    pub(crate) fn index_of(segments: &[Arc<Segment>], seq: u64) -> usize {
        (segments.partition_point(|segment| segment.first_seq() <= seq)).saturating_sub(1)
    }

    /// The segment the end lies in.
    pub(crate) fn end_segment(&self) -> Option<&Arc<Segment>> {
        self.segments.get(Self::index_of(&self.segments, self.end.segment))
    }

    /// Looks for segments that others have begun.
    pub(crate) fn refresh(&mut self, storage: &dyn Storage) -> Result<(), LogError> {
        let listed = list_segments(storage, &self.segments)?;
        if let Some(damage) = listed.damage {
            return Err(LogError::Damage(damage));
        }
        if listed.segments.len() > self.segments.len() {
            self.segments = Arc::new(listed.segments);
        }
        Ok(())
    }

    /// Moves the end past every whole frame that follows. Bodies are looked at behind `durable` only.
    pub(crate) fn catch_up(&mut self, storage: &dyn Storage, durable: u64) -> Result<Tail, LogError> {
        let mut durable = durable;
        loop {
            let Some(segment) = self.end_segment().map(Arc::clone) else {
                return Ok(Tail::Clean);
            };
            let mut end = self.nothing_follows(&segment)?;
            // A segment was durable to its end before the next one began.
            let known = if self.is_last(&segment) { durable } else { u64::MAX };
            let mut scanner =
                Scanner::new(Arc::clone(&segment), self.end.offset, self.end.seq.saturating_add(1), CATCH_UP_BYTES)
                    .checking_bodies(known);
            while end.is_none() {
                match scanner.next()? {
                    Step::Frame(frame) => {
                        self.end = End {
                            seq: frame.last_seq(),
                            chain: frame.chain(),
                            time: Some(frame.time()),
                            segment: segment.first_seq(),
                            frame: frame.location().offset,
                            offset: scanner.offset(),
                        };
                    }
                    Step::End { eof } => end = Some(eof),
                    // Written to its end once, so it is no part of a torn end.
                    Step::Bad(bad) if bad.body && later_frame(&segment, &bad)?.is_some() => {
                        durable = bad.seq;
                        scanner = scanner.checking_bodies(durable);
                    }
                    Step::Bad(bad) if self.is_last(&segment) => return Ok(Tail::Bad(bad)),
                    Step::Bad(bad) => {
                        let damage = segment.damage(bad.offset, bad.seq, bad.reason);
                        return Err(LogError::Damage(damage));
                    }
                }
            }
            // Who begins a segment has cut the one before: while there is room left, nobody has.
            if self.is_last(&segment) && end == Some(true) {
                self.refresh(storage)?;
            }
            let next = View::index_of(&self.segments, segment.first_seq()).saturating_add(1);
            let Some(next) = self.segments.get(next) else {
                return Ok(Tail::Clean);
            };
            if let Some(damage) = crossing(&scanner, Some(&self.end.chain), next) {
                return Err(LogError::Damage(damage));
            }
            self.end = next.start();
        }
    }

    /// The cheap and usual case, one small read: nothing follows, because the file ends (`true`) or
    /// zeros follow.
    fn nothing_follows(&self, segment: &Segment) -> Result<Option<bool>, LogError> {
        let mut bytes = [0_u8; super::frame_header::FRAME_HEADER_BYTES];
        let read =
            read_full(segment.file.as_ref(), &mut bytes, self.end.offset).doing("read a segment", &segment.path)?;
        let zero = super::bytes::all_zero(&bytes);
        Ok(zero.then_some(read < bytes.len()))
    }

    fn is_last(&self, segment: &Segment) -> bool {
        (self.segments.last()).is_some_and(|last| last.first_seq() == segment.first_seq())
    }

    /// Goes back to an earlier end, forgetting what was read past it.
    pub(crate) fn go_back(&mut self, end: &End) {
        for segment in self.segments.iter().rev() {
            if segment.first_seq() < end.segment {
                break;
            }
            let cut = if segment.first_seq() == end.segment { end.clone() } else { segment.start() };
            (segment.index()).cut(cut.offset, cut.seq.saturating_add(1));
        }
        self.end = end.clone();
    }
}
