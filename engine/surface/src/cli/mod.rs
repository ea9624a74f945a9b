//! The command line, over an embedded store or a server.
//!
//! Each family of commands is a file: its options, and what it does with them. `args` puts them
//! together; `render` draws answers for people.

mod args;
mod backup;
mod carry;
mod completions;
mod console;
pub mod demo;
mod diff;
mod dreams;
mod entries;
mod errors;
mod flags;
mod health;
mod hints;
mod keys;
mod log;
mod mcp;
mod overview;
mod progress;
mod reads;
mod render;
mod rollback;
mod salvage;
mod serve;
mod server;
mod server_log;
mod snapshot;
mod status;
mod store;
mod times;
mod transfer;
mod undo;
mod write;

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::io::{BufWriter, Write};
use std::process::ExitCode;

use clap::Parser;

pub use self::args::Cli;
pub use self::errors::CliError;
pub use self::render::Style;

use self::args::Command;
use self::console::Console;

/// Runs the command line of this process.
#[must_use]
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return errors::report_usage(&error, asked_for_json(std::env::args_os())),
    };
    if let Err(error) = server::check(&cli.globals, cli.command.as_ref()) {
        return errors::report(&error, cli.globals.json, None);
    }
    if let Some(code) = mcp::serve_if_asked(&cli) {
        return code;
    }
    let globals = cli.globals.clone();
    let mut out = BufWriter::new(std::io::stdout().lock());
    // What came before a failure is told, too.
    let (done, flushed) = (run(cli, &mut out, Style::of_stdout()), out.flush());
    let done = done.and_then(|()| Ok(flushed?));
    // What could not be written is not tried again when the buffer goes.
    drop(out.into_parts());
    let damage = globals.seen.damage.get().map(String::as_str);
    match done {
        Ok(()) => {
            if let Some(damage) = damage.filter(|_| globals.json) {
                errors::warn_of(damage);
            }
            ExitCode::SUCCESS
        }
        Err(error) => errors::report(&error, globals.json, damage),
    }
}

/// Whether `--json` stands among the arguments of a command line that could not be read.
fn asked_for_json(arguments: impl Iterator<Item = OsString>) -> bool {
    arguments.take_while(|argument| argument != "--").any(|argument| argument == "--json")
}

/// Runs a command and writes its answer.
///
/// # Errors
/// [`CliError`] says why it failed.
pub fn run(cli: Cli, out: &mut dyn Write, style: Style) -> Result<(), CliError> {
    let store = cli.globals.store.as_ref().map(|path| ("--store", path.display().to_string()));
    let named = store.or_else(|| cli.globals.base_url.as_ref().map(|url| ("--base-url", url.clone())));
    let named = named.map(|(option, word)| format!("{option} {}", render::shell_word(&render::escape(&word))));
    let mut console = Console::new(out, style.naming(named.as_deref()), cli.globals);
    let console = &mut console;
    match cli.command {
        None => Ok(console.out.write_all(overview::text().as_bytes())?),
        Some(Command::Commit(args)) => entries::commit(console, args),
        Some(Command::Revise(args)) => entries::revise(console, args),
        Some(Command::Confirm(args)) => entries::confirm(console, args),
        Some(Command::Forget(args)) => entries::forget(console, args),
        Some(Command::Flag(args)) => flags::flag(console, args),
        Some(Command::Unflag(args)) => flags::unflag(console, args),
        Some(Command::Flags(args)) => flags::flags(console, args),
        Some(Command::Recall(args)) => reads::recall(console, args),
        Some(Command::Get(args)) => reads::get(console, &args),
        Some(Command::List(args)) => reads::list(console, args),
        Some(Command::History(args)) => reads::history(console, &args),
        Some(Command::Dream(args)) => dreams::run(console, args.command),
        Some(Command::Undo(args)) => undo::undo(console, &args),
        Some(Command::Snapshot(args)) => snapshot::run(console, args),
        Some(Command::Diff(args)) => diff::diff(console, &args),
        Some(Command::Rollback(args)) => rollback::run(console, args.command),
        Some(Command::Log(args)) => log::log(console, args),
        Some(Command::Status) => status::status(console),
        Some(Command::Verify(args)) => status::verify(console, &args),
        Some(Command::Backup(args)) => backup::backup(console, &args),
        Some(Command::Salvage(args)) => salvage::salvage(console, &args),
        Some(Command::Export(args)) => transfer::export(console, &args),
        Some(Command::Import(args)) => transfer::import(console, args),
        Some(Command::Mcp(args)) => mcp::run(console, args),
        Some(Command::Serve(args)) => serve::serve(console, &args),
        Some(Command::Keys(args)) => keys::run(console, args),
        Some(Command::Health(_)) => health::health(console),
        Some(Command::Completions(args)) => completions::completions(console, &args),
        Some(Command::Demo) => demo::run(console.out, console.style),
    }
}
