//! Clocks that jump: nothing is disordered, nothing becomes unreadable, and what compares with now
//! compares with what the clock shows now.

use std::collections::BTreeMap;
use std::sync::Arc;

use bilinc::storage::MemoryStorage;
use bilinc::{
    ActionOp, At, Clock, Commit, DreamStart, DreamUndo, ImportOptions, ListQuery, LogQuery, Memory, Order, Seq,
    Snapshot, Timestamp,
};
use proptest::prelude::*;

use crate::properties::config;
use crate::support::*;

const HOUR: i64 = Timestamp::HOUR;
const YEAR: i64 = 365 * DAY;
const AHEAD: i64 = 25 * HOUR;

#[derive(Debug, Clone)]
enum Step {
    /// The clock moves by so much.
    Jump(i64),
    /// The clock shows this.
    Show(Timestamp),
    /// A commit of one of three keys, with a time to live or without.
    Put(usize, Option<i64>),
    /// The same request under one of two names, each time.
    Named(usize),
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let jumps = [0, 1, -1, HOUR, -HOUR, DAY, -DAY, 26 * HOUR, -AHEAD, -AHEAD - 1, 8 * DAY, 300 * YEAR, -60 * YEAR];
    let shown = [START, Timestamp::MIN, Timestamp::MAX, Timestamp::from_micros(0), Timestamp::from_micros(-1)];
    prop_oneof![
        3 => proptest::sample::select(jumps.to_vec()).prop_map(Step::Jump),
        1 => proptest::sample::select(shown.to_vec()).prop_map(Step::Show),
        6 => (0_usize..3, proptest::option::of(proptest::sample::select(vec![1, 3_600, 200_000])))
            .prop_map(|(key, ttl)| Step::Put(key, ttl)),
        3 => (0_usize..2).prop_map(Step::Named),
        1 => Just(Step::Reopen),
    ]
}

/// One operation as the rules of time have it.
#[derive(Debug, Clone)]
struct Told {
    at: Timestamp,
    key: String,
    value: String,
    expires: Option<Timestamp>,
}

struct Naive {
    bench: Bench,
    memory: Memory,
    told: Vec<Told>,
    /// By name, the position it was recorded at.
    names: BTreeMap<String, usize>,
}

impl Naive {
    fn new() -> Self {
        let bench = Bench::new();
        let memory = bench.memory.clone();
        Self { bench, memory, told: Vec::new(), names: BTreeMap::new() }
    }

    fn now(&self) -> Timestamp {
        self.bench.clock.now()
    }

    /// What an operation now is recorded as.
    fn recorded_time(&self) -> (Timestamp, bool) {
        let previous = self.told.last().map(|told| told.at);
        match previous {
            Some(previous) if i128::from(previous.micros()) - i128::from(self.now().micros()) > i128::from(AHEAD) => {
                (self.now(), true)
            }
            Some(previous) => (self.now().max(previous), false),
            None => (self.now(), false),
        }
    }

