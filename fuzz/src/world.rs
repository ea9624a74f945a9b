//! Two handles on one store over a disk that may fail, and what was promised through them.

use std::sync::Arc;
use std::time::Duration;

use bilinc::storage::{FaultStorage, MemoryStorage, Storage};
use bilinc::{Actor, Clock, CountingIds, Error, ManualClock, Memory, OperationKind, Seq};
use bilinc_core::RecordedEvent;

use crate::model::Model;
use crate::steps::{Asked, Step, writer};
use crate::stores::{NOW, Salts};
use crate::trouble::{Then, Trouble};

pub struct World {
    disk: FaultStorage,
    clock: Arc<ManualClock>,
    ids: Arc<CountingIds>,
    salts: Arc<Salts>,
    handles: Vec<Memory>,
    /// What was recorded by the operations that were answered, without bodies.
    answered: Vec<RecordedEvent>,
    model: Model,
    number: u32,
}

impl Default for World {
    fn default() -> Self {
        let mut world = Self {
            disk: FaultStorage::new(Arc::new(MemoryStorage::new())).expect("an empty disk"),
            clock: Arc::new(ManualClock::at(NOW)),
            ids: Arc::new(CountingIds::new(7)),
            salts: Arc::default(),
            handles: Vec::new(),
            answered: Vec::new(),
            model: Model::default(),
            number: 0,
        };
        world.reopen();
        world
    }
}

impl World {
    fn open(&self) -> Result<Memory, Error> {
        self.open_in(Arc::new(self.disk.clone()))
    }

    fn open_in(&self, disk: Arc<dyn Storage>) -> Result<Memory, Error> {
        Memory::builder()
            .clock(Arc::clone(&self.clock) as _)
            .ids(Arc::clone(&self.ids) as _)
            .salts(Arc::clone(&self.salts) as _)
            .segment_bytes(2_500)
            .lock_timeout(Duration::ZERO)
            .open_in(disk)
    }

    /// Closes both handles and opens the store again.
    pub fn reopen(&mut self) {
        self.handles.clear();
        for _ in 0..2 {
            self.handles.push(self.open().expect("it opens"));
        }
        let status = self.handles[0].status().expect("a status");
        assert_eq!((self.handles[0].damage(), status.read_only), (None, None));
    }

    /// The clock goes on, or back.
    pub fn wait(&self, minutes: i32) {
        let years = 60 * 24 * 366 * 100;
        if Clock::now(self.clock.as_ref()).micros().abs() < i64::MAX / 4 {
            self.clock.advance(i64::from(minutes % years) * 60_000_000);
        }
    }

    /// Carries a step out on a handle where nothing fails. A refused one has written nothing.
    pub fn step(&mut self, by: bool, step: &Step) {
        if let Some((asked, memory)) = self.ask(by, step) {
            match asked.carry(&memory) {
                Ok(()) => self.done(&asked, &memory),
                Err(Error::Rejected(_)) => self.refused(&asked, &memory),
                Err(error) => panic!("{asked:?}: {error}"),
            }
        }
    }

    /// Carries a step out while a call fails, and then what follows.
    pub fn troubled(&mut self, by: bool, step: &Step, trouble: Trouble, then: Then) {
        let Some((asked, memory)) = self.ask(by, step) else { return };
        trouble.set(&self.disk);
        let done = asked.carry(&memory);
        // Whoever still held it would keep the store open.
        drop(memory);
        match done {
            Err(Error::Engine(error)) => {
                assert!(!matches!(error.code(), "internal_error" | "store_corrupt"), "{asked:?}: {error}");
                self.failed(by, &asked, trouble, then);
            }
            answered => {
                self.disarm();
                // A trouble that nobody was told of may have stopped the writer.
                if trouble.is_sticky() {
                    self.kill();
                }
                self.reopen();
                let memory = self.named(by, by);
                if answered.is_ok() { self.done(&asked, &memory) } else { self.refused(&asked, &memory) }
            }
        }
    }

