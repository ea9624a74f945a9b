//! A store on a real disk in which names lead to something else, or are none.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bilinc::storage::FileStorage;
use bilinc::{Error, Forget, Memory};

use super::ask::{self, Answers, shown_through};
use super::oracle::read_only;
use super::story::{LOOKED_AT, Story, story};
use crate::purge::files;
use crate::support::*;

struct Folder {
    dir: tempfile::TempDir,
    story: Story,
    truth: Answers,
}

impl Folder {
    fn new() -> Self {
        let story = story();
        let truth = ask::all(&read_only(&story.storage).unwrap(), story.dream);
        let folder = Self { dir: tempfile::tempdir().unwrap(), story, truth };
        fs::create_dir_all(folder.path("log")).unwrap();
        for (path, bytes) in files(&folder.story.storage) {
            fs::write(folder.path(&path), bytes).unwrap();
        }
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn segments(&self) -> Vec<PathBuf> {
        let mut found: Vec<_> = fs::read_dir(self.path("log")).unwrap().map(|entry| entry.unwrap().path()).collect();
        found.sort();
        found
    }

    fn open(&self) -> Result<Memory, Error> {
        let (clock, ids) = (Arc::new(bilinc::ManualClock::at(LOOKED_AT)), Arc::new(bilinc::CountingIds::new(8)));
        builder(&clock, &ids).open_in(Arc::new(FileStorage::new(self.dir.path())))
    }

    fn assert_whole(&self, case: &str) -> Memory {
        let memory = self.open().unwrap_or_else(|error| panic!("{case}: {error}"));
        assert_eq!(ask::all(&memory, self.story.dream), self.truth, "{case}");
        memory
    }
}

/// Puts something that is no file under a name.
type Put = fn(&Path);

const NO_FILES: [(&str, Put); 5] = [
    ("a pipe", |path| assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success())),
    ("a folder", |path| fs::create_dir(path).unwrap()),
    ("a link to itself", |path| symlink(path, path).unwrap()),
    ("a link to nothing", |path| symlink("nowhere", path).unwrap()),
    ("a link to a device without an end", |path| symlink("/dev/zero", path).unwrap()),
];

#[test]
fn a_segment_that_is_no_file_is_damage_and_what_lies_before_it_is_read() {
    for (what, put) in NO_FILES {
        for at in 0..Folder::new().segments().len() {
            let folder = Folder::new();
            let segment = folder.segments().swap_remove(at);
            let first: u64 = segment.file_stem().unwrap().to_str().unwrap().parse().unwrap();
            fs::remove_file(&segment).unwrap();
            put(&segment);
            let opened = folder.open();
            if at == 0 {
                assert_eq!(opened.unwrap_err().code(), "store_corrupt", "{what}");
                continue;
            }
            let memory = opened.unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(shown_through(&memory), first - 1, "{what}");
            assert!(memory.damage().unwrap().contains("leads to no file"), "{what}");
            assert_eq!(memory.commit(commit("probe", "v")).unwrap_err().code(), "store_corrupt", "{what}");
        }
    }
}

#[test]
fn a_mark_or_lock_that_is_no_file_leaves_a_store_for_reading() {
    for (what, put) in NO_FILES {
        for name in ["mark", "append.lock", "sync.lock"] {
            // What the system makes of it decides: a lock can be made through a link to nothing.
            let folder = Folder::new();
            let _ = fs::remove_file(folder.path(name));
            put(&folder.path(name));
            let case = format!("{name} is {what}");
            let memory = folder.assert_whole(&case);
            match memory.status().unwrap().read_only {
                Some(reason) => {
                    assert!(reason.contains(name), "{case}: {reason}");
                    assert_eq!(memory.commit(commit("probe", "v")).unwrap_err().code(), "read_only", "{case}");
                }
                None => {
                    memory.commit(commit("probe", "v")).unwrap();
                }
            }
        }
    }
}

#[test]
fn a_file_where_a_folder_should_be_is_told_of_and_stays() {
    let folder = Folder::new();
    fs::remove_dir_all(folder.path("log")).unwrap();
    fs::write(folder.path("log"), "precious").unwrap();
    let error = folder.open().unwrap_err();
    assert!(error.to_string().contains("log"), "{error}");
    assert_eq!(fs::read_to_string(folder.path("log")).unwrap(), "precious");
    // A file in the place of the quarantine stops nothing but what needs it.
    let folder = Folder::new();
    fs::write(folder.path("quarantine"), "precious").unwrap();
    let memory = folder.assert_whole("quarantine is a file");
    memory.commit(commit("probe", "v")).unwrap();
    memory.commit(commit("gone", "v")).unwrap();
    memory.forget(Forget { purge: true, ..forget("gone") }).unwrap();
    drop(memory);
    let last = folder.segments().pop().unwrap();
    fs::write(&last, [fs::read(&last).unwrap(), vec![7; 40]].concat()).unwrap();
    let memory = folder.open().unwrap();
    assert!(memory.status().unwrap().read_only.unwrap().contains("quarantine"));
    assert_eq!(value_of(&memory, "probe").as_deref(), Some("v"));
    assert_eq!(memory.commit(commit("other", "v")).unwrap_err().code(), "read_only");
    assert_eq!(fs::read_to_string(folder.path("quarantine")).unwrap(), "precious");
}

#[test]
fn names_that_are_no_text_stop_nothing_and_a_purge_removes_them_from_quarantine() {
    let folder = Folder::new();
    fs::create_dir(folder.path("quarantine")).unwrap();
    let mut strange = Vec::new();
    for (dir, bytes) in
        [("log", &b"\xff\xfe.seg"[..]), ("log", b"\xc3"), ("quarantine", b"\xffcopy.torn"), (".", b"\xfe")]
    {
        let path = folder.path(dir).join(OsStr::from_bytes(bytes));
        // Some file systems take no such names.
        if fs::write(&path, "secret value").is_ok() {
            strange.push(path);
        }
    }
    let memory = folder.assert_whole("names that are no text");
    memory.commit(commit("k", "v")).unwrap();
    memory.forget(Forget { purge: true, ..forget("k") }).unwrap();
    for path in strange {
        assert_eq!(path.exists(), path.parent() != Some(&*folder.path("quarantine")), "{}", path.display());
    }
}

#[test]
fn garbage_in_lock_files_is_no_more_than_an_odd_name() {
    for text in [vec![0xff; 127], vec![0xff; 70_000], b"\x1b[31m\0\n".repeat(9), vec![0; 128], Vec::new()] {
        let folder = Folder::new();
        for name in ["append.lock", "sync.lock"] {
            fs::write(folder.path(name), &text).unwrap();
        }
        folder.assert_whole("garbage in the locks").commit(commit("probe", "v")).unwrap();
    }
}
