//! Processes that count, each on its own and all together, some killed in the middle of it.

use std::collections::BTreeSet;
use std::path::Path;

use bilinc::{Error, Memory, Rejection, Revise, Seq};

use crate::other::{Other, say};
use crate::support::*;

/// Rounds of a process that nobody kills. One that is to be killed goes on until then, or until nobody
/// listens any more.
const FEW: u64 = 40;

pub(super) fn run(folder: &Path, words: &[String]) {
    let [name, rounds] = words else { panic!("{words:?}") };
    let memory = Memory::builder().segment_bytes(16_384).open(folder).unwrap().acting_as(actor(name));
    for round in 1..=rounds.parse::<u64>().unwrap() {
        memory.commit(commit(name, &format!("{round}"))).unwrap();
        say(&format!("own {round}"));
        add_one(&memory);
        say(&format!("shared {round}"));
    }
}

fn add_one(memory: &Memory) {
    loop {
        let entry = memory.get("shared").unwrap().unwrap();
        let count: u64 = entry.value.unwrap().as_str().parse().unwrap();
        let version = Some(entry.entry.version);
        let next = Revise { value: json(&(count + 1).to_string()), expected_version: version, ..revise("shared", "") };
        match memory.revise(next) {
            Ok(_) => return,
            Err(Error::Rejected(Rejection::VersionConflict { .. })) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

/// What a process said before it ended.
#[derive(Debug, Default)]
struct Acknowledged {
    own: u64,
    shared: u64,
}

struct Counting {
    name: String,
    other: Other,
    /// Killed after so many lines.
    until: Option<usize>,
}

impl Counting {
    fn start(folder: &Path, name: String, until: Option<usize>) -> Self {
        let rounds = if until.is_some() { u64::MAX } else { FEW };
        let other = Other::start("counts", folder, &[name.clone(), rounds.to_string()]);
        Self { name, other, until }
    }

    /// Listens, kills when it is time, and gives all that was said until the end.
    fn listen(mut self) -> (String, Acknowledged) {
        let (mut said, mut lines) = (Acknowledged::default(), 0);
        while let Some(line) = self.other.hear() {
            match line.split_once(' ') {
                Some(("own", round)) => said.own = round.parse().unwrap(),
                Some(("shared", round)) => said.shared = round.parse().unwrap(),
                _ => panic!("{line}"),
            }
            lines += 1;
            if self.until == Some(lines) {
                self.other.kill();
            }
        }
        assert_eq!(self.other.ended_well(), self.until.is_none(), "{}", self.name);
        (self.name, said)
    }
}

#[test]
fn no_count_is_lost_or_made_twice_when_processes_are_killed() {
    let folder = tempfile::tempdir().unwrap();
    let watching = Memory::open(folder.path()).unwrap();
    let mut zero = commit("shared", "");
    zero.value = json("0");
    watching.commit(zero).unwrap();
    let (mut acknowledged, mut killed) = (0, 0);
    // Where the kills fall: odd, even, early, late.
    for (round, kills) in [[3, 17], [8, 41], [1, 30]].into_iter().enumerate() {
        let start = |index: usize| {
            let until = kills.get(index).copied();
            Counting::start(folder.path(), format!("writer.{round}.{index}"), until)
        };
        let others: Vec<_> = (0..4).map(start).collect();
        killed += kills.len() as u64;
        let said: Vec<_> = std::thread::scope(|scope| {
            let listen: Vec<_> = others.into_iter().map(|other| scope.spawn(move || other.listen())).collect();
            listen.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        for (name, said) in said {
            let own: u64 = value_of(&watching, &name).unwrap().parse().unwrap();
            // One more may have been written when the kill came before the word.
            assert!(own >= said.own && own <= said.own + 1, "{name}: {own} after {said:?}");
            acknowledged += said.shared;
        }
        let count: u64 = value_of(&watching, "shared").unwrap().parse().unwrap();
        assert!(count >= acknowledged && count <= acknowledged + killed, "{count} after {acknowledged}");
    }
    let fresh = Memory::open(folder.path()).unwrap();
    assert!(fresh.is_same_state(&watching).unwrap());
    let events = fresh.recorded(Seq::ZERO).unwrap();
    assert!(events.iter().zip(1_u64..).all(|(event, seq)| event.seq.get() == seq), "positions have no gap");
    let versions: Vec<_> = events.iter().filter_map(|event| event.event.version()).collect();
    assert_eq!(versions.iter().collect::<BTreeSet<_>>().len(), versions.len(), "versions repeat");
    assert_sound(&fresh);
    assert_sound(&watching);
    fresh.commit(commit("after", "all")).unwrap();
}
