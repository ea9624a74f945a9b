//! Opening a log, and making a new one.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::append::Appending;
use super::chain::genesis;
use super::claim::refuse_unfinished;
use super::error::{Damage, Doing, LogError};
use super::gather::Pace;
use super::locks::{APPEND_LOCK, SYNC_LOCK, Turns, take};
use super::mark::{End, MARK, MARK_TEMPORARY, Mark};
use super::mark_file::MarkFile;
use super::options::LogOptions;
use super::recover::{end_fault, trailing};
use super::roll::SegmentDraft;
use super::salvage::{SALVAGE_DIR, finish_if_decided};
use super::segment::{LOG_DIR, Segment};
use super::segment_header::{SegmentHeader, parse_segment_name};
use super::torn::{QUARANTINE_DIR, TornEnd, damage_at};
use super::view::{Listed, Tail, View, list_segments};
use super::{CHECKPOINT_LOCK, CHECKPOINTS_DIR, Durable, Log, Stop, lock};
use crate::storage::{OpenMode, Storage, StorageLock, is_no_file};

/// What an open found and did.
#[derive(Debug)]
#[non_exhaustive]
pub struct OpenReport {
    /// The store was made just now.
    pub created: bool,
    /// What an interrupted write had left, now set aside.
    pub torn: Option<TornEnd>,
    /// Damage; the log is open for reading, up to it.
    pub damage: Option<Damage>,
    /// Why the log is for reading only, when it is.
    pub read_only: Option<String>,
    /// Whether there was a mark.
    pub mark_known: bool,
    /// Whether what follows the last frame was looked at. Not when another process was just
    /// appending: then the next append does it.
    pub tail_checked: bool,
    /// An earlier sync had failed, and what it should have covered was written anew.
    pub failed_sync_repaired: bool,
    /// How far the log is durable.
    pub durable: Durable,
}

/// What may lie in a store's folder before there is a log.
const OWN_NAMES: [&str; 10] = [
    LOG_DIR,
    QUARANTINE_DIR,
    SALVAGE_DIR,
    MARK,
    MARK_TEMPORARY,
    APPEND_LOCK,
    SYNC_LOCK,
    CHECKPOINTS_DIR,
    CHECKPOINT_LOCK,
    "token.key",
];

type Locks = Option<(Arc<dyn StorageLock>, Arc<dyn StorageLock>)>;

impl Log {
    /// Opens the log in `storage`; makes it, with `new_store_id`, when there is none and the options
    /// say so.
    ///
    /// Damage, a disk that cannot be written and a failure while cleaning up are no errors here: the
    /// log opens for reading, and the report says why. An open does not wait for other processes
    /// unless the mark is missing or says that a sync failed.
    pub fn open(
        storage: Arc<dyn Storage>,
        options: LogOptions,
        new_store_id: u128,
    ) -> Result<(Self, OpenReport), LogError> {
        refuse_network(storage.as_ref(), &options)?;
        finish_if_decided(storage.as_ref(), &options)?;
        let created = ensure_store(storage.as_ref(), &options, new_store_id)?;
        let Listed { segments, damage } = list_segments(storage.as_ref(), &[])?;
        let Some(first) = segments.first() else {
            refuse_unfinished(storage.as_ref())?;
            return Err(damage.map_or_else(|| LogError::NotFound { path: storage.describe() }, LogError::Damage));
        };
        let store_id = first.header.store_id;
        refuse_newer(&storage, &segments, store_id)?;
        let mut read_only = (options.read_only).then(|| "it was asked for".to_owned());
        let locks = open_locks(storage.as_ref(), &mut read_only)?;
        let marks = MarkFile::new(Arc::clone(&storage), store_id, read_only.is_none());
        let mark = marks.load()?;
        // Another process may have begun a segment, and marked it, since the files were listed.
        let newer = mark.as_ref().map_or(0, |mark| mark.visible.segment.max(mark.synced.segment));
        let relist = damage.is_none() && segments.last().is_some_and(|last| last.first_seq() < newer);
        let Listed { segments, damage } =
            if relist { list_segments(storage.as_ref(), &segments)? } else { Listed { segments, damage } };
        let segments = Arc::new(segments);
        let damage = match (damage, &mark) {
            (None, Some(mark)) => end_fault(&segments, &mark.synced)?,
            (damage, _) => damage,
        };
        let end = match &mark {
            Some(mark) => mark.visible.clone(),
            None => segments.last().unwrap_or(first_of(&segments)?).start(),
        };
        let (append_lock, sync_lock) = locks.unzip();
        let mut log = Self {
            storage,
            options,
            store_id,
            marks,
            view: Mutex::new(View { segments, end }),
            appending: Mutex::new(Appending::new(false)),
            syncing: Turns::default(),
            pace: Pace::default(),
            relaxed: Mutex::default(),
            append_lock,
            sync_lock,
            read_only,
            unmarked: None,
            stopped: Mutex::new(damage.map(Stop::Damaged)),
            torn_ends: Mutex::new(Vec::new()),
        };
        let failed_sync_repaired = log.settle(mark.as_ref())?;
        let report = OpenReport {
            created,
            torn: lock(&log.torn_ends).first().cloned(),
            damage: match lock(&log.stopped).as_ref() {
                Some(Stop::Damaged(damage)) => Some(damage.clone()),
                _ => None,
            },
            read_only: log.read_only.clone(),
            mark_known: mark.is_some(),
            tail_checked: lock(&log.appending).tail_checked,
            failed_sync_repaired,
            durable: log.durable()?,
        };
        Ok((log, report))
    }

