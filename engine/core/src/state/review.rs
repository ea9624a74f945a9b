//! Which entries the next dream should look at.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::ops::Bound;

use foldhash::quality::FixedState;
use hashbrown::HashMap;

use super::dreams::DreamBook;
use super::slots::At;
use crate::event::Candidate;
use crate::id::{DreamId, Seq};
use crate::key::Key;

/// Ordinary entries in the order of their last change that counts, and which of them no standing
/// dream has looked at since.
///
/// A *standing* dream is finished and not undone. Its own changes do not count; those of any other
/// dream, and those of everybody else, do.
#[derive(Debug, Clone)]
pub(super) struct ReviewIndex {
    /// Keys that a standing dream has looked at since, by the change that counts.
    reviewed: BTreeMap<Seq, At>,
    /// All others.
    unreviewed: BTreeMap<Seq, At>,
    /// Only keys that a dream changed or had as a candidate since their last change by anybody
    /// else. For all others the newest change is the one that counts.
    tracks: HashMap<Key, Track, FixedState>,
}

/// By the changes that count; whose they are is for the state to compare, where the same key may have another
/// place.
impl PartialEq for ReviewIndex {
    fn eq(&self, other: &Self) -> bool {
        self.reviewed.keys().eq(other.reviewed.keys())
            && self.unreviewed.keys().eq(other.unreviewed.keys())
            && self.tracks == other.tracks
    }
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
    /// By which change the key is found; follows from the rest and the dreams.
    counted: Seq,
}

impl Track {
    pub(super) fn new(base: Seq, own: Vec<(DreamId, Seq)>, looked: Vec<DreamId>) -> Self {
        Self { base, own, looked, counted: base }
    }
}

impl ReviewIndex {
    pub(super) fn new(hasher: FixedState) -> Self {
        Self { reviewed: BTreeMap::new(), unreviewed: BTreeMap::new(), tracks: HashMap::with_hasher(hasher) }
    }

    /// The key changed at `seq`; `previous` is its newest change before, if the entry was there.
    pub(super) fn changed(
        &mut self,
        (key, at): (&Key, At),
        previous: Option<Seq>,
        seq: Seq,
        dream: Option<DreamId>,
        dreams: &DreamBook,
    ) {
        let Some(dream) = dream else {
            self.take_out(key, previous);
            self.unreviewed.insert(seq, at);
            return;
        };
        let base = previous.unwrap_or(seq);
        self.track(key, base).own.push((dream, seq));
        self.place((key, at), dreams);
    }

    /// The entry is not there any more; `previous` is its newest change before.
    pub(super) fn gone(&mut self, key: &Key, previous: Seq) {
        self.take_out(key, Some(previous));
    }

    /// The dream finished. `changed` tells the place and the newest change of a candidate that is still there.
    pub(super) fn finished(
        &mut self,
        dream: DreamId,
        candidates: &[Candidate],
        dreams: &DreamBook,
        changed: impl Fn(&Key) -> Option<(At, Seq)>,
    ) {
        for key in candidates.iter().map(|candidate| &candidate.key) {
            if let Some((at, base)) = changed(key) {
                let track = self.track(key, base);
                if !track.looked.contains(&dream) {
                    track.looked.push(dream);
                }
                self.place((key, at), dreams);
            }
        }
    }

    /// The dream was undone, or its undo was.
    pub(super) fn shifted(&mut self, candidates: &[Candidate], dreams: &DreamBook, place: impl Fn(&Key) -> Option<At>) {
        for key in candidates.iter().map(|candidate| &candidate.key) {
            if let Some(at) = place(key) {
                self.place((key, at), dreams);
            }
        }
    }

    /// Entries whose last change that counts lies after `after`, newest first.
    pub(super) fn newest_first(&self, after: Seq, include_reviewed: bool) -> impl Iterator<Item = At> {
        let window = (Bound::Excluded(after), Bound::Unbounded);
        let reviewed = include_reviewed.then(|| self.reviewed.range(window).rev());
        let mut reviewed = reviewed.into_iter().flatten().peekable();
        let mut unreviewed = self.unreviewed.range(window).rev().peekable();
        core::iter::from_fn(move || {
            let later = reviewed.peek().map(|(seq, _)| *seq) > unreviewed.peek().map(|(seq, _)| *seq);
            if later { reviewed.next() } else { unreviewed.next() }.map(|(_, at)| *at)
        })
    }

