//! One operation as it is given, and its way into bytes.

use super::chain::{self, ChainHash};
use super::error::{Doing, LogError};
use super::frame::{BODY_COUNT_BYTES, BODY_PREFIX_BYTES, BODY_ROW_BYTES, SALT_BYTES, body_crc};
use super::frame_header::{
    FLAG_BODIES, FLAG_CLOCK_BACK, FRAME_HEADER_BYTES, FrameHeader, MAX_FRAME_BYTES, MAX_FRAME_COUNT, NEWEST_CODEC,
    Place,
};
use super::index::Entry;
use super::options::SaltSource;

/// The erasable part of one event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    /// The event's index in the operation.
    pub event_index: u32,
    /// What may be erased later.
    pub bytes: Vec<u8>,
}

/// One operation to append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameDraft {
    /// How many events it has, at least one.
    pub count: u32,
    /// When it is recorded, in microseconds since 1970 UTC.
    pub time: i64,
    /// Whether the clock had stepped back.
    pub clock_back: bool,
    /// Which codec wrote `permanent`.
    pub codec: u8,
    /// What stays for ever; never empty.
    pub permanent: Vec<u8>,
    /// What may be erased, at most one to an event, in the order of the events.
    pub bodies: Vec<Body>,
}

/// What an operation became.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameMeta {
    /// The first position.
    pub first_seq: u64,
    /// How many events.
    pub count: u32,
    /// The chain after it.
    pub chain: ChainHash,
}

impl FrameMeta {
    /// The last position.
    #[must_use]
    pub fn last_seq(&self) -> u64 {
        (self.first_seq).saturating_add(u64::from(self.count)).saturating_sub(1)
    }
}

fn table_bytes(bodies: usize) -> u64 {
    match bodies {
        0 => 0,
        rows => (BODY_COUNT_BYTES as u64).saturating_add((rows as u64).saturating_mul(BODY_ROW_BYTES as u64)),
    }
}

impl FrameDraft {
    /// How long the frame will be; refuses what cannot be one.
    pub fn frame_len(&self) -> Result<u64, LogError> {
        let invalid = |reason| Err(LogError::InvalidDraft { reason });
        if self.count == 0 {
            return invalid("it has no events");
        }
        if self.codec == 0 || self.codec > NEWEST_CODEC {
            return invalid("its codec is none that this version reads");
        }
        if self.permanent.is_empty() {
            return invalid("it has no permanent part");
        }
        let mut next_index = 0_u32;
        let mut bytes = (FRAME_HEADER_BYTES as u64)
            .saturating_add(self.permanent.len() as u64)
            .saturating_add(table_bytes(self.bodies.len()));
        for body in &self.bodies {
            if body.event_index < next_index || body.event_index >= self.count {
                return invalid("its bodies do not follow the order of its events");
            }
            next_index = body.event_index.saturating_add(1);
            bytes = bytes.saturating_add(BODY_PREFIX_BYTES as u64).saturating_add(body.bytes.len() as u64);
        }
        if bytes > MAX_FRAME_BYTES || self.count > MAX_FRAME_COUNT {
            return Err(LogError::OperationTooLarge { bytes, limit: MAX_FRAME_BYTES });
        }
        Ok(bytes)
    }

    /// Adds the frame to `out`. `frame_len` has accepted the draft, so its lengths fit their fields.
    pub(crate) fn encode(
        &self,
        out: &mut Vec<u8>,
        first_seq: u64,
        synced_through: u64,
        previous: &ChainHash,
        place: Place,
        salts: &dyn SaltSource,
    ) -> Result<(FrameMeta, Entry), LogError> {
        let start = out.len();
        out.extend_from_slice(&[0; FRAME_HEADER_BYTES]);
        let mut salt_bytes = vec![0_u8; self.bodies.len().saturating_mul(SALT_BYTES)];
        if !salt_bytes.is_empty() {
            salts.fill(&mut salt_bytes).doing("draw salts", "")?;
        }
        let (salt_chunks, _) = salt_bytes.as_chunks::<SALT_BYTES>();
        let permanent_start = out.len();
        if !self.bodies.is_empty() {
            out.extend_from_slice(&len_field(self.bodies.len()));
        }
        for (body, salt) in self.bodies.iter().zip(salt_chunks) {
            out.extend_from_slice(&body.event_index.to_le_bytes());
            out.extend_from_slice(&len_field(body.bytes.len()));
            out.extend_from_slice(&chain::body_digest(salt, &body.bytes));
        }
        out.extend_from_slice(&self.permanent);
        let bodies_start = out.len();
        for (body, salt) in self.bodies.iter().zip(salt_chunks) {
            out.extend_from_slice(salt);
            out.extend_from_slice(&body_crc(salt, &body.bytes).to_le_bytes());
            out.extend_from_slice(&body.bytes);
        }
        let permanent = out.get(permanent_start..bodies_start).unwrap_or_default();
        let mut header = FrameHeader {
            codec: self.codec,
            flags: if self.clock_back { FLAG_CLOCK_BACK } else { 0 }
                | if self.bodies.is_empty() { 0 } else { FLAG_BODIES },
            first_seq,
            count: self.count,
            permanent_len: u32::from_le_bytes(len_field(permanent.len())),
            bodies_len: u32::from_le_bytes(len_field(out.len().saturating_sub(bodies_start))),
            permanent_crc: crc32fast::hash(permanent),
            time: self.time,
            synced_through,
            chain: [0; 32],
        };
        header.chain = chain::link(previous, &header, permanent);
        if let Some(to) = out.get_mut(start..permanent_start) {
            to.copy_from_slice(&header.encode(place));
        }
        let meta = FrameMeta { first_seq, count: self.count, chain: header.chain };
        Ok((meta, Entry::new(place.offset, &header)))
    }
}

fn len_field(len: usize) -> [u8; 4] {
    u32::try_from(len).unwrap_or(u32::MAX).to_le_bytes()
}
