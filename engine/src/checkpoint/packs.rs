//! Rows packed together: a million rows one by one take sled 20 seconds, packed half a second.

use super::folder::Doubt;

/// A pack is full with so many rows or bytes, whichever comes first.
const MOST_ROWS: usize = 500;
pub(super) const MOST_BYTES: usize = 64 * 1024;

/// Takes rows, and hands on each pack that is full: what is kept need not be in memory as a whole.
pub(crate) struct Packer<'a> {
    keep: &'a mut dyn FnMut(&[u8]) -> Result<(), Doubt>,
    current: Vec<u8>,
    in_current: usize,
    rows: u64,
    hasher: blake3::Hasher,
}

/// What packs held.
#[derive(Debug)]
pub(super) struct Packed {
    pub(super) rows: u64,
    /// BLAKE3 over all packs.
    pub(super) digest: [u8; 32],
}

impl<'a> Packer<'a> {
    pub(super) fn new(keep: &'a mut dyn FnMut(&[u8]) -> Result<(), Doubt>) -> Self {
        Self { keep, current: Vec::new(), in_current: 0, rows: 0, hasher: blake3::Hasher::new() }
    }

    /// Adds a row, which `write` appends.
    pub(crate) fn push(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<(), String>) -> Result<(), Doubt> {
        write(&mut self.current).map_err(Doubt::Wrong)?;
        self.rows = self.rows.saturating_add(1);
        self.in_current = self.in_current.saturating_add(1);
        if self.in_current >= MOST_ROWS || self.current.len() >= MOST_BYTES { self.hand_on() } else { Ok(()) }
    }

    /// Adds one run of bytes, cut into packs: every pack counts as a row. It must be all that there is.
    pub(crate) fn push_bytes(&mut self, bytes: &[u8]) -> Result<(), Doubt> {
        for pack in bytes.chunks(MOST_BYTES) {
            self.push(|current| {
                current.extend_from_slice(pack);
                Ok(())
            })?;
            self.hand_on()?;
        }
        Ok(())
    }

    fn hand_on(&mut self) -> Result<(), Doubt> {
        if !self.current.is_empty() {
            self.hasher.update(&self.current);
            (self.keep)(&self.current)?;
            self.current.clear();
            self.in_current = 0;
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Packed, Doubt> {
        self.hand_on()?;
        Ok(Packed { rows: self.rows, digest: *self.hasher.finalize().as_bytes() })
    }
}
