//! The store's folder on a real file system.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::file_lock::FileLock;
use super::{DirEntry, OpenMode, Storage, StorageFile, StorageLock, network};

/// A folder; made 0700, its files 0600.
#[derive(Debug, Clone)]
pub struct FileStorage {
    root: PathBuf,
}

impl FileStorage {
    /// Names the folder; touches nothing.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    fn path(&self, path: &str) -> PathBuf {
        if path.is_empty() { self.root.clone() } else { self.root.join(path) }
    }
}

fn sync_folder(path: &Path) -> io::Result<()> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    File::open(path)?.sync_all()
}

/// Opens a regular file and nothing else: a pipe would be waited for, and a device may have no end.
pub(super) fn open_regular(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let no_wait = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or(0);
    let file = options.custom_flags(no_wait).open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !kind.is_file() {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "it is no regular file"));
    }
    Ok(file)
}

/// The file whose name is no text and is listed under this one.
fn listed_as(path: &Path) -> io::Result<Option<PathBuf>> {
    let (Some(dir), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return Ok(None);
    };
    if !name.contains(char::REPLACEMENT_CHARACTER) {
        return Ok(None);
    }
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy() == name {
            return Ok(Some(entry.path()));
        }
    }
    Ok(None)
}

impl Storage for FileStorage {
    fn describe(&self) -> String {
        self.root.display().to_string()
    }

    fn list(&self, dir: &str) -> io::Result<Vec<DirEntry>> {
        let mut entries = Vec::new();
        for entry in std::fs::read_dir(self.path(dir))? {
            let entry = entry?;
            // A name that is no text is none of ours, but it is there.
            entries.push(DirEntry {
                name: entry.file_name().to_string_lossy().into_owned(),
                is_dir: entry.file_type()?.is_dir(),
            });
        }
        entries.sort();
        Ok(entries)
    }

    fn exists(&self, path: &str) -> io::Result<bool> {
        self.path(path).try_exists()
    }

    fn open(&self, path: &str, mode: OpenMode) -> io::Result<Arc<dyn StorageFile>> {
        let mut options = OpenOptions::new();
        options.read(true).mode(0o600);
        match mode {
            OpenMode::Read => {}
            OpenMode::ReadWrite => {
                options.write(true);
            }
            OpenMode::Create => {
                options.write(true).create(true);
            }
            OpenMode::Truncate => {
                options.write(true).create(true).truncate(true);
            }
            OpenMode::New => {
                options.write(true).create_new(true);
            }
        }
        Ok(Arc::new(OpenFile(open_regular(&mut options, &self.path(path))?)))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        std::fs::rename(self.path(from), self.path(to))
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        let path = self.path(path);
        match std::fs::remove_file(&path) {
            // A name that is no text has no text of its own in a list.
            Err(error) if error.kind() == io::ErrorKind::NotFound => match listed_as(&path)? {
                Some(path) => std::fs::remove_file(path),
                None => Err(error),
            },
            removed => removed,
        }
    }

    fn create_dir(&self, path: &str) -> io::Result<()> {
        let path = self.path(path);
        if path.is_dir() {
            return Ok(());
        }
        // Every new name must itself become durable, in the folder above it.
        let mut missing: Vec<&Path> =
            path.ancestors().take_while(|ancestor| !ancestor.as_os_str().is_empty() && !ancestor.exists()).collect();
        missing.reverse();
        DirBuilder::new().recursive(true).mode(0o700).create(&path)?;
        for made in missing {
            if let Some(above) = made.parent() {
                sync_folder(above)?;
            }
        }
        Ok(())
    }

    fn remove_dir(&self, path: &str) -> io::Result<()> {
        std::fs::remove_dir(self.path(path))
    }

    fn sync_dir(&self, path: &str) -> io::Result<()> {
        sync_folder(&self.path(path))
    }

    fn lock(&self, path: &str) -> io::Result<Arc<dyn StorageLock>> {
        Ok(Arc::new(FileLock::open(self.path(path))?))
    }

    fn folder(&self) -> Option<PathBuf> {
        Some(self.root.clone())
    }

    fn network_file_system(&self) -> io::Result<Option<&'static str>> {
        // The folder may not be there yet: ask the nearest one above it that is.
        for ancestor in self.root.ancestors() {
            let ancestor = if ancestor.as_os_str().is_empty() { Path::new(".") } else { ancestor };
            if ancestor.try_exists()? {
                return network::kind(ancestor);
            }
        }
        Ok(None)
    }
}

#[derive(Debug)]
struct OpenFile(File);

impl StorageFile for OpenFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.0.write_all_at(bytes, offset)
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        let from = self.len()?;
        if len <= from {
            return Ok(());
        }
        #[cfg(target_os = "linux")]
        match rustix::fs::fallocate(&self.0, rustix::fs::FallocateFlags::empty(), from, len - from) {
            Ok(()) => return Ok(()),
            Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => {}
            Err(error) => return Err(error.into()),
        }
        let zeros = vec![0_u8; 64 * 1024];
        let mut at = from;
        while at < len {
            let step = usize::try_from(len - at).map_or(zeros.len(), |rest| rest.min(zeros.len()));
            let Some(piece) = zeros.get(..step) else { break };
            self.0.write_all_at(piece, at)?;
            at = at.saturating_add(step as u64);
        }
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }
}
