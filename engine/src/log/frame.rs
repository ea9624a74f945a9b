//! One operation as it is read back.

use std::fmt;
use std::sync::Arc;

use super::bytes::{all_zero, array_at, u32_at};
use super::chain::{self, ChainHash};
use super::error::Damage;
use super::frame_header::{FLAG_BODIES, FLAG_CLOCK_BACK, FRAME_HEADER_BYTES, FrameHeader};
use super::segment_header::segment_name;

/// A row of the table of bodies: event index, length, salted digest.
pub(crate) const BODY_ROW_BYTES: usize = 40;
/// The table's row count before it.
pub(crate) const BODY_COUNT_BYTES: usize = 4;
pub(crate) const SALT_BYTES: usize = 16;
/// Salt and CRC before a body's bytes.
pub(crate) const BODY_PREFIX_BYTES: usize = SALT_BYTES + 4;

/// Where a frame lies in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameLocation {
    /// First position of the segment.
    pub segment: u64,
    /// Offset of the frame in the segment's file.
    pub offset: u64,
    /// Length, header included.
    pub len: u64,
}

/// One frame. Cheap to clone; it shares the buffer it was read into, so copy out what is to be kept.
#[derive(Clone)]
pub struct Frame {
    header: FrameHeader,
    segment: u64,
    offset: u64,
    buffer: Arc<Vec<u8>>,
    /// Where the frame starts in `buffer`.
    start: usize,
    /// Length of the table of bodies.
    table: usize,
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frame")
            .field("header", &self.header)
            .field("location", &self.location())
            .finish_non_exhaustive()
    }
}

impl Frame {
    /// The parts of a frame that lies whole in `buffer` from `start` on. Checks the CRC of the
    /// permanent part and the table of bodies; bodies themselves are checked when they are read.
    pub(crate) fn new(
        header: FrameHeader,
        segment: u64,
        offset: u64,
        buffer: Arc<Vec<u8>>,
        start: usize,
    ) -> Result<Self, FrameFault> {
        let mut frame = Self { header, segment, offset, buffer, start, table: 0 };
        let permanent = frame.stored_permanent();
        if crc32fast::hash(permanent) != frame.header.permanent_crc {
            return Err(FrameFault::Broken("the permanent part fails its checksum"));
        }
        if frame.header.flags & FLAG_BODIES != 0 {
            let table = check_table(permanent, &frame.header)
                .ok_or(FrameFault::Impossible("the table of bodies contradicts itself"))?;
            frame.table = table;
        }
        Ok(frame)
    }

    fn part(&self, from: usize, len: usize) -> &[u8] {
        let from = self.start.saturating_add(from);
        (self.buffer.get(from..from.saturating_add(len))).unwrap_or_default()
    }

    pub(crate) fn header(&self) -> &FrameHeader {
        &self.header
    }

    /// What the chain covers: the table of bodies and the opaque part.
    pub(crate) fn stored_permanent(&self) -> &[u8] {
        self.part(FRAME_HEADER_BYTES, self.header.permanent_len as usize)
    }

    /// Everything behind the header, as it is stored.
    pub(crate) fn stored_parts(&self) -> &[u8] {
        let len = (self.header.permanent_len as usize).saturating_add(self.header.bodies_len as usize);
        self.part(FRAME_HEADER_BYTES, len)
    }

    /// The bodies as they lie there, salts and checksums before them.
    pub(crate) fn stored_bodies(&self) -> &[u8] {
        let from = FRAME_HEADER_BYTES.saturating_add(self.header.permanent_len as usize);
        self.part(from, self.header.bodies_len as usize)
    }

    /// The first position.
    #[must_use]
    pub fn first_seq(&self) -> u64 {
        self.header.first_seq
    }

    /// The last position.
    #[must_use]
    pub fn last_seq(&self) -> u64 {
        self.header.last_seq()
    }

