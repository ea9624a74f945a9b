//! Telling a torn end from damage, and cutting it off.

use super::error::{Doing, LogError};
use super::frame_header::{FRAME_HEADER_BYTES, FRAME_MAGIC, FrameHeader, HeaderFault};
use super::scan::BadFrame;
use super::segment::Segment;
use super::segment_header::segment_name;
use super::view::View;
use super::{Log, lock};
use crate::storage::{OpenMode, Storage, read_full};

pub(crate) const QUARANTINE_DIR: &str = "quarantine";

const READ_BYTES: usize = 256 * 1024;

/// What an interrupted write had left behind the last whole operation, and where it was put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TornEnd {
    /// The segment's file name.
    pub segment: String,
    /// Where it was cut.
    pub offset: u64,
    /// The position that would have come next.
    pub position: u64,
    /// How many bytes were set aside.
    pub bytes: u64,
    /// The copy's path in the store.
    pub quarantined_as: String,
}

impl Log {
    /// Cuts off what follows the last whole frame; or says that it is damage, changing nothing.
    /// `known` is the last position that a sync has surely covered. Under `append.lock`.
    pub(crate) fn cut_torn(&self, view: &View, bad: &BadFrame, known: u64) -> Result<(), LogError> {
        let storage = self.storage.as_ref();
        let Some(segment) = view.end_segment() else {
            return Ok(());
        };
        if let Some(reason) = damage_at(segment, bad, known)? {
            let damage = segment.damage(bad.offset, bad.seq, &reason);
            return Err(LogError::Damage(damage));
        }
        let (path, bytes) = set_aside(storage, segment, bad)?;
        let file = segment.writer(storage)?;
        file.set_len(bad.offset).doing("cut a torn end", &segment.path)?;
        file.sync_data().doing("sync a segment", &segment.path)?;
        lock(&self.torn_ends).push(TornEnd {
            segment: segment_name(segment.first_seq()),
            offset: bad.offset,
            position: bad.seq,
            bytes,
            quarantined_as: path,
        });
        Ok(())
    }
}

/// Why a bad frame is damage, when it is.
pub(crate) fn damage_at(segment: &Segment, bad: &BadFrame, known: u64) -> Result<Option<String>, LogError> {
    if !bad.torn {
        return Ok(Some(bad.reason.to_owned()));
    }
    if bad.seq <= known {
        let reason = format!("{} though position {known} was durable", bad.reason);
        return Ok(Some(reason));
    }
    // Frames of one unacknowledged batch may reach the disk out of order; but a later frame that was
    // written when this one was durable proves that it was whole.
    let witness = later_frame(segment, bad)?;
    Ok(witness
        .map(|later| format!("{}, and position {} was written after it was durable", bad.reason, later.first_seq)))
}

/// A whole header past the bad frame that was written when the bad frame's position was durable.
/// Nobody may judge an end in which a later version has written.
pub(crate) fn later_frame(segment: &Segment, bad: &BadFrame) -> Result<Option<FrameHeader>, LogError> {
    let witness = |header: &FrameHeader| header.first_seq > bad.seq && header.synced_through >= bad.seq;
    let found = find_header(segment, bad.offset.saturating_add(1), &witness)?;
    Ok(found.map(|(_, header)| header))
}

/// The first whole header from `at` on that is `wanted`, and where it lies.
pub(crate) fn find_header(
    segment: &Segment,
    at: u64,
    wanted: &dyn Fn(&FrameHeader) -> bool,
) -> Result<Option<(u64, FrameHeader)>, LogError> {
    let mut buffer = vec![0_u8; READ_BYTES];
    let mut at = at;
    loop {
        let read = read_full(segment.file.as_ref(), &mut buffer, at);
        let read = read.doing("read a segment", &segment.path)?;
        let bytes = buffer.get(..read).unwrap_or_default();
        for (index, start) in bytes.windows(FRAME_HEADER_BYTES).enumerate() {
            if !start.starts_with(&FRAME_MAGIC) {
                continue;
            }
            let offset = at.saturating_add(index as u64);
            match FrameHeader::decode(start, segment.place(offset)) {
                Ok(header) if wanted(&header) => return Ok(Some((offset, header))),
                // What a later version has written is neither cut nor passed over.
                Err(HeaderFault::Newer { found, supported }) => return Err(segment.newer(found, supported)),
                _ => {}
            }
        }
        if read < buffer.len() {
            return Ok(None);
        }
        at = at.saturating_add((read.saturating_sub(FRAME_HEADER_BYTES - 1)) as u64);
    }
}

