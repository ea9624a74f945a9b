//! Which entries the next dream should look at.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::ops::Bound;

use foldhash::quality::FixedState;
use hashbrown::HashMap;

use super::dreams::DreamBook;
use crate::event::Candidate;
use crate::id::{DreamId, Seq};
use crate::key::Key;

/// Ordinary entries in the order of their last change that counts, and which of them no standing
/// dream has looked at since.
///
/// A *standing* dream is finished and not undone. Its own changes do not count; those of any other
/// dream, and those of everybody else, do.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ReviewIndex {
    by_change: BTreeMap<Seq, Key>,
    unreviewed: BTreeSet<Seq>,
    /// Only keys that a dream changed or had as a candidate since their last change by anybody
    /// else. For all others the newest change is the one that counts.
    tracks: HashMap<Key, Track, FixedState>,
}

/// What dreams have to do with a key since its last change by anybody else.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Track {
    /// The last change that was not a dream's.
    pub(super) base: Seq,
    /// Changes by dreams since.
    pub(super) own: Vec<(DreamId, Seq)>,
    /// Dreams that finished with the key among their candidates.
    pub(super) looked: Vec<DreamId>,
    /// Where the key stands in `by_change`; follows from the rest and the dreams.
    counted: Seq,
}

impl Track {
    pub(super) fn new(base: Seq, own: Vec<(DreamId, Seq)>, looked: Vec<DreamId>) -> Self {
        Self { base, own, looked, counted: base }
    }
}

impl ReviewIndex {
    pub(super) fn new(hasher: FixedState) -> Self {
        Self { by_change: BTreeMap::new(), unreviewed: BTreeSet::new(), tracks: HashMap::with_hasher(hasher) }
    }

    /// The key changed at `seq`; `previous` is its newest change before, if the entry was there.
    pub(super) fn changed(
        &mut self,
        key: &Key,
        previous: Option<Seq>,
        seq: Seq,
        dream: Option<DreamId>,
        dreams: &DreamBook,
    ) {
        let Some(dream) = dream else {
            self.take_out(key, previous);
            self.by_change.insert(seq, key.clone());
            self.unreviewed.insert(seq);
            return;
        };
        let base = previous.unwrap_or(seq);
        self.track(key, base).own.push((dream, seq));
        self.place(key, dreams);
    }

    /// The entry is not there any more; `previous` is its newest change before.
    pub(super) fn gone(&mut self, key: &Key, previous: Seq) {
        self.take_out(key, Some(previous));
    }

    /// The dream finished. `changed` tells the newest change of a candidate that is still there.
    pub(super) fn finished(
        &mut self,
        dream: DreamId,
        candidates: &[Candidate],
        dreams: &DreamBook,
        changed: impl Fn(&Key) -> Option<Seq>,
    ) {
        for key in candidates.iter().map(|candidate| &candidate.key) {
            if let Some(base) = changed(key) {
                let track = self.track(key, base);
                if !track.looked.contains(&dream) {
                    track.looked.push(dream);
                }
                self.place(key, dreams);
            }
        }
    }

    /// The dream was undone, or its undo was.
    pub(super) fn shifted(&mut self, candidates: &[Candidate], dreams: &DreamBook) {
        for candidate in candidates {
            self.place(&candidate.key, dreams);
        }
    }

    /// Entries whose last change that counts lies after `after`, newest first.
    pub(super) fn newest_first(&self, after: Seq, include_reviewed: bool) -> impl Iterator<Item = &Key> {
        let window = (Bound::Excluded(after), Bound::Unbounded);
        let all = include_reviewed.then(|| self.by_change.range(window).rev().map(|(_, key)| key));
        let unreviewed =
            (!include_reviewed).then(|| self.unreviewed.range(window).rev().filter_map(|seq| self.by_change.get(seq)));
        all.into_iter().flatten().chain(unreviewed.into_iter().flatten())
    }

    fn track(&mut self, key: &Key, base: Seq) -> &mut Track {
        self.tracks.entry(key.clone()).or_insert_with(|| Track::new(base, Vec::new(), Vec::new()))
    }

    /// All tracks, in no order that means anything.
    pub(super) fn tracks(&self) -> impl Iterator<Item = (&Key, &Track)> {
        self.tracks.iter()
    }

    /// Takes up a track. Its key is restored later.
    pub(super) fn take_up(&mut self, key: Key, track: Track) {
        self.tracks.insert(key, track);
    }

    /// Puts a key where it belongs whose tracks, and whose dreams, have all been taken up.
    pub(super) fn restore(&mut self, key: &Key, changed: Seq, dreams: &DreamBook) {
        if self.tracks.contains_key(key) {
            self.place(key, dreams);
        } else {
            self.by_change.insert(changed, key.clone());
            self.unreviewed.insert(changed);
        }
    }

    fn take_out(&mut self, key: &Key, previous: Option<Seq>) {
        let counted = self.tracks.remove(key).map(|track| track.counted).or(previous);
        if let Some(counted) = counted {
            self.by_change.remove(&counted);
            self.unreviewed.remove(&counted);
        }
    }

    /// Puts a tracked key where its changes and the dreams say it belongs.
    fn place(&mut self, key: &Key, dreams: &DreamBook) {
        let Some(track) = self.tracks.get_mut(key) else {
            return;
        };
        self.by_change.remove(&track.counted);
        self.unreviewed.remove(&track.counted);
        let own = track.own.iter().filter(|(dream, _)| !dreams.stands(*dream)).map(|(_, seq)| *seq);
        track.counted = own.max().unwrap_or(track.base).max(track.base);
        let reviewed = track.looked.iter().any(|dream| dreams.stands_since(*dream, track.counted));
        self.by_change.insert(track.counted, key.clone());
        if !reviewed {
            self.unreviewed.insert(track.counted);
        }
    }
}
