//! A storage in which something happens in the middle of what is done with it.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bilinc::storage::{DirEntry, OpenMode, Storage, StorageFile, StorageLock};

/// Does something when the call of that number comes, whatever it is.
pub(crate) struct Hook {
    calls: AtomicU64,
    at: u64,
    act: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl std::fmt::Debug for Hook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hook").finish_non_exhaustive()
    }
}

impl Hook {
    pub(crate) fn new(at: u64, act: impl FnOnce() + Send + 'static) -> Arc<Self> {
        Arc::new(Self { calls: AtomicU64::new(0), at, act: Mutex::new(Some(Box::new(act))) })
    }

    fn call(&self) {
        if self.calls.fetch_add(1, Ordering::SeqCst) + 1 == self.at {
            let act = self.act.lock().unwrap().take();
            act.unwrap()();
        }
    }

    pub(crate) fn came(&self) -> bool {
        self.act.lock().unwrap().is_none()
    }
}

/// Calls the hook before each of its own calls.
#[derive(Debug)]
pub(crate) struct Hooked<T: ?Sized>(pub(crate) Arc<Hook>, pub(crate) Arc<T>);

impl Storage for Hooked<dyn Storage> {
    fn describe(&self) -> String {
        self.1.describe()
    }

    fn list(&self, dir: &str) -> io::Result<Vec<DirEntry>> {
        self.0.call();
        self.1.list(dir)
    }

    fn exists(&self, path: &str) -> io::Result<bool> {
        self.0.call();
        self.1.exists(path)
    }

    fn open(&self, path: &str, mode: OpenMode) -> io::Result<Arc<dyn StorageFile>> {
        self.0.call();
        Ok(Arc::new(Hooked(Arc::clone(&self.0), self.1.open(path, mode)?)))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.0.call();
        self.1.rename(from, to)
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        self.0.call();
        self.1.remove(path)
    }

    fn remove_dir(&self, path: &str) -> io::Result<()> {
        self.0.call();
        self.1.remove_dir(path)
    }

    fn create_dir(&self, path: &str) -> io::Result<()> {
        self.0.call();
        self.1.create_dir(path)
    }

    fn sync_dir(&self, path: &str) -> io::Result<()> {
        self.0.call();
        self.1.sync_dir(path)
    }

    fn lock(&self, path: &str) -> io::Result<Arc<dyn StorageLock>> {
        self.1.lock(path)
    }

    fn network_file_system(&self) -> io::Result<Option<&'static str>> {
        self.1.network_file_system()
    }
}

impl StorageFile for Hooked<dyn StorageFile> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.call();
        self.1.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.0.call();
        self.1.write_at(bytes, offset)
    }

    fn len(&self) -> io::Result<u64> {
        self.0.call();
        self.1.len()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.call();
        self.1.set_len(len)
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        self.0.call();
        self.1.allocate(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.call();
        self.1.sync_data()
    }
}
