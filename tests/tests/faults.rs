//! A disk that fails for a while, and a lock that somebody holds for long.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use bilinc::storage::{DirEntry, LockOutcome, MemoryStorage, OpenMode, Storage, StorageFile, StorageLock};
use bilinc::{DreamStart, EngineError, Error, ImportOptions, ListQuery, RecallQuery};

use crate::support::*;

const OFF: u8 = 0;
const ARMED: u8 = 1;
const ON: u8 = 2;

/// Reads of segments fail as long as the switch is on; one that is armed goes on with the next sync.
#[derive(Debug, Clone)]
struct Flaky {
    inner: MemoryStorage,
    failing: Arc<AtomicU8>,
}

#[derive(Debug)]
struct FlakyFile {
    inner: Arc<dyn StorageFile>,
    failing: Arc<AtomicU8>,
}

impl Storage for Flaky {
    fn describe(&self) -> String {
        self.inner.describe()
    }

    fn list(&self, dir: &str) -> io::Result<Vec<DirEntry>> {
        self.inner.list(dir)
    }

    fn exists(&self, path: &str) -> io::Result<bool> {
        self.inner.exists(path)
    }

    fn open(&self, path: &str, mode: OpenMode) -> io::Result<Arc<dyn StorageFile>> {
        let inner = self.inner.open(path, mode)?;
        if path.starts_with("log/") {
            return Ok(Arc::new(FlakyFile { inner, failing: Arc::clone(&self.failing) }));
        }
        Ok(inner)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.inner.rename(from, to)
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        self.inner.remove(path)
    }

    fn create_dir(&self, path: &str) -> io::Result<()> {
        self.inner.create_dir(path)
    }

    fn sync_dir(&self, path: &str) -> io::Result<()> {
        self.inner.sync_dir(path)
    }

    fn lock(&self, path: &str) -> io::Result<Arc<dyn StorageLock>> {
        self.inner.lock(path)
    }

    fn network_file_system(&self) -> io::Result<Option<&'static str>> {
        self.inner.network_file_system()
    }
}

impl StorageFile for FlakyFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        if self.failing.load(Ordering::SeqCst) == ON {
            return Err(io::Error::other("the disk does not answer"));
        }
        self.inner.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.inner.write_at(bytes, offset)
    }

    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.inner.set_len(len)
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        self.inner.allocate(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        let _ = self.failing.compare_exchange(ARMED, ON, Ordering::SeqCst, Ordering::SeqCst);
        self.inner.sync_data()
    }
}

#[test]
fn a_read_that_failed_for_a_while_makes_no_later_answer_wrong() {
    let failing = Arc::new(AtomicU8::new(OFF));
    let fail = |on| failing.store(if on { ON } else { OFF }, Ordering::SeqCst);
    let bench = Bench::on(Arc::new(Flaky { inner: MemoryStorage::new(), failing: Arc::clone(&failing) }));
    let find = |text: &str| bench.memory.recall(&RecallQuery::new(text)).map(|hits| hits.len());
    bench.put("a", "walrus");
    fail(true);
    // The index cannot be made.
    assert_eq!(find("walrus").unwrap_err().code(), "cloud_runtime_unavailable");
    fail(false);
    assert_eq!(find("walrus").unwrap(), 1);
    bench.put("b", "giraffe");
    bench.put("c", "giraffe");
    bench.forget("a");
    fail(true);
    // Nor be brought up to date.
    assert!(find("giraffe").unwrap_err().is_retryable());
    fail(false);
    assert_eq!(find("giraffe").unwrap(), 2, "what could not be read then is found now");
    assert_eq!(find("walrus").unwrap(), 0);
    bench.assert_sound();
}

#[test]
fn a_write_whose_answer_cannot_be_read_is_not_called_undone() {
    let failing = Arc::new(AtomicU8::new(OFF));
    let bench = Bench::on(Arc::new(Flaky { inner: MemoryStorage::new(), failing: Arc::clone(&failing) }));
    bench.memory.import(&b"{\"key\":\"a\",\"value\":1}\n"[..], ImportOptions::default(), &mut |_, _| {}).unwrap();
    bench.put("b", "v");
    // A handle that has read no frame yet.
    let memory = bench.open_again();
    let named = memory.with_idempotency_key("once");
    failing.store(ARMED, Ordering::SeqCst);
    let error = named.dream_start(DreamStart::default()).unwrap_err();
    assert!(matches!(error, Error::Engine(EngineError::Unanswered { .. })), "{error:?}");
    assert_eq!((error.code(), error.is_retryable()), ("cloud_runtime_unavailable", false));
    failing.store(OFF, Ordering::SeqCst);
    let again = named.dream_start(DreamStart::default()).unwrap();
    assert!(again.replayed && again.answer.candidates.len() == 2);
    assert_eq!(memory.dreams(10).unwrap().len(), 1);
}

#[test]
fn reads_go_on_while_another_process_holds_the_right_to_append() {
    let storage = MemoryStorage::new();
    let bench = Bench::on(Arc::new(storage.clone()));
    bench.put("a", "walrus");
    let impatient = bench.builder().lock_timeout(Duration::ZERO).open_in(Arc::new(storage.clone())).unwrap();
    let lock = storage.lock("append.lock").unwrap();
    assert!(matches!(lock.acquire(Duration::ZERO, "somebody"), Ok(LockOutcome::Acquired)));
    let busy = impatient.commit(commit("b", "v")).unwrap_err();
    assert_eq!((busy.code(), busy.is_retryable()), ("cloud_runtime_unavailable", true));
    assert!(busy.to_string().contains("somebody"), "who holds it is said: {busy}");
    assert_eq!(value_of(&impatient, "a").as_deref(), Some("walrus"));
    assert_eq!(impatient.list(&ListQuery::default()).unwrap().total, 1);
    assert_eq!(impatient.recall(&RecallQuery::new("walrus")).unwrap().len(), 1);
    assert!(impatient.verify(&mut |_, _| {}).unwrap().state_equal);
    assert_eq!(impatient.history("a", 10, true).unwrap().items.len(), 1);
    // A store is also opened meanwhile.
    assert_eq!(
        value_of(&bench.builder().lock_timeout(Duration::ZERO).open_in(Arc::new(storage)).unwrap(), "a"),
        Some("walrus".into())
    );
    lock.release();
    impatient.commit(commit("b", "v")).unwrap();
    bench.assert_sound();
}
