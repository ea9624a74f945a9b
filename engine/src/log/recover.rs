//! Putting the end of the log in order after an interruption. Doing it again, or being interrupted
//! in it, comes to the same result.

use std::sync::Arc;

use super::error::{Damage, Doing, LogError};
use super::frame_header::{FRAME_HEADER_BYTES, FrameHeader, HeaderFault};
use super::locks::SyncHeld;
use super::mark::{End, Mark};
use super::scan::BadFrame;
use super::segment::Segment;
use super::segment_header::{SEGMENT_HEADER_BYTES, segment_name};
use super::torn::anything_follows;
use super::view::{Tail, View};
use super::{Log, lock};
use crate::storage::{StorageFile, read_full};

const REWRITE_BYTES: usize = 256 * 1024;

impl Log {
    /// Under `append.lock`, when the tail has been looked at before: nothing but a process that
    /// stopped in mid-write can have left anything else than whole frames.
    pub(crate) fn settle_tail(&self, mark: &Mark) -> Result<(), LogError> {
        let mut view = lock(&self.view);
        let settled = match view.catch_up(self.storage.as_ref(), mark.synced.seq) {
            Ok(Tail::Clean) => Ok(()),
            Ok(Tail::Bad(bad)) => self.cut_torn(&view, &bad, mark.visible.seq),
            Err(error) => Err(error),
        };
        drop(view);
        settled.map_err(|error| match error {
            LogError::Damage(damage) => self.damaged(damage),
            error @ LogError::Io { .. } => self.poison(&error.to_string()),
            other => other,
        })
    }

    /// Looks at everything past what a sync has surely covered, cuts a torn end, and makes the rest
    /// durable. Under `append.lock` and `sync.lock`. Answers whether a failed sync was put right.
    pub(crate) fn recover(&self, sync: &SyncHeld<'_>) -> Result<bool, LogError> {
        let mark = self.marks.load()?;
        let (start, end) = self.find_end(mark.as_ref())?;
        // A segment that the mark does not speak of may have a name that a power cut still takes.
        let settled = mark.as_ref().is_some_and(|mark| {
            let covers = |known: &End| known.seq == end.seq && known.segment == end.segment;
            !mark.failed && covers(&mark.visible) && covers(&mark.synced)
        });
        if settled {
            return Ok(false);
        }
        let failed = mark.as_ref().is_some_and(|mark| mark.failed);
        self.make_durable(sync, mark.as_ref(), &start, &end)?;
        Ok(failed)
    }

    /// Where the surely durable part and the whole log end; a torn end is cut on the way.
    fn find_end(&self, mark: Option<&Mark>) -> Result<(End, End), LogError> {
        let storage = self.storage.as_ref();
        let mut view = lock(&self.view);
        view.refresh(storage)?;
        let start = match mark {
            Some(mark) => {
                if let Some(damage) = end_fault(&view.segments, &mark.synced)? {
                    return Err(LogError::Damage(damage));
                }
                mark.synced.clone()
            }
            // Every earlier segment was synced before the last one began.
            None => match view.segments.last() {
                Some(last) => last.start(),
                None => return Ok((view.end.clone(), view.end.clone())),
            },
        };
        view.go_back(&start);
        let bad = match view.catch_up(storage, start.seq)? {
            Tail::Bad(bad) => Some(bad),
            Tail::Clean => trailing(&view)?,
        };
        if let Some(bad) = bad {
            self.cut_torn(&view, &bad, mark.map_or(0, |mark| mark.synced.seq))?;
        }
        Ok((start, view.end.clone()))
    }

