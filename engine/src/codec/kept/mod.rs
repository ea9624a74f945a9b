//! What checkpoints hold, as bytes: rows of the state, and the manifest beside them.
//!
//! Nothing here is frozen: whatever was written under other versions is not read but made anew from the
//! log. So a change needs no more than a higher number ([`bilinc_core::State::VERSION`] for rows,
//! [`MANIFEST_VERSION`] for the manifest).

mod manifest;
mod places;
mod quick;
mod rows;
#[cfg(test)]
mod tests;

pub(crate) use self::manifest::{KeptFile, Manifest};
pub(crate) use self::places::{decode_places, encode_places};
pub(crate) use self::rows::{RowDecoder, encode_row};
