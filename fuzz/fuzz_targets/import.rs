//! Any bytes as an import: all of it is written or none, and what was written comes back.
#![no_main]

use bilinc::{ImportOptions, Memory};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let memory = Memory::in_memory().expect("a store in memory");
    match memory.import(data, ImportOptions::default(), &mut |_, _| {}) {
        Err(_) => assert_eq!(memory.head().expect("a head").seq.get(), 0, "a refused import wrote something"),
        Ok(written) => {
            let summary = written.answer;
            let counted =
                summary.created + summary.replaced + summary.skipped_existing + summary.skipped_reserved;
            assert_eq!(counted, summary.lines);
            let mut exported = Vec::new();
            memory.export(&mut exported, &mut |_, _| {}).expect("an export");
            let again = Memory::in_memory().expect("a store in memory");
            again.import(exported.as_slice(), ImportOptions::default(), &mut |_, _| {}).expect("its own export");
            let mut twice = Vec::new();
            again.export(&mut twice, &mut |_, _| {}).expect("an export");
            assert_eq!(exported, twice, "an import of an export gives other entries");
        }
    }
});
