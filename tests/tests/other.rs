//! Other processes: this test program once more, in a role. They say lines on standard output and are
//! told lines on standard input.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use crate::{disks, processes};

const ROLE: &str = "BILINC_TESTS_ROLE";
const FOLDER: &str = "BILINC_TESTS_FOLDER";
const WORDS: &str = "BILINC_TESTS_WORDS";

/// What a line of ours begins with: the test runner writes on the same output.
const SIGN: &str = "@ ";

/// A role: what it is to do in a folder, with some words about how.
pub(crate) type Role = fn(&Path, &[String]);

#[test]
fn other_process() {
    let (Ok(role), Some(folder), Ok(words)) = (std::env::var(ROLE), std::env::var_os(FOLDER), std::env::var(WORDS))
    else {
        return;
    };
    let roles = processes::ROLES.iter().chain(disks::ROLES);
    let (_, run) = roles.copied().find(|(name, _)| *name == role).unwrap();
    let words: Vec<_> = words.split('\n').map(str::to_owned).collect();
    run(&PathBuf::from(folder), &words);
}

/// Says a line; it is out when this returns, whatever becomes of the process.
pub(crate) fn say(line: &str) {
    // In one piece, and a line of its own whatever the test runner has written before.
    let line = format!("\n{SIGN}{line}\n");
    let mut output = std::io::stdout().lock();
    output.write_all(line.as_bytes()).unwrap();
    output.flush().unwrap();
}

/// The next line that this process is told; none when nobody is there to tell any more.
pub(crate) fn listen() -> Option<String> {
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line).unwrap();
    (read > 0).then(|| line.trim_end().to_owned())
}

/// Stops this process as job control does, and this thread until it is told to go on: a process is
/// woken and stopped thread by thread.
pub(crate) fn stop_here() {
    kill_process(rustix::process::getpid(), Signal::STOP).unwrap();
    listen();
}

/// Ends this process as `kill -9` does.
pub(crate) fn die_here() {
    kill_process(rustix::process::getpid(), Signal::KILL).unwrap();
    loop {
        std::thread::park();
    }
}

/// The program and its arguments for a role; more may be put before them.
pub(crate) fn words_of_program() -> Vec<String> {
    let program = std::env::current_exe().unwrap().display().to_string();
    [&program, "--exact", "other::other_process", "--nocapture", "--test-threads", "1"].map(str::to_owned).to_vec()
}

/// Another process; killed when this is dropped and it has not ended.
pub(crate) struct Other {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Other {
    pub(crate) fn start(role: &str, folder: &Path, words: &[String]) -> Self {
        let program = words_of_program();
        let mut command = Command::new(&program[0]);
        command.args(&program[1..]);
        Self::start_as(command, role, folder, words)
    }

    /// As `command` has it, which runs [`words_of_program`] in the end.
    pub(crate) fn start_as(mut command: Command, role: &str, folder: &Path, words: &[String]) -> Self {
        command.env(ROLE, role).env(FOLDER, folder).env(WORDS, words.join("\n"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, output }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// The way to tell it something, for another thread.
    pub(crate) fn take_input(&mut self) -> ChildStdin {
        self.input.take().unwrap()
    }

    pub(crate) fn tell(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    /// The next whole line that it says; none when it has ended.
    pub(crate) fn hear(&mut self) -> Option<String> {
        let mut line = String::new();
        loop {
            line.clear();
            self.output.read_line(&mut line).unwrap();
            let whole = line.strip_suffix('\n')?;
            if let Some(said) = whole.strip_prefix(SIGN) {
                return Some(said.to_owned());
            }
        }
    }

    /// As [`Other::hear`], of one that must say something.
    #[track_caller]
    pub(crate) fn must_say(&mut self) -> String {
        self.hear().expect("the other process has ended")
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
    }

    /// Waits until it is stopped.
    pub(crate) fn wait_until_stopped(&self) {
        let (_, status) = waitpid(Some(self.pid()), WaitOptions::UNTRACED).unwrap().unwrap();
        assert!(status.stopped(), "it did not stop: {status:?}");
    }

    pub(crate) fn go_on(&mut self) {
        kill_process(self.pid(), Signal::CONT).unwrap();
        self.tell("go on");
    }

    /// Waits for its end; whether it did well.
    pub(crate) fn ended_well(&mut self) -> bool {
        drop(self.input.take());
        self.child.wait().unwrap().success()
    }

    /// Waits for its end; the code it gave, if it was not killed.
    pub(crate) fn code(&mut self) -> Option<i32> {
        drop(self.input.take());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
