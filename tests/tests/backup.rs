//! A backup is a store that opens at once, and holds a run of whole operations of the other.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bilinc::storage::{FileStorage, MemoryStorage, Storage};
use bilinc::{BackedUp, CountingIds, Durability, ManualClock, Memory, Seq};

use crate::purge::{files, purge, secret};
use crate::support::*;

pub(crate) const SMALL: u64 = 3_000;

/// A store in small segments.
pub(crate) fn bench_in(segment_bytes: u64) -> Bench {
    let storage = Arc::new(MemoryStorage::new());
    let (clock, ids) = (Arc::new(ManualClock::at(START)), Arc::new(CountingIds::new(7)));
    let memory =
        builder(&clock, &ids).segment_bytes(segment_bytes).open_in(Arc::clone(&storage) as Arc<dyn Storage>).unwrap();
    Bench { memory, clock, ids, storage }
}

/// Some of everything, over several segments: imports, a dream's worth of changes, forgets, purges.
pub(crate) fn told(bench: &Bench) {
    for round in 0..6 {
        for index in 0..5 {
            bench.put(&format!("k{index}"), &format!("value {round}.{index} {}", "x".repeat(80)));
        }
        let lines: String = (0..4).map(|at| format!("{{\"key\":\"i{round}.{at}\",\"value\":{at}}}\n")).collect();
        bench.memory.import(lines.as_bytes(), Default::default(), &mut |_, _| {}).unwrap();
        bench.memory.with_idempotency_key(&format!("once{round}")).commit(secret("gone")).unwrap();
        bench.forget("k0");
    }
    bench.memory.snapshot(bilinc::Snapshot::default()).unwrap();
}

pub(crate) fn open(storage: &MemoryStorage) -> Memory {
    let (clock, ids) = (Arc::new(ManualClock::at(START.plus(DAY))), Arc::new(CountingIds::new(900)));
    builder(&clock, &ids).create(false).open_in(Arc::new(storage.clone())).unwrap()
}

pub(crate) fn back_up(memory: &Memory) -> (MemoryStorage, BackedUp) {
    let target = MemoryStorage::new();
    let done = memory.backup_to(Arc::new(target.clone()), &mut |_, _| {}).unwrap();
    (target, done)
}

/// The copy is the store as it stood at the position that the backup named.
pub(crate) fn assert_copied(memory: &Memory, copy: &Memory, done: &BackedUp) {
    assert_eq!((copy.head().unwrap(), copy.store_id()), (done.head, done.store));
    assert_ne!(copy.store_id(), memory.store_id());
    assert!(copy.is_same_state(&memory.replayed_through(done.head.seq).unwrap()).unwrap(), "another state");
    let told = memory.recorded(Seq::ZERO).unwrap().into_iter().take_while(|event| event.seq <= done.head.seq);
    assert!(copy.recorded(Seq::ZERO).unwrap().into_iter().eq(told), "another history");
    let verified = copy.verify(&mut |_, _| {}).unwrap();
    assert_eq!((verified.operations, verified.events, verified.bytes), (done.operations, done.events, done.bytes));
    assert_eq!((verified.segments, verified.state_equal), (done.segments, true));
    let status = copy.status().unwrap();
    assert_eq!((status.read_only, status.recovered), (None, None));
}

fn export(memory: &Memory) -> String {
    let mut lines = Vec::new();
    memory.export(&mut lines, &mut |_, _| {}).unwrap();
    String::from_utf8(lines).unwrap()
}

