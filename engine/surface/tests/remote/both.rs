//! The same commands on a store and on a server, and what they say, made comparable.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::path::Path;

use bilinc_surface::catalogue::{self, Operation};
use serde_json::Value;
use tempfile::TempDir;

use crate::place::{Ran, Server, feed, program};

/// A store and a server that are asked the same.
pub(crate) struct Both {
    server: Server,
    home: TempDir,
    /// What was learnt on either, to be put into later commands.
    learnt: BTreeMap<&'static str, [String; 2]>,
    seen: RefCell<BTreeSet<(&'static str, bool)>>,
    wrong: RefCell<Vec<String>>,
}

impl Both {
    pub(crate) fn new() -> Self {
        Self {
            server: Server::new(),
            home: tempfile::tempdir().unwrap(),
            learnt: BTreeMap::new(),
            seen: RefCell::default(),
            wrong: RefCell::default(),
        }
    }

    /// Writes a file for both, with what was learnt put in.
    pub(crate) fn write(&self, name: &str, text: &str) {
        for (side, home) in [self.home.path(), self.server.home.path()].into_iter().enumerate() {
            std::fs::write(home.join(name), self.filled(text, side)).unwrap();
        }
    }

    pub(crate) fn read(&self, name: &str) -> [String; 2] {
        [self.home.path(), self.server.home.path()].map(|home| std::fs::read_to_string(home.join(name)).unwrap())
    }

    /// Where each side runs.
    pub(crate) fn homes(&self) -> [&Path; 2] {
        [self.home.path(), self.server.home.path()]
    }

    fn filled(&self, text: &str, side: usize) -> String {
        let mut text = text.to_owned();
        for (name, values) in &self.learnt {
            text = text.replace(&format!("<{name}>"), &values[side]);
        }
        text
    }

    fn run(&self, words: &[&str], input: &[u8]) -> [Ran; 2] {
        [0, 1].map(|side| {
            let words: Vec<_> = words.iter().map(|word| self.filled(word, side)).collect();
            let words: Vec<_> = words.iter().map(String::as_str).collect();
            let command = if side == 0 {
                let mut command = program(self.home.path(), &words);
                command.env("BILINC_STORE", self.home.path().join("store"));
                command
            } else {
                self.server.command(&words)
            };
            feed(command, input)
        })
    }

    /// What a command says on both, which must be the same; what it answers as JSON.
    #[track_caller]
    pub(crate) fn same(&self, words: &[&str]) -> [Value; 2] {
        self.same_with(words, b"")
    }

    #[track_caller]
    pub(crate) fn same_with(&self, words: &[&str], input: &[u8]) -> [Value; 2] {
        let [here, there] = self.run(words, input);
        self.note(words);
        if !words.contains(&"--json") {
            self.hold(words, &comparable(here), &comparable(there));
            return [Value::Null, Value::Null];
        }
        // The very order of members, too.
        self.hold(words, &names(&here), &names(&there));
        let parsed = |ran: &Ran| serde_json::from_str(if ran.out.is_empty() { &ran.err } else { &ran.out });
        let values = [&here, &there].map(|ran| parsed(ran).unwrap_or_else(|_| panic!("{words:?}: {ran:?}")));
        self.hold(words, &here.code, &there.code);
        self.hold(words, &without_place(&values[0]), &without_place(&values[1]));
        values
    }

    /// Notes a difference; all of them are told at the end.
    fn hold<T: PartialEq + Debug>(&self, words: &[&str], here: &T, there: &T) {
        if here != there {
            self.wrong.borrow_mut().push(format!("{words:?}\n  {here:?}\n  {there:?}"));
        }
    }

    /// The differences.
    pub(crate) fn wrong(&self) -> Vec<String> {
        self.wrong.borrow().clone()
    }

    /// A read in both forms.
    #[track_caller]
    pub(crate) fn read_same(&self, words: &[&str]) -> [Value; 2] {
        self.same(words);
        self.same(&[&["--json"], words].concat())
    }

