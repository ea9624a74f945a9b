//! What a damaged store may say: what is true of the undamaged one, or of a prefix of its operations
//! when it says that it is damaged; or an error that names the damage.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bilinc::log::{Log, LogOptions};
use bilinc::storage::MemoryStorage;
use bilinc::{DreamId, EngineError, Error, Memory, Seq};

use super::ask::{self, Answers, shown_through};
use super::story::{LOOKED_AT, Story, story};
use crate::purge::files;
use crate::support::*;

/// In so many cases every question is asked once.
const TURNS: usize = 9;

/// `BILINC_FLIPS=all` asks for every case and every question.
pub(super) fn long_form() -> bool {
    std::env::var("BILINC_FLIPS").is_ok_and(|form| form == "all")
}

/// An operation on the disk.
pub(super) struct Place {
    pub(super) segment: String,
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) end: usize,
    /// Positions of its bodies, and where they lie.
    pub(super) bodies: Vec<(u64, std::ops::Range<usize>)>,
}

/// The undamaged store and what each prefix of it answers.
pub(super) struct Truth {
    pub(super) storage: MemoryStorage,
    pub(super) dream: DreamId,
    unpurged: MemoryStorage,
    pub(super) places: Vec<Place>,
    /// Where the purge is recorded.
    pub(super) purged: u64,
    /// The operation whose body it erased.
    pub(super) erased: u64,
    /// The usual form asks another part of the questions from case to case.
    turn: AtomicUsize,
    /// By the position that the prefix ends with.
    pub(super) answers: BTreeMap<u64, Answers>,
    /// Bodies that the present entry of a key needs.
    pub(super) needs: BTreeMap<String, Vec<u64>>,
}

/// What is expected of a case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Fate {
    /// It reads as the prefix through that position and takes no writes; nothing is changed.
    Prefix(u64),
    /// Everything is shown but what needs the body at that position.
    Body(u64),
    /// It does not open, for damage.
    Closed,
    /// As it was; writes are taken.
    Whole,
    /// The end behind that position was cut off and set aside; writes are taken.
    Torn(u64),
    /// Any of the first four.
    Any,
}

fn segments(storage: &MemoryStorage) -> Vec<(String, Vec<u8>)> {
    files(storage).into_iter().filter(|(path, _)| path.starts_with("log/")).collect()
}

fn path(segment: u64) -> String {
    format!("log/{segment:020}.seg")
}

pub(super) fn read_only(storage: &MemoryStorage) -> Result<Memory, Error> {
    let bench = Bench::on(Arc::new(MemoryStorage::new()));
    bench.clock.set(LOOKED_AT);
    bench.builder().read_only(true).open_in(Arc::new(storage.clone()))
}

fn open(storage: &MemoryStorage) -> Result<Memory, Error> {
    let clock = Arc::new(bilinc::ManualClock::at(LOOKED_AT));
    let ids = Arc::new(bilinc::CountingIds::new(8));
    builder(&clock, &ids).segment_bytes(1_150).open_in(Arc::new(storage.clone()))
}

impl Truth {
    pub(super) fn new() -> Self {
        let Story { storage, dream, unpurged } = story();
        let places = places(&storage);
        let mut truth = Self {
            storage,
            dream,
            unpurged,
            places,
            purged: 0,
            erased: 0,
            turn: AtomicUsize::new(0),
            answers: BTreeMap::new(),
            needs: BTreeMap::new(),
        };
        for last in [0].into_iter().chain(truth.places.iter().map(|place| place.last)) {
            let memory = read_only(&truth.prefix(last)).unwrap();
            assert_eq!(shown_through(&memory), last);
            let answers = ask::all(&memory, dream);
            truth.answers.insert(last, answers);
        }
        let memory = read_only(&truth.storage).unwrap();
        let events = memory.recorded(Seq::ZERO).unwrap();
        truth.purged = events.iter().find(|event| event.event.name() == "Purged").unwrap().seq.get();
        truth.erased = truth.purged - 1;
        assert_eq!(ask::all(&memory, dream), truth.answers[&truth.head()], "reading without a mark differs");
        for name in super::story::KEYS {
            let entry = memory.get(name).unwrap().map(|found| found.entry);
            let needs = entry.map_or(Vec::new(), |entry| vec![entry.value_at.get(), entry.metadata_at.get()]);
            truth.needs.insert(name.to_owned(), needs);
        }
        truth
    }