#[test]
fn a_copy_over_many_segments_is_the_store_under_another_id_and_goes_its_own_way() {
    let bench = bench_in(SMALL);
    told(&bench);
    let mut last = (0, 0);
    let target = MemoryStorage::new();
    let done = bench.memory.backup_to(Arc::new(target.clone()), &mut |done, total| {
        assert!(done <= total && done >= last.0);
        last = (done, total);
    });
    let done = done.unwrap();
    assert!(done.segments > 3 && last.0 == last.1 && last.1 >= done.bytes, "{done:?} {last:?}");
    assert_eq!(done.head, bench.memory.head().unwrap());
    // One that is cut short later, by a copy of it or a disk, is known for damage.
    let cut = target.fork();
    let last = files(&cut).into_iter().rfind(|(path, _)| path.ends_with(".seg")).unwrap();
    cut.put(&last.0, last.1[..last.1.len() - 10].to_vec());
    assert!(Bench::on_maybe(Arc::new(cut)).unwrap().verify(&mut |_, _| {}).is_err());
    let copy = open(&target);
    assert_copied(&bench.memory, &copy, &done);
    assert_eq!(export(&copy), export(&bench.memory));
    // No id and no secret of the other is in it; tokens, locks and what was set aside stay behind.
    let own = bench.memory.store_id().as_u128().to_le_bytes();
    for (path, bytes) in files(&target) {
        assert!(!bytes.windows(16).any(|window| window == own), "{path} holds the other store's id");
        assert!(path.starts_with("log/") || path.ends_with(".lock") || path == "mark", "{path}");
    }
    // Both write on, each for itself.
    copy.commit(commit("copy", "only here")).unwrap();
    bench.put("original", "only there");
    assert_ne!(copy.head().unwrap().chain, bench.memory.head().unwrap().chain);
    assert_eq!((value_of(&copy, "original"), bench.value("copy")), (None, None));
    assert_sound(&copy);
    bench.assert_sound();
}

#[test]
fn cursors_and_tokens_of_the_store_do_not_fit_its_copy_and_retries_do() {
    let bench = bench_in(SMALL);
    told(&bench);
    let snapshot = bench.memory.snapshot(bilinc::Snapshot::default()).unwrap().answer.id;
    bench.put("later", "change");
    let token = bench.memory.rollback_preview(snapshot, "back", 100).unwrap().confirmation_token;
    let page = bench.memory.list(&bilinc::ListQuery { limit: Some(2), ..Default::default() }).unwrap();
    let (target, _) = back_up(&bench.memory);
    let copy = open(&target);
    let query = bilinc::ListQuery { limit: Some(2), cursor: page.next_cursor, ..Default::default() };
    assert_eq!(invalid(copy.list(&query).unwrap_err()).1, "invalid_cursor");
    assert!(copy.rollback(snapshot, "back", &token).is_err());
    // What was done is done in the copy, too. A day has passed in it; a store of the same day replays.
    let again = bench.builder().open_in(Arc::new(target)).unwrap();
    assert!(again.with_idempotency_key("once5").commit(secret("gone")).unwrap().replayed);
}

#[test]
fn an_empty_store_is_copied_and_a_copy_is_copied() {
    let bench = Bench::new();
    let (target, done) = back_up(&bench.memory);
    let copy = open(&target);
    assert_copied(&bench.memory, &copy, &done);
    assert_eq!((done.head.seq, done.events, done.segments), (Seq::ZERO, 0, 1));
    copy.commit(commit("a", "first")).unwrap();
    let (third, done) = back_up(&copy);
    assert_copied(&copy, &open(&third), &done);
    open(&third).verify_since(bench.memory.head().unwrap(), &mut |_, _| {}).unwrap();
}

