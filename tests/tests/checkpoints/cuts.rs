//! The power goes at any call of the log while checkpoints are kept: none is ever ahead of what is left, and
//! what it says is what the log says. What a cut leaves of a checkpoint itself is any part of its files.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use bilinc::storage::{Fault, FaultKind, FaultStorage, FileStorage, MemoryStorage, Storage};
use bilinc::{CountingIds, Durability, Error, ManualClock, Memory, Seq};

use super::beside::Beside;
use super::ground::files_in;
use crate::purge::{purge, secret};
use crate::support::*;

struct Disk {
    faults: FaultStorage,
    folder: tempfile::TempDir,
}

fn beside(log: Arc<dyn Storage>, folder: &Path) -> Arc<dyn Storage> {
    Arc::new(Beside { log, folder: FileStorage::new(folder) })
}

fn open(storage: Arc<dyn Storage>, durability: Durability) -> Result<Memory, Error> {
    let (clock, ids) = (Arc::new(ManualClock::at(START)), Arc::new(CountingIds::new(7)));
    builder(&clock, &ids).segment_bytes(900).durability(durability).open_in(storage)
}

impl Disk {
    fn new() -> Self {
        let faults = FaultStorage::new(Arc::new(MemoryStorage::new())).unwrap();
        Self { faults, folder: tempfile::tempdir().unwrap() }
    }

    fn storage(&self) -> Arc<dyn Storage> {
        beside(Arc::new(self.faults.clone()), self.folder.path())
    }

    /// Writes, keeps checkpoints, purges and reopens; answers how far it came.
    fn work(&self, durability: Durability) -> Result<Seq, (Seq, Error)> {
        let mut answered = Seq::ZERO;
        let mut run = || -> Result<(), Error> {
            for round in 0..2 {
                let memory = open(self.storage(), durability)?;
                for index in 0..3 {
                    memory.commit(commit(&format!("k{index}"), &format!("value {round} {index}")))?;
                    answered = memory.head()?.seq;
                }
                // What cannot be kept is not kept, and nothing else depends on it.
                let kept = memory.checkpoint();
                for index in 0..6 {
                    memory.commit(commit("since", &format!("value {index}")))?;
                }
                memory.commit(secret("s"))?;
                memory.forget(purge("s"))?;
                answered = memory.head()?.seq;
                kept?;
                memory.checkpoint()?;
                memory.commit(commit("later", "value"))?;
                answered = memory.head()?.seq;
            }
            Ok(())
        };
        let done = run();
        done.map(|()| answered).map_err(|error| (answered, error))
    }
}

/// What a cut may leave of checkpoints, by chance: any part of any file, or none.
fn damage_checkpoints(folder: &Path, seed: u64) {
    let mut chance = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = |below: u64| {
        chance ^= chance << 13;
        chance ^= chance >> 7;
        chance ^= chance << 17;
        chance % below
    };
    if next(3) == 0 {
        return;
    }
    for file in files_in(&folder.join("checkpoints")) {
        let mut bytes = fs::read(&file).unwrap();
        match next(6) {
            0 => fs::remove_file(&file).unwrap(),
            1 => bytes.truncate(usize::try_from(next(bytes.len() as u64 + 1)).unwrap()),
            2 if !bytes.is_empty() => {
                let from = usize::try_from(next(bytes.len() as u64)).unwrap();
                bytes[from..].fill(u8::try_from(next(256)).unwrap());
            }
            _ => continue,
        }
        if file.exists() {
            fs::write(&file, bytes).unwrap();
        }
    }
}

fn copy_checkpoints(from: &Path, to: &Path) {
    for file in files_in(&from.join("checkpoints")) {
        let there = to.join(file.strip_prefix(from).unwrap());
        fs::create_dir_all(there.parent().unwrap()).unwrap();
        fs::copy(file, there).unwrap();
    }
}

#[test]
fn no_power_cut_leaves_a_checkpoint_that_is_ahead_of_the_log_or_says_other_things() {
    let seeds: u64 = std::env::var("BILINC_POWER_SEEDS").map_or(1, |seeds| seeds.parse().unwrap());
    let mut cases = 0;
    for durability in [Durability::Durable, Durability::Relaxed] {
        let whole = Disk::new();
        whole.work(durability).unwrap();
        // Only what is relaxed can be ahead of a disk.
        let step = if seeds == 1 && durability == Durability::Durable { 5 } else { 1 };
        for call in (1..=whole.faults.calls()).step_by(step) {
            let disk = Disk::new();
            disk.faults.set_fault(Some(Fault { at: call, kind: FaultKind::Freeze, sticky: false, only: None }));
            // A stop behind the last answer is met by nobody.
            let answered = disk.work(durability).unwrap_or_else(|(answered, _)| answered);
            for seed in call..call + seeds {
                let what = format!("{durability:?}, call {call}, seed {seed}");
                let left = tempfile::tempdir().unwrap();
                copy_checkpoints(disk.folder.path(), left.path());
                damage_checkpoints(left.path(), seed);
                let log: Arc<dyn Storage> = Arc::new(disk.faults.after_power_cut(seed));
                let memory = open(beside(Arc::clone(&log), left.path()), durability).unwrap();
                assert_eq!(memory.damage(), None, "{what}");
                let head = memory.head().unwrap().seq;
                assert!(durability == Durability::Relaxed || head >= answered, "{what}: {head} of {answered}");
                let verified = memory.verify(&mut |_, _| {}).unwrap_or_else(|error| panic!("{what}: {error}"));
                assert!(verified.state_equal, "{what}");
                assert!(verified.checkpoint.is_none_or(|proof| proof.equal), "{what}");
                memory.commit(commit("after", "the cut")).unwrap_or_else(|error| panic!("{what}: {error}"));
                cases += 1;
            }
        }
    }
    println!("{cases} power cuts beside checkpoints");
}
