//! What is kept beside the log names places in it, and remembers where its frames lie.

use super::Log;
use super::error::{Damage, LogError};
use super::index::KeptIndex;
use super::mark::End;
use super::recover::end_fault;
use super::view::View;

impl Log {
    /// The end of the log behind the frame that holds `seq`, as it was when that was the last.
    pub(crate) fn end_at(&self, seq: u64) -> Result<End, LogError> {
        if seq == 0 {
            return Ok(self.start());
        }
        let frame = self.frame_at(seq)?;
        let place = frame.location();
        Ok(End {
            seq: frame.last_seq(),
            chain: frame.chain(),
            time: Some(frame.time()),
            segment: place.segment,
            frame: place.offset,
            offset: place.offset.saturating_add(place.len),
        })
    }

    /// What is wrong when the frame that `end` names is not there. Reads one frame header; who reads on
    /// from there checks the rest.
    pub(crate) fn fault_at(&self, end: &End) -> Result<Option<Damage>, LogError> {
        end_fault(&self.known_segments(), end)
    }

    /// Whether a sync has covered everything through `seq`, so that no power cut takes it back.
    pub(crate) fn is_synced_through(&self, seq: u64) -> Result<bool, LogError> {
        let mark = self.marks.load()?;
        Ok(mark.is_some_and(|mark| !mark.failed && mark.synced.seq >= seq))
    }

    /// What is known of where frames lie, up to `end`, by the first position of each segment.
    pub(crate) fn index_through(&self, end: &End) -> Vec<(u64, KeptIndex)> {
        let segments = self.known_segments();
        let upto = segments.iter().filter(|segment| segment.first_seq() <= end.segment);
        let known = upto.map(|segment| {
            let last = segment.first_seq() == end.segment;
            let (offset, next_seq) = if last { (end.offset, end.seq.saturating_add(1)) } else { (u64::MAX, u64::MAX) };
            (segment.first_seq(), segment.index().through(offset, next_seq))
        });
        known.collect()
    }

    /// Takes up what was known of where the frames of a segment lie, so that reads need not walk to them. It
    /// must have been known of this very log.
    pub(crate) fn take_up_index(&self, segment: u64, kept: KeptIndex) {
        let segments = self.known_segments();
        if let Some(there) = segments.get(View::index_of(&segments, segment)).filter(|s| s.first_seq() == segment) {
            there.index().take_up(kept);
        }
    }
}
