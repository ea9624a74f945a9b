//! Runs the real program on a store in a temporary folder.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A folder of its own, with a store and a home in it.
pub(crate) struct Shell(TempDir);

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

impl Shell {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn file(&self, name: &str) -> String {
        self.path().join(name).display().to_string()
    }

    /// Writes a file and gives its path.
    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        let path = self.file(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.path().join("store")
    }

    /// The program with nothing of the caller's surroundings, and no store named.
    pub(crate) fn bare<S: AsRef<OsStr>>(&self, words: &[S]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bilinc"));
        for variable in ["BILINC_STORE", "XDG_DATA_HOME", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR"] {
            command.env_remove(variable);
        }
        command.env("HOME", self.path().join("home")).current_dir(self.path()).args(words).stdin(Stdio::null());
        command
    }

    /// The program on the folder's store.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, words: &[S]) -> Command {
        let mut command = self.bare(words);
        command.env("BILINC_STORE", self.store());
        command
    }

    pub(crate) fn run(&self, words: &[&str]) -> Ran {
        self.command(words).output().unwrap().into()
    }

    /// Runs a command with something on its standard input.
    pub(crate) fn feed(&self, words: &[&str], input: &[u8]) -> Ran {
        let mut command = self.command(words);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let feeder = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        feeder.join().unwrap();
        output.into()
    }

    /// Runs a command that must do well and say nothing on standard error.
    #[track_caller]
    pub(crate) fn text(&self, words: &[&str]) -> String {
        self.run(words).text()
    }

    /// Runs a command with `--json`; the answer is exactly one object.
    #[track_caller]
    pub(crate) fn json(&self, words: &[&str]) -> Value {
        self.run(&with_json(words)).json()
    }

    /// Runs a command that must be refused, in both forms; the JSON of the refusal.
    #[track_caller]
    pub(crate) fn refusal(&self, words: &[&str]) -> Value {
        let human = self.run(words);
        assert_eq!((human.code, human.out.as_str()), (Some(1), ""), "{words:?}: {human:?}");
        assert!(human.err.starts_with("bilinc: error: "), "{words:?}: {human:?}");
        self.run(&with_json(words)).error(1)
    }

    /// Runs a command that must be refused with this code.
    #[track_caller]
    pub(crate) fn refused(&self, code: &str, words: &[&str]) -> Value {
        let error = self.refusal(words);
        assert_eq!(error["error"], code, "{words:?}: {error}");
        error["details"].clone()
    }

    /// Runs a command that must be refused as malformed, for this field and reason.
    #[track_caller]
    pub(crate) fn invalid(&self, field: &str, reason: &str, words: &[&str]) {
        let details = self.refused("invalid_request", words);
        assert_eq!((&details["field"], &details["reason"]), (&field.into(), &reason.into()), "{words:?}: {details}");
    }

    #[track_caller]
    pub(crate) fn commit(&self, key: &str, value: &str) -> String {
        let done = self.json(&["commit", "--key", key, "--value", value]);
        done["entryVersion"].as_str().unwrap().to_owned()
    }

    /// The value of a memory, as the very text that the program prints.
    #[track_caller]
    pub(crate) fn value(&self, key: &str) -> Value {
        self.json(&["get", key])["value"].clone()
    }

    /// Saves memories and starts a dream over all of them.
    #[track_caller]
    pub(crate) fn dream(&self, memories: &[(&str, &str)]) -> Dream {
        let lines: Vec<_> =
            memories.iter().map(|(key, value)| serde_json::json!({"key": key, "value": value}).to_string()).collect();
        let file = self.write("seed.jsonl", lines.join("\n"));
        self.json(&["import", &file]);
        Dream(self.json(&["dream", "start"]))
    }
}

/// A dream as its start answered.
pub(crate) struct Dream(pub(crate) Value);

impl Dream {
    pub(crate) fn id(&self) -> &str {
        self.0["dreamId"].as_str().unwrap()
    }

    /// The version that a candidate had at the start.
    #[track_caller]
    pub(crate) fn version(&self, key: &str) -> &str {
        let candidates = self.0["candidates"].as_array().unwrap();
        candidates.iter().find(|candidate| candidate["key"] == key).unwrap()["entryVersion"].as_str().unwrap()
    }
}

fn with_json<'a>(words: &[&'a str]) -> Vec<&'a str> {
    words.iter().copied().chain(["--json"]).collect()
}

impl Ran {
    #[track_caller]
    pub(crate) fn text(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""), "{self:?}");
        self.out
    }

    /// The one object that an answer is, with what every answer carries.
    #[track_caller]
    pub(crate) fn json(self) -> Value {
        let text = self.text();
        assert_eq!(text.lines().count(), 1, "{text}");
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["success"], true, "{text}");
        assert_eq!(value["stateVersion"].as_str().unwrap().len(), 64, "{text}");
        value
    }

    /// The one object that a failure is: alone on standard error, in the one shape.
    #[track_caller]
    pub(crate) fn error(self, code: i32) -> Value {
        assert_eq!((self.code, self.out.as_str()), (Some(code), ""), "{self:?}");
        assert_eq!(self.err.lines().count(), 1, "{self:?}");
        let value: Value = serde_json::from_str(&self.err).unwrap();
        let fields: Vec<_> = value.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(fields, ["details", "error", "message", "requestId", "retryable"], "{self:?}");
        assert!(value["details"].is_object() && value["retryable"].is_boolean(), "{self:?}");
        assert!(!value["message"].as_str().unwrap().is_empty(), "{self:?}");
        assert!(value["requestId"].as_str().unwrap().len() > 20, "{self:?}");
        value
    }
}

/// The keys in a list of objects.
pub(crate) fn keys(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|item| item["key"].as_str().unwrap()).collect()
}

/// One field of each object in a list.
pub(crate) fn each<'a>(list: &'a Value, field: &str) -> Vec<&'a str> {
    list.as_array().unwrap().iter().map(|item| item[field].as_str().unwrap_or("null")).collect()
}
