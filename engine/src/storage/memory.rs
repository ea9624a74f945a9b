//! A store in memory: for stores that need not outlive the process, and for tests.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use super::{DirEntry, LockOutcome, OpenMode, Storage, StorageFile, StorageLock, join, parent};

/// Clones share one store, as processes share one folder.
#[derive(Debug, Clone, Default)]
pub struct MemoryStorage {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    names: Mutex<Names>,
    locks: Mutex<Locks>,
    released: Condvar,
}

#[derive(Debug, Default)]
struct Locks {
    /// Those that are held, and the text of the holder.
    held: BTreeMap<String, String>,
    /// The number of the handle that held each last.
    last: BTreeMap<String, u64>,
    /// How many handles there have been.
    handles: u64,
}

#[derive(Debug, Default)]
struct Names {
    dirs: BTreeSet<String>,
    files: BTreeMap<String, Arc<MemoryFile>>,
}

impl MemoryStorage {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A copy with its own files and no lock held.
    #[must_use]
    pub fn fork(&self) -> Self {
        let copy = Self::new();
        {
            let names = self.names();
            let mut to = copy.names();
            to.dirs.clone_from(&names.dirs);
            for (path, file) in &names.files {
                to.files.insert(path.clone(), Arc::new(MemoryFile { bytes: RwLock::new(file.copy()) }));
            }
        }
        copy
    }

    /// The contents of a file.
    #[must_use]
    pub fn contents(&self, path: &str) -> Option<Vec<u8>> {
        self.names().files.get(path).map(|file| file.copy())
    }

    /// Puts a file there, whatever was there before. Handles that are open keep the old one.
    pub fn put(&self, path: &str, bytes: Vec<u8>) {
        let mut names = self.names();
        let mut dir = parent(path);
        while !dir.is_empty() {
            names.dirs.insert(dir.to_owned());
            dir = parent(dir);
        }
        names.files.insert(path.to_owned(), Arc::new(MemoryFile { bytes: RwLock::new(bytes) }));
    }

    fn names(&self) -> MutexGuard<'_, Names> {
        self.shared.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    fn locks(&self) -> MutexGuard<'_, Locks> {
        self.locks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn not_found(path: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("{path} is not there"))
}

impl Storage for MemoryStorage {
    fn describe(&self) -> String {
        "memory".to_owned()
    }

    fn list(&self, dir: &str) -> io::Result<Vec<DirEntry>> {
        let names = self.names();
        if !dir.is_empty() && !names.dirs.contains(dir) {
            return Err(not_found(dir));
        }
        let entry = |path: &String, is_dir| {
            (parent(path) == dir)
                .then(|| DirEntry { name: path.rsplit('/').next().unwrap_or_default().to_owned(), is_dir })
        };
        let mut entries: Vec<DirEntry> = (names.dirs.iter().filter_map(|path| entry(path, true)))
            .chain(names.files.keys().filter_map(|path| entry(path, false)))
            .collect();
        entries.sort();
        Ok(entries)
    }

    fn exists(&self, path: &str) -> io::Result<bool> {
        let names = self.names();
        Ok(path.is_empty() || names.dirs.contains(path) || names.files.contains_key(path))
    }