    fn write(&mut self, command: Commit, name: Option<&str>) -> bool {
        let handle = name.map_or_else(|| self.memory.clone(), |name| self.memory.with_idempotency_key(name));
        let (at, clock_back) = self.recorded_time();
        let written = handle.commit(command.clone()).unwrap();
        if written.replayed {
            return true;
        }
        let seq = written.answer.seq;
        assert_eq!(seq.get(), self.told.len() as u64 + 1, "a position is skipped or comes twice");
        let event = self.memory.recorded(seq.before()).unwrap().swap_remove(0);
        assert_eq!((event.operation.at, event.operation.clock_back), (at, clock_back));
        let expires = command.ttl.map(|ttl| at.plus(ttl as i64 * SECOND));
        let value = command.value.as_plain_string().unwrap();
        self.told.push(Told { at, key: command.key.as_str().to_owned(), value, expires });
        false
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Jump(micros) => self.bench.clock.set(self.now().plus(*micros)),
            Step::Show(time) => self.bench.clock.set(*time),
            Step::Put(key, ttl) => {
                let value = format!("value {}", self.told.len());
                let ttl = ttl.map(|seconds| seconds as f64);
                self.write(Commit { ttl, ..commit(&format!("k{key}"), &value) }, None);
            }
            Step::Named(name) => self.named(&format!("name {name}")),
            Step::Reopen => self.memory = self.bench.open_again(),
        }
    }

    fn named(&mut self, name: &str) {
        let before = self.names.get(name).map(|index| self.told[*index].at);
        let replayed = self.write(commit(name, "the same"), Some(name));
        // A name counts for a day by the clock of now; an operation recorded ahead of it, until then.
        match before {
            Some(at) if at.plus(DAY) < self.now() => assert!(!replayed, "a name is kept for more than a day"),
            Some(at) if !self.far_ahead_of(at) => assert!(replayed, "a request is carried out twice within a day"),
            None => assert!(!replayed),
            Some(_) => {}
        }
        if !replayed {
            self.names.insert(name.to_owned(), self.told.len() - 1);
        }
    }

    /// Whether the clock was seen so far ahead that a day had passed by it: then a name may be gone.
    fn far_ahead_of(&self, at: Timestamp) -> bool {
        self.told.iter().any(|told| told.at > at.plus(DAY))
    }

    fn standing(&self, key: &str, through: usize) -> Option<&Told> {
        self.told[..through].iter().rev().find(|told| told.key == key)
    }

    fn live(&self, key: &str, through: usize, time: Timestamp) -> Option<&str> {
        let told = self.standing(key, through)?;
        told.expires.is_none_or(|expires| expires >= time).then_some(told.value.as_str())
    }

    fn check(&self) {
        let (memory, all) = (&self.memory, self.told.len());
        let value = |entry: bilinc::MemoryEntry| entry.value.unwrap().as_plain_string().unwrap();
        let keys = ["k0", "k1", "k2", "name 0", "name 1"];
        for key in keys {
            assert_eq!(memory.get(key).unwrap().map(value).as_deref(), self.live(key, all, self.now()), "{key}");
        }
        // As of a time is as of the last position recorded at or before it.
        let edges = [Timestamp::MIN, Timestamp::MAX, START, self.now()];
        let times = self.told.iter().flat_map(|told| [told.at.plus(-1), told.at, told.at.plus(1)]).chain(edges);
        for time in times {
            let through = self.told.iter().rposition(|told| told.at <= time).map_or(0, |index| index + 1);
            for key in keys {
                let then = memory.get_at(key, At::Time(time)).unwrap().map(value);
                assert_eq!(then.as_deref(), self.live(key, through, time), "{key} as of {time}");
            }
        }
        for through in 0..=all {
            let then = memory.get_at("k0", At::Position(Seq::new(through as u64))).unwrap().map(value);
            let time = through.checked_sub(1).map_or(Timestamp::MIN, |index| self.told[index].at);
            assert_eq!(then.as_deref(), self.live("k0", through, time), "k0 at {through}");
        }
        // Newest and oldest are by recorded time, page by page.
        let live: Vec<_> = keys.iter().filter(|key| self.live(key, all, self.now()).is_some()).collect();
        let mut wanted: Vec<_> =
            live.iter().map(|key| (self.standing(key, all).unwrap().at, key.to_string())).collect();
        wanted.sort();
        assert_eq!(pages(memory, Order::Oldest), wanted.iter().map(|(_, key)| key.clone()).collect::<Vec<_>>());
        wanted.reverse();
        assert_eq!(pages(memory, Order::Newest), wanted.iter().map(|(_, key)| key.clone()).collect::<Vec<_>>());
        let log = memory.log(&LogQuery { oldest_first: true, limit: Some(1_000), ..LogQuery::default() }).unwrap();
        assert_eq!(log.events.len(), all);
        self.check_dream(&keys);
        assert_sound(memory);
    }

    /// A first dream looks at what changed behind the last position that is over seven days old.
    fn check_dream(&self, keys: &[&str]) {
        let copy = self.memory.replayed_through(self.memory.head().unwrap().seq).unwrap();
        if copy.now() != self.now() {
            return;
        }
        let begin = self.now().plus(-7 * DAY);
        let window = self.told.iter().rposition(|told| told.at < begin).map_or(0, |index| index + 1);
        let is_new = |key: &&&str| self.told[window..].iter().any(|told| told.key == **key);
        let mut wanted: Vec<&str> = keys.iter().filter(is_new).copied().collect();
        wanted.retain(|key| self.live(key, self.told.len(), self.now()).is_some());
        let started = copy.dream_start(DreamStart::default()).unwrap().answer;
        let mut found: Vec<String> = started.candidates.iter().map(|one| one.memory.key.to_string()).collect();
        found.sort();
        assert_eq!(found, wanted);
    }
}

