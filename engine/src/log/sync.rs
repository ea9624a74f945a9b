//! Making appended frames durable, for all who wait at once.

use std::time::{Duration, Instant};

use super::error::{Doing, LogError};
use super::locks::{SyncHeld, Turn};
use super::mark::{End, MARK, Mark};
use super::options::Durability;
use super::view::Tail;
use super::{Durable, Log, lock};

/// With relaxed durability the mark moves once in so many acknowledgements.
const RELAXED_MARKS: u32 = 64;

/// How long the mark is watched before a thread waits for `sync.lock`, when it can sleep meanwhile and when it
/// cannot.
const WATCHED: Duration = Duration::from_millis(10);
const WATCHED_AWAKE: Duration = Duration::from_millis(1);

/// So long it sleeps at most: who should wake it may have been killed.
const SLEEP: Duration = Duration::from_millis(1);

/// What relaxed durability has acknowledged in this process.
#[derive(Debug, Default)]
pub(crate) struct Relaxed {
    pub end: Option<End>,
    unmarked: u32,
}

fn durable(end: &End) -> Durable {
    Durable { seq: end.seq, chain: end.chain }
}

impl Log {
    /// Waits until everything through `seq` is durable, and says how far the log is by then.
    ///
    /// Threads and processes group by themselves: whoever gets `sync.lock` syncs for all that has
    /// been appended by then, and the others find the mark moved past what they wait for. With
    /// [`Durability::Relaxed`] nothing is synced, and other processes' readers may see it only after
    /// [`Log::publish`] or some more operations. The first failure stops all writing, in
    /// every process, until an open has put it right.
    pub fn sync_through(&self, seq: u64) -> Result<Durable, LogError> {
        if self.options.durability == Durability::Relaxed
            && let Some(end) = self.relax_through(seq)?
        {
            return Ok(durable(&end));
        }
        self.move_mark(seq)
    }

    /// Shows other processes what relaxed durability has acknowledged here: the mark, which it moves
    /// only now and then, is brought up to date. Worth doing when idle; without relaxed durability
    /// there is nothing to do.
    pub fn publish(&self) -> Result<(), LogError> {
        let end = lock(&self.relaxed).end.clone();
        match end {
            Some(end) => self.move_mark(end.seq).map(|_| ()),
            None => Ok(()),
        }
    }

    /// Acknowledges in this process alone, most of the time: the mark costs as much as the frame.
    fn relax_through(&self, seq: u64) -> Result<Option<End>, LogError> {
        self.check_writable()?;
        let end = lock(&self.view).end.clone();
        let mut relaxed = lock(&self.relaxed);
        relaxed.unmarked = relaxed.unmarked.saturating_add(1);
        if end.seq < seq || relaxed.unmarked >= RELAXED_MARKS {
            return Ok(None);
        }
        if relaxed.end.as_ref().is_none_or(|known| known.seq < end.seq) {
            relaxed.end = Some(end.clone());
        }
        Ok(Some(end))
    }

    /// As [`Log::sync_through`], whatever the durability, and the mark with it: what is done next must
    /// never be on the disk without what lies before it.
    pub(crate) fn harden_through(&self, seq: u64) -> Result<(), LogError> {
        self.check_writable()?;
        let _held = self.take_sync_lock(self.options.lock_timeout)?;
        let mark = self.load_mark()?;
        if mark.synced.seq < seq {
            let end = self.appended_end(mark.synced.seq)?;
            if end.seq < seq {
                return Err(LogError::NoSuchPosition { seq, last: end.seq });
            }
            self.sync_segment(&end, &mark)?;
            (self.marks.store(false, end.clone(), end))
                .map_err(|error| self.poison(&format!("the mark could not be written: {error}")))?;
        }
        self.marks.sync().map_err(|error| self.poison(&format!("the mark could not be synced: {error}")))
    }

    fn move_mark(&self, seq: u64) -> Result<Durable, LogError> {
        // While we wait another thread may do it for us.
        let served = || self.marks.covering(seq, self.options.durability);
        let turn = match self.syncing.take(served) {
            Ok(turn) => turn,
            Err(end) => return Ok(durable(&end)),
        };
        self.check_writable()?;
        let (held, waited) = match self.lock_or_served(turn, seq)? {
            Ok(held) => held,
            Err(end) => return Ok(durable(&end)),
        };
        let mark = self.load_mark()?;
        if mark.covers(seq, self.options.durability) {
            return Ok(durable(&mark.visible));
        }
        self.gather(&mark, waited);
        let end = self.end_to_sync(&mark, seq)?;
        if end.seq < seq {
            return Err(LogError::NoSuchPosition { seq, last: end.seq });
        }
        let synced = match self.options.durability {
            Durability::Relaxed => mark.synced.clone(),
            Durability::Durable => {
                self.sync_segment(&end, &mark)?;
                end.clone()
            }
        };
        (self.marks.store(false, end.clone(), synced))
            .map_err(|error| self.poison(&format!("the mark could not be written: {error}")))?;
        lock(&self.relaxed).unmarked = 0;
        // In this order: of those who wake, one may want the lock at once. Who came only just now is woken by the
        // next one of us, or wakes by itself.
        drop(held);
        if self.pace.meets_others() {
            self.marks.wake();
        }
        Ok(durable(&end))
    }

