//! A storage that fails when told to, and that knows what a power cut could leave behind.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::fault_image::{Image, Pending};
use super::{DirEntry, MemoryStorage, OpenMode, Storage, StorageFile, StorageLock};

/// What happens when the counted call comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// It fails and does nothing.
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
/// Counted are `write`, `set_len`, `allocate`, `sync`, `rename`, `remove`, `create_dir`, `sync_dir`
/// and an `open` that may make a file. Folders themselves are taken to be durable at once; names and
/// contents are not.
#[derive(Debug, Clone)]
pub struct FaultStorage {
    inner: Arc<dyn Storage>,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    calls: u64,
    log: Vec<String>,
    fault: Option<Fault>,
    frozen: bool,
    image: Image,
}

enum Verdict {
    Go,
    Short(usize, io::ErrorKind),
}

fn failed(kind: io::ErrorKind) -> io::Error {
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

    /// What could be there after a power cut now: each unsynced write and name on its own kept,
    /// dropped or (a write) cut, as `seed` decides.
    #[must_use]
    pub fn after_power_cut(&self, seed: u64) -> MemoryStorage {
        self.state().image.after_power_cut(seed)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn count(&mut self, call: &'static str, path: &str) -> io::Result<Verdict> {
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
        self.inner.list(dir)
    }

    fn exists(&self, path: &str) -> io::Result<bool> {
        self.inner.exists(path)
    }

    fn open(&self, path: &str, mode: OpenMode) -> io::Result<Arc<dyn StorageFile>> {
        let mut state = self.state();
        if matches!(mode, OpenMode::Create | OpenMode::Truncate) {
            state.count("open", path)?;
        }
        let file = self.inner.open(path, mode)?;
        let id = state.image.opened(path, mode == OpenMode::Truncate);
        Ok(Arc::new(FaultFile { path: path.to_owned(), id, file, state: Arc::clone(&self.state) }))
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

    fn sync_dir(&self, path: &str) -> io::Result<()> {
        let mut state = self.state();
        state.count("sync_dir", path)?;
        self.inner.sync_dir(path)?;
        state.image.synced_dir(path);
        Ok(())
    }

    fn lock(&self, path: &str) -> io::Result<Arc<dyn StorageLock>> {
        self.inner.lock(path)
    }

    fn network_file_system(&self) -> io::Result<Option<&'static str>> {
        self.inner.network_file_system()
    }
}

#[derive(Debug)]
struct FaultFile {
    path: String,
    id: u64,
    file: Arc<dyn StorageFile>,
    state: Arc<Mutex<State>>,
}

impl FaultFile {
    /// Counts the call, does it and keeps what it changed, as one step.
    fn change(
        &self,
        call: &'static str,
        pending: Pending,
        act: impl FnOnce(&dyn StorageFile) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match state.count(call, &self.path)? {
            Verdict::Go => {
                act(self.file.as_ref())?;
                state.image.changed(self.id, pending);
                Ok(())
            }
            Verdict::Short(bytes, kind) => {
                if let Pending::Write { offset, data } = pending {
                    let data = data.into_iter().take(bytes).collect::<Vec<u8>>();
                    self.file.write_at(&data, offset)?;
                    state.image.changed(self.id, Pending::Write { offset, data });
                }
                Err(failed(kind))
            }
        }
    }
}

impl StorageFile for FaultFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let pending = Pending::Write { offset, data: bytes.to_vec() };
        self.change("write", pending, |file| file.write_at(bytes, offset))
    }

    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.change("set_len", Pending::SetLen(len), |file| file.set_len(len))
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        self.change("allocate", Pending::Allocate(len), |file| file.allocate(len))
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.count("sync", &self.path)?;
        self.file.sync_data()?;
        state.image.synced(self.id);
        Ok(())
    }
}
