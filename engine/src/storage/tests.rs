#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::*;

fn stores() -> (tempfile::TempDir, Vec<Arc<dyn Storage>>) {
    let dir = tempfile::tempdir().unwrap();
    let file = FileStorage::new(dir.path().join("store"));
    let memory = MemoryStorage::new();
    let fault = FaultStorage::new(Arc::new(MemoryStorage::new())).unwrap();
    (dir, vec![Arc::new(file), Arc::new(memory), Arc::new(fault)])
}

#[test]
fn all_storages_behave_alike() {
    let (_dir, stores) = stores();
    for storage in stores {
        storage.create_dir("").unwrap();
        storage.create_dir("log").unwrap();
        storage.create_dir("log").unwrap();
        let missing = storage.open("log/a", OpenMode::Read).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        let file = storage.open("log/a", OpenMode::Create).unwrap();
        file.write_at(b"hello", 3).unwrap();
        let mut buffer = [9_u8; 16];
        assert_eq!(read_full(file.as_ref(), &mut buffer, 0).unwrap(), 8);
        assert_eq!(&buffer[..8], b"\0\0\0hello");
        assert_eq!(file.read_at(&mut buffer, 8).unwrap(), 0);
        assert_eq!(file.read_at(&mut buffer, 800).unwrap(), 0);
        file.allocate(100).unwrap();
        file.allocate(50).unwrap();
        assert_eq!(file.len().unwrap(), 100);
        file.set_len(4).unwrap();
        file.sync_data().unwrap();
        assert_eq!(file.len().unwrap(), 4);
        storage.rename("log/a", "log/b").unwrap();
        storage.sync_dir("log").unwrap();
        assert!(!storage.exists("log/a").unwrap());
        // A handle outlives the name.
        assert_eq!(file.len().unwrap(), 4);
        let names: Vec<_> = storage.list("log").unwrap();
        assert_eq!(names.len(), 1);
        assert_eq!(names[0].name, "b");
        assert!(storage.list("").unwrap().iter().any(|entry| entry.is_dir));
        storage.remove("log/b").unwrap();
        assert!(storage.list("log").unwrap().is_empty());
        assert_eq!(storage.network_file_system().unwrap(), None);
    }
}

#[test]
fn a_taken_lock_names_its_holder_and_is_passed_on_when_released() {
    let (_dir, stores) = stores();
    for storage in stores {
        storage.create_dir("").unwrap();
        let (first, second) = (storage.lock("l").unwrap(), storage.lock("l").unwrap());
        let none = Duration::ZERO;
        assert_eq!(first.acquire(none, "one").unwrap(), LockOutcome::Acquired);
        let busy = LockOutcome::Busy { holder: "one".to_owned() };
        assert_eq!(second.acquire(none, "two").unwrap(), busy);
        assert_eq!(second.acquire(Duration::from_millis(5), "two").unwrap(), busy);
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| second.acquire(Duration::from_secs(20), "two").unwrap());
            first.release();
            assert_eq!(waiter.join().unwrap(), LockOutcome::Acquired);
        });
        let busy = LockOutcome::Busy { holder: "two".to_owned() };
        assert_eq!(first.acquire(none, "one").unwrap(), busy);
        second.release();
        // The waiter that gave up may be granted the lock for a moment; it lets go at once.
        let outcome = first.acquire(Duration::from_secs(20), "one").unwrap();
        assert_eq!(outcome, LockOutcome::Acquired);
        first.release();
    }
}

#[test]
fn a_lock_knows_whether_another_handle_had_it() {
    let (_dir, stores) = stores();
    for storage in stores {
        storage.create_dir("").unwrap();
        let (first, second) = (storage.lock("l").unwrap(), storage.lock("l").unwrap());
        let take = |lock: &Arc<dyn StorageLock>| {
            assert_eq!(lock.acquire(Duration::ZERO, "a holder").unwrap(), LockOutcome::Acquired);
            let undisturbed = lock.undisturbed();
            lock.release();
            undisturbed
        };
        let seen = [&first, &first, &second, &second, &first, &first].map(take);
        assert_eq!(seen, [false, true, false, true, false, true], "{}", storage.describe());
    }
}