/// Copies what will be cut, from the bad frame to the last byte that is not zero. The name follows from
/// place and contents, so that doing it again after an interruption comes to the same file.
fn set_aside(storage: &dyn Storage, segment: &Segment, bad: &BadFrame) -> Result<(String, u64), LogError> {
    let len = used_len(segment, bad.offset)?;
    let place = format!("{QUARANTINE_DIR}/{:020}-{:010}", bad.seq, bad.offset);
    let temporary = format!("{place}.torn.tmp");
    (storage.create_dir(QUARANTINE_DIR)).and_then(|()| storage.sync_dir("")).doing("make a folder", QUARANTINE_DIR)?;
    let to = storage.open(&temporary, OpenMode::Truncate).doing("set a torn end aside", &temporary)?;
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0_u8; READ_BYTES];
    let mut at = 0_u64;
    while at < len {
        let most = usize::try_from(len.saturating_sub(at)).unwrap_or(usize::MAX).min(READ_BYTES);
        let piece = buffer.get_mut(..most).unwrap_or_default();
        let read = read_full(segment.file.as_ref(), piece, bad.offset.saturating_add(at));
        let piece = piece.get(..read.doing("read a segment", &segment.path)?).unwrap_or_default();
        if piece.is_empty() {
            break;
        }
        hasher.update(piece);
        to.write_at(piece, at).doing("set a torn end aside", &temporary)?;
        at = at.saturating_add(piece.len() as u64);
    }
    let digest = hasher.finalize().to_hex();
    let path = format!("{place}-{}.torn", digest.get(..16).unwrap_or_default());
    (to.sync_data())
        .and_then(|()| storage.rename(&temporary, &path))
        .and_then(|()| storage.sync_dir(QUARANTINE_DIR))
        .doing("set a torn end aside", &path)?;
    Ok((path, at))
}

/// How far it is from `offset` to behind the last byte that is not zero: zeros at the end are the
/// preallocation, those before are kept.
fn used_len(segment: &Segment, offset: u64) -> Result<u64, LogError> {
    let mut buffer = vec![0_u8; READ_BYTES];
    let (mut at, mut used) = (0_u64, 0_u64);
    loop {
        let read = read_full(segment.file.as_ref(), &mut buffer, offset.saturating_add(at));
        let piece = buffer.get(..read.doing("read a segment", &segment.path)?).unwrap_or_default();
        if !super::bytes::all_zero(piece)
            && let Some(last) = piece.iter().rposition(|byte| *byte != 0)
        {
            used = at.saturating_add(last as u64).saturating_add(1);
        }
        if piece.len() < READ_BYTES {
            return Ok(used);
        }
        at = at.saturating_add(piece.len() as u64);
    }
}

/// Whether anything but zeros follows `offset`.
pub(crate) fn anything_follows(segment: &Segment, offset: u64) -> Result<bool, LogError> {
    let mut buffer = vec![0_u8; READ_BYTES];
    let mut at = offset;
    loop {
        let read = read_full(segment.file.as_ref(), &mut buffer, at);
        let read = read.doing("read a segment", &segment.path)?;
        if !super::bytes::all_zero(buffer.get(..read).unwrap_or_default()) {
            return Ok(true);
        }
        if read < buffer.len() {
            return Ok(false);
        }
        at = at.saturating_add(read as u64);
    }
}
