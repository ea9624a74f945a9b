//! A storage that fails when told to, and that knows what a power cut could leave behind.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::fault_file::FaultFile;
use super::fault_image::Image;
use super::{DirEntry, MemoryStorage, OpenMode, Storage, StorageFile, StorageLock};

/// What happens when the counted call comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// It fails and does nothing. A sync that fails loses what it should have written: the file
    /// still shows it, and no later sync brings it to the disk.
    Error(io::ErrorKind),
    /// A write writes only so many bytes, then fails; any other call just fails.
    ShortWrite(usize, io::ErrorKind),
    /// It and every later call that would change anything fails and does nothing, as if the machine
    /// had stopped just before it.
    Freeze,
}

/// A fault to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// The number of the call that fails, counted from 1 over every call that changes something.
    pub at: u64,
    /// How.
    pub kind: FaultKind,
    /// Whether every later call fails in the same way.
    pub sticky: bool,
    /// Only calls of this name count as reached (`"write"`, `"sync"`, …): the first one at or after `at`.
    pub only: Option<&'static str>,
}

/// Wraps another storage. Clones share the count and the fault.
///
/// Counted are `write`, `set_len`, `allocate`, `sync`, `rename`, `remove`, `create_dir`, `remove_dir`, `sync_dir`
/// and an `open` that may make a file. Contents are durable once the file is synced; names, those of
/// folders too, once the folder that holds them is. Calls that only look (`read`, `len`, `list`,
/// `exists`, any other `open`, and `lock`) are counted apart and have a fault of their own.
#[derive(Debug, Clone)]
pub struct FaultStorage {
    inner: Arc<dyn Storage>,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    calls: u64,
    log: Vec<String>,
    fault: Option<Fault>,
    frozen: bool,
    looks: u64,
    look_fault: Option<Fault>,
    pub(super) image: Image,
}

pub(super) enum Verdict {
    Go,
    Short(usize, io::ErrorKind),
}

pub(super) fn failed(kind: io::ErrorKind) -> io::Error {
    io::Error::new(kind, "injected fault")
}

impl FaultStorage {
    /// Wraps `inner`; what it holds now counts as durable.
    pub fn new(inner: Arc<dyn Storage>) -> io::Result<Self> {
        let image = Image::of(inner.as_ref())?;
        Ok(Self { inner, state: Arc::new(Mutex::new(State { image, ..State::default() })) })
    }

    /// Sets or clears the fault, and thaws.
    pub fn set_fault(&self, fault: Option<Fault>) {
        let mut state = self.state();
        state.fault = fault;
        state.frozen = false;
    }

    /// Sets or clears the fault of calls that only look. It fails them, whatever its kind.
    pub fn set_look_fault(&self, fault: Option<Fault>) {
        self.state().look_fault = fault;
    }

    /// How many calls that only look there have been.
    #[must_use]
    pub fn looks(&self) -> u64 {
        self.state().looks
    }

    /// How many counted calls there have been.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.state().calls
    }

    /// The counted calls so far, as `name path`.
    #[must_use]
    pub fn call_log(&self) -> Vec<String> {
        self.state().log.clone()
    }

    /// What could be there after a power cut now: each unsynced write and change of a name on its own
    /// kept, dropped or (a write) cut or torn apart, as `seed` decides.
    #[must_use]
    pub fn after_power_cut(&self, seed: u64) -> MemoryStorage {
        self.state().image.after_power_cut(seed)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    pub(super) fn look(&mut self, call: &'static str) -> io::Result<()> {
        self.looks = self.looks.saturating_add(1);
        let Some(fault) = self.look_fault.filter(|fault| fault.only.is_none_or(|only| only == call)) else {
            return Ok(());
        };
        if !(self.looks == fault.at || (self.looks > fault.at && (fault.sticky || fault.only.is_some()))) {
            return Ok(());
        }
        if !fault.sticky {
            self.look_fault = None;
        }
        match fault.kind {
            FaultKind::Error(kind) | FaultKind::ShortWrite(_, kind) => Err(failed(kind)),
            FaultKind::Freeze => Err(failed(io::ErrorKind::Other)),
        }
    }

    pub(super) fn frozen(&self) -> bool {
        self.frozen
    }

    pub(super) fn count(&mut self, call: &'static str, path: &str) -> io::Result<Verdict> {
        self.calls = self.calls.saturating_add(1);
        self.log.push(format!("{call} {path}"));
        if self.frozen {
            return Err(failed(io::ErrorKind::Other));
        }
        let Some(fault) = self.fault else {
            return Ok(Verdict::Go);
        };
        let named = fault.only.is_none_or(|only| only == call);
        // A fault that waits for a call of a name fires at the first one from `at` on.
        let reached = self.calls == fault.at || (self.calls > fault.at && (fault.sticky || fault.only.is_some()));
        if !(reached && named) {
            return Ok(Verdict::Go);
        }
        if !fault.sticky {
            self.fault = None;
        }
        match fault.kind {
            FaultKind::Error(kind) => Err(failed(kind)),
            FaultKind::ShortWrite(bytes, kind) if call == "write" => Ok(Verdict::Short(bytes, kind)),
            FaultKind::ShortWrite(_, kind) => Err(failed(kind)),
            FaultKind::Freeze => {
                self.frozen = true;
                Err(failed(io::ErrorKind::Other))
            }
        }
    }
}

impl Storage for FaultStorage {
    fn describe(&self) -> String {
        self.inner.describe()
    }

    fn list(&self, dir: &str) -> io::Result<Vec<DirEntry>> {
        self.state().look("list")?;
        self.inner.list(dir)
    }

    fn exists(&self, path: &str) -> io::Result<bool> {
        self.state().look("exists")?;
        self.inner.exists(path)
    }

    fn open(&self, path: &str, mode: OpenMode) -> io::Result<Arc<dyn StorageFile>> {
        let mut state = self.state();
        if matches!(mode, OpenMode::Create | OpenMode::Truncate | OpenMode::New) {
            state.count("open", path)?;
        } else {
            state.look("open")?;
        }
        let file = self.inner.open(path, mode)?;
        let id = state.image.opened(path, mode == OpenMode::Truncate);
        Ok(Arc::new(FaultFile::new(path, id, file, Arc::clone(&self.state))))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut state = self.state();
        state.count("rename", to)?;
        self.inner.rename(from, to)?;
        state.image.renamed(from, to);
        Ok(())
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        let mut state = self.state();
        state.count("remove", path)?;
        self.inner.remove(path)?;
        state.image.removed(path);
        Ok(())
    }

    fn create_dir(&self, path: &str) -> io::Result<()> {
        let mut state = self.state();
        state.count("create_dir", path)?;
        self.inner.create_dir(path)?;
        state.image.made_dir(path);
        Ok(())
    }

    fn remove_dir(&self, path: &str) -> io::Result<()> {
        let mut state = self.state();
        state.count("remove_dir", path)?;
        self.inner.remove_dir(path)?;
        state.image.removed_dir(path);
        Ok(())
    }

    fn sync_dir(&self, path: &str) -> io::Result<()> {
        let mut state = self.state();
        state.count("sync_dir", path)?;
        self.inner.sync_dir(path)?;
        state.image.synced_dir(path);
        Ok(())
    }

    fn lock(&self, path: &str) -> io::Result<Arc<dyn StorageLock>> {
        self.state().look("lock")?;
        self.inner.lock(path)
    }

    fn network_file_system(&self) -> io::Result<Option<&'static str>> {
        self.inner.network_file_system()
    }
}
