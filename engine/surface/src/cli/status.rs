//! `status` and `verify`.

use super::console::Console;
use super::errors::CliError;
use super::progress::Progress;
use super::{render, store};
use crate::wire::status::StatusView;
use crate::wire::verify::VerifiedView;

/// Shows what the store holds and how it is.
pub(super) fn status(console: &mut Console<'_>) -> Result<(), CliError> {
    let store = store::inspect(&console.globals)?;
    let path = Some(store.path.display().to_string());
    let view = StatusView::new(&store.memory.status()?, path, store.exists);
    console.answer(&store.memory, &view, render::status)
}

/// Proves the whole log.
pub(super) fn verify(console: &mut Console<'_>) -> Result<(), CliError> {
    let store = store::read(&console.globals).map_err(unsound)?;
    let progress = Progress::bytes("Verifying", console.globals.json);
    let verified = store.memory.verify(&mut |done, total| progress.at(done, total)).map_err(CliError::Unsound)?;
    drop(progress);
    if !verified.state_equal {
        return Err(CliError::StateDiffers);
    }
    console.answer(&store.memory, &VerifiedView::from(&verified), |out, style, view| match store.exists {
        true => render::verified(out, style, view),
        false => writeln!(out, "No store yet at {}: nothing to verify.", store.path.display()),
    })
}

/// A store that cannot be opened for its damage is judged like one that can.
fn unsound(error: CliError) -> CliError {
    match error {
        CliError::Engine(error) => CliError::Unsound(error),
        other => other,
    }
}
