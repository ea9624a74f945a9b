//! One checkpoint in its folder: made whole or not at all, read whole or set aside.

use std::fmt::Display;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use super::manifest_file as manifests;
use super::packs::Packer;
use super::{Checkpoints, Held, packs, tree};
use crate::codec::kept::{KeptFile, Manifest};
use crate::log::{CHECKPOINTS_DIR, End};

/// Where the last one that was set aside lies.
const DOUBTED: &str = "doubted";

/// Why a checkpoint was not used.
#[derive(Debug)]
pub(crate) enum Doubt {
    /// What was kept is not what it should be: it is set aside.
    Wrong(String),
    /// The machine says no: a lock, a permission, no room. Nothing is touched.
    Machine(io::Error),
}

impl Doubt {
    pub(crate) fn wrong(reason: impl Display) -> Self {
        Self::Wrong(reason.to_string())
    }
}

impl From<Doubt> for io::Error {
    fn from(doubt: Doubt) -> Self {
        match doubt {
            Doubt::Wrong(reason) => Self::other(reason),
            Doubt::Machine(error) => error,
        }
    }
}

impl From<io::Error> for Doubt {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            // What lies there is no checkpoint, whatever it is.
            io::ErrorKind::InvalidData
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::IsADirectory
            | io::ErrorKind::UnexpectedEof => Self::wrong(error),
            _ => Self::Machine(error),
        }
    }
}

/// What is kept, and of which store and version it must be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kept {
    pub(crate) name: &'static str,
    pub(crate) version: u32,
    pub(crate) store_id: u128,
}

impl Checkpoints {
    fn folder(&self, name: &str) -> Option<PathBuf> {
        self.root.as_ref().map(|root| root.join(CHECKPOINTS_DIR).join(name))
    }

    /// Whether anything lies where the checkpoint of that name would: where nothing does, no lock is needed.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.folder(name).is_some_and(|folder| fs::symlink_metadata(folder).is_ok())
    }

    /// The manifest of a checkpoint as it lies there, whoever may be at work on it: to say how things are.
    pub(crate) fn manifest_now(&self, kept: Kept) -> Option<Manifest> {
        look(&self.folder(kept.name)?, kept).ok().flatten()
    }

    /// As [`Self::manifest_now`], if all the files are those that it names.
    pub(crate) fn sound_manifest_now(&self, kept: Kept) -> Option<Manifest> {
        let manifest = self.manifest_now(kept)?;
        let files = manifests::files(&self.folder(kept.name)?).ok()?;
        (files == manifest.files).then_some(manifest)
    }
}

