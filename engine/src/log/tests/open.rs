use std::sync::Arc;

use super::support::*;
use crate::log::*;
use crate::storage::{FileStorage, MemoryStorage, Storage};

#[test]
fn a_later_format_is_refused_untouched_with_both_versions_named() {
    let storage = store_of(2, options());
    let mut segment = storage.contents(FIRST).unwrap();
    segment[8] = 7;
    let crc = crc32fast::hash(&segment[..104]).to_le_bytes();
    segment[104..108].copy_from_slice(&crc);
    let newer = with_file(&storage, FIRST, segment.clone());
    let error = try_open(&newer, options()).unwrap_err();
    assert!(matches!(error, LogError::NewerFormat { found: 7, supported: 1, .. }), "{error}");
    assert_eq!(newer.contents(FIRST).unwrap(), segment);

    // A frame of a later version, at the end of a log without a mark.
    let storage = without_mark(&storage);
    let mut segment = storage.contents(FIRST).unwrap();
    let at = 108 + usize::try_from(draft(1).frame_len().unwrap()).unwrap();
    segment[at + 4] = 9;
    let mut seed = crc32fast::Hasher::new();
    seed.update(&STORE.to_le_bytes());
    seed.update(&1_u64.to_le_bytes());
    let mut hasher = crc32fast::Hasher::new_with_initial(seed.finalize());
    hasher.update(&(at as u64).to_le_bytes());
    hasher.update(&segment[at..at + 80]);
    segment[at + 80..at + 84].copy_from_slice(&hasher.finalize().to_le_bytes());
    let newer = with_file(&storage, FIRST, segment.clone());
    let error = try_open(&newer, options()).unwrap_err();
    assert!(matches!(error, LogError::NewerFormat { found: 9, supported: 1, .. }), "{error}");
    assert_eq!(newer.contents(FIRST).unwrap(), segment);
}

#[test]
fn nothing_is_made_where_nothing_was_asked_for() {
    let no_create = LogOptions { create: false, ..options() };
    let read_only = LogOptions { read_only: true, ..options() };
    for options in [no_create, read_only] {
        let storage = MemoryStorage::new();
        let error = try_open(&storage, options).unwrap_err();
        assert!(matches!(error, LogError::NotFound { .. }), "{error}");
        assert!(storage.list("").unwrap().is_empty());
    }
    let foreign = MemoryStorage::new();
    foreign.put("thesis.doc", vec![1]);
    let error = try_open(&foreign, options()).unwrap_err();
    assert!(matches!(error, LogError::NotAStore { .. }), "{error}");
    assert_eq!(foreign.list("").unwrap().len(), 1);
}

#[test]
fn left_over_temporary_files_stop_no_open() {
    let storage = store_of(2, options());
    storage.put("log/00000000000000000005.seg.tmp", vec![9; 50]);
    storage.put("mark.tmp", vec![9; 50]);
    storage.put("quarantine/x.torn.tmp", vec![9; 50]);
    storage.put("log/notes.txt", vec![9; 50]);
    let (log, _) = open(&storage, LogOptions { segment_bytes: 600, ..options() });
    for n in 3..=8 {
        commit(&log, &[draft(n)]).unwrap();
    }
    assert_eq!(shown(&log).unwrap().len(), 8);
    let fresh = MemoryStorage::new();
    fresh.create_dir("log").unwrap();
    fresh.put("log/00000000000000000001.seg.tmp", vec![9; 500]);
    let (log, report) = open(&fresh, options());
    assert!(report.created);
    commit(&log, &[draft(1)]).unwrap();
    drop(log);
    assert_eq!(shown(&open(&fresh, options()).0).unwrap(), [1]);
}

#[test]
fn a_store_for_reading_changes_nothing() {
    let storage = store_of(3, options());
    let read_only = LogOptions { read_only: true, ..options() };
    for storage in [storage.fork(), without_mark(&storage)] {
        let mut torn = storage.contents(FIRST).unwrap();
        torn.extend_from_slice(&[7; 30]);
        let storage = with_file(&storage, FIRST, torn.clone());
        let names = storage.list("").unwrap();
        let (log, report) = open(&storage, read_only.clone());
        assert!(report.read_only.is_some() && report.torn.is_none());
        assert_eq!(shown(&log).unwrap(), [1, 2, 3]);
        assert!(matches!(append(&log, &[draft(4)]), Err(LogError::ReadOnly { .. })));
        drop(log);
        assert_eq!(storage.contents(FIRST).unwrap(), torn);
        assert_eq!(storage.list("").unwrap(), names);
    }
}

