//! A folder that does something of the test's at a chosen call: stops its process, kills it, fills the
//! disk.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bilinc::storage::{DirEntry, FileStorage, LockOutcome, OpenMode, Storage, StorageFile, StorageLock};

/// On which side of its call a hook acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    Before,
    /// Half of a write is done; before any other call.
    Half,
    After,
}

/// What is done, once, and at which call.
pub(crate) struct Hook {
    /// Counted are the calls of this name on paths that begin so; of all names when it is empty.
    pub(crate) call: &'static str,
    pub(crate) path: &'static str,
    /// From 1.
    pub(crate) nth: u64,
    pub(crate) when: When,
    pub(crate) act: Box<dyn FnOnce() + Send>,
}

/// A folder. Counted are calls that change something, as those of `FaultStorage` are. Clones share the
/// hook.
#[derive(Debug, Clone)]
pub(crate) struct Hooked {
    inner: FileStorage,
    waiting: Arc<Waiting>,
}

#[derive(Default)]
struct Waiting(Mutex<Option<Hook>>);

impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Waiting")
    }
}

impl Hooked {
    pub(crate) fn new(folder: impl Into<std::path::PathBuf>) -> Self {
        Self { inner: FileStorage::new(folder), waiting: Arc::default() }
    }

    pub(crate) fn set(&self, hook: Hook) {
        *self.waiting.0.lock().unwrap() = Some(hook);
    }

    /// Whether the hook has not been reached; it never will be.
    pub(crate) fn clear(&self) -> bool {
        self.waiting.0.lock().unwrap().take().is_some()
    }
}

impl Waiting {
    /// Counts a call; the hook, when this is its call.
    fn reached(&self, call: &str, path: &str) -> Option<Hook> {
        let mut waiting = self.0.lock().unwrap();
        let hook = waiting.as_mut()?;
        if (hook.call.is_empty() || hook.call == call) && path.starts_with(hook.path) {
            hook.nth -= 1;
            if hook.nth == 0 {
                return waiting.take();
            }
        }
        None
    }

    fn around<T>(&self, call: &str, path: &str, run: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        match self.reached(call, path) {
            None => run(),
            Some(hook) if hook.when == When::After => {
                let done = run();
                (hook.act)();
                done
            }
            Some(hook) => {
                (hook.act)();
                run()
            }
        }
    }
}

impl Storage for Hooked {
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
        let open = || self.inner.open(path, mode);
        let inner = match mode {
            OpenMode::Read | OpenMode::ReadWrite => open()?,
            OpenMode::Create | OpenMode::Truncate | OpenMode::New => self.waiting.around("open", path, open)?,
        };
        Ok(Arc::new(HookedFile { inner, path: path.to_owned(), waiting: Arc::clone(&self.waiting) }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.waiting.around("rename", to, || self.inner.rename(from, to))
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        self.waiting.around("remove", path, || self.inner.remove(path))
    }

    fn create_dir(&self, path: &str) -> io::Result<()> {
        self.waiting.around("create_dir", path, || self.inner.create_dir(path))
    }

    fn sync_dir(&self, path: &str) -> io::Result<()> {
        self.waiting.around("sync_dir", path, || self.inner.sync_dir(path))
    }

    fn lock(&self, path: &str) -> io::Result<Arc<dyn StorageLock>> {
        let inner = self.inner.lock(path)?;
        Ok(Arc::new(HookedLock { inner, path: path.to_owned(), waiting: Arc::clone(&self.waiting) }))
    }

    fn network_file_system(&self) -> io::Result<Option<&'static str>> {
        self.inner.network_file_system()
    }
}

#[derive(Debug)]
struct HookedFile {
    inner: Arc<dyn StorageFile>,
    path: String,
    waiting: Arc<Waiting>,
}

impl StorageFile for HookedFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.inner.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        match self.waiting.reached("write", &self.path) {
            None => self.inner.write_at(bytes, offset),
            Some(hook) => {
                let first = match hook.when {
                    When::Before => 0,
                    When::Half => bytes.len() / 2,
                    When::After => bytes.len(),
                };
                self.inner.write_at(&bytes[..first], offset)?;
                (hook.act)();
                self.inner.write_at(&bytes[first..], offset + first as u64)
            }
        }
    }

    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.waiting.around("set_len", &self.path, || self.inner.set_len(len))
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        self.waiting.around("allocate", &self.path, || self.inner.allocate(len))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.waiting.around("sync", &self.path, || self.inner.sync_data())
    }
}

/// The taking of a lock is a call, too.
#[derive(Debug)]
struct HookedLock {
    inner: Arc<dyn StorageLock>,
    path: String,
    waiting: Arc<Waiting>,
}

impl StorageLock for HookedLock {
    fn acquire(&self, wait: Duration, holder: &str) -> io::Result<LockOutcome> {
        self.waiting.around("lock", &self.path, || self.inner.acquire(wait, holder))
    }

    fn release(&self) {
        self.inner.release();
    }
}