    /// Puts the end in order where that is possible, and finds it where it is not.
    fn settle(&mut self, mark: Option<&Mark>) -> Result<bool, LogError> {
        if lock(&self.stopped).is_none() && self.read_only.is_none() {
            match self.recover_at_open(mark) {
                Ok(repaired) => return Ok(repaired),
                Err(LogError::Damage(damage)) => {
                    self.damaged(damage);
                }
                Err(LogError::Poisoned { .. }) => {}
                Err(error @ LogError::Io { .. }) => self.read_only = Some(error.to_string()),
                Err(error) => return Err(error),
            }
        }
        if mark.is_none() {
            self.unmarked = Some(self.unmarked_end()?);
        }
        Ok(false)
    }

    fn recover_at_open(&self, mark: Option<&Mark>) -> Result<bool, LogError> {
        let sound = mark.is_some_and(|mark| !mark.failed);
        let wait = if sound { Duration::ZERO } else { self.options.lock_timeout };
        let mut state = lock(&self.appending);
        let locks =
            (self.take_append_lock(&mut state, wait)).and_then(|append| Ok((append, self.take_sync_lock(wait)?)));
        let (_append, sync) = match locks {
            Ok(locks) => locks,
            // With a sound mark everything it covers can be shown; the first append does the rest.
            Err(LogError::Busy { .. }) if sound => return Ok(false),
            Err(error) => return Err(error),
        };
        let repaired = self.recover(&sync)?;
        state.tail_checked = true;
        Ok(repaired)
    }

    /// Without a mark, and without the means to write one, every whole frame counts.
    fn unmarked_end(&self) -> Result<End, LogError> {
        let mut view = lock(&self.view);
        if let Some(last) = view.segments.last() {
            let start = last.start();
            view.go_back(&start);
        }
        let bad = match view.catch_up(self.storage.as_ref(), 0) {
            Ok(Tail::Bad(bad)) => Some(bad),
            Ok(Tail::Clean) => trailing(&view)?,
            Err(LogError::Damage(damage)) => {
                let end = view.end.clone();
                drop(view);
                self.damaged(damage);
                return Ok(end);
            }
            Err(error) => return Err(error),
        };
        if let (Some(bad), Some(segment)) = (bad, view.end_segment())
            && let Some(reason) = damage_at(segment, &bad, 0)?
        {
            self.damaged(segment.damage(bad.offset, bad.seq, &reason));
        }
        Ok(view.end.clone())
    }
}

fn first_of(segments: &[Arc<Segment>]) -> Result<&Arc<Segment>, LogError> {
    segments.first().ok_or_else(|| LogError::NotFound { path: LOG_DIR.to_owned() })
}

pub(crate) fn refuse_network(storage: &dyn Storage, options: &LogOptions) -> Result<(), LogError> {
    if options.force_network_file_system {
        return Ok(());
    }
    let path = storage.describe();
    match storage.network_file_system().doing("look at the file system", &path)? {
        Some(kind) => Err(LogError::NetworkFileSystem { path, kind }),
        None => Ok(()),
    }
}

