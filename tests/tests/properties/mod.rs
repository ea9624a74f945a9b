//! Any sequence of commands through `Memory` against the naive model.

mod passes;
mod past;
mod run;
mod step;
mod writes;

use std::sync::Arc;

use bilinc::storage::{FileStorage, MemoryStorage};
use bilinc::{CheckpointProof, RecallQuery};
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

proptest! {
    #![proptest_config(config(8))]

    #[test]
    fn a_store_opened_from_a_checkpoint_of_any_past_is_the_replayed_one(
        steps in steps(40),
        pick in any::<prop::sample::Index>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut run = Run::new(Arc::new(FileStorage::new(folder.path())));
        let (before, after) = steps.split_at(pick.index(steps.len() + 1));
        first_steps().iter().chain(before).for_each(|step| run.step(step));
        run.memory().recall(&RecallQuery::new("value")).unwrap();
        let kept = run.memory().checkpoint().unwrap();
        after.iter().for_each(|step| run.step(step));
        let opened = run.bench.open_again();
        let builder = run.bench.builder().checkpoints(false);
        let replayed = builder.open_in(Arc::clone(&run.bench.storage)).unwrap();
        prop_assert!(opened.is_same_state(&replayed).unwrap());
        prop_assert!(opened.is_same_state(run.memory()).unwrap());
        let query = RecallQuery::new("value 1 2 3");
        prop_assert_eq!(opened.recall(&query).unwrap(), replayed.recall(&query).unwrap());
        let verified = opened.verify(&mut |_, _| {}).unwrap();
        let proof = kept.map(|position| CheckpointProof { position, equal: true });
        prop_assert_eq!((verified.checkpoint, verified.recall_checkpoint), (proof, proof));
    }
}
