//! What the fuzz targets share.

pub mod forge;
pub mod model;
pub mod poke;
mod room;
pub mod steps;
pub mod stores;
pub mod world;

use arbitrary::Arbitrary;

/// A change of bytes: some are taken out, others put in their place.
#[derive(Debug, Clone, Arbitrary)]
pub struct Splice {
    at: u16,
    take: u8,
    put: Vec<u8>,
}

/// At most so many changes are made.
const MOST_SPLICES: usize = 12;

/// The bytes with these changes.
#[must_use]
pub fn spliced(base: &[u8], splices: &[Splice]) -> Vec<u8> {
    let mut bytes = base.to_vec();
    for Splice { at, take, put } in splices.iter().take(MOST_SPLICES) {
        let from = usize::from(*at) % (bytes.len() + 1);
        let to = (from + usize::from(*take)).min(bytes.len());
        bytes.splice(from..to, put.iter().copied());
    }
    bytes
}
