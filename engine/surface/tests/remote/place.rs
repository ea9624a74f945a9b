//! A store and a server side by side, and the program on either.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A server with one project that ends with its test.
pub(crate) struct Server {
    child: Child,
    pub(crate) url: String,
    pub(crate) key: String,
    pub(crate) home: TempDir,
}

/// What a command left behind.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ran {
    #[track_caller]
    pub(crate) fn text(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""), "{self:?}");
        self.out
    }

    #[track_caller]
    pub(crate) fn json(self) -> Value {
        serde_json::from_str(&self.text()).unwrap()
    }

    /// The one object that a failure is.
    #[track_caller]
    pub(crate) fn error(self, code: i32) -> Value {
        assert_eq!((self.code, self.out.as_str()), (Some(code), ""), "{self:?}");
        let value: Value = serde_json::from_str(&self.err).unwrap_or_else(|_| panic!("{self:?}"));
        let fields: Vec<_> = value.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(fields, ["details", "error", "message", "requestId", "retryable"], "{self:?}");
        value
    }
}

/// The program with nothing of the caller's surroundings.
pub(crate) fn program(home: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bilinc"));
    for variable in
        ["BILINC_STORE", "BILINC_BASE_URL", "BILINC_API_KEY", "BILINC_CA_BUNDLE", "XDG_DATA_HOME", "CLICOLOR_FORCE"]
    {
        command.env_remove(variable);
    }
    command.env("HOME", home).env("BILINC_DATA", home.join("data")).current_dir(home);
    command.args(words).stdin(Stdio::null());
    command
}

pub(crate) fn make_key(home: &Path, more: &[&str]) -> String {
    let words = [&["keys", "create", "--project", "p", "--json"], more].concat();
    let made: Ran = program(home, &words).output().unwrap().into();
    made.json()["key"].as_str().unwrap().to_owned()
}

impl Server {
    pub(crate) fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let key = make_key(home.path(), &[]);
        let (child, url) = start(home.path(), "127.0.0.1:0");
        Self { child, url, key, home }
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = program(self.home.path(), words);
        command.env("BILINC_BASE_URL", &self.url).env("BILINC_API_KEY", &self.key);
        command
    }

    pub(crate) fn run(&self, words: &[&str]) -> Ran {
        self.command(words).output().unwrap().into()
    }

    pub(crate) fn end(&mut self) {
        let _ = self.child.kill();
        self.child.wait().unwrap();
    }

    /// Starts anew at the same address.
    pub(crate) fn again(&mut self) {
        let (child, url) = start(self.home.path(), self.url.strip_prefix("http://").unwrap());
        (self.child, self.url) = (child, url);
    }
}

fn start(home: &Path, listen: &str) -> (Child, String) {
    let mut command = program(home, &["serve", "--listen", listen, "--json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let listening: Value = serde_json::from_str(&line).unwrap();
    (child, listening["listening"].as_str().unwrap().to_owned())
}

impl Drop for Server {
    fn drop(&mut self) {
        // One that has ended has nothing to be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a command with something on its standard input.
pub(crate) fn feed(mut command: Command, input: &[u8]) -> Ran {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let feeder = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    output.into()
}
