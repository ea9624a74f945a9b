//! Sums for a stretch of neighbouring documents.

use alloc::vec::Vec;

/// Documents summed up at a time: their sums stay in the fastest cache, and a search needs no table of all.
pub(super) const WINDOW: usize = 2_048;

/// The sums, and which of them are in use. An unused sum is zero.
pub(super) struct Window {
    sums: Vec<(f64, f64)>,
    /// A bit for each sum: sparse windows are walked by words of 64.
    used: [u64; WINDOW / 64],
}

impl Window {
    pub(super) fn new() -> Self {
        Self { sums: alloc::vec![(0.0, 0.0); WINDOW], used: [0; WINDOW / 64] }
    }

    /// Adds to both sums of a document. Offsets past the window are nobody's.
    pub(super) fn add(&mut self, offset: usize, first: f64, second: f64) {
        if let (Some(sums), Some(used)) = (self.sums.get_mut(offset), self.used.get_mut(offset / 64)) {
            sums.0 += first;
            sums.1 += second;
            *used |= 1 << (offset % 64);
        }
    }

    /// Hands on the sums in use, in rising order, and leaves the window empty.
    pub(super) fn drain(&mut self, mut give: impl FnMut(u32, f64, f64)) {
        let stretches = self.sums.chunks_exact_mut(64).zip(&mut self.used);
        for (start, (sums, used)) in (0_u32..).step_by(64).zip(stretches) {
            let mut bits = core::mem::take(used);
            while bits != 0 {
                let bit = bits.trailing_zeros();
                bits &= bits - 1;
                if let Some(sums) = sums.get_mut(bit as usize) {
                    let (first, second) = core::mem::take(sums);
                    give(start + bit, first, second);
                }
            }
        }
    }
}
