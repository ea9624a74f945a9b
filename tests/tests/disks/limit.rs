//! A process that may write no file beyond a length.

use std::path::Path;
use std::process::Command;

use bilinc::{Memory, Seq};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::other::{Other, say, words_of_program};
use crate::support::*;

#[test]
fn a_file_that_may_grow_no_further_is_a_full_disk() {
    let folder = tempfile::tempdir().unwrap();
    // Without this the system ends a process that writes too far.
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' XFSZ; exec \"$@\"", "sh"]).args(words_of_program());
    let mut other = Other::start_as(command, "writes up to a limit", folder.path(), &[]);
    while let Some(said) = other.hear() {
        println!("{said}");
    }
    assert!(other.ended_well());
    assert_sound(&Memory::open(folder.path()).unwrap());
}

fn limit(bytes: Option<u64>) {
    let maximum = getrlimit(Resource::Fsize).maximum;
    setrlimit(Resource::Fsize, Rlimit { current: bytes, maximum }).unwrap();
}

pub(super) fn write_up_to_a_limit(folder: &Path, _: &[String]) {
    let store = folder.to_owned();
    let mut count = 0;
    let mut put = |memory: &Memory, size: usize| {
        let done = memory.commit(commit(&format!("k{count}"), &"x".repeat(size)));
        count += usize::from(done.is_ok());
        done.map(drop)
    };
    // In the middle of a page, of a frame, of what is preallocated.
    for end in [30_000, 100_001, 150_000] {
        let memory = Memory::open(&store).unwrap();
        limit(Some(end));
        let error = loop {
            if let Err(error) = put(&memory, 7_000) {
                break error;
            }
        };
        assert_eq!((error.code(), error.is_retryable()), ("cloud_runtime_unavailable", true), "{end}: {error}");
        while put(&memory, 10).is_ok() {}
        assert!(memory.verify(&mut |_, _| {}).unwrap().state_equal);
        assert_eq!(memory.status().unwrap().read_only, None);
        let again = Memory::open(&store).unwrap();
        assert!(again.is_same_state(&memory).unwrap());
        limit(None);
        put(&memory, 7_000).unwrap();
        put(&again, 7_000).unwrap();
        assert!(memory.is_same_state(&again).unwrap());
    }
    let memory = Memory::open(&store).unwrap();
    assert_eq!(memory.recorded(Seq::ZERO).unwrap().len(), count);
    say(&format!("{count} commits, 3 limits"));
}
