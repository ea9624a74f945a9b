//! A store that may not be written: its disk is mounted for reading, or its files belong to others.

use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use bilinc::{ListQuery, Memory, RecallQuery};

use super::small::on_small_disks;
use crate::other::{Other, say, words_of_program};
use crate::support::*;

/// Nobody, in every system's list of users.
const NOBODY: u32 = 65_534;

/// A store with one entry, and what an interrupted write left behind it.
fn prepare(store: &Path) {
    let memory = Memory::open(store).unwrap();
    memory.commit(commit("a", "walrus")).unwrap();
    drop(memory);
    let path = store.join("log/00000000000000000001.seg");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.extend(b"BLf");
    std::fs::write(&path, bytes).unwrap();
}

/// It reads, says why it takes no writes, refuses them, and nothing in it has changed.
fn assert_only_readable(store: &Path, why: &str) {
    let files = || {
        let mut files: Vec<_> = (["", "log", "quarantine"].iter())
            .flat_map(|folder| std::fs::read_dir(store.join(folder)).unwrap())
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_file())
            .map(|path| (std::fs::read(&path).unwrap(), path))
            .collect();
        files.sort();
        files
    };
    let before = files();
    for how in [Memory::builder(), Memory::builder().create(false)] {
        let memory = how.open(store).unwrap();
        assert_eq!(value_of(&memory, "a").as_deref(), Some("walrus"));
        assert_eq!(memory.list(&ListQuery::default()).unwrap().total, 1);
        assert_eq!(memory.recall(&RecallQuery::new("walrus")).unwrap().len(), 1);
        assert!(memory.verify(&mut |_, _| {}).unwrap().state_equal);
        let said = memory.status().unwrap().read_only.expect("it says why");
        assert!(said.contains(why), "{said}");
        let errors = [memory.commit(commit("b", "v")).unwrap_err(), memory.forget(forget("a")).unwrap_err()];
        for error in errors {
            assert_eq!((error.code(), error.is_retryable()), ("read_only", false), "{error}");
            assert!(error.to_string().contains(why), "{error}");
        }
    }
    let asked = Memory::builder().read_only(true).open(store).unwrap();
    assert_eq!(value_of(&asked, "a").as_deref(), Some("walrus"));
    assert!(before == files(), "something was written");
}

#[test]
fn a_store_on_a_disk_that_is_mounted_for_reading_reads_and_says_why_it_takes_no_writes() {
    on_small_disks("meets a disk that is mounted for reading", &[]);
}

pub(super) fn mounted_for_reading(folder: &Path, _: &[String]) {
    say("begins");
    let store = folder.join("store");
    prepare(&store);
    let remount = |how: &str| {
        let with = |options: String| Command::new("mount").args(["-o", &options]).arg(folder).output().unwrap();
        let whole = with(format!("remount,{how}"));
        // In a name space of users the mount alone can be changed, not its file system.
        let done = if whole.status.success() { whole } else { with(format!("remount,bind,{how}")) };
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    remount("ro");
    assert_only_readable(&store, "Read-only file system");
    let error = Memory::open(folder.join("new")).unwrap_err();
    assert_eq!(error.code(), "cloud_runtime_unavailable", "{error}");
    remount("rw");
    let memory = Memory::open(&store).unwrap();
    assert_eq!(memory.status().unwrap().read_only, None);
    memory.commit(commit("b", "v")).unwrap();
    assert_sound(&memory);
}

/// A store that others cannot write.
fn close(store: &Path, folder: u32, file: u32) {
    for folders in ["log", "quarantine", ""] {
        let path = store.join(folders);
        for entry in std::fs::read_dir(&path).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_file() {
                set_permissions(entry.path(), Permissions::from_mode(file)).unwrap();
            }
        }
        set_permissions(&path, Permissions::from_mode(folder)).unwrap();
    }
}

#[test]
fn a_store_that_may_not_be_written_reads_and_says_why_it_takes_no_writes() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    prepare(&store);
    let root = rustix::process::geteuid().is_root();
    // Root may write everything, so somebody else tries then.
    let (folder_mode, file_mode) = if root { (0o555, 0o444) } else { (0o500, 0o400) };
    close(&store, folder_mode, file_mode);
    set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let program = words_of_program();
    let mut command = Command::new(&program[0]);
    command.args(&program[1..]);
    if root {
        command.uid(NOBODY).gid(NOBODY);
        if let Err(error) = Command::new(&program[0]).arg("--list").uid(NOBODY).gid(NOBODY).output() {
            println!("NOT RUN: nobody may not run {}: {error}", program[0]);
            return;
        }
    }
    let mut other = Other::start_as(command, "meets a folder that it may not write", &store, &[]);
    while other.hear().is_some() {}
    assert!(other.ended_well());
    close(&store, 0o700, 0o600);
    let memory = Memory::open(&store).unwrap();
    memory.commit(commit("b", "v")).unwrap();
    assert_sound(&memory);
}

pub(super) fn not_permitted(folder: &Path, _: &[String]) {
    assert_only_readable(folder, "Permission denied");
}
