//! Runs commands as a shell would.

use clap::Parser;
use serde_json::Value;
use tempfile::TempDir;

use crate::cli::{Cli, CliError, Style, run};

/// A folder with a store in it.
pub(super) struct Shell(TempDir);

impl Shell {
    pub(super) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(super) fn file(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    /// Runs a command on the store; words are given one by one.
    pub(super) fn run(&self, words: &[&str]) -> Result<String, CliError> {
        let store = self.file("store");
        let line = ["bilinc", "--store", &store].into_iter().chain(words.iter().copied());
        let mut out = Vec::new();
        run(Cli::try_parse_from(line).unwrap(), &mut out, Style::plain())?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[track_caller]
    pub(super) fn text(&self, words: &[&str]) -> String {
        self.run(words).unwrap_or_else(|error| unreachable!("{words:?}: {error:?}"))
    }

    /// Runs a command with `--json`; the answer is exactly one object.
    #[track_caller]
    pub(super) fn json(&self, words: &[&str]) -> Value {
        let words: Vec<_> = words.iter().copied().chain(["--json"]).collect();
        let text = self.text(&words);
        assert_eq!(text.lines().count(), 1, "{text}");
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["success"], true, "{text}");
        assert_eq!(value["stateVersion"].as_str().unwrap().len(), 64, "{text}");
        value
    }

    #[track_caller]
    pub(super) fn code(&self, words: &[&str]) -> String {
        match self.run(words).unwrap_err() {
            CliError::Engine(error) | CliError::Unsound { error, .. } => error.code().to_owned(),
            CliError::Apply { failed, .. } => failed.error.code().to_owned(),
            CliError::Usage { .. } => "usage".to_owned(),
            other => unreachable!("{other:?}"),
        }
    }

    /// Starts a dream over three memories; its id and their versions.
    pub(super) fn dream(&self) -> (String, Vec<String>) {
        for key in ["a", "b", "c"] {
            self.text(&["commit", "--key", key, "--value", "one"]);
        }
        let started = self.json(&["dream", "start"]);
        let version = |key: &str| {
            let candidates = started["candidates"].as_array().unwrap();
            let candidate = candidates.iter().find(|candidate| candidate["key"] == key).unwrap();
            candidate["entryVersion"].as_str().unwrap().to_owned()
        };
        (started["dreamId"].as_str().unwrap().to_owned(), ["a", "b", "c"].map(version).to_vec())
    }
}
