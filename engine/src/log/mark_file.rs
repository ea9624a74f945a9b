//! The file of the mark: looked at, read, written, waited for.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::bytes::{all_zero, array_at, put_at};
use super::error::{Doing, LogError};
use super::mark::{
    CRC_AT, End, FILE_BYTES, MARK, MARK_TEMPORARY, Mark, SEQUENCE_AT, SLOT_BYTES, SLOT_STRIDE, Slot, VERSION, decode,
    encode, place_of,
};
use super::options::Durability;
use crate::storage::{OpenMode, Storage, StorageFile, Window, is_no_file, read_full};

/// The file, and the last mark seen in it.
#[derive(Debug)]
pub(crate) struct MarkFile {
    storage: Arc<dyn Storage>,
    store_id: u128,
    writable: bool,
    file: Mutex<Option<Arc<dyn StorageFile>>>,
    last: Mutex<Option<Mark>>,
    seen: Mutex<Seen>,
}

/// What tells a mark file from any other state of it: of each slot the sequence, which no other mark of the
/// store has in that slot, and the word that ends in its CRC. A slot in the writing may have the stamp of what
/// was there before, which counts as long as it is not whole.
type Stamp = [u64; 4];

const STAMPED: [usize; 4] = [SEQUENCE_AT, CRC_AT, SLOT_STRIDE + SEQUENCE_AT, SLOT_STRIDE + CRC_AT];

/// The file as it was read or written last.
#[derive(Debug, Default)]
struct Seen {
    /// `last` says what a file of this stamp says.
    stamp: Option<Stamp>,
    /// Asked for once to a file.
    window: Option<Option<Arc<dyn Window>>>,
    /// How many positions the last mark said were synced that the one before did not.
    step: u64,
}

impl Seen {
    /// Whether the file is known to be as it was.
    fn is_current(&self) -> bool {
        match (&self.window, &self.stamp) {
            (Some(Some(window)), Some(stamp)) => STAMPED.map(|at| window.word(at)) == *stamp,
            _ => false,
        }
    }

    /// Takes note of a slot that was just written.
    fn note(&mut self, at: usize, slot: &[u8]) {
        let Some(stamp) = &mut self.stamp else { return };
        for (word, stamped) in stamp.iter_mut().zip(STAMPED) {
            if let Some(offset) = stamped.checked_sub(at).filter(|offset| *offset < SLOT_BYTES) {
                *word = padded_word(slot, offset);
            }
        }
    }
}

/// The word at `at`; zeros follow the bytes.
fn padded_word(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0_u8; 8];
    for (to, from) in word.iter_mut().zip(bytes.get(at..).unwrap_or_default()) {
        *to = *from;
    }
    u64::from_le_bytes(word)
}

impl MarkFile {
    pub(crate) fn new(storage: Arc<dyn Storage>, store_id: u128, writable: bool) -> Self {
        Self { storage, store_id, writable, file: Mutex::new(None), last: Mutex::new(None), seen: Mutex::default() }
    }

