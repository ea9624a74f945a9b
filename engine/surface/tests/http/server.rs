//! Starts the real program on a data folder of its own.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::client::Client;

/// A server that ends with its test.
pub(crate) struct Server {
    child: Child,
    pub(crate) client: Client,
    data: TempDir,
}

/// The program with nothing of the caller's surroundings.
pub(crate) fn program(data: &Path, words: &[&str]) -> Command {
    surrounded(Command::new(env!("CARGO_BIN_EXE_bilinc")), data, words)
}

fn surrounded(mut command: Command, data: &Path, words: &[&str]) -> Command {
    for variable in ["BILINC_STORE", "XDG_DATA_HOME"] {
        command.env_remove(variable);
    }
    command.env("HOME", data).env("BILINC_DATA", data).args(words).stdin(Stdio::null());
    command
}

/// Runs the program; its answer as JSON.
#[track_caller]
pub(crate) fn json(data: &Path, words: &[&str]) -> Value {
    let output = program(data, words).arg("--json").output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Makes a key for a project.
#[track_caller]
pub(crate) fn make_key(data: &Path, project: &str, more: &[&str]) -> Value {
    json(data, &[&["keys", "create", "--project", project], more].concat())
}

impl Server {
    /// A server with one project and a client that may write there.
    #[track_caller]
    pub(crate) fn new() -> Self {
        Self::with(&[])
    }

    #[track_caller]
    pub(crate) fn with(options: &[&str]) -> Self {
        let data = tempfile::tempdir().unwrap();
        let key = make_key(data.path(), "p", &[])["key"].as_str().unwrap().to_owned();
        let mut server = Self::on(data, options);
        server.client.key = Some(key);
        server
    }

    /// The same after a word to the shell that starts it.
    #[track_caller]
    pub(crate) fn new_under(word: &str) -> Self {
        let data = tempfile::tempdir().unwrap();
        let key = make_key(data.path(), "p", &[])["key"].as_str().unwrap().to_owned();
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{word} && exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_bilinc")]);
        let (child, address) = listening(surrounded(command, data.path(), &SERVE));
        Self { child, client: Client { address, host: "bilinc.test".to_owned(), key: Some(key) }, data }
    }

    /// A server on a data folder that is there.
    #[track_caller]
    pub(crate) fn on(data: TempDir, options: &[&str]) -> Self {
        let (child, address) = start(data.path(), options);
        Self { child, client: Client { address, host: "bilinc.test".to_owned(), key: None }, data }
    }

    pub(crate) fn data(&self) -> &Path {
        self.data.path()
    }

    pub(crate) fn store(&self) -> std::path::PathBuf {
        self.data().join("projects/p")
    }

    /// A client with a key of its own.
    #[track_caller]
    pub(crate) fn client_of(&self, project: &str, more: &[&str]) -> Client {
        self.client.with_key(make_key(self.data(), project, more)["key"].as_str().unwrap())
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for the end; what it said on standard error.
    pub(crate) fn wait(&mut self) -> (ExitStatus, String) {
        let status = self.child.wait().unwrap();
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (status, said)
    }

    /// Ends it as an operator does; what it said.
    pub(crate) fn stop(&mut self) -> String {
        self.signal(Signal::TERM);
        let (status, said) = self.wait();
        assert!(status.success(), "{said}");
        said
    }

    /// Starts anew on the same data, after whatever ended it.
    #[track_caller]
    pub(crate) fn restart(&mut self, options: &[&str]) {
        let (child, address) = start(self.data.path(), options);
        self.child = child;
        self.client.address = address;
    }
}

const SERVE: [&str; 4] = ["serve", "--listen", "127.0.0.1:0", "--json"];

#[track_caller]
fn start(data: &Path, options: &[&str]) -> (Child, std::net::SocketAddr) {
    let mut command = program(data, &SERVE);
    command.args(options);
    listening(command)
}

#[track_caller]
fn listening(mut command: Command) -> (Child, std::net::SocketAddr) {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let listening: Value = serde_json::from_str(&line).unwrap();
    let address = listening["listening"].as_str().unwrap().strip_prefix("http://").unwrap().parse().unwrap();
    (child, address)
}

impl Drop for Server {
    fn drop(&mut self) {
        // One that has ended has nothing to be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
