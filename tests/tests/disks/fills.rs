//! A store that grows until its disk is full.

use std::path::Path;

use bilinc::{Error, Memory, MemoryBuilder, Seq};

use super::small::{Ballast, on_small_disks};
use crate::other::say;
use crate::support::*;

#[test]
fn a_store_that_fills_its_disk_reads_on_and_takes_writes_again_when_there_is_room() {
    on_small_disks("fills a disk", &[]);
}

fn builder() -> MemoryBuilder {
    Memory::builder().segment_bytes(200_000)
}

/// Commits until there is no room; the last position, and the number of the next.
fn until_full(memory: &Memory, from: usize, size: usize) -> (usize, Error) {
    for number in from.. {
        let value = format!("{number} {}", "x".repeat(size));
        if let Err(error) = memory.commit(commit(&format!("k{number}"), &value)) {
            return (number, error);
        }
    }
    unreachable!("no disk is so large")
}

fn assert_holds(memory: &Memory, count: usize) {
    assert_eq!(memory.damage(), None);
    assert_eq!(memory.recorded(Seq::ZERO).unwrap().len(), count);
    for number in 0..count {
        let value = value_of(memory, &format!("k{number}")).unwrap();
        assert!(value.starts_with(&format!("{number} ")), "k{number} holds {value}");
    }
    assert!(memory.verify(&mut |_, _| {}).unwrap().state_equal);
}

pub(super) fn fill_a_disk(folder: &Path, _: &[String]) {
    say("begins");
    let store = folder.join("store");
    let mut memory = builder().open(&store).unwrap();
    let mut count = 0;
    let rounds = [(400_000, 9_000), (250_000, 700), (250_000, 0), (300_000, 40_000)];
    // What can be freed later.
    let room = |size: usize| folder.join(format!(".room{size}"));
    for (bytes, size) in rounds {
        std::fs::write(room(size), vec![1; bytes]).unwrap();
    }
    for (_, size) in rounds {
        let (next, error) = until_full(&memory, count, size);
        count = next;
        assert_eq!((error.code(), error.is_retryable()), ("cloud_runtime_unavailable", true), "{error}");
        // Again, and smaller, until nothing at all goes in.
        let ballast = Ballast::fill(folder);
        while memory.commit(commit(&format!("k{count}"), &format!("{count} "))).is_ok() {
            count += 1;
        }
        assert_eq!(memory.status().unwrap().read_only, None, "a full disk stops nobody for good");
        assert_holds(&memory, count);
        for how in [builder(), builder().read_only(true)] {
            assert_holds(&how.open(&store).unwrap(), count);
        }
        drop(memory);
        memory = builder().open(&store).unwrap();
        assert_holds(&memory, count);
        let error = memory.commit(commit("large", &"x".repeat(100_000))).unwrap_err();
        assert_eq!(error.code(), "cloud_runtime_unavailable", "{error}");
        ballast.remove();
        std::fs::remove_file(room(size)).unwrap();
        memory.commit(commit(&format!("k{count}"), &format!("{count} "))).unwrap();
        count += 1;
        assert_holds(&memory, count);
        assert_sound(&builder().open(&store).unwrap());
    }
    assert_sound(&memory);
    say(&format!("{count} commits, 4 times full"));
}
