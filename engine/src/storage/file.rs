//! The store's folder on a real file system.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::file_lock::FileLock;
use super::{DirEntry, OpenMode, Storage, StorageFile, StorageLock, Window, network, parent, window};

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

/// Tells the system that reads come as they come: they ask for as much as is wanted at once.
///
/// What it reads ahead of a look behind the last frame it keeps in large pieces, and then each small write into
/// such a piece costs as much as the piece is large: 15 to 25 µs instead of 2 to 3, measured on Linux 6 with ext4.
fn read_nothing_ahead(file: &File) {
    #[cfg(target_os = "linux")]
    // Advice: who does not take it is slower.
    let _ = rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::Random);
    #[cfg(not(target_os = "linux"))]
    let _ = file;
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

/// Makes the folder's own name durable, and the names of those above it: somebody may have made any of
/// them just now, and stopped before a sync.
fn sync_names_above(folder: &Path) -> io::Result<()> {
    for above in holders(folder)? {
        match sync_folder(&above) {
            // Who may not write into a folder has made no name in it.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && !may_write(&above) => break,
            synced => synced?,
        }
    }
    Ok(())
}

/// The folders above one, nearest first, up to where another file system begins: what is mounted was
/// there before.
fn holders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    // The names along the way of a link are those of the folder that it leads to.
    let folder = folder.canonicalize()?;
    let device = std::fs::metadata(&folder)?.dev();
    let mut holders = Vec::new();
    for above in folder.ancestors().skip(1) {
        if std::fs::metadata(above)?.dev() != device {
            break;
        }
        holders.push(above.to_owned());
    }
    Ok(holders)
}

fn may_write(folder: &Path) -> bool {
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_ok()
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
        let file = open_regular(&mut options, &self.path(path))?;
        read_nothing_ahead(&file);
        Ok(Arc::new(OpenFile(Arc::new(file))))
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
        DirBuilder::new().recursive(true).mode(0o700).create(self.path(path))?;
        if path.is_empty() { sync_names_above(&self.root) } else { sync_folder(&self.path(parent(path))) }
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
struct OpenFile(Arc<File>);

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
        match rustix::fs::fallocate(self.0.as_ref(), rustix::fs::FallocateFlags::empty(), from, len - from) {
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

    fn window(&self, len: usize) -> Option<Arc<dyn Window>> {
        window::open(&self.0, len)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_names_of_folders_that_an_interrupted_open_made_are_made_durable_by_the_next() {
        let dir = tempfile::tempdir().unwrap();
        let above = dir.path().canonicalize().unwrap();
        // Stopped after making them, before any sync.
        std::fs::create_dir_all(above.join("a/b/store")).unwrap();
        std::os::unix::fs::symlink(above.join("a/b/store"), above.join("link")).unwrap();
        for path in ["a/b/store", "a/b/../b/store", "link"] {
            let folder = above.join(path);
            let holders = holders(&folder).unwrap();
            assert!(holders.starts_with(&[above.join("a/b"), above.join("a"), above.clone()]), "{path}: {holders:?}");
            FileStorage::new(folder).create_dir("").unwrap();
        }
    }

    #[test]
    fn a_folder_behind_one_that_cannot_be_read_takes_a_store() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let closed = dir.path().join("closed");
        std::fs::create_dir_all(closed.join("store")).unwrap();
        std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o100)).unwrap();
        FileStorage::new(closed.join("store")).create_dir("").unwrap();
        std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o700)).unwrap();
    }
}
