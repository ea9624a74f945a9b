//! A log on a disk whose power goes, and beside it checkpoints in a real folder.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use bilinc::storage::{DirEntry, FileStorage, OpenMode, Storage, StorageFile, StorageLock};

#[derive(Debug)]
pub(super) struct Beside {
    pub(super) log: Arc<dyn Storage>,
    pub(super) folder: FileStorage,
}

impl Beside {
    fn of(&self, path: &str) -> &dyn Storage {
        if path.starts_with("checkpoint") { &self.folder } else { self.log.as_ref() }
    }
}

impl Storage for Beside {
    fn describe(&self) -> String {
        self.log.describe()
    }

    fn list(&self, dir: &str) -> io::Result<Vec<DirEntry>> {
        self.of(dir).list(dir)
    }

    fn exists(&self, path: &str) -> io::Result<bool> {
        self.of(path).exists(path)
    }

    fn open(&self, path: &str, mode: OpenMode) -> io::Result<Arc<dyn StorageFile>> {
        self.of(path).open(path, mode)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.of(from).rename(from, to)
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        self.of(path).remove(path)
    }

    fn create_dir(&self, path: &str) -> io::Result<()> {
        self.of(path).create_dir(path)
    }

    fn sync_dir(&self, path: &str) -> io::Result<()> {
        self.of(path).sync_dir(path)
    }

    fn lock(&self, path: &str) -> io::Result<Arc<dyn StorageLock>> {
        self.of(path).lock(path)
    }

    fn folder(&self) -> Option<PathBuf> {
        Some(self.folder.root().to_owned())
    }

    fn network_file_system(&self) -> io::Result<Option<&'static str>> {
        Ok(None)
    }
}
