//! A copy of the store while it is written to.

use std::ops::ControlFlow;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use bilinc_core::{Event, Rejection, Seq, StoreId};

use super::Memory;
use super::judge::BodyJudge;
use super::verify::Purges;
use crate::answer::{BackedUp, ChainHash, Head};
use crate::codec::{self, Bodies};
use crate::error::{EngineError, Error};
use crate::log::{LogCopy, LogError, is_store};
use crate::storage::{FileStorage, Storage};

impl Memory {
    /// Copies the store, as it stands at one position, into a folder that is empty or not there, while
    /// this and other processes go on writing. The copy is a store that opens at once, under an id of
    /// its own: cursors and tokens of this one do not fit it. Its chain of hashes is the same, so that a
    /// head noted of this store proves the copy, too.
    ///
    /// Everything that is copied is proved on the way, as [`Memory::verify`] does it. Nothing is left in
    /// the folder when this fails, and a folder in which it was interrupted opens as no store.
    /// `progress` is told bytes done and in all.
    ///
    /// ```
    /// use bilinc::{Commit, Json, Key, Memory};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("backup");
    /// let memory = Memory::in_memory()?;
    /// memory.commit(Commit::new(Key::new("k")?, Json::string("v")))?;
    /// let backup = memory.backup(&path, &mut |_, _| {})?;
    ///
    /// let copy = Memory::open(&path)?;
    /// assert!(copy.is_same_state(&memory)?);
    /// assert_ne!(copy.store_id(), memory.store_id());
    /// copy.verify_since(backup.head, &mut |_, _| {})?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Rejection::Invalid`] when the folder is not empty, or inside a store; nothing is touched then.
    /// [`LogError::Damage`] when this store is damaged: what is whole of it is for salvage to copy.
    pub fn backup(&self, folder: impl AsRef<Path>, progress: &mut dyn FnMut(u64, u64)) -> Result<BackedUp, Error> {
        let folder = folder.as_ref();
        let missing = missing_folders(folder)?;
        let done = self.backup_to(Arc::new(FileStorage::new(folder)), progress);
        if done.is_err() {
            for made in missing {
                // Stays when it is not empty, or was never made.
                let _ = std::fs::remove_dir(made);
            }
        }
        done
    }

    /// As [`Memory::backup`], into a storage of the caller's.
    ///
    /// # Errors
    /// As [`Memory::backup`].
    pub fn backup_to(&self, target: Arc<dyn Storage>, progress: &mut dyn FnMut(u64, u64)) -> Result<BackedUp, Error> {
        if let Some(damage) = self.store.damage() {
            return Err(damage.again().into());
        }
        self.store.refresh()?;
        let (place, store) = (target.describe(), StoreId::from_u128(self.store.settings.ids.next_id()));
        let copy = self.store.log.copy_to(target, store.as_u128()).map_err(refused)?;
        self.carry_copy(copy, place, store, progress)
    }

    fn carry_copy(
        &self,
        mut copy: LogCopy<'_>,
        target: String,
        store: StoreId,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<BackedUp, Error> {
        let mut purges = Purges::default();
        let first = self.advance(&mut copy, &mut purges, progress)?;
        let mut through = first;
        // A purge that is recorded by now may have erased what lay before us, or will: then the copy
        // goes on until it holds that purge, and obeys it. One that comes later finds us done.
        while self.purged_since(through)? {
            through = self.advance(&mut copy, &mut purges, progress)?;
        }
        let erased = copy.erased().iter().copied().map(Seq::new).collect();
        self.hold_against(&erased, &purges, first)?;
        let mut named: Vec<u64> = purges.named.keys().map(|seq| seq.get()).collect();
        named.sort_unstable();
        let copied = copy.finish(&named).map_err(refused)?;
        Ok(BackedUp {
            target,
            store,
            head: Head { seq: Seq::new(copied.report.last_seq), chain: ChainHash(copied.report.chain) },
            segments: copied.segments,
            operations: copied.report.frames,
            events: copied.report.events,
            bytes: copied.report.bytes,
        })
    }

    fn advance(
        &self,
        copy: &mut LogCopy<'_>,
        purges: &mut Purges,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Seq, Error> {
        let judge = BodyJudge::new(&self.store);
        let mut failed = None;
        let through = copy.advance(progress, &|seq| judge.is_being_erased(seq), &mut |frame| match codec::decode(
            frame,
            Bodies::None,
        ) {
            Ok(events) => {
                events.iter().for_each(|event| purges.learn(event));
                ControlFlow::Continue(())
            }
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        });
        judge.end()?;
        match failed {
            Some(error) => Err(error.into()),
            None => Ok(Seq::new(through.map_err(EngineError::from)?)),
        }
    }

    /// Whether a purge was recorded behind that position.
    fn purged_since(&self, through: Seq) -> Result<bool, Error> {
        self.store.refresh()?;
        let mut purged = false;
        self.store.visit(through, self.store.published().head(), Bodies::None, &mut |event| {
            purged |= matches!(event.event, Event::Purged(_));
            if purged { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        Ok(purged)
    }
}

/// A folder that cannot be taken is the caller's to change.
fn refused(error: LogError) -> Error {
    match error {
        LogError::NotAStore { path, found } => {
            let message = format!("{path} holds {found:?}, and a backup takes a folder that is empty or not there");
            Rejection::invalid("target", "not_empty", message).into()
        }
        other => EngineError::Log(other).into(),
    }
}

/// The folders from this one upwards that are not there yet, the lowest first; refused when it is none,
/// or inside a store.
fn missing_folders(folder: &Path) -> Result<Vec<PathBuf>, Rejection> {
    let no_folder = || {
        let message = format!("{} is no folder, and cannot become one", folder.display());
        Rejection::invalid("target", "not_a_folder", message)
    };
    let is_there = |path: &Path| path.as_os_str().is_empty() || path.exists();
    if folder.as_os_str().is_empty() {
        return Err(no_folder());
    }
    let missing: Vec<PathBuf> = folder.ancestors().take_while(|path| !is_there(path)).map(Path::to_owned).collect();
    // Where a way up would lead from a folder that is not there cannot be said.
    let unclear = |path: &PathBuf| path.components().next_back() == Some(Component::ParentDir);
    let there = folder.ancestors().nth(missing.len()).unwrap_or(folder);
    let there = if there.as_os_str().is_empty() { Path::new(".") } else { there };
    if !there.is_dir() || missing.iter().any(unclear) {
        return Err(no_folder());
    }
    let there = there.canonicalize().map_err(|_| no_folder())?;
    // A folder of its own that holds a store is refused as one that is not empty.
    for above in there.ancestors().skip(usize::from(missing.is_empty())) {
        if is_store(&FileStorage::new(above)) {
            let message = format!("{} lies inside the store {}", folder.display(), above.display());
            return Err(Rejection::invalid("target", "inside_a_store", message));
        }
    }
    Ok(missing)
}