fn pages(memory: &Memory, order: Order) -> Vec<String> {
    let (mut keys, mut cursor) = (Vec::new(), None);
    loop {
        let page = memory.list(&ListQuery { order, cursor, limit: Some(2), ..ListQuery::default() }).unwrap();
        keys.extend(page.entries.iter().map(|entry| entry.key.to_string()));
        cursor = page.next_cursor;
        if cursor.is_none() {
            return keys;
        }
    }
}

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn a_clock_may_do_what_it_wants(steps in proptest::collection::vec(step(), 1..30)) {
        let mut naive = Naive::new();
        for step in &steps {
            naive.step(step);
        }
        naive.check();
    }
}

/// Moments at which a machine may wake up.
const MOMENTS: [Timestamp; 6] = [
    Timestamp::MIN,
    Timestamp::from_micros(-10 * YEAR),
    Timestamp::from_micros(-1),
    Timestamp::from_micros(0),
    START.plus(300 * YEAR),
    Timestamp::MAX,
];

#[test]
fn every_command_works_at_every_moment() {
    for moment in MOMENTS {
        let bench = Bench::new();
        bench.put("a", "one");
        bench.put("b", "two");
        bench.clock.set(moment);
        let memory = &bench.memory;
        let snapshot = memory.snapshot(Snapshot::default()).unwrap().answer.id;
        memory.revise(revise("a", "changed")).unwrap();
        let token = memory.rollback_preview(snapshot, "back", 10).unwrap().confirmation_token;
        memory.rollback(snapshot, "back", &token).unwrap();
        assert_eq!(bench.value("a").as_deref(), Some("one"), "{moment}");
        memory.commit(Commit { ttl: Some(f64::MAX), ..commit("lasting", "v") }).unwrap();
        memory.confirm(confirm("a")).unwrap();
        if let Some(dream) = memory.dream_start(DreamStart::default()).unwrap().answer.dream {
            let actions = vec![action(ActionOp::Revise, "a", Some(bench.version("a")))];
            memory.dream_apply(dream, actions, None, false).unwrap();
            let undo = DreamUndo { dream, dry_run: false, restore_metadata: false };
            assert_eq!(memory.dream_undo(undo).unwrap().answer.undone.restored.len(), 1, "{moment}");
        }
        let forgotten = memory.forget(forget("b")).unwrap().answer.seq;
        memory.undo(undo_seq(forgotten)).unwrap();
        let mut text = Vec::new();
        assert_eq!(memory.export(&mut text, &mut |_, _| {}).unwrap(), 3);
        let other = Bench::new();
        other.clock.set(Timestamp::MAX);
        other.memory.import(text.as_slice(), ImportOptions::default(), &mut |_, _| {}).unwrap();
        for name in ["a", "b", "lasting"] {
            let (here, there) = (bench.entry(name), other.entry(name));
            assert_eq!((here.entry.created_at, here.value), (there.entry.created_at, there.value), "{moment}");
        }
        memory.status().unwrap();
        bench.assert_sound();
    }
}

