//! The program under test as a child process.

use std::env;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::client::Target;

/// A server that ends with this value.
#[derive(Debug)]
pub(super) struct Server {
    child: Child,
    pub(super) target: Target,
}

fn beside() -> io::Result<PathBuf> {
    let program = env::current_exe()?;
    program.parent().map(Path::to_owned).ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// `BILINC_BIN`, else the program beside this one.
fn program() -> io::Result<PathBuf> {
    let program =
        env::var_os("BILINC_BIN").map_or_else(|| beside().map(|folder| folder.join("bilinc")), |bin| Ok(bin.into()))?;
    if program.is_file() {
        return Ok(program);
    }
    let message = format!("no server at {}: build it in release, or name it in BILINC_BIN", program.display());
    Err(io::Error::new(io::ErrorKind::NotFound, message))
}

impl Server {
    /// Starts it as an operator would, with a log that nobody reads.
    pub(super) fn start(folder: &Path) -> io::Result<Self> {
        let (program, data) = (program()?, folder.join("server"));
        let made = Command::new(&program)
            .args(["keys", "create", "--project", "bench", "--json", "--data"])
            .arg(&data)
            .output()?;
        let key = between(&String::from_utf8_lossy(&made.stdout), "\"key\":\"", "\"")?;
        let mut child = Command::new(&program)
            .args(["serve", "--listen", "127.0.0.1:0", "--json", "--data"])
            .arg(&data)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut line = String::new();
        if let Some(out) = child.stdout.take() {
            BufReader::new(out).read_line(&mut line)?;
        }
        let address = between(&line, "http://", "\"")?.parse().map_err(io::Error::other)?;
        Ok(Self { child, target: Target { address, key } })
    }

    /// Ends it.
    pub(super) fn stop(mut self) -> io::Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // One that has ended has nothing to be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn between(text: &str, before: &str, after: &str) -> io::Result<String> {
    let found = text.split_once(before).and_then(|(_, rest)| rest.split_once(after));
    found.map(|(found, _)| found.to_owned()).ok_or_else(|| io::Error::other(format!("not understood: {text}")))
}
