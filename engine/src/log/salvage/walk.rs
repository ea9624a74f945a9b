//! Walks along a file from frame to frame, over what is none.

use std::sync::Arc;

use super::survey::{Fault, Named, READ_BYTES, Run, Source};
use crate::log::error::{Damage, Doing, LogError};
use crate::log::scan::{HeaderStep, Scanner, Step};
use crate::log::segment::{LOG_DIR, Segment};
use crate::log::segment_header::{SEGMENT_HEADER_BYTES, SegmentHeader};
use crate::log::torn::{anything_follows, find_header};

/// What has been found so far.
#[derive(Default)]
pub(super) struct Walk {
    /// Damage by which nothing of the frames is lost.
    pub loose: Vec<Damage>,
    pub runs: Vec<Run>,
    pub faults: Vec<Fault>,
    /// Everything through this position was durable once.
    pub durable: u64,
}

impl Walk {
    /// Takes up a file; none when it is of another store.
    pub(super) fn source(&mut self, named: Named, store_id: u128, at: usize) -> Result<Option<Source>, LogError> {
        let Named { name, first_seq, file, header, .. } = named;
        let damage =
            |reason: &str| Damage { segment: name.clone(), offset: 0, position: first_seq, reason: reason.to_owned() };
        let (header, sound) = match header {
            Ok(header) if header.store_id != store_id => {
                self.loose.push(damage("the segment belongs to another store"));
                return Ok(None);
            }
            Ok(header) => {
                // A segment begins when everything before it is durable.
                self.durable = self.durable.max(header.first_seq.saturating_sub(1));
                let sound = header.first_seq == first_seq;
                if !sound {
                    self.loose.push(damage("the file's name is not the one its header states"));
                }
                (header, sound)
            }
            Err(reason) => {
                self.loose.push(damage(reason));
                let header = SegmentHeader {
                    store_id,
                    first_seq,
                    previous_first_seq: 0,
                    previous_chain: [0; 32],
                    previous_time: None,
                    created_at: 0,
                };
                (header, false)
            }
        };
        let mut segment = Segment::new(header, file);
        segment.path = format!("{LOG_DIR}/{name}");
        let segment = Arc::new(segment);
        self.walk(&segment, at)?;
        Ok(Some(Source { name, segment, sound, faulty: !sound }))
    }

    /// Finds every whole frame of a file.
    fn walk(&mut self, segment: &Arc<Segment>, source: usize) -> Result<(), LogError> {
        let mut at = SEGMENT_HEADER_BYTES as u64;
        let mut position = segment.first_seq();
        let mut reason = "no frame starts here";
        loop {
            let found = find_header(segment, at, &|_| true)?;
            let Some((offset, header)) = found else {
                if anything_follows(segment, at)? {
                    let until = segment.file.len().doing("measure a segment", &segment.path)?;
                    self.faults.push(Fault { source, offset: at, until, position, reason });
                }
                return Ok(());
            };
            if offset > at {
                self.faults.push(Fault { source, offset: at, until: offset, position, reason });
            } else if header.first_seq != position {
                let reason = "the frame's position is not the next one";
                self.faults.push(Fault { source, offset, until: offset, position, reason });
            }
            let mut scanner = Scanner::new(Arc::clone(segment), offset, header.first_seq, READ_BYTES);
            (at, reason) = self.run(&mut scanner, source)?;
            position = scanner.next_seq();
        }
    }

    /// Takes up frames as long as they are whole. Where to go on looking, and why they are no more.
    fn run(&mut self, scanner: &mut Scanner, source: usize) -> Result<(u64, &'static str), LogError> {
        let mut run: Option<Run> = None;
        let (offset, first) = (scanner.offset(), scanner.next_seq());
        let next = loop {
            match scanner.next()? {
                Step::Frame(frame) => {
                    self.durable = self.durable.max(frame.header().synced_through);
                    run = Some(Run {
                        source,
                        offset,
                        end: scanner.offset(),
                        first,
                        last: frame.last_seq(),
                        chain: frame.chain(),
                        time: frame.time(),
                    });
                }
                Step::End { .. } => break (scanner.offset(), "zeros lie between the frames"),
                Step::Bad(bad) => match scanner.peek()? {
                    // A header that holds says how far its frame goes, and that nothing else is in it.
                    HeaderStep::Header(header) => {
                        self.durable = self.durable.max(header.synced_through);
                        let until = bad.offset.saturating_add(header.frame_len());
                        let (position, reason) = (bad.seq, bad.reason);
                        self.faults.push(Fault { source, offset: bad.offset, until, position, reason });
                        scanner.pass(&header);
                        break (until, "no frame starts here");
                    }
                    _ => break (bad.offset, bad.reason),
                },
            }
        };
        self.runs.extend(run);
        Ok(next)
    }
}
