//! Any sequence of commands through `Memory` against the naive model.

mod passes;
mod past;
mod run;
mod step;
mod writes;

use std::sync::Arc;

use bilinc::storage::{FileStorage, MemoryStorage};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

use self::run::Run;
use self::step::{Step, first_steps, steps};

pub(crate) fn config(cases: u32) -> ProptestConfig {
    // `PROPTEST_CASES` asks for more of them.
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig {
        cases: asked.unwrap_or(cases),
        // Failures print their steps; nothing is written beside the sources.
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        max_shrink_iters: 2_000,
        ..ProptestConfig::default()
    }
}

fn play(mut run: Run, steps: &[Step]) {
    for step in first_steps().iter().chain(steps) {
        run.step(step);
        run.check();
    }
    run.check_all();
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn every_sequence_of_commands_does_what_the_model_says(steps in steps(60)) {
        play(Run::new(Arc::new(MemoryStorage::new())), &steps);
    }
}

proptest! {
    #![proptest_config(config(12))]

    #[test]
    fn a_folder_keeps_what_a_store_in_memory_keeps(steps in steps(40)) {
        let folder = tempfile::tempdir().unwrap();
        play(Run::new(Arc::new(FileStorage::new(folder.path()))), &steps);
    }
}
