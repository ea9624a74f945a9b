//! What the fuzz targets need of the inside. It is there for them alone: `cargo fuzz` sets `--cfg fuzzing`.

use bilinc_core::{RecordedEvent, State, StateRows};

use crate::codec::{self, kept};
use crate::error::EngineError;
use crate::log::FrameDraft;

/// The frame that the events of an operation make.
///
/// # Errors
/// When they make none.
pub fn encode(events: &[RecordedEvent]) -> Result<FrameDraft, EngineError> {
    codec::encode(events)
}

/// The manifest of a checkpoint, encoded again.
///
/// # Errors
/// When the bytes are none.
pub fn manifest(bytes: &[u8]) -> Result<Vec<u8>, String> {
    kept::Manifest::decode(bytes)?.encode()
}

/// The state that the rows of a checkpoint make.
///
/// # Errors
/// When the bytes hold no rows.
pub fn state(rows: &[u8]) -> Result<State, String> {
    let mut state = StateRows::new(0);
    let mut blocks = state.blocks();
    let mut full = Vec::new();
    let take = &mut |row| state.push(row);
    kept::RowDecoder::default().decode(rows, take, |key, slot| full.extend(blocks.push(key, slot)))?;
    let (last, names) = blocks.finish();
    full.into_iter().chain([last]).for_each(|block| state.push_block(block));
    state.push_names(names);
    Ok(state.finish())
}

/// The rows of a state.
///
/// # Errors
/// When one cannot be encoded.
pub fn rows(state: &State) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    state.rows().try_for_each(|row| kept::encode_row(&row, &mut out))?;
    Ok(out)
}

/// The places of frames that a checkpoint holds, encoded again.
///
/// # Errors
/// When the bytes hold none.
pub fn places(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let places = kept::decode_places(bytes)?;
    let encoded = places.iter().map(|(segment, index)| kept::encode_places(*segment, index));
    Ok(encoded.collect::<Result<Vec<_>, _>>()?.concat())
}
