//! A process that works until it is done or killed.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc;

use bilinc::{Error, Memory, Rejection};

use super::said::{Acknowledged, Said};
use super::work::{Work, acknowledged, assert_seen, commit_of};
use crate::hooked_folder::{Hook, Hooked, When};
use crate::other::{die_here, listen, say};

/// What a worker is to do in one of its lives.
#[derive(Debug, Clone, Default)]
pub(super) struct Life {
    pub(super) worker: u64,
    pub(super) seed: u64,
    /// The number of the first operation, and one behind the last.
    pub(super) from: u64,
    pub(super) to: u64,
    /// Ends itself at this call of its storage; never when 0.
    pub(super) dies_at: u64,
    /// A commit whose answer the life before did not hear: name, key, size.
    pub(super) again: Option<(String, String, u64)>,
}

impl Life {
    pub(super) fn to_words(&self) -> Vec<String> {
        let mut words: Vec<_> =
            [self.worker, self.seed, self.from, self.to, self.dies_at].map(|number| number.to_string()).to_vec();
        if let Some((name, key, size)) = &self.again {
            words.extend([name.clone(), key.clone(), size.to_string()]);
        }
        words
    }

    fn from_words(words: &[String]) -> Self {
        let number = |at: usize| words[at].parse().unwrap();
        let again = words.get(5).map(|name| (name.clone(), words[6].clone(), number(7)));
        Self { worker: number(0), seed: number(1), from: number(2), to: number(3), dies_at: number(4), again }
    }
}

fn tell(said: &Said) {
    say(&said.to_line());
}

pub(super) fn run(folder: &Path, words: &[String]) {
    let life = Life::from_words(words);
    let storage = Hooked::new(folder);
    if life.dies_at > 0 {
        let when = [When::Before, When::Half, When::After][usize::try_from(life.seed % 3).unwrap()];
        storage.set(Hook { call: "", path: "", nth: life.dies_at, when, act: Box::new(die_here) });
    }
    let memory = Memory::builder().segment_bytes(64 * 1024).open_in(Arc::new(storage)).unwrap();
    if let Some((name, key, size)) = &life.again {
        match memory.with_idempotency_key(name).commit(commit_of(name, key, *size)) {
            Ok(done) => {
                tell(&Said::Repeated { replayed: done.replayed });
                tell(&Said::Acknowledged(acknowledged(&memory, name, done.answer.seq)));
            }
            // It was done, and somebody purged its key since.
            Err(Error::Rejected(Rejection::IdempotencyConflict)) => tell(&Said::Repeated { replayed: true }),
            Err(error) => panic!("{life:?}: {error}"),
        }
    }
    let told = what_others_did();
    let mut work = Work::new(memory, life.worker, life.seed);
    for number in life.from..life.to {
        work.one(&format!("w{}.{number}", life.worker), &mut |said| tell(&said));
        for other in told.try_iter() {
            see(&work.memory, &other);
        }
    }
    tell(&Said::Done);
    // Until nobody does anything any more.
    for other in told {
        see(&work.memory, &other);
    }
}

fn see(memory: &Memory, other: &Acknowledged) {
    assert_seen(memory, other);
    tell(&Said::Saw(other.seq));
}

/// Taken from standard input as it comes, so that nobody waits for this process to read it.
fn what_others_did() -> mpsc::Receiver<Acknowledged> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        while let Some(line) = listen() {
            if sender.send(Acknowledged::from_line(&line)).is_err() {
                return;
            }
        }
    });
    receiver
}
