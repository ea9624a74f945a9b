//! The file of keys.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::KeyRecord;

/// Where the keys are kept in the data folder.
pub(super) const FILE: &str = "keys.json";
/// Held while they are changed.
const LOCK: &str = "keys.lock";
/// The format of the file.
const VERSION: u32 = 1;

/// What the file holds.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    version: u32,
    keys: Vec<KeyRecord>,
}

/// Why keys cannot be read or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyFileError {
    /// The system refused something.
    #[error("cannot {doing} ({path}): {source}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// The file or folder.
        path: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The file is not one of keys.
    #[error("{path} is no file of keys that this version knows: {reason}")]
    Malformed {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// There is no key of that id.
    #[error("there is no key {0}; `bilinc keys list` names them all")]
    NoSuchKey(String),
    /// The name cannot be one of a project.
    #[error(
        "the name of a project has 1 to 64 characters out of a-z, A-Z, 0-9, `-`, `_` and `.`, and begins with a letter or a digit"
    )]
    ProjectName,
    /// The system has no random numbers.
    #[error("there are no random numbers: {0}")]
    Random(String),
}

/// Reads the keys; there are none where there is no file.
pub(super) fn read(data: &Path) -> Result<Vec<KeyRecord>, KeyFileError> {
    let path = data.join(FILE);
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(failed("read the keys", &path, source)),
    };
    let malformed = |reason: String| KeyFileError::Malformed { path: path.display().to_string(), reason };
    let kept: Kept = serde_json::from_slice(&text).map_err(|error| malformed(error.to_string()))?;
    if kept.version == VERSION { Ok(kept.keys) } else { Err(malformed(format!("format {}", kept.version))) }
}

/// Changes the keys under the lock. The file is replaced by a whole new one, which is durable
/// before it takes the other's place.
pub(super) fn change<T>(
    data: &Path,
    change: impl FnOnce(&mut Vec<KeyRecord>) -> Result<T, KeyFileError>,
) -> Result<T, KeyFileError> {
    make_folder(data).map_err(|source| failed("make the folder", data, source))?;
    let lock_path = data.join(LOCK);
    let lock = File::options().create(true).truncate(false).write(true).open(&lock_path);
    let lock = lock.and_then(|lock| lock.lock().map(|()| lock));
    let _lock = lock.map_err(|source| failed("lock the keys", &lock_path, source))?;
    let mut keys = read(data)?;
    let changed = change(&mut keys)?;
    let path = data.join(FILE);
    write(data, &Kept { version: VERSION, keys }).map_err(|source| failed("write the keys", &path, source))?;
    Ok(changed)
}

fn write(data: &Path, kept: &Kept) -> io::Result<()> {
    // Temporary files are for their owner alone.
    let mut file = tempfile::Builder::new().prefix(".keys-").tempfile_in(data)?;
    let mut text = serde_json::to_vec_pretty(kept)?;
    text.push(b'\n');
    file.write_all(&text)?;
    file.as_file().sync_all()?;
    file.persist(data.join(FILE)).map_err(|error| error.error)?;
    File::open(data)?.sync_all()
}

/// Makes a folder for its owner alone, and those above it.
pub(in crate::http) fn make_folder(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

fn failed(doing: &'static str, path: &Path, source: io::Error) -> KeyFileError {
    KeyFileError::Io { doing, path: path.display().to_string(), source }
}