#[test]
fn an_open_waits_for_no_stopped_process_when_there_is_a_mark() {
    let storage = store_of(3, options());
    for name in ["append.lock", "sync.lock"] {
        let held = storage.lock(name).unwrap();
        let none = std::time::Duration::ZERO;
        held.acquire(none, "stopped process").unwrap();
        let hasty = LogOptions { lock_timeout: std::time::Duration::from_millis(1), ..options() };
        let (log, report) = open(&storage, hasty);
        assert!(!report.tail_checked);
        assert_eq!(shown(&log).unwrap(), [1, 2, 3]);
        let error = log.begin_append().map(|_| ()).unwrap_err();
        let LogError::Busy { lock, holder, .. } = error else { panic!("{error}") };
        assert_eq!((lock, holder.as_str()), (name, "stopped process"));
        held.release();
        commit(&log, &[draft(4)]).unwrap();
        assert_eq!(shown(&log).unwrap(), [1, 2, 3, 4]);
        drop(log);
        // Back to three for the next round.
        let fresh = store_of(3, options());
        storage.put(FIRST, fresh.contents(FIRST).unwrap());
        storage.put("mark", fresh.contents("mark").unwrap());
    }
}

#[test]
fn the_tail_is_checked_by_the_first_append_when_the_open_could_not() {
    let storage = store_of(3, options());
    let mut bytes = storage.contents(FIRST).unwrap();
    bytes.extend_from_slice(&[0; 200]);
    bytes.extend_from_slice(&[7; 30]);
    let storage = with_file(&storage, FIRST, bytes);
    let held = storage.lock("append.lock").unwrap();
    held.acquire(std::time::Duration::ZERO, "other").unwrap();
    let (log, report) = open(&storage, options());
    assert!(report.torn.is_none() && !report.tail_checked);
    held.release();
    commit(&log, &[draft(4)]).unwrap();
    assert_eq!(log.torn_ends().len(), 1);
    assert_eq!(shown(&log).unwrap(), [1, 2, 3, 4]);
}

#[test]
fn two_that_make_one_store_at_once_make_one_store() {
    for _ in 0..20 {
        let storage = MemoryStorage::new();
        let ids: Vec<u128> = std::thread::scope(|scope| {
            let makers: Vec<_> = (1..=4_u128)
                .map(|id| {
                    let storage = Arc::new(storage.clone());
                    scope.spawn(move || {
                        let (log, _) = Log::open(storage, options(), id).unwrap();
                        commit(&log, &[draft(1)]).unwrap();
                        log.store_id()
                    })
                })
                .collect();
            makers.into_iter().map(|maker| maker.join().unwrap()).collect()
        });
        assert!(ids.iter().all(|id| *id == ids[0]));
        let (log, report) = open(&storage, options());
        assert!(report.damage.is_none());
        assert_eq!(shown(&log).unwrap(), [1, 1, 1, 1]);
    }
}

#[test]
fn a_folder_without_write_permission_opens_for_reading() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("store");
    let storage: Arc<dyn Storage> = Arc::new(FileStorage::new(&root));
    let (log, _) = Log::open(Arc::clone(&storage), options(), STORE).unwrap();
    commit(&log, &[draft(1)]).unwrap();
    log.close().unwrap();
    for name in ["append.lock", "sync.lock", "mark"] {
        let only_read = std::fs::Permissions::from_mode(0o400);
        std::fs::set_permissions(root.join(name), only_read).unwrap();
    }
    if std::fs::OpenOptions::new().write(true).open(root.join("mark")).is_ok() {
        return; // The superuser is refused nothing.
    }
    let (log, report) = Log::open(storage, options(), STORE).unwrap();
    assert!(report.read_only.is_some());
    assert_eq!(shown(&log).unwrap(), [1]);
}
