//! The keys as a running server knows them.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::file::{self, FILE};
use super::{KeyFileError, KeyRecord};

/// What tells one state of the file from another: every change makes a new file.
type Stamp = Option<(u64, u64, i64, i64)>;

/// The keys, read anew whenever their file has changed, so that a new key works at once and a
/// revoked one no longer does.
#[derive(Debug)]
pub(in crate::http) struct LiveKeys {
    data: PathBuf,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    stamp: Option<Stamp>,
    /// By the first half of the hash, which says nothing that a caller can make use of.
    keys: HashMap<[u8; 16], Arc<KeyRecord>>,
}

impl LiveKeys {
    pub(in crate::http) fn new(data: &Path) -> Self {
        Self { data: data.to_owned(), known: Mutex::default() }
    }

    /// The key of this secret that may be used now.
    pub(in crate::http) fn find(&self, secret: &str) -> Result<Option<Arc<KeyRecord>>, KeyFileError> {
        let hash = blake3::hash(secret.as_bytes());
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        self.refresh(&mut known)?;
        let Some(key) = known.keys.get(&half(&hash)) else { return Ok(None) };
        // Hashes compare in constant time.
        let is_it = blake3::Hash::from_hex(&key.hash).is_ok_and(|kept| kept == hash);
        Ok(is_it.then(|| Arc::clone(key)))
    }

    /// Whether this key may still be used.
    pub(in crate::http) fn is_good(&self, id: &str) -> bool {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        self.refresh(&mut known).is_ok() && known.keys.values().any(|key| key.id == id)
    }

    /// The projects that there are keys for.
    pub(in crate::http) fn projects(&self) -> Result<Vec<String>, KeyFileError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        self.refresh(&mut known)?;
        let mut projects: Vec<_> = known.keys.values().map(|key| key.project.clone()).collect();
        projects.sort_unstable();
        projects.dedup();
        Ok(projects)
    }

    fn refresh(&self, known: &mut Known) -> Result<(), KeyFileError> {
        let metadata = std::fs::metadata(self.data.join(FILE)).ok();
        let stamp = metadata.map(|file| (file.ino(), file.len(), file.mtime(), file.mtime_nsec()));
        if known.stamp == Some(stamp) {
            return Ok(());
        }
        // Until the file can be read, nobody is let in.
        *known = Known::default();
        let keys = file::read(&self.data)?;
        let good = keys.into_iter().filter(|key| key.revoked_at.is_none());
        let hashed = good.filter_map(|key| Some((half(&blake3::Hash::from_hex(&key.hash).ok()?), Arc::new(key))));
        *known = Known { stamp: Some(stamp), keys: hashed.collect() };
        Ok(())
    }
}

fn half(hash: &blake3::Hash) -> [u8; 16] {
    let mut half = [0; 16];
    for (to, from) in half.iter_mut().zip(hash.as_bytes()) {
        *to = *from;
    }
    half
}