    /// How many events.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.header.count
    }

    /// When it was recorded, in microseconds since 1970 UTC.
    #[must_use]
    pub fn time(&self) -> i64 {
        self.header.time
    }

    /// Whether the clock had stepped back when it was recorded.
    #[must_use]
    pub fn clock_back(&self) -> bool {
        self.header.flags & FLAG_CLOCK_BACK != 0
    }

    /// Which codec wrote the opaque part.
    #[must_use]
    pub fn codec(&self) -> u8 {
        self.header.codec
    }

    /// The chain after this frame.
    #[must_use]
    pub fn chain(&self) -> ChainHash {
        self.header.chain
    }

    /// Where it lies.
    #[must_use]
    pub fn location(&self) -> FrameLocation {
        FrameLocation { segment: self.segment, offset: self.offset, len: self.header.frame_len() }
    }

    /// The opaque permanent part, as it was given.
    #[must_use]
    pub fn permanent(&self) -> &[u8] {
        let stored = self.stored_permanent();
        stored.get(self.table..).unwrap_or_default()
    }

    /// The bodies in the order of their events, without checking or copying any.
    #[must_use]
    pub fn bodies(&self) -> Bodies<'_> {
        let rows = self.stored_permanent().get(..self.table).unwrap_or_default();
        Bodies {
            frame: self,
            rows: rows.get(BODY_COUNT_BYTES..).unwrap_or_default(),
            region: FRAME_HEADER_BYTES.saturating_add(self.header.permanent_len as usize),
        }
    }

    /// The body of the event with that index in the operation, when it has one.
    #[must_use]
    pub fn body_of(&self, event_index: u32) -> Option<StoredBody<'_>> {
        self.bodies()
            .take_while(|body| body.event_index() <= event_index)
            .find(|body| body.event_index() == event_index)
    }

    /// Checks the CRC of every body; the first that fails.
    pub fn check_bodies(&self) -> Result<(), Damage> {
        self.bodies().try_for_each(|body| body.read().map(|_| ()))
    }

    /// Whether a body is zeros: erased, or not written yet.
    pub(crate) fn lacks_a_body(&self) -> bool {
        self.bodies().any(|body| body.read() == Ok(BodyState::Zeroed))
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FrameFault {
    /// As a write that did not finish could leave it.
    Broken(&'static str),
    /// Checksums hold, but no program of this format writes that.
    Impossible(&'static str),
}

/// The table's length, when its rows are in order and their lengths add up to what the header says.
fn check_table(permanent: &[u8], header: &FrameHeader) -> Option<usize> {
    let count = u32_at(permanent.get(..BODY_COUNT_BYTES)?, 0);
    if count == 0 || count > header.count {
        return None;
    }
    let table = (count as usize).checked_mul(BODY_ROW_BYTES)?.checked_add(BODY_COUNT_BYTES)?;
    let rows = permanent.get(BODY_COUNT_BYTES..table)?;
    // An opaque part is never empty.
    if permanent.len() == table {
        return None;
    }
    let mut total = 0_u64;
    let mut next_index = 0_u32;
    for row in rows.chunks_exact(BODY_ROW_BYTES) {
        let index = u32_at(row, 0);
        if index < next_index || index >= header.count {
            return None;
        }
        next_index = index.saturating_add(1);
        total = total.saturating_add(BODY_PREFIX_BYTES as u64 + u64::from(u32_at(row, 4)));
    }
    (total == u64::from(header.bodies_len)).then_some(table)
}

/// The bodies of a frame.
#[derive(Debug, Clone)]
pub struct Bodies<'a> {
    frame: &'a Frame,
    rows: &'a [u8],
    region: usize,
}

impl<'a> Iterator for Bodies<'a> {
    type Item = StoredBody<'a>;

    fn next(&mut self) -> Option<StoredBody<'a>> {
        let (row, rest) = self.rows.split_first_chunk::<BODY_ROW_BYTES>()?;
        self.rows = rest;
        let len = u32_at(row, 4);
        let body = StoredBody { frame: self.frame, row, region: self.region };
        self.region = (self.region).saturating_add(BODY_PREFIX_BYTES).saturating_add(len as usize);
        Some(body)
    }
}

/// A body as it lies in the log.
#[derive(Debug, Clone, Copy)]
pub struct StoredBody<'a> {
    frame: &'a Frame,
    row: &'a [u8; BODY_ROW_BYTES],
    /// Where its salt starts in the frame.
    region: usize,
}

/// What is left of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyState<'a> {
    /// Its bytes; their CRC holds.
    Present(&'a [u8]),
    /// Salt, CRC and bytes are all zeros: overwritten by a purge, and for nothing else to be taken.
    Zeroed,
}

impl<'a> StoredBody<'a> {
    /// The event's index in the operation.
    #[must_use]
    pub fn event_index(&self) -> u32 {
        u32_at(self.row, 0)
    }

    /// The event's position.
    #[must_use]
    pub fn seq(&self) -> u64 {
        (self.frame.first_seq()).saturating_add(u64::from(self.event_index()))
    }

    /// How many bytes were given.
    #[must_use]
    pub fn len(&self) -> u32 {
        u32_at(self.row, 4)
    }

    /// Whether none were given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The salted digest that the chain covers.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        array_at(self.row, 8)
    }

    /// Offset in the segment's file and length of what a purge overwrites: salt, CRC and bytes.
    #[must_use]
    pub fn region(&self) -> (u64, u64) {
        let offset = self.frame.offset.saturating_add(self.region as u64);
        (offset, BODY_PREFIX_BYTES as u64 + u64::from(self.len()))
    }

    fn stored(&self) -> &'a [u8] {
        let len = BODY_PREFIX_BYTES.saturating_add(self.len() as usize);
        self.frame.part(self.region, len)
    }

    /// The body, its CRC checked.
    pub fn read(&self) -> Result<BodyState<'a>, Damage> {
        let stored = self.stored();
        let (salt, rest) = stored.split_at_checked(SALT_BYTES).unwrap_or_default();
        let (crc, bytes) = rest.split_at_checked(4).unwrap_or_default();
        if body_crc(salt, bytes) == u32_at(crc, 0) && bytes.len() == self.len() as usize {
            return Ok(BodyState::Present(bytes));
        }
        if all_zero(stored) {
            return Ok(BodyState::Zeroed);
        }
        Err(self.damage("the body fails its checksum"))
    }

    /// As [`StoredBody::read`], the salted digest compared too.
    pub(crate) fn verify(&self) -> Result<BodyState<'a>, Damage> {
        let state = self.read()?;
        if let BodyState::Present(bytes) = state {
            self.compare(&chain::body_digest(self.salt(), bytes))?;
        }
        Ok(state)
    }

    /// Compares the salted digest with the one that its bytes have.
    pub(crate) fn compare(&self, computed: &[u8; 32]) -> Result<(), Damage> {
        if *computed == self.digest() { Ok(()) } else { Err(self.damage("the body is not the one that was recorded")) }
    }

    /// What is hashed before its bytes.
    pub(crate) fn salt(&self) -> &'a [u8] {
        self.stored().get(..SALT_BYTES).unwrap_or_default()
    }

    pub(crate) fn damage(&self, reason: &str) -> Damage {
        Damage {
            segment: segment_name(self.frame.segment),
            offset: self.region().0,
            position: self.seq(),
            reason: reason.to_owned(),
        }
    }
}

pub(crate) fn body_crc(salt: &[u8], bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(salt);
    hasher.update(bytes);
    hasher.finalize()
}