#[test]
fn windows_and_tokens_compare_with_the_clock_of_now() {
    let bench = Bench::new();
    bench.put("a", "one");
    let snapshot = bench.memory.snapshot(Snapshot::default()).unwrap().answer.id;
    bench.revise("a", "two");
    let token = bench.memory.rollback_preview(snapshot, "back", 10).unwrap().confirmation_token;
    let rolled = || bench.memory.rollback(snapshot, "back", &token).map(|_| ()).map_err(|error| error.code());
    // Fifteen minutes, the last moment of them inside; a clock that steps back makes it good again.
    bench.clock.advance(15 * MINUTE + 1);
    assert_eq!(rolled(), Err("rollback_confirmation_expired"));
    bench.clock.advance(-DAY);
    let dream = bench.memory.dream_start(DreamStart::default()).unwrap().answer.dream.unwrap();
    assert_eq!(rolled(), Err("state_changed_since_preview"));
    let actions = vec![action(ActionOp::Revise, "a", Some(bench.version("a")))];
    bench.memory.dream_apply(dream, actions, None, false).unwrap();
    // Recorded at the time that was held to, a day ahead of the clock.
    let until = bench.memory.dream(dream).unwrap().undo_until;
    assert_eq!(until, bench.memory.recorded(Seq::ZERO).unwrap().last().unwrap().operation.at.plus(7 * DAY));
    let undo = |dry_run| bench.memory.dream_undo(DreamUndo { dream, dry_run, restore_metadata: false });
    bench.clock.set(until.plus(1));
    assert_eq!(undo(true).unwrap_err().code(), "undo_window_expired");
    bench.clock.set(until);
    undo(true).unwrap();
    bench.clock.set(until.plus(-300 * YEAR));
    undo(false).unwrap();
    bench.assert_sound();
}

#[test]
fn two_stores_with_one_clock_give_other_ids_and_other_versions() {
    let clock = Arc::new(bilinc::ManualClock::at(START));
    let open = || Memory::builder().clock(clock.clone()).open_in(Arc::new(MemoryStorage::new())).unwrap();
    let mut seen = std::collections::HashSet::new();
    for memory in [open(), open(), open()] {
        assert!(seen.insert(memory.store_id().as_u128()));
        for time in [START, Timestamp::MIN, Timestamp::MAX, START] {
            clock.set(time);
            let answer = memory.commit(commit("a", "the same")).unwrap().answer;
            assert!(seen.insert(answer.version.unwrap().as_u128()), "a version comes twice");
            let event = memory.recorded(answer.seq.before()).unwrap().swap_remove(0);
            assert!(seen.insert(event.operation.id.as_u128()), "an id comes twice");
        }
    }
}

/// [`bilinc::Ids`] asks for ids that never came before. One that breaks this loses what ids are for, and
/// nothing that rests on positions.
#[test]
fn ids_that_come_twice_harm_nothing_that_rests_on_positions() {
    let bench = Bench::new();
    let tell = |memory: &Memory, value: &str| {
        bench.tick();
        memory.commit(commit("a", value)).unwrap();
        memory.commit(commit("b", value)).unwrap();
        let snapshot = memory.snapshot(Snapshot::default()).unwrap().answer.id;
        let dream = memory.dream_start(DreamStart::default()).unwrap().answer.dream.unwrap();
        let version = memory.get("a").unwrap().unwrap().entry.version;
        memory.dream_apply(dream, vec![action(ActionOp::Confirm, "a", Some(version))], None, false).unwrap();
        memory.revise(revise("b", "changed")).unwrap();
        let token = memory.rollback_preview(snapshot, "back", 10).unwrap().confirmation_token;
        let _ = memory.rollback(snapshot, "back", &token);
        memory.dreams(10).unwrap();
        memory.dream(dream).unwrap();
        let seq = memory.commit(commit("c", value)).unwrap().answer.seq;
        memory.undo(undo_seq(seq)).unwrap();
    };
    for value in ["one", "two", "three"] {
        let ids = Arc::new(bilinc::CountingIds::new(7));
        let memory = builder(&bench.clock, &ids).open_in(Arc::clone(&bench.storage)).unwrap();
        tell(&memory, value);
        assert_eq!(value_of(&memory, "a").as_deref(), Some(value));
        assert!(memory.get("c").unwrap().is_none());
        assert_sound(&memory);
    }
    let events = bench.open_again().recorded(Seq::ZERO).unwrap();
    assert!(events.iter().zip(1..).all(|(event, seq)| event.seq.get() == seq));
}
