//! `export` and `import`.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use bilinc::{Memory, Written};
use clap::{Args, ValueEnum};

use super::carry::SURFACE;
use super::console::Console;
use super::errors::CliError;
use super::progress::Progress;
use super::render::Style;
use super::write::{RequestArgs, WriteArgs};
use super::{render, server, store};
use crate::backend::Reply;
use crate::mcp::knowledge_graph::{self, Unreadable};
use crate::remote::Client;
use crate::wire::requests::{ImportRequest, StatusRequest};
use crate::wire::transfer::{ExportView, ImportView};

/// Bytes that are copied at once.
const PIECE: usize = 64 * 1024;

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
    let path = args.output.as_deref().filter(|path| !is_stdout(path));
    if let Some(client) = server::named(&console.globals)? {
        return export_of_server(console, &client, path);
    }
    let store = store::read(&console.globals)?;
    let progress = Progress::items("Exporting", console.globals.json);
    let mut show = |done, total| progress.at(done, total);
    let Some(path) = path else {
        store.memory.export(&mut *console.out, &mut show)?;
        drop(progress);
        return warn_of_losses(&store.memory);
    };
    let exported = to_file(path, |output| Ok(store.memory.export(output, &mut show)?))?;
    drop(progress);
    warn_of_losses(&store.memory)?;
    let view = ExportView { exported, file: path.display().to_string() };
    console.answer(&Reply::of_store(store.memory, view), exported_to)
}

/// The same out of a server: lines are written as they come.
fn export_of_server(console: &mut Console<'_>, client: &Client, path: Option<&Path>) -> Result<(), CliError> {
    let lines = client.export()?;
    let Some(path) = path else {
        copy(client, lines, &mut *console.out)?;
        return Ok(());
    };
    let exported = to_file(path, |output| copy(client, lines, output))?;
    let view = ExportView { exported, file: path.display().to_string() };
    let state = client.ask(&StatusRequest {}, None)?.state;
    console.answer_at(state, &view, exported_to)
}

/// Copies lines and counts them. What breaks off in the middle is an error, never an end.
fn copy(client: &Client, mut lines: impl Read, output: &mut dyn Write) -> Result<u64, CliError> {
    let mut count = 0_u64;
    let mut piece = vec![0; PIECE];
    loop {
        let read = match lines.read(&mut piece) {
            Ok(0) => return Ok(count),
            Ok(read) => piece.get(..read).unwrap_or_default(),
            Err(error) => return Err(client.broke_off(&error).into()),
        };
        count = count.saturating_add(read.iter().filter(|byte| **byte == b'\n').count() as u64);
        output.write_all(read)?;
    }
}

fn exported_to(out: &mut dyn Write, style: Style, view: &ExportView) -> io::Result<()> {
    let noun = if view.exported == 1 { "memory" } else { "memories" };
    writeln!(out, "Exported {} {noun} to {}", view.exported, style.bold(&render::escape(&view.file)))
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
fn to_file(path: &Path, export: impl FnOnce(&mut dyn Write) -> Result<u64, CliError>) -> Result<u64, CliError> {
    let failed = |source: io::Error| CliError::File { doing: "write", path: path.display().to_string(), source };
    let target = match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => return Err(failed(io::ErrorKind::IsADirectory.into())),
        Ok(found) if found.is_file() => path.canonicalize().map_err(failed)?,
        Ok(_) => {
            let mut output = BufWriter::new(File::options().write(true).open(path).map_err(failed)?);
            let exported = export(&mut output)?;
            output.flush().map_err(failed)?;
            return Ok(exported);
        }
        Err(_) => path.to_owned(),
    };
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".bilinc-export-").tempfile_in(folder).map_err(failed)?;
    let mut output = BufWriter::new(file.as_file_mut());
    let exported = export(&mut output)?;
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
  bilinc import memory.jsonl --format mcp-memory
  bilinc export --store old | bilinc import - --store new --if-absent")]
pub(super) struct ImportArgs {
    /// The file; `-` reads standard input
    file: PathBuf,
    /// What the file is
    #[arg(long, value_enum, default_value = "bilinc")]
    format: FormatArg,
    /// Leave memories that exist alone
    #[arg(long)]
    if_absent: bool,
    #[command(flatten)]
    write: WriteArgs,
}

/// What a file of memories is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatArg {
    /// What `export` writes
    Bilinc,
    /// The file of the official MCP memory server, for `bilinc mcp --tools knowledge-graph`
    McpMemory,
}

/// The lines of a file of the official memory server as those of an import.
fn graph_lines(input: impl BufRead, path: &Path) -> Result<String, CliError> {
    knowledge_graph::lines_of(input).map(|lines| lines.text()).map_err(|error| match error {
        Unreadable::File(source) => CliError::File { doing: "read", path: path.display().to_string(), source },
        Unreadable::Line(rejection) => rejection.into(),
    })
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
    let input: Box<dyn BufRead> = match args.format {
        FormatArg::Bilinc => input,
        FormatArg::McpMemory => Box::new(io::Cursor::new(graph_lines(input, &args.file)?)),
    };
    let (source, session_id) = (args.write.source(), args.write.session);
    let request = ImportRequest { if_absent: Some(args.if_absent), source, session_id };
    if let Some(client) = server::named(&console.globals)? {
        return import_to_server(console, &client, request, &args.write.request, input, &args.file);
    }
    let (actor, options) = request.options(&SURFACE);
    let memory = store::create(&console.globals, &args.write.request)?;
    let progress = Progress::items("Importing", console.globals.json);
    let acting = memory.acting_as(actor);
    let written: Written<_> = acting.import(input, options, &mut |done, total| progress.at(done, total))?;
    drop(progress);
    let mut reply = Reply::of_store(memory, ImportView::from(&written.answer));
    reply.replayed = written.replayed;
    console.answer(&reply, render::imported)
}

/// The lines of an import, which remember why they could not be read.
struct Lines<R> {
    input: R,
    failed: Option<io::Error>,
}

impl<R: Read> Read for Lines<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.input.read(into).inspect_err(|error| self.failed = Some(error.kind().into()))
    }
}

/// Sends lines to a server.
fn import_to_server(
    console: &mut Console<'_>,
    client: &Client,
    request: ImportRequest,
    args: &RequestArgs,
    input: impl Read,
    path: &Path,
) -> Result<(), CliError> {
    args.refuse_secrets_of_a_server()?;
    let mut lines = Lines { input, failed: None };
    let once = args.idempotency_key.as_deref();
    let sent = client.import(&request, once, &mut lines);
    match (sent, lines.failed) {
        // Of a body that breaks off nothing is written.
        (Err(_), Some(source)) => Err(CliError::File { doing: "read", path: path.display().to_string(), source }),
        (sent, _) => console.answer(&Reply::of_server(sent?, once.is_some()), render::imported),
    }
}
