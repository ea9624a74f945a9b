//! Where and how much is measured.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bilinc::{Durability, Memory, MemoryBuilder};
use tempfile::TempDir;

use crate::Outcome;
use crate::data;

/// How much of everything. Ratios of the quick form say nothing: it shows that every row works.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
    /// How long a block of durable writes takes.
    pub(crate) block: Duration,
    /// Entries or events where the design says a million.
    pub(crate) million: u64,
    /// Entries where it says 100,000.
    pub(crate) hundred_thousand: u64,
    /// Entries where it says 10,000.
    pub(crate) ten_thousand: u64,
    /// Operations in a block that is counted and not timed.
    pub(crate) operations: u64,
}

impl Scale {
    const FULL: Self = Self {
        block: Duration::from_secs(2),
        million: 1_000_000,
        hundred_thousand: 100_000,
        ten_thousand: 10_000,
        operations: 20_000,
    };
    const QUICK: Self = Self {
        block: Duration::from_millis(200),
        million: 20_000,
        hundred_thousand: 5_000,
        ten_thousand: 2_000,
        operations: 1_000,
    };
}

/// A run of benchmarks: its folder, which goes with it, and its sizes.
#[derive(Debug)]
pub(crate) struct Bench {
    folder: TempDir,
    made: HashSet<String>,
    /// Rounds of each row.
    pub(crate) rounds: usize,
    /// Sizes.
    pub(crate) scale: Scale,
}

impl Bench {
    /// A run with its stores in a new folder below this one.
    pub(crate) fn new(below: &Path, rounds: usize, quick: bool) -> Outcome<Self> {
        refuse_tmpfs(below)?;
        let folder = tempfile::Builder::new().prefix(".store-").tempdir_in(below)?;
        let scale = if quick { Scale::QUICK } else { Scale::FULL };
        Ok(Self { folder, made: HashSet::new(), rounds: rounds.max(1), scale })
    }

    /// The folder, which is gone with this.
    pub(crate) fn below(&self) -> &Path {
        self.folder.path()
    }

    /// A path in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A store of so many events over so many keys, one event to an operation, each key in its first version before
    /// any has its second; made once in a run.
    pub(crate) fn store(&mut self, keys: u64, events: u64) -> Outcome<PathBuf> {
        let name = format!("of-{keys}-{events}");
        let path = self.path(&name);
        if self.made.insert(name) {
            fill(&path, keys, events)?;
        }
        Ok(path)
    }

    /// Removes what is there under a name.
    pub(crate) fn remove(&mut self, name: &str) -> Outcome<()> {
        self.made.remove(name);
        let path = self.path(name);
        if path.is_dir() {
            std::fs::remove_dir_all(path)?
        } else if path.exists() {
            std::fs::remove_file(path)?
        }
        Ok(())
    }
}

/// How stores are opened here: nothing happens in the background unless a row asks for it.
pub(crate) fn builder() -> MemoryBuilder {
    Memory::builder().actor(data::actor()).checkpoints(false)
}

/// A store that keeps and uses checkpoints when it is told to, and not of its own accord.
pub(crate) fn with_checkpoints() -> MemoryBuilder {
    builder().checkpoints(true).checkpoint_every(u64::MAX)
}

/// Fills a store. Relaxed, since only what it holds matters.
pub(crate) fn fill(path: &Path, keys: u64, events: u64) -> Outcome<()> {
    eprintln!("  making a store of {events} events over {keys} keys");
    let memory = builder().durability(Durability::Relaxed).open(path)?;
    for number in 0..events {
        memory.commit(data::commit(number % keys, number / keys)?)?;
    }
    memory.close();
    // Written back now, and not while something is measured.
    rustix::fs::sync();
    Ok(())
}

/// Bytes of the files below a folder.
pub(crate) fn bytes_below(folder: &Path) -> Outcome<u64> {
    let mut bytes = 0;
    for item in std::fs::read_dir(folder)? {
        let item = item?;
        let meta = item.metadata()?;
        bytes += if meta.is_dir() { bytes_below(&item.path())? } else { meta.len() };
    }
    Ok(bytes)
}

/// A disk in memory would make every sync free.
fn refuse_tmpfs(folder: &Path) -> Outcome<()> {
    #[cfg(target_os = "linux")]
    if rustix::fs::statfs(folder)?.f_type == 0x0102_1994 {
        return Err(format!("{} is in memory (tmpfs): give a folder on a disk with --folder", folder.display()).into());
    }
    Ok(())
}