#[test]
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
fn a_window_shows_what_is_written_through_any_handle() {
    let dir = tempfile::tempdir().unwrap();
    let storage = FileStorage::new(dir.path());
    let file = storage.open("a", OpenMode::Create).unwrap();
    file.write_at(&[0; 24], 0).unwrap();
    assert!(file.window(32).is_none(), "it is shorter than that");
    let window = storage.open("a", OpenMode::Read).unwrap().window(24).unwrap();
    for number in [1, 0x0102_0304_0506_0708, u64::MAX] {
        file.write_at(&number.to_le_bytes(), 8).unwrap();
        assert_eq!([window.word(0), window.word(8), window.word(16)], [0, number, 0]);
    }
    storage.remove("a").unwrap();
    drop(file);
    assert_eq!(window.word(8), u64::MAX);
}

#[test]
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
fn who_sleeps_at_a_window_is_woken_through_another() {
    let dir = tempfile::tempdir().unwrap();
    let storage = FileStorage::new(dir.path());
    let file = storage.open("a", OpenMode::Create).unwrap();
    file.write_at(&[0; 16], 0).unwrap();
    let ever = Duration::from_secs(3_600);
    std::thread::scope(|scope| {
        let sleeper = file.window(16).unwrap();
        let asleep = scope.spawn(move || {
            while sleeper.word(8) == 0 {
                sleeper.wait(8, 0, ever);
            }
        });
        let other = storage.open("a", OpenMode::ReadWrite).unwrap();
        other.write_at(&1_u64.to_le_bytes(), 8).unwrap();
        other.window(16).unwrap().wake(8);
        asleep.join().unwrap();
    });
    // A word that has changed is not waited for.
    file.window(16).unwrap().wait(8, 0, ever);
}

#[test]
fn store_folders_and_files_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let storage = FileStorage::new(dir.path().join("a/b"));
    storage.create_dir("log").unwrap();
    storage.open("log/x", OpenMode::Create).unwrap();
    storage.lock("append.lock").unwrap();
    let mode = |path: &str| {
        let meta = std::fs::metadata(storage.root().join(path)).unwrap();
        meta.permissions().mode() & 0o777
    };
    assert_eq!(mode(""), 0o700);
    assert_eq!(mode("log"), 0o700);
    assert_eq!(mode("log/x"), 0o600);
    assert_eq!(mode("append.lock"), 0o600);
}

#[test]
fn a_power_cut_keeps_what_was_synced_and_may_lose_the_rest() {
    let storage = FaultStorage::new(Arc::new(MemoryStorage::new())).unwrap();
    let file = storage.open("a", OpenMode::Create).unwrap();
    file.write_at(b"kept", 0).unwrap();
    file.sync_data().unwrap();
    storage.sync_dir("").unwrap();
    file.write_at(b"lost", 4).unwrap();
    storage.rename("a", "b").unwrap();
    let (mut whole, mut cut, mut old_name, mut new_name) = (false, false, false, false);
    for seed in 0..200 {
        let left = storage.after_power_cut(seed);
        let (a, b) = (left.contents("a"), left.contents("b"));
        old_name |= a.is_some();
        new_name |= b.is_some();
        let Some(bytes) = a.or(b) else { continue };
        assert_eq!(&bytes[..4], b"kept");
        whole |= bytes.len() == 8;
        cut |= bytes.len() < 8;
    }
    assert!(whole && cut && old_name && new_name);
}

#[test]
fn a_fault_hits_the_counted_call() {
    let storage = FaultStorage::new(Arc::new(MemoryStorage::new())).unwrap();
    let file = storage.open("a", OpenMode::Create).unwrap();
    let fault = |at, kind, sticky| {
        storage.set_fault(Some(Fault { at: storage.calls() + at, kind, sticky, only: None }));
    };
    fault(2, FaultKind::ShortWrite(2, io::ErrorKind::StorageFull), false);
    file.write_at(b"ab", 0).unwrap();
    let error = file.write_at(b"cdef", 2).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    assert_eq!(file.len().unwrap(), 4);
    file.sync_data().unwrap();
    fault(1, FaultKind::Error(io::ErrorKind::Other), true);
    file.sync_data().unwrap_err();
    file.write_at(b"x", 0).unwrap_err();
    fault(1, FaultKind::Freeze, false);
    file.write_at(b"x", 0).unwrap_err();
    file.write_at(b"x", 0).unwrap_err();
    storage.set_fault(None);
    file.write_at(b"x", 0).unwrap();
}
