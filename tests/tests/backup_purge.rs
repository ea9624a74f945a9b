//! Purges and backups: what was purged is in no copy, also when it is purged while it is copied.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bilinc::storage::{
    DirEntry, Fault, FaultKind, FaultStorage, MemoryStorage, OpenMode, Storage, StorageFile, StorageLock,
};
use bilinc::{Memory, Seq};

use crate::backup::{SMALL, back_up, bench_in, open};
use crate::purge::{LATER, files, purge, secret, traces};
use crate::support::*;

#[test]
fn what_was_purged_is_in_no_copy_and_an_unfinished_purge_is_finished_by_its_first_open() {
    for cut in [false, true] {
        let storage = MemoryStorage::new();
        let faults = FaultStorage::new(Arc::new(storage.clone())).unwrap();
        let bench = Bench::on(Arc::new(faults.clone()));
        bench.memory.commit(secret("k")).unwrap();
        bench.revise("k", "Quixotic-zebra#4711 moved to Bregenz");
        bench.put("other", "stays");
        if cut {
            // The machine stops before the first body is overwritten: the second write of a purge.
            let writes = |log: Vec<String>| log.iter().filter(|call| call.starts_with("write log/")).count();
            let before = writes(faults.call_log());
            let mut at = faults.calls();
            let probe = FaultStorage::new(Arc::new(storage.fork())).unwrap();
            let tried = Bench::on(Arc::new(probe.clone()));
            let start = probe.calls();
            tried.memory.forget(purge("k")).unwrap();
            let calls = probe.call_log();
            let overwrite = calls.iter().skip(usize::try_from(start).unwrap()).enumerate();
            let second = overwrite.filter(|(_, call)| call.starts_with("write log/")).nth(1).unwrap().0;
            at += second as u64 + 1;
            faults.set_fault(Some(Fault { at, kind: FaultKind::Freeze, sticky: false, only: None }));
            assert!(bench.memory.forget(purge("k")).is_err());
            assert!(writes(faults.call_log()) > before);
        } else {
            bench.memory.forget(purge("k")).unwrap();
        }
        let reader = Memory::builder().read_only(true).open_in(Arc::new(storage.fork())).unwrap();
        assert_eq!(traces(&storage).is_empty(), !cut, "the case is not the one that is meant");
        let (target, done) = back_up(&reader);
        assert_eq!(traces(&target), [""; 0]);
        let copied = Memory::builder().read_only(true).open_in(Arc::new(target.fork())).unwrap();
        assert_eq!(copied.head().unwrap(), done.head);
        assert_eq!(copied.verify(&mut |_, _| {}).unwrap().erased_bodies, 2);
        let copy = open(&target);
        let count = copy.recorded(Seq::ZERO).unwrap().iter().filter(|e| e.event.name() == "PurgeCompleted").count();
        assert_eq!((count, copy.head().unwrap().seq.get() - done.head.seq.get()), (1, u64::from(cut)));
        assert!(copy.get("k").unwrap().is_none());
        assert_eq!(value_of(&copy, "other").as_deref(), Some("stays"));
        assert_sound(&copy);
    }
}

/// Does something when the call of that number comes, whatever it is.
struct Hook {
    calls: AtomicU64,
    at: u64,
    act: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl std::fmt::Debug for Hook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hook").finish_non_exhaustive()
    }
}

impl Hook {
    fn new(at: u64, act: impl FnOnce() + Send + 'static) -> Arc<Self> {
        Arc::new(Self { calls: AtomicU64::new(0), at, act: Mutex::new(Some(Box::new(act))) })
    }

    fn call(&self) {
        if self.calls.fetch_add(1, Ordering::SeqCst) + 1 == self.at {
            let act = self.act.lock().unwrap().take();
            act.unwrap()();
        }
    }

    fn came(&self) -> bool {
        self.act.lock().unwrap().is_none()
    }
}

/// Calls the hook before each of its own calls.
#[derive(Debug)]
struct Hooked<T: ?Sized>(Arc<Hook>, Arc<T>);

impl Storage for Hooked<dyn Storage> {
    fn describe(&self) -> String {
        self.1.describe()
    }

    fn list(&self, dir: &str) -> io::Result<Vec<DirEntry>> {
        self.0.call();
        self.1.list(dir)
    }

    fn exists(&self, path: &str) -> io::Result<bool> {
        self.0.call();
        self.1.exists(path)
    }

    fn open(&self, path: &str, mode: OpenMode) -> io::Result<Arc<dyn StorageFile>> {
        self.0.call();
        Ok(Arc::new(Hooked(Arc::clone(&self.0), self.1.open(path, mode)?)))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.0.call();
        self.1.rename(from, to)
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        self.0.call();
        self.1.remove(path)
    }

    fn create_dir(&self, path: &str) -> io::Result<()> {
        self.0.call();
        self.1.create_dir(path)
    }

    fn sync_dir(&self, path: &str) -> io::Result<()> {
        self.0.call();
        self.1.sync_dir(path)
    }

    fn lock(&self, path: &str) -> io::Result<Arc<dyn StorageLock>> {
        self.1.lock(path)
    }

    fn network_file_system(&self) -> io::Result<Option<&'static str>> {
        self.1.network_file_system()
    }
}

