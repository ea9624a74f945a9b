//! Any bytes as an import: all of it is written or none, and what was written comes back.
#![no_main]

use std::io::BufReader;
use std::sync::Arc;

use bilinc::{ImportOptions, Memory, Selection, Undo};
use bilinc_fuzz::stores;
use libfuzzer_sys::fuzz_target;

const REPLACE: ImportOptions = ImportOptions { if_absent: false };
const IF_ABSENT: ImportOptions = ImportOptions { if_absent: true };

fuzz_target!(|data: &[u8]| {
    into_empty(data);
    into_used(data);
});

/// An export of what was imported imports equal again, read in pieces of any length.
fn into_empty(data: &[u8]) {
    let memory = Memory::in_memory().expect("a store in memory");
    let pieces = BufReader::with_capacity(1 + data.len() % 7, data);
    match memory.import(pieces, REPLACE, &mut |_, _| {}) {
        Err(_) => assert_eq!(memory.head().expect("a head").seq.get(), 0, "a refused import wrote something"),
        Ok(written) => {
            let summary = written.answer;
            let counted = summary.created + summary.replaced + summary.skipped_existing + summary.skipped_reserved;
            assert_eq!(counted, summary.lines);
            let exported = export(&memory);
            for options in [REPLACE, IF_ABSENT] {
                let again = Memory::in_memory().expect("a store in memory");
                let second = again.import(exported.as_slice(), options, &mut |_, _| {}).expect("its own export").answer;
                assert_eq!((second.created, second.lines), (second.lines, lines(&exported)));
                assert_eq!(exported, export(&again), "an import of an export gives other entries");
            }
        }
    }
}

/// Over what is there: `if_absent` changes none of it, and the undo of an import takes all of it back.
fn into_used(data: &[u8]) {
    for options in [REPLACE, IF_ABSENT] {
        let memory = stores::builder(7).open_in(Arc::new(stores::golden())).expect("it opens");
        let before = export(&memory);
        let head = memory.head().expect("a head");
        let Ok(written) = memory.import(data, options, &mut |_, _| {}) else {
            assert_eq!(memory.head().expect("a head"), head, "a refused import wrote something");
            continue;
        };
        let after = export(&memory);
        if options.if_absent {
            let kept = |line: &[u8]| after.split(|byte| *byte == b'\n').any(|other| other == line);
            assert!(before.split(|byte| *byte == b'\n').all(kept), "if_absent changed what was there");
        }
        if memory.head().expect("a head") == head {
            continue;
        }
        let undo = Undo { selection: Selection::Import(written.answer.import), dry_run: false };
        let undone = memory.undo(undo).expect("an undo").answer.undone;
        assert!(undone.conflicts.is_empty(), "{undone:?}");
        // What expired since is left as it is.
        if undone.unchanged.is_empty() {
            assert_eq!(lines(&export(&memory)), lines(&before), "an undo of an import leaves other entries");
        }
    }
}

fn export(memory: &Memory) -> Vec<u8> {
    let mut exported = Vec::new();
    memory.export(&mut exported, &mut |_, _| {}).expect("an export");
    exported
}

fn lines(exported: &[u8]) -> u64 {
    exported.iter().filter(|byte| **byte == b'\n').count() as u64
}