    /// How many [`Self::newest_first`] gives, at most `most`.
    pub(super) fn count(&self, after: Seq, include_reviewed: bool, most: usize) -> usize {
        let reviewed = if include_reviewed { count_after(&self.reviewed, after, most) } else { 0 };
        reviewed.saturating_add(count_after(&self.unreviewed, after, most)).min(most)
    }

    /// Whether [`Self::newest_first`] gives a key, which changed last at `changed`.
    pub(super) fn is_after(&self, key: &Key, changed: Seq, after: Seq, include_reviewed: bool) -> bool {
        let counted = self.tracks.get(key).map_or(changed, |track| track.counted);
        let is_there =
            self.unreviewed.contains_key(&counted) || include_reviewed && self.reviewed.contains_key(&counted);
        counted > after && is_there
    }

    fn track(&mut self, key: &Key, base: Seq) -> &mut Track {
        self.tracks.entry(key.clone()).or_insert_with(|| Track::new(base, Vec::new(), Vec::new()))
    }

    /// All tracks, in no order that means anything.
    pub(super) fn tracks(&self) -> impl Iterator<Item = (&Key, &Track)> {
        self.tracks.iter()
    }

    /// Takes up a track. Its key is put where it belongs later.
    pub(super) fn take_up(&mut self, key: Key, track: Track) {
        self.tracks.insert(key, track);
    }

    /// Whether dreams have to do with any key.
    pub(super) fn tracks_any(&self) -> bool {
        !self.tracks.is_empty()
    }

    /// Puts a key where it belongs, if it is tracked; all tracks and dreams have been taken up.
    pub(super) fn restore_tracked(&mut self, (key, at): (&Key, At), dreams: &DreamBook) -> bool {
        let is_tracked = self.tracks.contains_key(key);
        if is_tracked {
            self.place((key, at), dreams);
        }
        is_tracked
    }

    /// Puts all those where they belong that are not tracked, each with its last change. At once, which makes a
    /// denser tree than one by one, and sooner.
    pub(super) fn restore_waiting(&mut self, waiting: Vec<(Seq, At)>) {
        self.unreviewed.append(&mut waiting.into_iter().collect());
    }

    fn take_out(&mut self, key: &Key, previous: Option<Seq>) {
        // Mostly no dream has to do with any key.
        let track = if self.tracks.is_empty() { None } else { self.tracks.remove(key) };
        if let Some(counted) = track.map(|track| track.counted).or(previous) {
            self.take_from(counted);
        }
    }

    fn take_from(&mut self, counted: Seq) {
        if self.unreviewed.remove(&counted).is_none() {
            self.reviewed.remove(&counted);
        }
    }

    /// Puts a tracked key where its changes and the dreams say it belongs.
    fn place(&mut self, (key, at): (&Key, At), dreams: &DreamBook) {
        let Some(track) = self.tracks.get_mut(key) else {
            return;
        };
        let before = track.counted;
        let own = track.own.iter().filter(|(dream, _)| !dreams.stands(*dream)).map(|(_, seq)| *seq);
        track.counted = own.max().unwrap_or(track.base).max(track.base);
        let (counted, reviewed) =
            (track.counted, track.looked.iter().any(|dream| dreams.stands_since(*dream, track.counted)));
        self.take_from(before);
        if reviewed { &mut self.reviewed } else { &mut self.unreviewed }.insert(counted, at);
    }
}

/// How many lie behind a position, at most `most`. A walk over them goes to and fro in memory, so those before it are
/// counted at the same time: whichever end first tell it, and mostly those are none.
fn count_after(all: &BTreeMap<Seq, At>, after: Seq, most: usize) -> usize {
    let mut later = all.range((Bound::Excluded(after), Bound::Unbounded)).rev();
    let mut earlier = all.range(..=after);
    for counted in 0..most {
        if earlier.next().is_none() {
            return all.len().saturating_sub(counted).min(most);
        }
        if later.next().is_none() {
            return counted;
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::slots::Slots;

    #[test]
    fn what_lies_behind_a_position_is_counted_from_either_end() {
        let mut slots = Slots::new(FixedState::with_seed(7));
        let at = slots.at_or_new(&Key::from_recorded("key"));
        let all: BTreeMap<Seq, At> = (1..=20).map(|number| (Seq::new(2 * number), at)).collect();
        for after in 0..=42 {
            let behind = all.keys().filter(|seq| seq.get() > after).count();
            for most in 0..=22 {
                assert_eq!(count_after(&all, Seq::new(after), most), behind.min(most), "{after} {most}");
            }
        }
    }
}