    /// `sync.lock`, and whether it was waited for; or the mark that made it needless. Another process that syncs
    /// mostly does so for those who wait, too, so they watch the mark for as long as a few syncs of a fast disk
    /// take: who is served that way need not have the lock in their turn, one after the other.
    fn lock_or_served<'a>(&'a self, turn: Turn<'a>, seq: u64) -> Result<Result<(SyncHeld<'a>, bool), End>, LogError> {
        let wait = self.options.lock_timeout;
        let begun = Instant::now();
        let (mut waited, mut watched) = (false, WATCHED);
        while begun.elapsed() < wait.min(watched) {
            // The look costs less than the lock, and mostly tells whoever has waited that it was served.
            let mark = self.load_mark()?;
            if mark.covers(seq, self.options.durability) {
                return Ok(Err(mark.visible));
            }
            if let Some(held) = self.try_sync_lock()? {
                return Ok(Ok((SyncHeld::new(held, turn), waited)));
            }
            waited = true;
            if !self.marks.wait(&mark, SLEEP.min(wait)) {
                watched = WATCHED_AWAKE;
                std::thread::yield_now();
            }
        }
        self.lock_for(turn, wait).map(|held| Ok((held, waited)))
    }

    /// Makes the mark itself durable, so that the next open after a power cut knows more. Done at
    /// roll and close; worth doing when idle.
    pub fn sync_mark(&self) -> Result<(), LogError> {
        self.marks.sync().doing("sync the mark", MARK)
    }

    /// The mark as it is now; under `sync.lock`, and refused when a sync has failed anywhere.
    pub(crate) fn load_mark(&self) -> Result<Mark, LogError> {
        let mark = self.marks.load()?;
        let Some(mark) = mark else {
            return Err(self.poison("the mark has gone"));
        };
        if mark.replaced {
            return Err(self.poison("the store is being salvaged; open it again"));
        }
        if mark.failed {
            return Err(self.poison("a sync failed"));
        }
        Ok(mark)
    }

    /// What to sync, so that `seq` is covered: all that is there when other processes have been at work lately, who
    /// may wait for this sync, too. Otherwise what this process knows of, which saves the look behind it.
    fn end_to_sync(&self, mark: &Mark, seq: u64) -> Result<End, LogError> {
        if !self.pace.meets_others() {
            let known = lock(&self.view).end.clone();
            if known.seq >= seq.max(mark.visible.seq) {
                return Ok(known);
            }
        }
        self.appended_end(mark.synced.seq)
    }

    /// The end of what anybody has appended. Without `append.lock` a frame may just be in the
    /// writing: it is whole, bodies too, or the end lies before it.
    fn appended_end(&self, synced: u64) -> Result<End, LogError> {
        let mut view = lock(&self.view);
        match view.catch_up(self.storage.as_ref(), synced) {
            Ok(Tail::Clean | Tail::Bad(_)) => Ok(view.end.clone()),
            Err(error) => {
                drop(view);
                Err(self.noting(error))
            }
        }
    }

    /// Syncs the segment that `end` lies in; every earlier one was synced before it began. A mark that
    /// speaks of a segment for the first time says that its name is durable too. A failed sync may
    /// have thrown away what it did not write, and the next one would succeed all the same: so it is
    /// never tried again, and the mark tells everybody.
    pub(crate) fn sync_segment(&self, end: &End, mark: &Mark) -> Result<(), LogError> {
        let segment = {
            let view = lock(&self.view);
            let at = super::view::View::index_of(&view.segments, end.segment);
            view.segments.get(at).map(std::sync::Arc::clone)
        };
        let Some(segment) = segment else {
            return Err(self.poison("the segment has gone"));
        };
        let writer = segment.writer(self.storage.as_ref())?;
        let named = if mark.synced.segment == end.segment { Ok(()) } else { segment.sync_name(self.storage.as_ref()) };
        let begun = Instant::now();
        named.and_then(|()| writer.sync_data()).map_err(|error| {
            self.set_failed(mark);
            self.poison(&format!("a sync of {} failed: {error}", segment.path))
        })?;
        self.pace.synced(begun.elapsed());
        Ok(())
    }

    /// Under `sync.lock`.
    pub(crate) fn set_failed(&self, mark: &Mark) {
        // When even this cannot be written, this process stops all the same, and the frames in
        // question stay past the mark.
        let _ = self.marks.store(true, mark.visible.clone(), mark.synced.clone());
        let _ = self.marks.sync();
    }
}