#[test]
fn what_is_copied_while_threads_write_is_a_run_of_whole_operations() {
    for durability in [Durability::Durable, Durability::Relaxed] {
        let bench = bench_in(20_000);
        let other = bench.builder().segment_bytes(20_000).durability(durability).open_in(Arc::clone(&bench.storage));
        let other = other.unwrap();
        let done = AtomicBool::new(false);
        let copies = std::thread::scope(|scope| {
            for (thread, memory) in [(0, &bench.memory), (1, &bench.memory), (2, &other), (3, &other)] {
                let done = &done;
                scope.spawn(move || {
                    let mut round = 0;
                    while !done.load(Ordering::SeqCst) {
                        round += 1;
                        let lines: String =
                            (0..3).map(|at| format!("{{\"key\":\"t{thread}.{at}\",\"value\":{round}}}\n")).collect();
                        memory.import(lines.as_bytes(), Default::default(), &mut |_, _| {}).unwrap();
                        memory.commit(secret(&format!("gone{thread}"))).unwrap();
                        if round % 4 == 0 {
                            memory.forget(purge(&format!("gone{thread}"))).unwrap();
                        }
                    }
                });
            }
            let copies: Vec<_> =
                (0..12).map(|copy| back_up(if copy % 2 == 0 { &bench.memory } else { &other })).collect();
            done.store(true, Ordering::SeqCst);
            copies
        });
        // Its sync covers what the other has shown in relaxed durability and not marked yet.
        bench.put("last", "of all");
        for (target, done) in copies {
            let reader = Memory::builder().read_only(true).open_in(Arc::new(target.fork())).unwrap();
            assert_eq!(reader.head().unwrap(), done.head);
            let verified = reader.verify_since(done.head, &mut |_, _| {}).unwrap().verified;
            assert!(verified.state_equal);
            // Bodies that were purged since are there in the copy: its facts are the same.
            let facts = |events: Vec<bilinc_core::RecordedEvent>| -> Vec<_> {
                let events = events.into_iter().take_while(|event| event.seq <= done.head.seq);
                events.map(|event| (event.seq, event.operation, event.event)).collect()
            };
            assert!(facts(reader.recorded(Seq::ZERO).unwrap()) == facts(bench.memory.recorded(Seq::ZERO).unwrap()));
            assert_sound(&open(&target));
        }
        bench.assert_sound();
    }
}

#[test]
fn damage_is_not_backed_up_and_leaves_nothing_behind() {
    let bench = bench_in(SMALL);
    told(&bench);
    let storage = MemoryStorage::new();
    for (path, bytes) in files(bench.storage.as_ref()) {
        storage.put(&path, bytes);
    }
    let names: Vec<String> =
        files(&storage).into_iter().map(|(path, _)| path).filter(|path| path.ends_with(".seg")).collect();
    for path in &names {
        let bytes = storage.contents(path).unwrap();
        let end = bytes.iter().rposition(|byte| *byte != 0).unwrap();
        for at in (0..end).step_by(211) {
            let copy = storage.fork();
            let mut flipped = bytes.clone();
            flipped[at] ^= 0x10;
            copy.put(path, flipped);
            let Ok(memory) = Bench::on_maybe(Arc::new(copy)) else { continue };
            let target = MemoryStorage::new();
            let what = format!("byte {at} of {path}");
            let done = memory.backup_to(Arc::new(target.clone()), &mut |_, _| {});
            let error = done.err().unwrap_or_else(|| panic!("{what} was flipped and is backed up"));
            assert_eq!(error.code(), "store_corrupt", "{what}: {error}");
            assert_eq!((files(&target), target.list("").unwrap()), (vec![], vec![]), "{what}");
        }
    }
}

#[test]
fn a_folder_that_is_taken_is_refused_and_left_alone() {
    let bench = Bench::new();
    bench.put("k", "v");
    let (target, _) = back_up(&bench.memory);
    let foreign = MemoryStorage::new();
    foreign.put("thesis.txt", b"precious".to_vec());
    let dotted = MemoryStorage::new();
    dotted.put(".hidden", b"precious".to_vec());
    for there in [target, foreign, dotted] {
        let before = files(&there);
        let refused = bench.memory.backup_to(Arc::new(there.clone()), &mut |_, _| {}).unwrap_err();
        assert_eq!(invalid(refused), ("target".to_owned(), "not_empty"));
        assert_eq!(files(&there), before);
    }
    let own = bench.memory.backup_to(Arc::clone(&bench.storage), &mut |_, _| {}).unwrap_err();
    assert_eq!(invalid(own).1, "not_empty");
    bench.assert_sound();
}

