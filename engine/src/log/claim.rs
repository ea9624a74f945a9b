//! The folder that a copy is made in: nobody else's, and no store before the copy is whole.

use std::io;
use std::sync::Arc;

use super::error::{Doing, LogError};
use super::mark::{MARK, MARK_TEMPORARY};
use super::open::{has_segments, refuse_network};
use super::options::LogOptions;
use super::segment::LOG_DIR;
use crate::storage::{OpenMode, Storage, StorageFile};

/// Lies in the folder from the first step to the last. With it and without a first segment the folder
/// opens as nothing, and nothing new begins in it.
pub(crate) const UNFINISHED: &str = "unfinished.backup";

const NOTE: &[u8] = b"A backup was begun in this folder. Unless log/00000000000000000001.seg is here too, or \
the backup is being written just now, it was interrupted, and what lies here is no store: remove the folder \
and make the backup again.\n";

/// A backup that was interrupted is no store, and no damaged one either.
pub(crate) fn refuse_unfinished(storage: &dyn Storage) -> Result<(), LogError> {
    if storage.exists(UNFINISHED).doing("look for an unfinished backup", UNFINISHED)? {
        return Err(LogError::NotAStore { path: storage.describe(), found: UNFINISHED.to_owned() });
    }
    Ok(())
}

/// A folder taken for a copy. Unless it is finished, what was put there goes again with this.
#[derive(Debug)]
#[must_use]
pub(crate) struct Claim {
    target: Arc<dyn Storage>,
    made: Vec<String>,
    /// Whether the first segment may have its name.
    named: bool,
    finished: bool,
}

impl Claim {
    /// Takes a folder that is empty or not there. Of several that try at once, one gets it.
    pub(crate) fn take(target: Arc<dyn Storage>, options: &LogOptions) -> Result<Self, LogError> {
        refuse_network(target.as_ref(), options)?;
        refuse_occupied(target.as_ref(), &[])?;
        let place = target.describe();
        target.create_dir("").doing("make the folder of the backup", &place)?;
        let file = match target.open(UNFINISHED, OpenMode::New) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(LogError::NotAStore { path: place, found: UNFINISHED.to_owned() });
            }
            Err(error) => return Err(error).doing("begin the backup", &place),
        };
        let claim = Self { target, made: Vec::new(), named: false, finished: false };
        let begun = file.write_at(NOTE, 0).and_then(|()| file.sync_data()).and_then(|()| claim.target.sync_dir(""));
        begun.doing("begin the backup", &claim.path(UNFINISHED))?;
        // Somebody may have looked as we did, and put something there that knows nothing of us.
        refuse_occupied(claim.target.as_ref(), &[UNFINISHED])?;
        claim.target.create_dir(LOG_DIR).doing("make a folder", &claim.path(LOG_DIR))?;
        Ok(claim)
    }

    /// The folder.
    pub(crate) fn target(&self) -> &Arc<dyn Storage> {
        &self.target
    }

    /// How many segments were made.
    pub(crate) fn segments(&self) -> u64 {
        self.made.len() as u64
    }

    /// A path in the folder, for messages.
    pub(crate) fn path(&self, path: &str) -> String {
        format!("{}/{path}", self.target.describe())
    }

    /// Makes the file that becomes this segment when all of the copy is there.
    pub(crate) fn make_segment(&mut self, segment: &str) -> Result<Arc<dyn StorageFile>, LogError> {
        let path = temporary(segment);
        let file = self.target.open(&path, OpenMode::Truncate);
        let file = file.doing("make a segment", &self.path(&path))?;
        self.made.push(segment.to_owned());
        Ok(file)
    }

    /// Opens the file of a segment in the making once more.
    pub(crate) fn open_segment(&self, segment: &str) -> Result<Arc<dyn StorageFile>, LogError> {
        let path = temporary(segment);
        self.target.open(&path, OpenMode::ReadWrite).doing("open a segment", &self.path(&path))
    }

    /// Makes a store of what is there, all of which is synced, the mark too: the first segment gets its
    /// name when every other name is durable.
    pub(crate) fn finish(mut self) -> Result<(), LogError> {
        let target = Arc::clone(&self.target);
        if has_segments(target.as_ref())? {
            return Err(LogError::NotAStore { path: target.describe(), found: LOG_DIR.to_owned() });
        }
        let sync = |dir: &str, at: &Self| target.sync_dir(dir).doing("sync a folder", &at.path(dir));
        let (first, later) = self.made.split_first().map_or((None, &[][..]), |(first, later)| (Some(first), later));
        for segment in later.iter().rev() {
            self.name(segment)?;
        }
        sync(LOG_DIR, &self)?;
        if let Some(first) = first.cloned() {
            self.named = true;
            self.name(&first)?;
            sync(LOG_DIR, &self)?;
        }
        target.remove(UNFINISHED).doing("end the backup", &self.path(UNFINISHED))?;
        self.finished = true;
        // All of it is durable. A power cut that brings this one name back does no harm beside a store.
        let _ = target.sync_dir("");
        Ok(())
    }

    fn name(&self, segment: &str) -> Result<(), LogError> {
        (self.target.rename(&temporary(segment), segment)).doing("name a segment", &self.path(segment))
    }

    /// Takes everything back, in an order that leaves no less than a store, or none.
    fn discard(&self) -> io::Result<()> {
        if self.named
            && let Some(first) = self.made.first()
        {
            self.gone(first)?;
            self.target.sync_dir(LOG_DIR)?;
        }
        for segment in &self.made {
            self.gone(segment)?;
            self.gone(&temporary(segment))?;
        }
        self.gone(MARK)?;
        self.gone(MARK_TEMPORARY)?;
        if self.target.exists(LOG_DIR)? {
            self.target.sync_dir(LOG_DIR)?;
            self.target.remove_dir(LOG_DIR)?;
        }
        // Until nothing else is left, it says what lies here.
        self.target.sync_dir("")?;
        self.gone(UNFINISHED)?;
        self.target.sync_dir("")
    }

    fn gone(&self, path: &str) -> io::Result<()> {
        match self.target.remove(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if !self.finished {
            // What cannot be removed lies under a name that says what it is.
            let _ = self.discard();
        }
    }
}

fn temporary(segment: &str) -> String {
    format!("{segment}.tmp")
}

fn refuse_occupied(target: &dyn Storage, ours: &[&str]) -> Result<(), LogError> {
    let path = target.describe();
    let entries = match target.list("") {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).doing("list the folder of the backup", &path),
    };
    match entries.into_iter().find(|entry| !ours.contains(&entry.name.as_str())) {
        Some(entry) => Err(LogError::NotAStore { path, found: entry.name }),
        None => Ok(()),
    }
}