/// The locks; or the reason why there can be none, which leaves a log for reading.
fn open_locks(storage: &dyn Storage, read_only: &mut Option<String>) -> Result<Locks, LogError> {
    if read_only.is_some() {
        return Ok(None);
    }
    let mark = match storage.open(MARK, OpenMode::ReadWrite) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    let opened = (storage.lock(APPEND_LOCK).map_err(|error| (APPEND_LOCK, error)))
        .and_then(|append| Ok((append, storage.lock(SYNC_LOCK).map_err(|error| (SYNC_LOCK, error))?)))
        .and_then(|locks| mark.map(|()| locks).map_err(|error| (MARK, error)));
    match opened {
        Ok(locks) => Ok(Some(locks)),
        Err((name, error)) if is_no_file(&error) || cannot_be_written(&error) => {
            *read_only = Some(format!("the store cannot be written: {name}: {error}"));
            Ok(None)
        }
        Err((name, error)) => Err(error).doing("open for writing", name),
    }
}

fn cannot_be_written(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::PermissionDenied
            | io::ErrorKind::ReadOnlyFilesystem
            | io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
    )
}

/// Refuses what a later version has written before a lock is touched: the headers of segments have
/// been looked at, and the mark and the last frame are what a later version writes next.
fn refuse_newer(storage: &Arc<dyn Storage>, segments: &[Arc<Segment>], store_id: u128) -> Result<(), LogError> {
    let mark = MarkFile::new(Arc::clone(storage), store_id, false).load();
    let refused = match mark {
        Ok(Some(mark)) => end_fault(segments, &mark.visible).err(),
        Ok(None) => None,
        Err(error) => Some(error),
    };
    match refused {
        Some(error @ LogError::NewerFormat { .. }) => Err(error),
        // Everything else is met again, where it can be told of better.
        _ => Ok(()),
    }
}

pub(crate) fn has_segments(storage: &dyn Storage) -> Result<bool, LogError> {
    match storage.list(LOG_DIR) {
        Ok(entries) => Ok(entries.iter().any(|entry| parse_segment_name(&entry.name).is_some())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error).doing("list the segments", LOG_DIR),
    }
}

/// Whether a log begins here.
pub(crate) fn is_store(storage: &dyn Storage) -> bool {
    has_segments(storage).unwrap_or(false)
}

/// Makes the store when there is none. Safe against another process that does the same, and against
/// an interruption at any point: until the first segment has its name there is no store.
fn ensure_store(storage: &dyn Storage, options: &LogOptions, store_id: u128) -> Result<bool, LogError> {
    if has_segments(storage)? {
        return Ok(false);
    }
    refuse_lost_log(storage)?;
    if options.read_only || !options.create {
        return Err(LogError::NotFound { path: storage.describe() });
    }
    refuse_foreign(storage)?;
    storage.create_dir("").doing("make the store's folder", "")?;
    let lock = storage.lock(APPEND_LOCK).doing("open a lock", APPEND_LOCK)?;
    let _held = take(&lock, APPEND_LOCK, options.lock_timeout, &options.holder)?;
    if has_segments(storage)? {
        return Ok(false);
    }
    storage.create_dir(LOG_DIR).doing("make a folder", LOG_DIR)?;
    storage.create_dir(QUARANTINE_DIR).doing("make a folder", QUARANTINE_DIR)?;
    storage.sync_dir("").doing("sync a folder", "")?;
    let header = SegmentHeader {
        store_id,
        first_seq: 1,
        previous_first_seq: 0,
        previous_chain: genesis(store_id),
        previous_time: None,
        created_at: options.now(),
    };
    SegmentDraft::write(storage, header)?.install(storage)?;
    Ok(true)
}

/// A mark is made after the first segment: alone it says that a log has been lost, and then nothing
/// new may begin in its place.
fn refuse_lost_log(storage: &dyn Storage) -> Result<(), LogError> {
    if !storage.exists(MARK).doing("look for the mark", MARK)? {
        return Ok(());
    }
    // Another process may have made both since we looked.
    if has_segments(storage)? {
        return Ok(());
    }
    refuse_unfinished(storage)?;
    Err(LogError::Damage(Damage {
        segment: MARK.to_owned(),
        offset: 0,
        position: 1,
        reason: "there is a mark, but no segment".to_owned(),
    }))
}

fn refuse_foreign(storage: &dyn Storage) -> Result<(), LogError> {
    let entries = match storage.list("") {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).doing("list the store's folder", ""),
    };
    let foreign =
        entries.into_iter().find(|entry| !entry.name.starts_with('.') && !OWN_NAMES.contains(&entry.name.as_str()));
    match foreign {
        Some(entry) => Err(LogError::NotAStore { path: storage.describe(), found: entry.name }),
        None => Ok(()),
    }
}
