//! Which files belong to a checkpoint, byte for byte.

use std::fs::{self, File, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::codec::kept::{KeptFile, Manifest};

/// The manifest's name beside the files of the database.
const MANIFEST: &str = "manifest";
/// A manifest is small; a longer file is none.
const MOST_MANIFEST_BYTES: u64 = 4 * 1024 * 1024;
/// Folders inside a checkpoint are no deeper; nor is anything that is none followed.
const MOST_DEPTH: u32 = 4;

/// The manifest as it lies there; none where there is none.
pub(super) fn read(folder: &Path) -> io::Result<Option<Result<Manifest, String>>> {
    let file = match File::open(folder.join(MANIFEST)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.take(MOST_MANIFEST_BYTES.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_MANIFEST_BYTES {
        return Ok(Some(Err("the manifest is too long".to_owned())));
    }
    Ok(Some(Manifest::decode(&bytes)))
}

/// Writes and syncs the manifest.
pub(super) fn write(folder: &Path, manifest: &Manifest) -> io::Result<()> {
    let bytes = manifest.encode().map_err(io::Error::other)?;
    let path = folder.join(MANIFEST);
    fs::write(&path, bytes)?;
    settle(&path)?;
    File::open(folder)?.sync_all()
}

/// Every file but the manifest, in the order of their paths.
pub(super) fn files(folder: &Path) -> io::Result<Vec<KeptFile>> {
    let mut found = Vec::new();
    walk(folder, MOST_DEPTH, &mut |path, is_dir| {
        if is_dir {
            return Ok(());
        }
        let name = path.strip_prefix(folder).unwrap_or(path).to_string_lossy().into_owned();
        if name != MANIFEST {
            let (len, crc) = checksum(path)?;
            found.push(KeptFile { path: name, len, crc });
        }
        Ok(())
    })?;
    found.sort_unstable();
    Ok(found)
}

/// Makes all files in the folder the owner's alone and durable, names too.
pub(super) fn settle_all(folder: &Path) -> io::Result<()> {
    walk(folder, MOST_DEPTH, &mut |path, is_dir| if is_dir { File::open(path)?.sync_all() } else { settle(path) })
}

fn settle(path: &Path) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(0o600))?;
    File::open(path)?.sync_all()
}

/// Visits all files below a folder, and each folder (`true`) behind what is in it. Links are not followed:
/// they do not belong there.
fn walk(folder: &Path, depth: u32, visit: &mut dyn FnMut(&Path, bool) -> io::Result<()>) -> io::Result<()> {
    let Some(deeper) = depth.checked_sub(1) else {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the folders are too deep"));
    };
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<_>>()?;
    entries.sort_unstable();
    for path in entries {
        let kind = fs::symlink_metadata(&path)?.file_type();
        if kind.is_dir() {
            walk(&path, deeper, visit)?;
        } else if kind.is_file() {
            visit(&path, false)?;
        } else {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "something is there that is no file"));
        }
    }
    visit(folder, true)
}

fn checksum(path: &Path) -> io::Result<(u64, u32)> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0_u8; 256 * 1024];
    let (mut len, mut hasher) = (0_u64, crc32fast::Hasher::new());
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok((len, hasher.finalize())),
            read => {
                hasher.update(buffer.get(..read).unwrap_or_default());
                len = len.saturating_add(read as u64);
            }
        }
    }
}
