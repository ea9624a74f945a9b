//! `status` and `verify`.

use bilinc::{Error, KnownHead, Memory};
use clap::Args;

use super::console::Console;
use super::errors::CliError;
use super::progress::Progress;
use super::{carry, render, server, store};
use crate::backend::Reply;
use crate::wire::requests::{self, StatusRequest, VerifyRequest};
use crate::wire::status::StatusView;
use crate::wire::verify::VerifiedView;

/// How `status` is used.
pub(super) const STATUS_EXAMPLE: &str = "\
Examples:
  bilinc status
  bilinc status --store ./memory --json";

/// Options of `verify`.
#[derive(Debug, Args)]
#[command(after_help = "\
Reads every byte of the log. When something is damaged it says where the damage begins, changes \
nothing and exits with 1. With --since-head it proves, too, that the history up to a head which \
`status`, `verify` or `backup` printed some day is unchanged, and exits with 1 when it is not, or is \
another store's.

Examples:
  bilinc verify --store ./memory
  bilinc verify --since-head \"$(cat head-of-january)\"")]
pub(super) struct VerifyArgs {
    /// A head that was printed earlier, <position>:<64 hex digits>, or the digits alone
    #[arg(long, value_name = "HEAD")]
    since_head: Option<KnownHead>,
}

/// Shows what the store holds and how it is.
pub(super) fn status(console: &mut Console<'_>) -> Result<(), CliError> {
    if server::named(&console.globals)?.is_some() {
        let reply = carry::read(console, StatusRequest {})?;
        return console.answer(&reply, render::status);
    }
    let store = store::inspect(&console.globals)?;
    let path = Some(store.path.display().to_string());
    let view = StatusView::new(&store.memory.status()?, path, store.exists);
    console.answer(&Reply::of_store(store.memory, view), render::status)
}

/// Proves the whole log.
pub(super) fn verify(console: &mut Console<'_>, args: &VerifyArgs) -> Result<(), CliError> {
    if server::named(&console.globals)?.is_some() {
        let since_head = args.since_head.map(|head| head.to_string());
        let reply = carry::read(console, VerifyRequest { since_head })?;
        return console.answer(&reply, render::verified);
    }
    let store = store::read(&console.globals).map_err(unreadable)?;
    if !store.exists {
        // A history that is not there is not the one that the head was noted of.
        if args.since_head.is_some() {
            return Err(store::not_found(&store.path));
        }
        let path = store.path.clone();
        let reply = Reply::of_store(store.memory, VerifiedView::nothing());
        return console.answer(&reply, |out, _, _| {
            let path = path.display().to_string();
            writeln!(out, "No store yet at {}: nothing to verify.", render::escape(&path))
        });
    }
    let progress = Progress::bytes("Verifying", console.globals.json);
    let proved = prove(&store.memory, args.since_head, &mut |done, total| progress.at(done, total));
    drop(progress);
    // Where the log ends says how much is affected; a log that cannot say that is unsound without it.
    let unsound = |error| CliError::Unsound { error, head: store.memory.head().ok().map(|head| head.seq) };
    let view = sound(proved.map_err(unsound)?)?;
    console.answer(&Reply::of_store(store.memory, view), render::verified)
}

fn prove(memory: &Memory, since: Option<KnownHead>, progress: &mut dyn FnMut(u64, u64)) -> Result<VerifiedView, Error> {
    match since {
        Some(head) => Ok(VerifiedView::from(&memory.verify_since(head, progress)?)),
        None => Ok(VerifiedView::from(&memory.verify(progress)?)),
    }
}

/// A whole log is not all: the state that answers, and what is kept of it, must be what it says.
fn sound(view: VerifiedView) -> Result<VerifiedView, CliError> {
    match requests::sound(&view) {
        None => Ok(view),
        Some(unsound) => Err(CliError::Differs(unsound)),
    }
}

/// A store that cannot be opened for its damage is judged like one that can.
fn unreadable(error: CliError) -> CliError {
    match error {
        CliError::Engine(error) => CliError::Unsound { error, head: None },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_that_differs_is_no_proof() {
        let equal = VerifiedView::nothing();
        let differs = VerifiedView { state_equal: false, ..VerifiedView::nothing() };
        assert!(sound(equal).is_ok());
        assert!(matches!(sound(differs), Err(CliError::Differs(requests::Unsound::State))));
    }
}