    pub(super) fn head(&self) -> u64 {
        self.places.last().unwrap().last
    }

    /// The segments in order, with their bytes.
    pub(super) fn segments(&self) -> Vec<(String, Vec<u8>)> {
        segments(&self.storage)
    }

    /// A copy that ends with that position, without a mark; as it was when that was the last.
    fn prefix(&self, last: u64) -> MemoryStorage {
        let copy = MemoryStorage::new();
        let then = places(&self.unpurged).last().is_some_and(|unpurged| last <= unpurged.last);
        let storage = if then { &self.unpurged } else { &self.storage };
        let end = self.places.iter().rev().find(|place| place.last <= last);
        for (at, (path, bytes)) in segments(storage).into_iter().enumerate() {
            match end {
                Some(end) if path < end.segment => copy.put(&path, bytes),
                Some(end) if path == end.segment => copy.put(&path, bytes[..end.end].to_vec()),
                None if at == 0 => copy.put(&path, bytes[..108].to_vec()),
                _ => {}
            }
        }
        copy
    }

    /// Where the frames of a segment end.
    pub(super) fn ends<'a>(&'a self, segment: &'a str) -> impl Iterator<Item = usize> + 'a {
        self.places.iter().filter(move |place| place.segment == segment).map(|place| place.end)
    }

    /// Marks that were once true, but for their last slot.
    pub(super) fn marks(&self) -> Vec<Vec<u8>> {
        let now = self.storage.contents("mark").unwrap();
        let without = |slot: usize| {
            let mut bytes = now.clone();
            bytes[slot * 512..slot * 512 + 188].fill(0);
            bytes
        };
        vec![without(0), without(1), self.unpurged.contents("mark").unwrap()]
    }

    /// A store that ends, cleanly, with that position and has no mark: nobody can tell that it went on.
    /// If its purge was not finished there, the open has done so.
    pub(super) fn check_end(&self, case: &str, storage: &MemoryStorage, last: u64) {
        let memory = open(storage).unwrap();
        let finished = self.purged == last;
        assert_eq!(shown_through(&memory), last + u64::from(finished), "{case}");
        assert_eq!(memory.status().unwrap().read_only, None, "{case}");
        memory.commit(commit("probe", "written")).unwrap();
    }

    /// The last position before what lies at a place of a segment.
    pub(super) fn before(&self, segment: &str, offset: usize) -> u64 {
        let whole = |place: &&Place| *place.segment < *segment || (place.segment == segment && place.end <= offset);
        self.places.iter().rev().find(whole).map_or(0, |place| place.last)
    }

    /// What a changed byte of a segment leads to.
    pub(super) fn of_byte(&self, segment: &str, offset: usize) -> Fate {
        let first = *self.segments()[0].0 == *segment;
        if offset < 108 {
            return if first { Fate::Closed } else { Fate::Prefix(self.before(segment, 0)) };
        }
        let place = self.places.iter().find(|place| place.segment == segment && offset < place.end).unwrap();
        let body = place.bodies.iter().find(|(_, range)| range.contains(&offset));
        body.map_or_else(|| Fate::Prefix(place.first - 1), |(seq, _)| Fate::Body(*seq))
    }