#[test]
fn of_backups_that_race_for_one_folder_one_gets_it_and_is_whole() {
    let bench = bench_in(SMALL);
    told(&bench);
    for _ in 0..8 {
        let target = MemoryStorage::new();
        let done: Vec<_> = std::thread::scope(|scope| {
            let backup = || bench.memory.backup_to(Arc::new(target.clone()), &mut |_, _| {});
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(backup)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let (whole, refused): (Vec<_>, Vec<_>) = done.into_iter().partition(Result::is_ok);
        assert_eq!(whole.len(), 1);
        for error in refused {
            assert_eq!(invalid(error.unwrap_err()).1, "not_empty");
        }
        assert_copied(&bench.memory, &open(&target), whole.first().unwrap().as_ref().unwrap());
    }
}

#[test]
fn a_folder_gets_a_private_store_and_what_lies_in_the_way_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let root = tempfile::tempdir().unwrap();
    let bench = Bench::on(Arc::new(FileStorage::new(root.path().join("store"))));
    told(&bench);
    let backup = |path: &std::path::Path| bench.memory.backup(path, &mut |_, _| {});
    let target = root.path().join("new/folders/copy");
    let done = backup(&target).unwrap();
    assert_eq!(done.target, target.display().to_string());
    assert_copied(&bench.memory, &Memory::builder().create(false).open(&target).unwrap(), &done);
    for (path, mode) in [("", 0o700), ("log", 0o700), ("mark", 0o600), ("log/00000000000000000001.seg", 0o600)] {
        let found = std::fs::metadata(target.join(path)).unwrap().permissions().mode() & 0o777;
        assert_eq!(found, mode, "{path}");
    }
    let reason = |path: &str| invalid(backup(&root.path().join(path)).unwrap_err()).1;
    std::fs::write(root.path().join("file"), "precious").unwrap();
    for (path, expected) in [
        ("new/folders/copy", "not_empty"),
        ("store", "not_empty"),
        ("store/backup", "inside_a_store"),
        ("store/log", "inside_a_store"),
        ("store/../store/a/b", "inside_a_store"),
        ("new/folders/copy/inner", "inside_a_store"),
        ("file", "not_a_folder"),
        ("file/below", "not_a_folder"),
        ("away/../store/inner", "not_a_folder"),
    ] {
        assert_eq!(reason(path), expected, "{path}");
    }
    assert_eq!(invalid(backup(std::path::Path::new("")).unwrap_err()).1, "not_a_folder");
    // A link to a place inside the store is inside the store.
    std::os::unix::fs::symlink(root.path().join("store"), root.path().join("link")).unwrap();
    assert_eq!(reason("link/inner"), "inside_a_store");
    assert_eq!(std::fs::read_to_string(root.path().join("file")).unwrap(), "precious");
    let mut names: Vec<_> = std::fs::read_dir(root.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["file", "link", "new", "store"], "nothing was made for what was refused");
    std::fs::create_dir(root.path().join("empty")).unwrap();
    backup(&root.path().join("empty")).unwrap();
    bench.assert_sound();
}

#[test]
fn a_refused_backup_of_damage_takes_the_folders_that_it_made_away() {
    let root = tempfile::tempdir().unwrap();
    let storage = MemoryStorage::new();
    let bench = Bench::on(Arc::new(storage.clone()));
    bench.put("k", "spoiled");
    let mut bytes = storage.contents("log/00000000000000000001.seg").unwrap();
    let at = bytes.windows(7).position(|window| window == b"spoiled").unwrap();
    bytes[at] ^= 1;
    storage.put("log/00000000000000000001.seg", bytes);
    let memory = bench.open_again();
    let error = memory.backup(root.path().join("new/copy"), &mut |_, _| {}).unwrap_err();
    assert!(error.code() == "store_corrupt" && error.to_string().contains("position 1"), "{error}");
    std::fs::create_dir(root.path().join("empty")).unwrap();
    memory.backup(root.path().join("empty"), &mut |_, _| {}).unwrap_err();
    let left = std::fs::read_dir(root.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(left.collect::<Vec<_>>(), ["empty"]);
    assert_eq!(std::fs::read_dir(root.path().join("empty")).unwrap().count(), 0);
}