    fn note(&self, words: &[&str]) {
        let is_json = words.first() == Some(&"--json");
        let words = words.strip_prefix(&["--json"]).unwrap_or(words);
        let json = words.contains(&"--json") || is_json;
        let named = |operation: &&Operation| words.starts_with(&operation.name.split(' ').collect::<Vec<_>>());
        if let Some(operation) = catalogue::ALL.iter().find(named) {
            self.seen.borrow_mut().insert((operation.name, json));
        }
    }

    /// Operations that were not compared, or in one form only.
    pub(crate) fn missing(&self) -> Vec<&'static str> {
        let seen = self.seen.borrow();
        let names = catalogue::ALL.iter().filter(|operation| !operation.is_local()).map(|operation| operation.name);
        names.filter(|name| [true, false].iter().any(|form| !seen.contains(&(*name, *form)))).collect()
    }

    /// Learns something from an answer of either.
    pub(crate) fn learn(&mut self, name: &'static str, values: &[Value; 2], pointer: &str) {
        let found = [&values[0], &values[1]].map(|value| value.pointer(pointer).unwrap().as_str().unwrap().to_owned());
        self.learnt.insert(name, found);
    }
}

/// Every member name in the order in which it was written.
fn names(ran: &Ran) -> Vec<String> {
    let text = format!("{}{}", ran.out, ran.err);
    let parts: Vec<_> = text.split('"').collect();
    let named = parts.windows(2).filter(|pair| pair[1].starts_with(':')).map(|pair| pair[0].to_owned());
    named.filter(|name| !["project", "path"].contains(&name.as_str())).collect()
}

/// What differs by nature replaced: ids, versions, hashes, tokens, times, and where it is.
fn comparable(ran: Ran) -> (Option<i32>, String, String) {
    (ran.code, plain(&ran.out), plain(&ran.err))
}

fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_alphanumeric()) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '.')))
            .unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        out.push_str(&kind(word));
        rest = after;
    }
    out.push_str(rest);
    let lines = out.lines().filter(|line| !line.starts_with("on disk") && !line.starts_with('/'));
    let lines = lines.filter(|line| !line.starts_with("project p") && !line.contains("checkpoint"));
    // A write over a server has a name, which stands in a body of its own.
    let lines = lines.filter(|line| !line.contains("bodies") && !line.contains("every checksum holds"));
    lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>().join("\n")
}

fn kind(word: &str) -> String {
    let hex = |text: &str| text.len() >= 20 && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let bare = word.trim_end_matches(['.', ':']);
    let bare = bare.strip_prefix("bilinc:dream:").unwrap_or(bare);
    let is_time = bare.len() >= 20 && bare.as_bytes()[4] == b'-' && bare.contains('T') && bare.ends_with('Z');
    if is_time {
        return "TIME".to_owned();
    }
    if let Some((head, hash)) = bare.split_once(':')
        && hex(hash)
        && head.bytes().all(|byte| byte.is_ascii_digit())
    {
        return format!("{head}:HASH");
    }
    if bare.starts_with("v1_") || bare.starts_with("rb1_") || hex(bare) {
        return "ID".to_owned();
    }
    // A server says of an undo that it came over it.
    word.replace("bilinc_cloud", "bilinc_cli")
}

/// What of an answer as JSON differs by nature, by the names of members.
const OF_THE_PLACE: [&str; 15] = [
    "stateVersion",
    "requestId",
    "confirmationToken",
    "project",
    "path",
    "logBytes",
    "bytes",
    "bodies",
    "checkpoint",
    "recallCheckpoint",
    "nextCursor",
    "score",
    "ageSeconds",
    "segments",
    "id",
];

/// The rest of an answer as JSON.
fn without_place(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.iter().filter(|(name, _)| !OF_THE_PLACE.contains(&name.as_str()));
            Value::Object(kept.map(|(name, value)| (name.clone(), without_place(value))).collect())
        }
        Value::Array(items) => items.iter().map(without_place).collect(),
        Value::String(text) => plain(text).into(),
        other => other.clone(),
    }
}
