//! Frames, segments and marks that no program wrote, with checksums that hold where that is asked for:
//! opening, reading, verifying and writing end with an answer or a typed error.
#![no_main]

use std::ops::ControlFlow;
use std::sync::Arc;

use arbitrary::Arbitrary;
use bilinc::log::{Log, LogOptions};
use bilinc::storage::MemoryStorage;
use bilinc_fuzz::forge::{Change, Repair, Segment, mark};
use bilinc_fuzz::poke::{Ask, poke};
use bilinc_fuzz::{Splice, stores};
use libfuzzer_sys::fuzz_target;

#[derive(Debug, Arbitrary)]
struct Input {
    segmented: bool,
    changes: Vec<(u8, Change)>,
    repair: Repair,
    mark: Mark,
    ask: Ask,
}

#[derive(Debug, Arbitrary)]
enum Mark {
    Sound,
    Gone,
    Changed(Vec<Splice>),
}

fuzz_target!(|input: Input| {
    let storage = if input.segmented { stores::segmented() } else { stores::golden() };
    let names = stores::segments(&storage);
    for (index, name) in names.iter().enumerate() {
        let mine = |number: u8| usize::from(number) % names.len() == index;
        let mut segment = Segment::of(&storage.contents(name).expect("it is there"));
        for (_, change) in input.changes.iter().filter(|(number, _)| mine(*number)).take(8) {
            segment.change(change);
        }
        storage.put(name, segment.bytes(input.repair));
    }
    let sound = storage.contents("mark").expect("it is there");
    match &input.mark {
        Mark::Sound => {}
        Mark::Gone => storage.put("mark", Vec::new()),
        Mark::Changed(splices) => storage.put("mark", mark(&sound, splices, input.repair)),
    }
    if let Ask::Nothing = input.ask {
        walk(&storage.fork());
    }
    open(&storage, input.ask);
});

/// Reads the log alone.
fn walk(storage: &MemoryStorage) {
    let options = LogOptions { create: false, ..LogOptions::default() };
    let Ok((log, _)) = Log::open(Arc::new(storage.clone()), options, 1) else { return };
    let through = log.durable().map_or(0, |durable| durable.seq);
    let _ = log.read(1, through, &mut |frame| {
        let _ = frame.check_bodies();
        ControlFlow::Continue(())
    });
    let _ = log.verify(&mut |_, _| {});
    let _ = log.position_at(0, through);
}

/// Opens the store; an open that went through comes to the same the next time.
fn open(storage: &MemoryStorage, ask: Ask) {
    let open = || stores::builder(7).create(false).open_in(Arc::new(storage.clone()));
    let Ok(memory) = open() else { return };
    let sound = memory.damage().is_none();
    let head = memory.head().expect("a head");
    drop(memory);
    let memory = open().expect("it opened before");
    assert!(!sound || memory.damage().is_some() || memory.head().expect("a head") == head, "another end than before");
    poke(&memory, storage, ask);
}
