//! API keys: who may ask for what.
//!
//! A key is 32 random bytes and belongs to one project. Only its hash is kept, in `keys.json` in
//! the data folder. A key is random over its whole length, so a plain hash of it cannot be guessed
//! back. The file is replaced as a whole under a lock, so a reader sees it as it was or as it is.

mod file;
mod live;

use std::fmt::Write;
use std::path::Path;

use bilinc::{Clock, SystemClock};
use serde::{Deserialize, Serialize};

pub use self::file::KeyFileError;
pub(super) use self::file::make_folder;
pub(super) use self::live::LiveKeys;

use super::projects::is_project_name;

/// How a key begins.
const PREFIX: &str = "bil_live_";

/// A key as it is kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KeyRecord {
    /// By which it is named; no part of the key.
    pub id: String,
    /// The project that it opens.
    pub project: String,
    /// Whether it may only read.
    pub read_only: bool,
    /// What people call it.
    pub name: Option<String>,
    /// When it was made, in RFC 3339.
    pub created_at: String,
    /// When it was revoked.
    pub revoked_at: Option<String>,
    /// BLAKE3 of the key, in hex digits.
    hash: String,
}

/// Makes a key for a project. The key itself is shown here and never again.
///
/// # Errors
/// When the name of the project is none, or the file cannot be written.
pub fn create(
    data: &Path,
    project: &str,
    read_only: bool,
    name: Option<String>,
) -> Result<(String, KeyRecord), KeyFileError> {
    if !is_project_name(project) {
        return Err(KeyFileError::ProjectName);
    }
    let secret = format!("{PREFIX}{}", hex(&random::<32>()?));
    let record = KeyRecord {
        id: format!("key_{}", hex(&random::<8>()?)),
        project: project.to_owned(),
        read_only,
        name,
        created_at: SystemClock.now().to_string(),
        revoked_at: None,
        hash: blake3::hash(secret.as_bytes()).to_hex().to_string(),
    };
    file::change(data, |keys| {
        keys.push(record.clone());
        Ok(())
    })?;
    Ok((secret, record))
}

/// All keys, in the order in which they were made.
///
/// # Errors
/// When the file cannot be read.
pub fn list(data: &Path) -> Result<Vec<KeyRecord>, KeyFileError> {
    file::read(data)
}

/// Ends a key, named by its id. Ending it again changes nothing.
///
/// # Errors
/// When there is no such key, or the file cannot be written.
pub fn revoke(data: &Path, id: &str) -> Result<KeyRecord, KeyFileError> {
    file::change(data, |keys| {
        let key = keys.iter_mut().find(|key| key.id == id).ok_or_else(|| KeyFileError::NoSuchKey(id.to_owned()))?;
        key.revoked_at.get_or_insert_with(|| SystemClock.now().to_string());
        Ok(key.clone())
    })
}

fn random<const N: usize>() -> Result<[u8; N], KeyFileError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| KeyFileError::Random(error.to_string()))?;
    Ok(bytes)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a text cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_key_opens_its_project_until_it_is_revoked_and_is_nowhere_in_the_file() {
        let data = tempfile::tempdir().unwrap();
        let (secret, made) = create(data.path(), "p", true, Some("n".into())).unwrap();
        let live = LiveKeys::new(data.path());
        let found = live.find(&secret).unwrap().unwrap();
        assert_eq!((found.id.as_str(), found.project.as_str(), found.read_only), (made.id.as_str(), "p", true));
        assert!(live.find(&secret.to_uppercase()).unwrap().is_none());
        let kept = std::fs::read_to_string(data.path().join("keys.json")).unwrap();
        assert!(!kept.contains(secret.trim_start_matches(PREFIX)));
        revoke(data.path(), &made.id).unwrap();
        assert!(live.find(&secret).unwrap().is_none());
        let again = revoke(data.path(), &made.id).unwrap();
        assert_eq!(again.revoked_at, list(data.path()).unwrap().pop().unwrap().revoked_at);
        assert!(matches!(revoke(data.path(), "key_0"), Err(KeyFileError::NoSuchKey(_))));
    }

    #[test]
    fn a_file_that_cannot_be_read_opens_nothing_and_is_not_written_over() {
        let data = tempfile::tempdir().unwrap();
        let (secret, _) = create(data.path(), "p", false, None).unwrap();
        let live = LiveKeys::new(data.path());
        assert!(live.find(&secret).unwrap().is_some());
        std::fs::write(data.path().join("keys.json"), "{").unwrap();
        assert!(live.find(&secret).is_err());
        assert!(create(data.path(), "p", false, None).is_err());
        assert_eq!(std::fs::read_to_string(data.path().join("keys.json")).unwrap(), "{");
    }

    #[test]
    fn only_its_owner_reads_the_file() {
        use std::os::unix::fs::PermissionsExt;
        let data = tempfile::tempdir().unwrap();
        create(data.path(), "p", false, None).unwrap();
        let mode = std::fs::metadata(data.path().join("keys.json")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn keys_made_at_the_same_time_are_all_there() {
        let data = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| create(data.path(), "p", false, None).unwrap());
            }
        });
        assert_eq!(list(data.path()).unwrap().len(), 8);
    }
}