    /// The open file; `None` while there is none, or something else than a file, which is a mark not known
    /// and no error.
    fn file(&self) -> io::Result<Option<Arc<dyn StorageFile>>> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if file.is_none() {
            let mode = if self.writable { OpenMode::ReadWrite } else { OpenMode::Read };
            match self.storage.open(MARK, mode) {
                Ok(opened) => *file = Some(opened),
                Err(error) if is_no_file(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(file.clone())
    }

    fn last(&self) -> MutexGuard<'_, Option<Mark>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last mark this process saw or wrote.
    pub(crate) fn cached(&self) -> Option<Mark> {
        self.last().clone()
    }

    fn window(&self) -> Option<Arc<dyn Window>> {
        self.seen().window.clone().flatten()
    }

    /// Sleeps until a process moves the mark on from `mark`, and no longer than `time`; may return at any time
    /// before. `false`, and no sleep, where that cannot be waited for.
    pub(crate) fn wait(&self, mark: &Mark, time: Duration) -> bool {
        let Some(window) = self.window() else { return false };
        let next = mark.sequence.saturating_add(1);
        let at = place_of(next) + SEQUENCE_AT;
        let there = window.word(at);
        if there != next {
            window.wait(at, there, time);
        }
        true
    }

    /// Wakes all who wait for the mark that this process wrote last.
    pub(crate) fn wake(&self) {
        if let (Some(window), Some(mark)) = (self.window(), self.cached()) {
            window.wake(place_of(mark.sequence) + SEQUENCE_AT);
        }
    }

    /// How many positions the last mark covered as synced that the one before did not.
    pub(crate) fn step(&self) -> u64 {
        self.seen().step
    }

    /// What may be shown, when the last mark seen covers `seq` as far as this durability wants it.
    pub(crate) fn covering(&self, seq: u64, durability: Durability) -> Option<End> {
        self.last().as_ref().filter(|mark| mark.covers(seq, durability)).map(|mark| mark.visible.clone())
    }

    /// As [`Self::load`], the position of what may be shown only.
    pub(crate) fn visible_seq(&self) -> Result<Option<u64>, LogError> {
        if self.is_current() {
            return Ok(self.last().as_ref().map(|mark| mark.visible.seq));
        }
        Ok(self.load()?.map(|mark| mark.visible.seq))
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_current(&self) -> bool {
        self.seen().is_current()
    }

    /// Looks at the file, and reads it when it has changed. A reader may meet a slot that is just being written:
    /// then the other one, or what this process saw before, is a true mark too, only older.
    pub(crate) fn load(&self) -> Result<Option<Mark>, LogError> {
        if self.is_current() {
            return Ok(self.cached());
        }
        let Some(file) = self.file().doing("open the mark", MARK)? else {
            return Ok(self.cached());
        };
        let mut bytes = [0_u8; SLOT_STRIDE + SLOT_BYTES];
        let read = read_full(file.as_ref(), &mut bytes, 0).doing("read the mark", MARK)?;
        let bytes = bytes.get(..read).unwrap_or_default();
        let stamp = STAMPED.map(|at| padded_word(bytes, at));
        let mut seen = self.seen();
        seen.window.get_or_insert_with(|| file.window(FILE_BYTES));
        if seen.stamp == Some(stamp) {
            return Ok(self.cached());
        }
        seen.stamp = None;
        let (mut found, mut synced, mut whole) = (None::<Mark>, [None; 2], true);
        for (at, synced) in [0, SLOT_STRIDE].into_iter().zip(&mut synced) {
            let slot = bytes.get(at..).unwrap_or_default();
            match decode(slot, self.store_id) {
                Slot::Sound(mark) => {
                    *synced = Some(mark.synced.seq);
                    if found.as_ref().is_none_or(|found| found.sequence < mark.sequence) {
                        found = Some(mark);
                    }
                }
                Slot::Newer(version) => {
                    let (found, supported) = (version.into(), VERSION.into());
                    return Err(LogError::NewerFormat { path: MARK.to_owned(), found, supported });
                }
                Slot::Bad => whole = whole && all_zero(slot.get(..SLOT_BYTES).unwrap_or(slot)),
            }
        }
        let mut last = self.last();
        if let Some(found) = found {
            let older = last.as_ref().is_some_and(|last| found.is_older(last));
            if !older {
                *last = Some(found);
            }
            // A slot that was met in the writing may have the stamp that it will have when it is whole.
            seen.stamp = whole.then_some(stamp);
            seen.step = if let [Some(one), Some(other)] = synced { one.abs_diff(other) } else { 0 };
        }
        Ok(last.clone())
    }

    /// Writes a mark over the older slot, without a sync. Only under `sync.lock`, after a
    /// [`MarkFile::load`] under the same hold.
    pub(crate) fn store(&self, failed: bool, visible: End, synced: End) -> io::Result<()> {
        let sequence = self.cached().map_or(1, |mark| mark.sequence.saturating_add(1));
        // Where a sync has failed the disk may refuse more, and a call is told of it, where a process that writes into
        // a mapping would be killed.
        let mapped = !failed;
        self.write(Mark { sequence, failed, replaced: false, visible, synced }, mapped)
    }

    /// Tells everybody who has this file open to write no more. Under both locks. `end` counts where the
    /// file is no mark any more; where there is no file nobody looks at one.
    pub(crate) fn retire(&self, end: End) -> Result<(), LogError> {
        if self.file().doing("open the mark", MARK)?.is_none() {
            return Ok(());
        }
        let known = self.load()?;
        let sequence = known.as_ref().map_or(1, |mark| mark.sequence.saturating_add(1));
        let (visible, synced) = known.map_or_else(|| (end.clone(), end), |mark| (mark.visible, mark.synced));
        let written = self.write(Mark { sequence, failed: true, replaced: true, visible, synced }, false);
        written.and_then(|()| self.sync()).doing("retire the mark", MARK)
    }

    /// Without a call where `mapped` allows it and the system does: a call makes the next sync of the log longer, by
    /// what the system notes of the file that was written.
    fn write(&self, mark: Mark, mapped: bool) -> io::Result<()> {
        let sequence = mark.sequence;
        let at = place_of(sequence);
        let slot = encode(&mark, self.store_id);
        match self.file()? {
            Some(_) if mapped && self.window().is_some_and(|window| window.write(at, &slot)) => {}
            Some(file) => file.write_at(&slot, at as u64)?,
            None => self.create(&slot, at)?,
        }
        let mut seen = self.seen();
        let synced = mark.synced.seq;
        let before = self.last().replace(mark);
        seen.step = before.map_or(0, |before| synced.saturating_sub(before.synced.seq));
        seen.note(at, &slot);
        Ok(())
    }

    fn create(&self, slot: &[u8], at: usize) -> io::Result<()> {
        let file = self.storage.open(MARK_TEMPORARY, OpenMode::Truncate)?;
        let mut bytes = [0_u8; FILE_BYTES];
        put_at(&mut bytes, at, slot);
        file.write_at(&bytes, 0)?;
        file.sync_data()?;
        self.storage.rename(MARK_TEMPORARY, MARK)?;
        self.storage.sync_dir("")?;
        *self.file.lock().unwrap_or_else(PoisonError::into_inner) = Some(file);
        *self.seen() = Seen::default();
        Ok(())
    }

    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file()?.map_or(Ok(()), |file| file.sync_data())
    }
}

/// The store that a sound mark belongs to, for who does not know it otherwise.
pub(crate) fn stated_store_id(storage: &dyn Storage) -> Result<Option<u128>, LogError> {
    let file = match storage.open(MARK, OpenMode::Read) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).doing("open the mark", MARK),
    };
    let mut bytes = [0_u8; FILE_BYTES];
    let read = read_full(file.as_ref(), &mut bytes, 0).doing("read the mark", MARK)?;
    let bytes = bytes.get(..read).unwrap_or_default();
    Ok([0, SLOT_STRIDE].into_iter().find_map(|at| {
        let slot = bytes.get(at..)?;
        let id = u128::from_le_bytes(array_at(slot, 16));
        matches!(decode(slot, id), Slot::Sound(_)).then_some(id)
    }))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]

    use super::*;
    use crate::storage::MemoryStorage;

    fn end(seq: u64) -> End {
        End { seq, chain: [7; 32], time: Some(1), segment: 1, frame: 100 * seq, offset: 100 * seq + 100 }
    }

    #[test]
    fn a_mark_that_was_met_half_written_is_read_again_though_its_stamp_stays() {
        let storage = Arc::new(MemoryStorage::new());
        let open = || MarkFile::new(Arc::<MemoryStorage>::clone(&storage), 5, true);
        let writer = open();
        for seq in 1..=3 {
            writer.store(false, end(seq), end(seq)).unwrap();
        }
        let before = storage.contents(MARK).unwrap();
        let reader = open();
        assert_eq!(reader.load().unwrap().unwrap().visible, end(3));
        writer.store(false, end(4), end(4)).unwrap();
        let after = storage.contents(MARK).unwrap();
        // Sequence and CRC are new, and something between them is not.
        let file = storage.open(MARK, OpenMode::ReadWrite).unwrap();
        let slot = place_of(4);
        file.write_at(&before[slot + 32..slot + 150], (slot + 32) as u64).unwrap();
        assert_eq!(reader.load().unwrap().unwrap().visible, end(3));
        file.write_at(&after, 0).unwrap();
        assert_eq!(reader.load().unwrap().unwrap().visible, end(4));
        assert_eq!(reader.visible_seq().unwrap(), Some(4));
    }

    #[test]
    fn a_mark_that_was_read_before_a_later_one_does_not_come_back() {
        let storage = Arc::new(MemoryStorage::new());
        let file = MarkFile::new(Arc::<MemoryStorage>::clone(&storage), 5, true);
        // The same may be shown, and more of it is synced.
        file.store(false, end(9), end(8)).unwrap();
        let older = file.cached().unwrap();
        file.store(false, end(9), end(9)).unwrap();
        let newer = file.cached().unwrap();
        assert!(older.is_older(&newer) && !newer.is_older(&older));
        // One that stops writing counts, with whatever sequence.
        assert!(!Mark { failed: true, ..older }.is_older(&newer));
    }
}
