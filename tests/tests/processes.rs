//! Real processes on one folder, some of them killed in the middle of their work.
//!
//! The other processes are this test program once more: with [`FOLDER`] set it runs `other_process`,
//! which writes and says on standard output what was acknowledged.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use bilinc::{Error, Memory, Rejection, Revise, Seq};

use crate::support::*;

const FOLDER: &str = "BILINC_TESTS_FOLDER";
const NAME: &str = "BILINC_TESTS_NAME";

const ROUNDS: &str = "BILINC_TESTS_ROUNDS";

/// Rounds of a process that nobody kills. One that is to be killed goes on until then, or until nobody
/// listens any more.
const FEW: u64 = 40;

#[test]
fn other_process() {
    let (Ok(folder), Ok(name)) = (std::env::var(FOLDER), std::env::var(NAME)) else { return };
    let memory = Memory::builder().segment_bytes(16_384).open(folder).unwrap().acting_as(actor(&name));
    let rounds: u64 = std::env::var(ROUNDS).unwrap().parse().unwrap();
    for round in 1..=rounds {
        memory.commit(commit(&name, &round.to_string())).unwrap();
        say(&format!("own {round}"));
        add_one(&memory);
        say(&format!("shared {round}"));
    }
}

fn say(text: &str) {
    let mut output = std::io::stdout().lock();
    // A line of its own, whatever the test runner has written before.
    writeln!(output, "\nacknowledged {text}").unwrap();
    output.flush().unwrap();
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

struct Other {
    name: String,
    child: Child,
    /// Killed after so many lines.
    until: Option<usize>,
}

impl Other {
    fn start(folder: &std::path::Path, name: String, until: Option<usize>) -> Self {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "processes::other_process", "--nocapture", "--test-threads", "1"])
            .env(FOLDER, folder)
            .env(NAME, &name)
            .env(ROUNDS, if until.is_some() { u64::MAX } else { FEW }.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self { name, child, until }
    }

    /// Listens, kills when it is time, and gives all that was said until the end.
    fn listen(mut self) -> (String, Acknowledged) {
        let output = BufReader::new(self.child.stdout.take().unwrap());
        let (mut said, mut lines) = (Acknowledged::default(), 0);
        for line in output.lines().map_while(Result::ok) {
            match line.strip_prefix("acknowledged ").and_then(|rest| rest.split_once(' ')) {
                Some(("own", round)) => said.own = round.parse().unwrap(),
                Some(("shared", round)) => said.shared = round.parse().unwrap(),
                _ => continue,
            }
            lines += 1;
            if self.until == Some(lines) {
                self.child.kill().unwrap();
            }
        }
        let status = self.child.wait().unwrap();
        assert_eq!(status.success(), self.until.is_none(), "{}: {status}", self.name);
        (self.name, said)
    }
}

#[test]
fn nothing_acknowledged_is_lost_when_processes_are_killed() {
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
            Other::start(folder.path(), format!("writer.{round}.{index}"), until)
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