impl Held<'_> {
    fn folder(&self, name: &str) -> Option<PathBuf> {
        self.checkpoints.folder(name)
    }

    /// The manifest of a checkpoint, if there is one that fits. One that does not is set aside.
    pub(crate) fn manifest(&self, kept: Kept) -> Option<Manifest> {
        self.settling(kept.name, |folder| look(folder, kept))
    }

    /// What `take` makes, one after the other, of the packs of the checkpoint that `manifest` speaks of; none
    /// where they are not what they should be. Then the checkpoint is set aside. `take` says how many rows
    /// it found; it is called once more, without a pack, when all have been given.
    pub(crate) fn load<T>(
        &self,
        kept: Kept,
        manifest: &Manifest,
        mut into: T,
        mut take: impl FnMut(&mut T, Option<&[u8]>) -> Result<u64, String>,
    ) -> Option<T> {
        self.settling(kept.name, |folder| {
            if manifests::files(folder)? != manifest.files {
                return Err(Doubt::wrong("its files are not those that were kept"));
            }
            let (mut rows, mut hasher) = (0_u64, blake3::Hasher::new());
            tree::read(folder, &mut |pack| {
                hasher.update(pack);
                rows = rows.saturating_add(take(&mut into, Some(pack)).map_err(Doubt::Wrong)?);
                Ok(())
            })?;
            rows = rows.saturating_add(take(&mut into, None).map_err(Doubt::Wrong)?);
            if rows != manifest.rows || *hasher.finalize().as_bytes() != manifest.digest {
                return Err(Doubt::wrong("its rows are not those that were kept"));
            }
            Ok(Some(into))
        })
    }

    /// As [`Self::load`], what was kept as one run of bytes ([`Packer::push_bytes`]).
    pub(crate) fn load_bytes(&self, kept: Kept, manifest: &Manifest) -> Option<Vec<u8>> {
        // Each row is a pack, and none of them is longer; a forged count reserves no more than the files could fill.
        let most = usize::try_from(manifest.rows).unwrap_or(usize::MAX).saturating_mul(packs::MOST_BYTES);
        let in_files = manifest.files.iter().fold(0_u64, |sum, file| sum.saturating_add(file.len));
        let bytes = Vec::with_capacity(most.min(usize::try_from(in_files).unwrap_or(usize::MAX)));
        self.load(kept, manifest, bytes, |bytes, pack| {
            bytes.extend_from_slice(pack.unwrap_or_default());
            Ok(pack.is_some().into())
        })
    }

    /// Keeps the rows that `give` gives as the checkpoint of that name, in place of the one that is there. Until the last step
    /// that one stays; after an interruption there is the old one, the new one or none.
    pub(crate) fn save(
        &self,
        kept: Kept,
        end: &End,
        give: impl FnOnce(&mut Packer<'_>) -> Result<(), Doubt>,
    ) -> io::Result<()> {
        let making = format!("{}.new", kept.name);
        let (Some(folder), Some(new)) = (self.folder(kept.name), self.folder(&making)) else { return Ok(()) };
        let storage = self.checkpoints.storage.as_ref();
        storage.create_dir(CHECKPOINTS_DIR)?;
        remove_all(&new)?;
        storage.create_dir(&format!("{CHECKPOINTS_DIR}/{making}"))?;
        let made = make(&new, kept, end, give);
        if let Err(error) = made {
            // What is left of it is never read; a disk that is full wants the room back.
            let _ = remove_all(&new);
            return Err(error);
        }
        remove_all(&folder)?;
        fs::rename(&new, &folder)?;
        storage.sync_dir(CHECKPOINTS_DIR)
    }

    /// Sets a checkpoint aside that turned out to be wrong, in place of the one that was set aside before.
    pub(crate) fn set_aside(&self, name: &str) {
        let (Some(folder), Some(doubted)) = (self.folder(name), self.folder(DOUBTED)) else { return };
        // Two may be loaded at the same time.
        let _one_by_one = self.checkpoints.setting_aside.lock().unwrap_or_else(PoisonError::into_inner);
        // One that can be neither moved nor removed is doubted again at the next open.
        let _ = remove_all(&doubted).and_then(|()| fs::rename(&folder, &doubted));
    }

    fn settling<T>(&self, name: &str, look: impl FnOnce(&Path) -> Result<Option<T>, Doubt>) -> Option<T> {
        match look(&self.folder(name)?) {
            Ok(found) => found,
            Err(Doubt::Wrong(_)) => {
                self.set_aside(name);
                None
            }
            Err(Doubt::Machine(_)) => None,
        }
    }
}

fn make(new: &Path, kept: Kept, end: &End, give: impl FnOnce(&mut Packer<'_>) -> Result<(), Doubt>) -> io::Result<()> {
    let packed = tree::write(new, |keep| {
        let mut packer = Packer::new(keep);
        give(&mut packer)?;
        packer.finish()
    })?;
    let files = at_rest(new)?;
    manifests::settle_all(new)?;
    let manifest = Manifest {
        name: kept.name.to_owned(),
        version: kept.version,
        store_id: kept.store_id,
        end: end.clone(),
        rows: packed.rows,
        digest: packed.digest,
        files,
    };
    manifests::write(new, &manifest)
}

/// The files of a database that reading does not change any more.
fn at_rest(folder: &Path) -> io::Result<Vec<KeptFile>> {
    const MOST_READS: u32 = 8;
    let mut files = manifests::files(folder)?;
    for _ in 0..MOST_READS {
        tree::read(folder, &mut |_| Ok(()))?;
        let found = manifests::files(folder)?;
        if found == files {
            return Ok(files);
        }
        files = found;
    }
    Err(io::Error::other("the database does not come to rest"))
}

fn look(folder: &Path, kept: Kept) -> Result<Option<Manifest>, Doubt> {
    let Some(read) = manifests::read(folder)? else {
        // A folder without a manifest is no checkpoint; without a folder there is none.
        return if folder.try_exists()? { Err(Doubt::wrong("it has no manifest")) } else { Ok(None) };
    };
    let manifest = read.map_err(Doubt::Wrong)?;
    if (manifest.name.as_str(), manifest.version, manifest.store_id) != (kept.name, kept.version, kept.store_id) {
        return Err(Doubt::wrong("it is of another store or version"));
    }
    Ok(Some(manifest))
}

/// Removes whatever lies under the name.
fn remove_all(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