    fn open(&self, path: &str, mode: OpenMode) -> io::Result<Arc<dyn StorageFile>> {
        let mut names = self.names();
        if names.dirs.contains(path) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if let Some(file) = names.files.get(path) {
            if mode == OpenMode::New {
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("{path} is there already")));
            }
            if mode == OpenMode::Truncate {
                file.set_len(0)?;
            }
            return Ok(Arc::<MemoryFile>::clone(file));
        }
        let dir = parent(path);
        if matches!(mode, OpenMode::Read | OpenMode::ReadWrite) || !(dir.is_empty() || names.dirs.contains(dir)) {
            return Err(not_found(path));
        }
        let file = Arc::new(MemoryFile::default());
        names.files.insert(path.to_owned(), Arc::clone(&file));
        Ok(file)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut names = self.names();
        let file = names.files.remove(from).ok_or_else(|| not_found(from))?;
        names.files.insert(to.to_owned(), file);
        Ok(())
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        let removed = self.names().files.remove(path);
        removed.map(|_| ()).ok_or_else(|| not_found(path))
    }

    fn create_dir(&self, path: &str) -> io::Result<()> {
        let mut names = self.names();
        let mut at = String::new();
        for part in path.split('/').filter(|part| !part.is_empty()) {
            at = join(&at, part);
            names.dirs.insert(at.clone());
        }
        Ok(())
    }

    fn remove_dir(&self, path: &str) -> io::Result<()> {
        let mut names = self.names();
        let below = |name: &String| parent(name) == path;
        if names.dirs.iter().any(below) || names.files.keys().any(below) {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        if names.dirs.remove(path) { Ok(()) } else { Err(not_found(path)) }
    }

    fn sync_dir(&self, _path: &str) -> io::Result<()> {
        Ok(())
    }

    fn lock(&self, path: &str) -> io::Result<Arc<dyn StorageLock>> {
        self.open(path, OpenMode::Create)?;
        let handle = {
            let mut locks = self.shared.locks();
            locks.handles = locks.handles.saturating_add(1);
            locks.handles
        };
        let (path, shared) = (path.to_owned(), Arc::clone(&self.shared));
        Ok(Arc::new(MemoryLock { path, handle, shared, state: Mutex::default() }))
    }

    fn network_file_system(&self) -> io::Result<Option<&'static str>> {
        Ok(None)
    }
}

#[derive(Debug, Default)]
struct MemoryFile {
    bytes: RwLock<Vec<u8>>,
}

impl MemoryFile {
    fn copy(&self) -> Vec<u8> {
        self.bytes.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn index(offset: u64) -> io::Result<usize> {
    usize::try_from(offset).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))
}

impl StorageFile for MemoryFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let bytes = self.bytes.read().unwrap_or_else(PoisonError::into_inner);
        let from = bytes.get(index(offset)?..).unwrap_or_default();
        let read = from.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..read), from.get(..read)) {
            to.copy_from_slice(from);
        }
        Ok(read)
    }

    fn write_at(&self, data: &[u8], offset: u64) -> io::Result<()> {
        let start = index(offset)?;
        let end = start.checked_add(data.len()).ok_or_else(|| io::Error::from(io::ErrorKind::FileTooLarge))?;
        let mut bytes = self.bytes.write().unwrap_or_else(PoisonError::into_inner);
        if bytes.len() < end {
            bytes.resize(end, 0);
        }
        if let Some(to) = bytes.get_mut(start..end) {
            to.copy_from_slice(data);
        }
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        let bytes = self.bytes.read().unwrap_or_else(PoisonError::into_inner);
        Ok(bytes.len() as u64)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let len = index(len)?;
        let mut bytes = self.bytes.write().unwrap_or_else(PoisonError::into_inner);
        bytes.resize(len, 0);
        Ok(())
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        if len > self.len()? {
            self.set_len(len)?;
        }
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Debug)]
struct MemoryLock {
    path: String,
    handle: u64,
    shared: Arc<Shared>,
    state: Mutex<LockState>,
}

#[derive(Debug, Default)]
struct LockState {
    held: bool,
    undisturbed: bool,
}

impl MemoryLock {
    fn state(&self) -> MutexGuard<'_, LockState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StorageLock for MemoryLock {
    fn acquire(&self, wait: Duration, holder: &str) -> io::Result<LockOutcome> {
        let started = Instant::now();
        let mut locks = self.shared.locks();
        while let Some(there) = locks.held.get(&self.path) {
            let left = wait.saturating_sub(started.elapsed());
            if left.is_zero() {
                return Ok(LockOutcome::Busy { holder: there.clone() });
            }
            locks = self.shared.released.wait_timeout(locks, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        locks.held.insert(self.path.clone(), holder.to_owned());
        let last = locks.last.insert(self.path.clone(), self.handle);
        *self.state() = LockState { held: true, undisturbed: last == Some(self.handle) };
        Ok(LockOutcome::Acquired)
    }

    fn undisturbed(&self) -> bool {
        self.state().undisturbed
    }

    fn release(&self) {
        if std::mem::take(&mut self.state().held) {
            self.shared.locks().held.remove(&self.path);
            self.shared.released.notify_all();
        }
    }
}

impl Drop for MemoryLock {
    fn drop(&mut self) {
        self.release();
    }
}
