//! Rows packed together: a million rows one by one take sled 20 seconds, packed half a second.

/// A pack is full with so many rows or bytes, whichever comes first.
pub(crate) const MOST_ROWS: usize = 500;
const MOST_BYTES: usize = 64 * 1024;

/// Packs in the making.
#[derive(Debug, Default)]
pub(crate) struct Packs {
    done: Vec<Vec<u8>>,
    current: Vec<u8>,
    in_current: usize,
    rows: u64,
}

/// Packs, and how many rows are in them.
#[derive(Debug, Default)]
pub(crate) struct Packed {
    pub(crate) packs: Vec<Vec<u8>>,
    pub(crate) rows: u64,
}

impl Packs {
    /// Adds a row, which `write` appends.
    pub(crate) fn push<E>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<(), E> {
        write(&mut self.current)?;
        self.rows = self.rows.saturating_add(1);
        self.in_current = self.in_current.saturating_add(1);
        if self.in_current >= MOST_ROWS || self.current.len() >= MOST_BYTES {
            let room = self.current.len();
            self.done.push(std::mem::replace(&mut self.current, Vec::with_capacity(room)));
            self.in_current = 0;
        }
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Packed {
        if !self.current.is_empty() {
            self.done.push(self.current);
        }
        Packed { packs: self.done, rows: self.rows }
    }
}

impl Packed {
    /// One run of bytes, cut into packs: every pack counts as a row.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Self {
        let packs: Vec<Vec<u8>> = bytes.chunks(MOST_BYTES).map(<[u8]>::to_vec).collect();
        let rows = packs.len() as u64;
        Self { packs, rows }
    }

    pub(super) fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        self.packs.iter().for_each(|pack| {
            hasher.update(pack);
        });
        *hasher.finalize().as_bytes()
    }
}
