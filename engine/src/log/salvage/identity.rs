//! Which store a damaged log belongs to: without its id no frame can be told from chance.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::survey::Named;
use crate::log::error::{Damage, LogError};
use crate::log::frame_header::FrameHeader;
use crate::log::segment::Segment;
use crate::log::segment_header::SegmentHeader;
use crate::log::torn::find_header;
use crate::log::{mark, mark_file};
use crate::storage::Storage;

/// A sound segment header speaks louder than the mark, which is one file that may have been put there.
const HEADER_VOTES: u32 = 2;

/// The store's id: what most sound headers and the mark say; else what a damaged header says, when a
/// frame behind it agrees.
pub(super) fn store_id(storage: &dyn Storage, files: &[Named]) -> Result<u128, LogError> {
    let mut votes: BTreeMap<u128, u32> = BTreeMap::new();
    for file in files {
        if let Ok(header) = &file.header {
            let count = votes.entry(header.store_id).or_default();
            *count = count.saturating_add(HEADER_VOTES);
        }
    }
    if let Some(id) = mark_file::stated_store_id(storage)? {
        let count = votes.entry(id).or_default();
        *count = count.saturating_add(1);
    }
    if let Some((id, _)) = votes.into_iter().max_by_key(|(_, count)| *count) {
        return Ok(id);
    }
    for file in files {
        if agrees(file)? {
            return Ok(file.stated_id);
        }
    }
    Err(LogError::Damage(Damage {
        segment: files.first().map_or_else(|| mark::MARK.to_owned(), |file| file.name.clone()),
        offset: 0,
        position: 1,
        reason: "nothing that is left says which store this was, so nothing in it can be recognised".to_owned(),
    }))
}

/// Whether a frame of the file was written for the store that its damaged header names.
fn agrees(file: &Named) -> Result<bool, LogError> {
    let header = SegmentHeader {
        store_id: file.stated_id,
        first_seq: file.first_seq,
        previous_first_seq: 0,
        previous_chain: [0; 32],
        previous_time: None,
        created_at: 0,
    };
    let segment = Segment::new(header, Arc::clone(&file.file));
    let any = |_: &FrameHeader| true;
    Ok(find_header(&segment, 0, &any)?.is_some())
}
