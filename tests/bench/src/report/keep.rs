//! What is kept of a run: output, numbers, command, versions.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Serialize;

use crate::Outcome;

/// The packages whose versions decide about the numbers.
const LOCK: &str = include_str!("../../Cargo.lock");
const NAMED: [&str; 9] =
    ["bilinc", "bincode", "crc32fast", "fjall", "redb", "rusqlite", "libsqlite3-sys", "sled", "tantivy"];

/// A folder that output goes to, beside the screen; or none.
#[derive(Debug)]
pub(crate) struct Kept {
    folder: Option<PathBuf>,
    name: &'static str,
}

impl Kept {
    /// Keeps what the benchmark of this name tells in a folder, which is made when it is not there.
    pub(crate) fn new(folder: Option<&Path>, name: &'static str) -> Outcome<Self> {
        if let Some(folder) = folder {
            std::fs::create_dir_all(folder)?;
        }
        Ok(Self { folder: folder.map(Path::to_owned), name })
    }

    /// Shows a text; kept as `<name>.md` with the command before it, and what it ran on beside it.
    pub(crate) fn text(&self, text: &str, store: &Path) -> Outcome<()> {
        println!("{text}");
        if let Some(folder) = &self.folder {
            std::fs::write(folder.join(format!("{}.md", self.name)), format!("`{}`\n\n{text}\n", command()))?;
            std::fs::write(folder.join("machine.txt"), machine(store))?;
        }
        Ok(())
    }

    /// Keeps numbers as `<name>.json`.
    pub(crate) fn json(&self, numbers: &impl Serialize) -> Outcome<()> {
        self.file("json", &serde_json::to_string_pretty(numbers)?)
    }

    /// Keeps a file `<name>.<ending>`.
    pub(crate) fn file(&self, ending: &str, text: &str) -> Outcome<()> {
        if let Some(folder) = &self.folder {
            std::fs::write(folder.join(format!("{}.{ending}", self.name)), text)?;
        }
        Ok(())
    }
}

/// How this program was started, in the words of a shell. Where a folder lies on this machine says nothing elsewhere.
fn command() -> String {
    let mut words = vec!["cargo run --release --manifest-path tests/bench/Cargo.toml --".to_owned()];
    let mut folder = false;
    for word in std::env::args().skip(1) {
        words.push(if folder { "DIR".to_owned() } else { word.clone() });
        folder = ["--folder", "--data", "--keep"].contains(&word.as_str());
    }
    words.join(" ")
}

/// What it runs on, as far as it can be told.
pub(crate) fn machine(store: &Path) -> String {
    let mut told = String::new();
    let mut line = |name: &str, value: Option<String>| {
        let _ = writeln!(told, "{name}: {}", value.unwrap_or_else(|| "unknown".to_owned()).trim());
    };
    line("compiler", run("rustc", &["--version"]));
    line("kernel", run("uname", &["-srm"]));
    let cpu = std::fs::read_to_string("/proc/cpuinfo").ok();
    let model = cpu.as_deref().and_then(|text| text.lines().find_map(|line| line.strip_prefix("model name")));
    line("processor", model.map(|model| model.trim_start_matches([' ', '\t', ':']).to_owned()));
    line("cores", std::thread::available_parallelism().ok().map(|cores| cores.to_string()));
    let memory = std::fs::read_to_string("/proc/meminfo").ok();
    line("memory", memory.and_then(|text| text.lines().next().map(|line| line.replace("MemTotal:", ""))));
    line("disk", run("findmnt", &["-no", "FSTYPE,OPTIONS", "-T", &store.to_string_lossy()]));
    line("commit", run("git", &["rev-parse", "HEAD"]));
    for package in LOCK.split("[[package]]") {
        let field =
            |name: &str| package.lines().find_map(|line| line.strip_prefix(name)).map(|text| text.trim_matches('"'));
        if let (Some(name), Some(version)) = (field("name = "), field("version = "))
            && NAMED.contains(&name)
        {
            line(name, Some(version.to_owned()));
        }
    }
    told
}

/// The first line that a program prints.
pub(crate) fn run(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.lines().next().unwrap_or_default().to_owned())
}