impl StorageFile for Hooked<dyn StorageFile> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.call();
        self.1.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.0.call();
        self.1.write_at(bytes, offset)
    }

    fn len(&self) -> io::Result<u64> {
        self.0.call();
        self.1.len()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.call();
        self.1.set_len(len)
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        self.0.call();
        self.1.allocate(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.call();
        self.1.sync_data()
    }
}

/// A store in which `k` was written in many segments.
fn story() -> (MemoryStorage, Bench) {
    let bench = bench_in(SMALL);
    for round in 0..8 {
        bench.memory.with_idempotency_key(&format!("i{round}")).commit(secret("k")).unwrap();
        bench.put(&format!("k{round}"), &"x".repeat(300));
        bench.revise("k", LATER);
        bench.put(&format!("l{round}"), &"x".repeat(300));
    }
    let storage = MemoryStorage::new();
    for (path, bytes) in files(bench.storage.as_ref()) {
        storage.put(&path, bytes);
    }
    (storage, bench)
}

/// How a purge goes that comes in the middle of a backup.
#[derive(Debug, Clone, Copy)]
enum Meanwhile {
    Whole,
    /// It stops in the middle of the body of that number.
    Half(u64),
}

/// Purges `k` through a handle of its own, as another process does; the position it got.
fn purge_meanwhile(storage: &MemoryStorage, bench: &Bench, how: Meanwhile) -> impl FnOnce() + Send + use<> {
    let faults = FaultStorage::new(Arc::new(storage.clone())).unwrap();
    let memory = bench.builder().segment_bytes(SMALL).open_in(Arc::new(faults.clone())).unwrap();
    move || {
        if let Meanwhile::Half(body) = how {
            // The purge itself is the first write, and the mark that covers it the second.
            let kind = FaultKind::ShortWrite(30, io::ErrorKind::Other);
            let at = writes(&memory, &faults, body);
            faults.set_fault(Some(Fault { at, kind, sticky: true, only: None }));
        }
        let done = memory.forget(purge("k"));
        assert_eq!(done.is_ok(), matches!(how, Meanwhile::Whole));
    }
}

/// The number of the call that overwrites that body, found out on a copy.
fn writes(memory: &Memory, faults: &FaultStorage, body: u64) -> u64 {
    let _ = memory.status().unwrap();
    let fork = FaultStorage::new(Arc::new(faults.after_power_cut(0))).unwrap();
    let other = Bench::on_maybe(Arc::new(fork.clone())).unwrap();
    let start = fork.calls();
    other.forget(purge("k")).unwrap();
    let calls = fork.call_log();
    let since = calls.iter().enumerate().skip(usize::try_from(start).unwrap());
    // The first write into the log is that of the purge.
    let mut overwrites = since.filter(|(_, call)| call.starts_with("write log/")).skip(1);
    let at = overwrites.nth(usize::try_from(body).unwrap()).unwrap().0 as u64;
    faults.calls() + at - start + 1
}

#[test]
fn a_purge_at_any_call_of_a_backup_leaves_no_copy_that_holds_what_its_history_purged() {
    let (mut with, mut without) = (0, 0);
    for how in [Meanwhile::Whole, Meanwhile::Half(0), Meanwhile::Half(7), Meanwhile::Half(15)] {
        for source_side in [true, false] {
            for at in 1.. {
                let (storage, bench) = story();
                let hook = Hook::new(at, purge_meanwhile(&storage, &bench, how));
                let hooked = |inner: MemoryStorage, on: bool| -> Arc<dyn Storage> {
                    if on {
                        Arc::new(Hooked::<dyn Storage>(Arc::clone(&hook), Arc::new(inner)))
                    } else {
                        Arc::new(inner)
                    }
                };
                let target = MemoryStorage::new();
                let builder = Memory::builder().read_only(true);
                let memory = builder.open_in(hooked(storage.clone(), source_side)).unwrap();
                if hook.came() {
                    continue;
                }
                let what = format!("{how:?} at call {at}, of the source {source_side}");
                let done = memory.backup_to(hooked(target.clone(), !source_side), &mut |_, _| {});
                let done = done.unwrap_or_else(|error| panic!("{what}: {error}"));
                if !hook.came() {
                    break;
                }
                let reader = Memory::builder().read_only(true).open_in(Arc::new(target.fork())).unwrap();
                assert_eq!(reader.head().unwrap(), done.head, "{what}");
                let verified = reader.verify(&mut |_, _| {}).unwrap_or_else(|error| panic!("{what}: {error}"));
                assert!(verified.state_equal, "{what}");
                let events = reader.recorded(Seq::ZERO).unwrap();
                let purged = events.iter().any(|event| event.event.name() == "Purged");
                if purged {
                    assert_eq!((traces(&target), verified.erased_bodies), (vec![], 16), "{what}");
                    with += 1;
                } else {
                    // The purge came when all had been read: the copy is as of a position before it.
                    assert_eq!(verified.erased_bodies, 0, "{what}");
                    without += 1;
                }
                let copy = open(&target);
                assert_eq!(copy.get("k").unwrap().is_none(), purged, "{what}");
                assert_sound(&copy);
            }
        }
    }
    assert!(with > 20 && without > 20, "{with} copies with the purge, {without} without");
}