    /// Opens the case, asks it everything, tries to write, and looks at its files.
    pub(super) fn check(&self, case: &str, storage: &MemoryStorage, fate: Fate) {
        let before = files(storage);
        let memory = match open(storage) {
            Ok(memory) => memory,
            Err(error) => {
                assert!(matches!(fate, Fate::Closed | Fate::Any), "{case}: does not open: {error}");
                assert_names_damage(case, &error);
                assert_eq!(files(storage), before, "{case}: files were changed");
                return;
            }
        };
        assert_ne!(fate, Fate::Closed, "{case}: it opens");
        let shown = shown_through(&memory);
        let truth = self.answers.get(&shown).unwrap_or_else(|| panic!("{case}: {shown} is no end of an operation"));
        let mut failed = Vec::new();
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        // Where the open does not know yet what there is to find, the proof has to find it.
        let prove = matches!(fate, Fate::Body(_) | Fate::Any);
        let wanted = |number: usize| long_form() || (number + turn).is_multiple_of(TURNS) || (number == 0 && prove);
        let asked = ask::some(&memory, self.dream, &mut |number| wanted(number));
        for (name, answer) in &asked {
            let expected = &truth.iter().find(|(there, _)| there == name).unwrap().1;
            match answer {
                Err(("store_corrupt", words)) => {
                    assert!(words.contains("position") && words.contains("offset"), "{case}, {name}: {words}");
                    failed.push(name.clone());
                }
                // What the proof says of a prefix is not what it says of the whole.
                _ => assert_eq!(answer, expected, "{case}: {name}"),
            }
        }
        self.judge(case, &memory, fate, (shown, &failed));
        let proved = !asked.iter().any(|(name, answer)| name == "verify" && answer.is_ok());
        assert!(proved || shown == self.head() || memory.damage().is_none(), "{case}: the proof holds");
        let written = memory.commit(commit("probe", "written"));
        let status = memory.status().unwrap();
        drop(memory);
        let after = files(storage);
        let healthy = failed.is_empty() && shown == self.head();
        if matches!(fate, Fate::Whole | Fate::Torn(_)) || (fate == Fate::Any && healthy && status.read_only.is_none()) {
            written.unwrap_or_else(|error| panic!("{case}: writes are refused: {error}"));
            return;
        }
        assert_names_damage(case, &written.unwrap_err());
        assert!(status.read_only.is_some(), "{case}: nobody is told");
        assert_eq!(after, before, "{case}: files were changed");
    }

    fn judge(&self, case: &str, memory: &Memory, fate: Fate, (shown, failed): (u64, &[String])) {
        let cut = shown < self.head();
        let of_a_torn_end = memory.status().unwrap().recovered.is_some();
        match fate {
            Fate::Prefix(last) => assert_eq!(shown, last, "{case}: good operations are not shown"),
            Fate::Whole | Fate::Body(_) => assert_eq!(shown, self.head(), "{case}: good operations are not shown"),
            Fate::Torn(last) => assert_eq!((shown, of_a_torn_end), (last, true), "{case}"),
            Fate::Closed | Fate::Any => {}
        }
        if cut && !of_a_torn_end {
            let told = memory.damage().unwrap_or_else(|| panic!("{case}: shows a prefix and says nothing"));
            assert!(told.contains("position"), "{case}: {told}");
        }
        match fate {
            Fate::Whole | Fate::Torn(_) => assert!(failed.is_empty(), "{case}: {failed:?} fail"),
            Fate::Body(seq) => {
                assert!(failed.iter().any(|name| name == "verify"), "{case}: the proof holds");
                for name in failed.iter().filter_map(|name| name.strip_prefix("get ")) {
                    let needs = self.needs.get(name).is_none_or(|needs| needs.contains(&seq));
                    assert!(needs, "{case}: {name} does not need the body at {seq}");
                }
                assert!(!failed.iter().any(|name| name == "list none" || name == "dreams"), "{case}: {failed:?}");
            }
            _ => {}
        }
    }
}

/// A failure that says where.
fn assert_names_damage(case: &str, error: &Error) {
    assert_eq!(error.code(), "store_corrupt", "{case}: {error}");
    assert!(!error.is_retryable());
    assert!(matches!(error, Error::Engine(EngineError::Log(bilinc::log::LogError::Damage(_)))), "{case}: {error:?}");
}

fn places(storage: &MemoryStorage) -> Vec<Place> {
    let options = LogOptions { read_only: true, ..LogOptions::default() };
    let (log, _) = Log::open(Arc::new(storage.clone()), options, 1).unwrap();
    let mut places = Vec::new();
    log.read(1, u64::MAX, &mut |frame| {
        let location = frame.location();
        let at = |offset: u64| usize::try_from(offset).unwrap();
        let bodies = frame.bodies().map(|body| {
            let (offset, len) = body.region();
            (body.seq(), at(offset)..at(offset + len))
        });
        places.push(Place {
            segment: path(location.segment),
            first: frame.first_seq(),
            last: frame.last_seq(),
            end: at(location.offset + location.len),
            bodies: bodies.collect(),
        });
        ControlFlow::Continue(())
    })
    .unwrap();
    places
}
