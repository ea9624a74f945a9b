//! `status` and `verify`.

use super::console::Console;
use super::errors::CliError;
use super::progress::Progress;
use super::{render, store};
use crate::wire::status::StatusView;
use crate::wire::verify::VerifiedView;

/// How `status` is used.
pub(super) const STATUS_EXAMPLE: &str = "\
Examples:
  bilinc status
  bilinc status --store ./memory --json";

/// How `verify` is used.
pub(super) const VERIFY_EXAMPLE: &str = "\
Reads every byte of the log. When something is damaged it says where the damage begins, changes \
nothing and exits with 1.

Example:
  bilinc verify --store ./memory";

/// Shows what the store holds and how it is.
pub(super) fn status(console: &mut Console<'_>) -> Result<(), CliError> {
    let store = store::inspect(&console.globals)?;
    let path = Some(store.path.display().to_string());
    let view = StatusView::new(&store.memory.status()?, path, store.exists);
    console.answer(&store.memory, &view, render::status)
}

/// Proves the whole log.
pub(super) fn verify(console: &mut Console<'_>) -> Result<(), CliError> {
    let store = store::read(&console.globals).map_err(unreadable)?;
    if !store.exists {
        return console.answer(&store.memory, &VerifiedView::nothing(), |out, _, _| {
            let path = store.path.display().to_string();
            writeln!(out, "No store yet at {}: nothing to verify.", render::escape(&path))
        });
    }
    let progress = Progress::bytes("Verifying", console.globals.json);
    let verified = store.memory.verify(&mut |done, total| progress.at(done, total));
    drop(progress);
    // Where the log ends says how much is affected; a log that cannot say that is unsound without it.
    let verified =
        verified.map_err(|error| CliError::Unsound { error, head: store.memory.head().ok().map(|head| head.seq) })?;
    if !verified.state_equal {
        return Err(CliError::StateDiffers);
    }
    console.answer(&store.memory, &VerifiedView::from(&verified), render::verified)
}

/// A store that cannot be opened for its damage is judged like one that can.
fn unreadable(error: CliError) -> CliError {
    match error {
        CliError::Engine(error) => CliError::Unsound { error, head: None },
        other => other,
    }
}
