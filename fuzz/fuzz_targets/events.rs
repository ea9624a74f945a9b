//! Operations whose checksums hold and whose bytes are anything: what decodes encodes to the same bytes,
//! folds into a state, and can be read, written over and undone.
#![no_main]

use std::sync::{Arc, OnceLock};

use arbitrary::Arbitrary;
use bilinc::fuzzing::encode;
use bilinc::log::{Body, FrameDraft, Log, LogOptions};
use bilinc::storage::MemoryStorage;
use bilinc::{Memory, Seq, Timestamp};
use bilinc_core::RecordedEvent;
use bilinc_fuzz::poke::{Ask, poke};
use bilinc_fuzz::{Splice, spliced, stores};
use libfuzzer_sys::fuzz_target;

#[derive(Debug, Arbitrary)]
struct Forged {
    /// Which operation of the golden store it is made of; none begins with no bytes.
    of: Option<u8>,
    permanent: Vec<Splice>,
    bodies: Vec<(u8, Vec<Splice>)>,
    count: Option<u16>,
    time: Option<i64>,
    clock_back: bool,
}

fuzz_target!(|input: (Ask, Vec<Forged>)| {
    let (ask, operations) = input;
    let storage = stores::golden();
    let drafts: Vec<FrameDraft> = operations.iter().take(3).map(Forged::draft).collect();
    let Some(first) = append(&storage, &drafts) else { return };
    let Ok(memory) = stores::builder(7).open_in(Arc::new(storage.clone())) else { return };
    if let (None, Ok(events)) = (memory.damage(), memory.recorded(first)) {
        compare(&drafts, &events);
        fold(&events);
    }
    poke(&memory, &storage, ask);
});

impl Forged {
    fn draft(&self) -> FrameDraft {
        let known = drafts();
        let base = self.of.map(|number| &known[usize::from(number) % known.len()]);
        let count = self.count.map(u32::from).or(base.map(|base| base.count)).unwrap_or(1).max(1);
        let mut bodies: Vec<Body> = base.map_or_else(Vec::new, |base| base.bodies.clone());
        for (event_index, splices) in self.bodies.iter().take(4) {
            let event_index = u32::from(*event_index) % count;
            match bodies.iter_mut().find(|body| body.event_index == event_index) {
                Some(body) => body.bytes = spliced(&body.bytes, splices),
                None => bodies.push(Body { event_index, bytes: spliced(&[], splices) }),
            }
        }
        bodies.retain(|body| body.event_index < count);
        bodies.sort_by_key(|body| body.event_index);
        let permanent = base.map_or(&[][..], |base| &base.permanent);
        FrameDraft {
            count,
            time: self.time.or(base.map(|base| base.time)).unwrap_or(0),
            clock_back: self.clock_back,
            codec: 1,
            permanent: spliced(permanent, &self.permanent),
            bodies,
        }
    }
}

/// The operations of the golden store.
fn drafts() -> &'static [FrameDraft] {
    static DRAFTS: OnceLock<Vec<FrameDraft>> = OnceLock::new();
    DRAFTS.get_or_init(|| {
        let memory = stores::builder(7).open_in(Arc::new(stores::golden())).expect("it opens");
        let events = memory.recorded(Seq::ZERO).expect("its events");
        operations(&events).map(|operation| encode(operation).expect("it was decoded")).collect()
    })
}

fn operations(events: &[RecordedEvent]) -> impl Iterator<Item = &[RecordedEvent]> {
    events.chunk_by(|one, next| one.operation.first == next.operation.first)
}

/// Appends the operations behind what is there; says where that ended.
fn append(storage: &MemoryStorage, drafts: &[FrameDraft]) -> Option<Seq> {
    let options = LogOptions { salts: Arc::new(stores::Salts::default()), ..LogOptions::default() };
    let (log, _) = Log::open(Arc::new(storage.clone()), options, 1).expect("it opens");
    let first = log.durable().expect("an end").seq;
    let metas = log.begin_append().expect("nobody else writes").append(drafts).ok()?;
    log.sync_through(metas.last()?.last_seq()).expect("a sync");
    log.close().expect("it closes");
    Some(Seq::new(first))
}

/// What was decoded is encoded to the bytes that it was decoded from. A number or a name that was spelled at
/// more length than needed becomes shorter, and a time that nobody can write down the last one; then it is decoded
/// to the same.
fn compare(drafts: &[FrameDraft], events: &[RecordedEvent]) {
    for (draft, operation) in drafts.iter().zip(operations(events)) {
        let again = encode(operation).expect("it was decoded");
        // A time that nobody can write down counts as the last one.
        let time = Timestamp::from_micros(draft.time).micros();
        assert_eq!((again.count, again.time, again.clock_back), (draft.count, time, draft.clock_back));
        if again.permanent == draft.permanent {
            continue;
        }
        assert!(
            again.permanent.len() < draft.permanent.len() || holds_an_outermost_time(&again.permanent),
            "other bytes that are not shorter: {:?} of {:?}",
            again.permanent,
            draft.permanent
        );
        let storage = stores::golden();
        let first = append(&storage, std::slice::from_ref(&again)).expect("it fits a frame");
        let memory = stores::builder(7).open_in(Arc::new(storage)).expect("it opens");
        if memory.damage().is_none() {
            let twice = memory.recorded(first).expect("its events");
            assert_eq!(encode(&twice).expect("it was decoded").permanent, again.permanent, "not the same operation");
        }
    }
}

/// Whether there is a time that stands for all times beyond it, as the codec writes it.
fn holds_an_outermost_time(permanent: &[u8]) -> bool {
    let written = |time: Timestamp| ((time.micros() << 1) ^ (time.micros() >> 63)).to_le_bytes();
    let outermost = [Timestamp::MIN, Timestamp::MAX].map(written);
    permanent.windows(8).any(|bytes| outermost.iter().any(|time| time == bytes))
}

/// A history of nothing but these events folds in the same way twice.
fn fold(events: &[RecordedEvent]) {
    let state = |seed| {
        let mut state = bilinc_core::State::new(seed);
        events.iter().for_each(|event| drop(state.evolve(event)));
        state
    };
    assert!(state(1) == state(1));
    let _ = Memory::in_memory().expect("a store in memory").feed(events.iter().cloned());
}