    fn make_durable(&self, _sync: &SyncHeld<'_>, mark: Option<&Mark>, start: &End, end: &End) -> Result<(), LogError> {
        let segments = self.known_segments();
        for segment in segments.iter().filter(|s| s.first_seq() >= start.segment) {
            let writer = segment.writer(self.storage.as_ref())?;
            // After a failed sync the system may hold pages to be clean that never reached the
            // disk, and a mark that says so may never have been written: only what is written anew
            // is surely written.
            let from = if segment.first_seq() == start.segment { start.offset } else { SEGMENT_HEADER_BYTES as u64 };
            let through = if segment.first_seq() == end.segment { end.offset } else { u64::MAX };
            let written = rewrite(segment, writer.as_ref(), from, through);
            let known = mark.is_some_and(|mark| mark.synced.segment == segment.first_seq());
            let named = written.and_then(|()| if known { Ok(()) } else { segment.sync_name(self.storage.as_ref()) });
            if let Err(error) = named.and_then(|()| writer.sync_data()) {
                if let Some(mark) = mark {
                    self.set_failed(mark);
                }
                return Err(self.poison(&format!("a sync of {} failed: {error}", segment.path)));
            }
        }
        (self.marks.store(false, end.clone(), end.clone()))
            .and_then(|()| self.marks.sync())
            .map_err(|error| self.poison(&format!("the mark could not be written: {error}")))
    }
}

/// Bytes behind the end of the frames where only zeros belong.
pub(crate) fn trailing(view: &View) -> Result<Option<BadFrame>, LogError> {
    let Some(segment) = view.end_segment() else {
        return Ok(None);
    };
    Ok(anything_follows(segment, view.end.offset)?.then(|| BadFrame {
        offset: view.end.offset,
        seq: view.end.seq.saturating_add(1),
        reason: "bytes follow the end of the log",
        torn: true,
        body: false,
    }))
}

/// The damage when the log does not reach to `end`, of which the mark says that it is durable.
pub(crate) fn end_fault(segments: &[Arc<Segment>], end: &End) -> Result<Option<Damage>, LogError> {
    let fault = |reason: &str| {
        Ok(Some(Damage {
            segment: segment_name(end.segment),
            offset: end.frame,
            position: end.seq,
            reason: reason.to_owned(),
        }))
    };
    let at = View::index_of(segments, end.segment);
    let found = segments.get(at).filter(|found| found.first_seq() == end.segment);
    let Some(segment) = found.map(Arc::clone) else {
        return fault("the log ends before its mark: the segment is missing");
    };
    let len = segment.file.len().doing("measure a segment", &segment.path)?;
    if len < end.offset {
        return fault("the log ends before its mark");
    }
    if end.frame == 0 {
        return if *end == segment.start() { Ok(None) } else { fault("the mark contradicts the segment") };
    }
    let mut bytes = [0_u8; FRAME_HEADER_BYTES];
    read_full(segment.file.as_ref(), &mut bytes, end.frame).doing("read a segment", &segment.path)?;
    match FrameHeader::decode(&bytes, segment.place(end.frame)) {
        Ok(header)
            if header.last_seq() == end.seq
                && header.chain == end.chain
                && end.frame.saturating_add(header.frame_len()) == end.offset =>
        {
            Ok(None)
        }
        Ok(_) => fault("the mark names another frame than lies there"),
        Err(HeaderFault::Newer { found, supported }) => Err(segment.newer(found, supported)),
        Err(_) => fault("the last durable frame is not there"),
    }
}

fn rewrite(segment: &Segment, writer: &dyn StorageFile, from: u64, through: u64) -> std::io::Result<()> {
    let mut buffer = vec![0_u8; REWRITE_BYTES];
    let mut at = from;
    while at < through {
        let most = usize::try_from(through.saturating_sub(at)).unwrap_or(usize::MAX).min(REWRITE_BYTES);
        let read = read_full(segment.file.as_ref(), buffer.get_mut(..most).unwrap_or_default(), at)?;
        if read == 0 {
            return Ok(());
        }
        writer.write_at(buffer.get(..read).unwrap_or_default(), at)?;
        at = at.saturating_add(read as u64);
    }
    Ok(())
}