    /// The power goes while nobody writes.
    pub fn cut(&mut self, seed: u8) {
        self.power_cut(seed);
        self.reopen();
        self.recovered(None, Seq::ZERO);
    }

    fn ask(&mut self, by: bool, step: &Step) -> Option<(Asked, Memory)> {
        self.number += 1;
        self.clock.advance(1_000_000);
        let memory = self.named(by, by);
        let value = format!("{:016x}", u64::from(self.number).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        Some((step.ask(&memory, &value)?, memory))
    }

    /// One of two writers on a handle, under the name of the last request.
    fn named(&self, handle: bool, by: bool) -> Memory {
        let actor = Actor { source: writer(usize::from(by)).into(), session_id: None };
        self.handles[usize::from(handle)].acting_as(actor).with_idempotency_key(&self.name())
    }

    fn name(&self) -> String {
        format!("op {}", self.number)
    }

    fn disarm(&self) {
        self.disk.set_fault(None);
        self.disk.set_look_fault(None);
    }

    /// A request was answered: what it recorded is there, once, and nothing else is.
    fn done(&mut self, asked: &Asked, memory: &Memory) {
        let events = self.new_events(memory);
        self.assert_own(&events);
        self.model.done(asked, &events, memory);
        self.answered.extend(events);
        for memory in &self.handles {
            self.model.assert_shown(memory);
        }
    }

    fn refused(&mut self, asked: &Asked, memory: &Memory) {
        let events = self.new_events(memory);
        assert!(events.is_empty() || asked.is_of_pages(), "a refused command wrote something");
        if !events.is_empty() {
            self.done(asked, memory);
        }
    }

    /// What was recorded since the last answer.
    fn new_events(&self, memory: &Memory) -> Vec<RecordedEvent> {
        let mut events = memory.recorded(self.head()).expect("events");
        events.iter_mut().for_each(|event| event.body = None);
        events
    }

    /// Events are of whole operations of the last request, or finish a purge.
    fn assert_own(&self, events: &[RecordedEvent]) {
        let name = self.name();
        for operation in events.chunk_by(|one, next| one.operation.first == next.operation.first) {
            let told = &operation[0].operation;
            assert_eq!(operation.len(), told.count as usize, "an operation in part");
            let own = told.idempotency.as_deref().is_some_and(|own| own.split('#').next() == Some(&name));
            assert!(own || told.kind == OperationKind::PurgeCompletion, "{told:?} is not of {name}");
        }
    }

    fn head(&self) -> Seq {
        self.answered.last().map_or(Seq::ZERO, |event| event.seq)
    }

    fn failed(&mut self, by: bool, asked: &Asked, trouble: Trouble, then: Then) {
        self.disarm();
        match then {
            // When a sync fails, and the mark cannot say so either, those who were at work all along do not
            // learn of it: they must not write any more, not even to close.
            Then::Again | Then::AgainElsewhere | Then::Reopen if trouble.is_sticky() => {
                let shown = self.shown();
                self.kill();
                self.reopen();
                self.recovered(Some((asked, by)), shown);
            }
            Then::Again | Then::AgainElsewhere => {
                let memory = self.named(by != matches!(then, Then::AgainElsewhere), by);
                let done = asked.carry(&memory).is_ok();
                if done {
                    self.done(asked, &memory);
                }
                drop(memory);
                let shown = self.shown();
                self.reopen();
                if !done {
                    self.recovered(Some((asked, by)), shown);
                }
            }
            Then::Reopen => {
                let shown = self.shown();
                self.reopen();
                self.recovered(Some((asked, by)), shown);
            }
            Then::PowerCut { seed } => {
                let shown = self.shown();
                self.power_cut(seed);
                self.reopen();
                self.recovered(Some((asked, by)), shown);
            }
            Then::Twice { seed, trouble, cut } => {
                let shown = self.shown();
                self.power_cut(seed);
                trouble.set(&self.disk);
                if let Err(error) = self.open() {
                    assert_eq!(error.code(), "cloud_runtime_unavailable", "{error}");
                }
                self.disarm();
                if let Some(seed) = cut {
                    self.power_cut(seed);
                }
                self.reopen();
                self.recovered(Some((asked, by)), shown);
            }
        }
    }

    /// What anybody could have seen by now.
    fn shown(&self) -> Seq {
        let heads = self.handles.iter().filter_map(|memory| memory.head().ok());
        heads.map(|head| head.seq).max().unwrap_or(Seq::ZERO)
    }

    /// All processes stop without tidying up.
    fn kill(&mut self) {
        Trouble::STOP.set(&self.disk);
        self.handles.clear();
        self.disk.set_fault(None);
    }

    /// They stop, and a part of what no sync covered is lost.
    fn power_cut(&mut self, seed: u8) {
        self.kill();
        let left = self.disk.after_power_cut(u64::from(seed));
        self.disk = FaultStorage::new(Arc::new(left)).expect("a disk");
    }

    /// What is shown outlasts a power cut now, whatever was left of an earlier failure.
    fn assert_durable(&self) {
        let left: Arc<dyn Storage> = Arc::new(self.disk.after_power_cut(u64::from(self.number)));
        let memory = self.open_in(left).expect("it opens");
        assert_eq!(memory.damage(), None);
        assert!(memory.head().expect("a head").seq >= self.head(), "what an open showed is lost");
    }

    /// Everything that was answered or shown is there, and of the request in flight all or nothing, or its
    /// first pages. Asked once more, it is there once.
    fn recovered(&mut self, asked: Option<(&Asked, bool)>, shown: Seq) {
        let memory = self.named(false, asked.is_some_and(|(_, by)| by));
        let mut events = memory.recorded(Seq::ZERO).expect("events");
        events.iter_mut().for_each(|event| event.body = None);
        assert!(events.starts_with(&self.answered), "an answered write is lost");
        assert!(memory.head().expect("a head").seq >= shown, "what was shown is lost");
        let more = events.len() > self.answered.len();
        match asked {
            Some((asked, _)) if more => self.done(asked, &memory),
            _ => assert!(!more, "something was written that nobody asked for"),
        }
        self.prove();
        self.assert_durable();
        let Some((asked, _)) = asked else { return };
        match asked.carry(&memory) {
            Ok(()) => self.done(asked, &memory),
            Err(Error::Rejected(rejection)) => {
                assert!(!more || asked.is_of_pages(), "done, and refused when repeated: {asked:?}: {rejection}");
                self.refused(asked, &memory);
            }
            Err(error) => panic!("{asked:?}: {error}"),
        }
    }

    /// The log proves, and its events add up to what is shown.
    pub fn prove(&self) {
        for memory in &self.handles {
            self.model.assert_shown(memory);
            assert!(memory.verify(&mut |_, _| {}).expect("it proves").state_equal);
        }
    }

    /// Also: a replay gives the same state, and what was erased is in no file.
    pub fn end(mut self) {
        self.reopen();
        self.prove();
        let memory = &self.handles[0];
        let replayed = Memory::in_memory().expect("a store in memory");
        replayed.feed(memory.recorded(Seq::ZERO).expect("events")).expect("they follow");
        assert!(replayed.is_same_state(memory).expect("both read"), "a replay gives another state");
        for dir in ["", "log", "quarantine"] {
            for entry in self.disk.list(dir).unwrap_or_default().into_iter().filter(|entry| !entry.is_dir) {
                let path = if dir.is_empty() { entry.name } else { format!("{dir}/{}", entry.name) };
                let bytes = self.read(&path);
                for value in &self.model.erased {
                    let found = bytes.windows(value.len()).any(|window| window == value.as_bytes());
                    assert!(!found, "{path} holds what was erased");
                }
            }
        }
    }

    fn read(&self, path: &str) -> Vec<u8> {
        let file = self.disk.open(path, bilinc::storage::OpenMode::Read).expect("a file");
        let mut bytes = vec![0; usize::try_from(file.len().expect("its length")).expect("it fits")];
        let _ = file.read_at(&mut bytes, 0).expect("a read");
        bytes
    }
}
