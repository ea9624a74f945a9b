//! `export` and `import`.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use bilinc::{Memory, Written};
use clap::Args;

use super::carry::SURFACE;
use super::console::Console;
use super::errors::CliError;
use super::progress::Progress;
use super::write::WriteArgs;
use super::{render, store};
use crate::wire::requests::ImportRequest;
use crate::wire::transfer::{ExportView, ImportView};

/// Options of `export`.
#[derive(Debug, Args)]
#[command(after_help = "\
One memory a line, with every field but version and flags. Dream reports are left out. The file is \
yours alone (mode 0600) and replaces an older one only when it is complete.

Examples:
  bilinc export -o memories.jsonl
  bilinc export | wc -l")]
pub(super) struct ExportArgs {
    /// The file; standard output when absent or `-`
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Writes all memories.
pub(super) fn export(console: &mut Console<'_>, args: &ExportArgs) -> Result<(), CliError> {
    let store = store::read(&console.globals)?;
    let progress = Progress::items("Exporting", console.globals.json);
    let mut show = |done, total| progress.at(done, total);
    let Some(path) = args.output.as_deref().filter(|path| !is_stdout(path)) else {
        store.memory.export(&mut *console.out, &mut show)?;
        drop(progress);
        return warn_of_losses(&store.memory);
    };
    let exported = to_file(&store.memory, path, &mut show)?;
    drop(progress);
    warn_of_losses(&store.memory)?;
    let view = ExportView { exported, file: path.display().to_string() };
    console.answer(&store.memory, &view, |out, style, view| {
        let noun = if view.exported == 1 { "memory" } else { "memories" };
        writeln!(out, "Exported {} {noun} to {}", view.exported, style.bold(&render::escape(&view.file)))
    })
}

/// An export that leaves something out says so, wherever it goes.
fn warn_of_losses(memory: &Memory) -> Result<(), CliError> {
    let keys = memory.keys_with_losses()?;
    if !keys.is_empty() {
        super::errors::warn_of_losses(&keys);
    }
    Ok(())
}

/// Whether a path is another name of standard output. What that leads to is never replaced: it may
/// be a file that somebody appends to.
fn is_stdout(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].into_iter().any(|name| path == Path::new(name))
}

/// Writes to a file beside the target that then takes its place, so that a failure leaves what was
/// there. A link stays, and the file that it leads to is replaced; a device or a pipe is written to.
fn to_file(memory: &Memory, path: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<u64, CliError> {
    let failed = |source: io::Error| CliError::File { doing: "write", path: path.display().to_string(), source };
    let target = match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => return Err(failed(io::ErrorKind::IsADirectory.into())),
        Ok(found) if found.is_file() => path.canonicalize().map_err(failed)?,
        Ok(_) => {
            let mut output = BufWriter::new(File::options().write(true).open(path).map_err(failed)?);
            let exported = memory.export(&mut output, progress)?;
            output.flush().map_err(failed)?;
            return Ok(exported);
        }
        Err(_) => path.to_owned(),
    };
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".bilinc-export-").tempfile_in(folder).map_err(failed)?;
    let mut output = BufWriter::new(file.as_file_mut());
    let exported = memory.export(&mut output, progress)?;
    output.flush().map_err(failed)?;
    drop(output);
    file.as_file().sync_all().map_err(failed)?;
    file.persist(&target).map_err(|error| failed(error.error))?;
    Ok(exported)
}

/// Options of `import`.
#[derive(Debug, Args)]
#[command(after_help = "\
Each line is a JSON object with `key` and `value`, and any of memoryType, importance, metadata, \
source, sessionId, canonical, priority, ttl, createdAt, updatedAt, confirmedAt. A bad line refuses \
the whole file with its number before anything is written. Memories that exist are replaced.

Examples:
  bilinc import memories.jsonl
  bilinc export --store old | bilinc import - --store new --if-absent")]
pub(super) struct ImportArgs {
    /// The file; `-` reads standard input
    file: PathBuf,
    /// Leave memories that exist alone
    #[arg(long)]
    if_absent: bool,
    #[command(flatten)]
    write: WriteArgs,
}

/// Reads memories.
pub(super) fn import(console: &mut Console<'_>, args: ImportArgs) -> Result<(), CliError> {
    let input: Box<dyn BufRead> = if args.file == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        let failed = |source| CliError::File { doing: "read", path: args.file.display().to_string(), source };
        let file = File::open(&args.file).map_err(failed)?;
        if file.metadata().map_err(failed)?.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        Box::new(BufReader::new(file))
    };
    let (source, session_id) = (args.write.source(), args.write.session);
    let request = ImportRequest { if_absent: Some(args.if_absent), source, session_id };
    let (actor, options) = request.options(&SURFACE);
    let memory = store::create(&console.globals, &args.write.request)?.acting_as(actor);
    let progress = Progress::items("Importing", console.globals.json);
    let written: Written<_> = memory.import(input, options, &mut |done, total| progress.at(done, total))?;
    drop(progress);
    console.answer_write(&memory, &ImportView::from(&written.answer), written.replayed, render::imported)
}
