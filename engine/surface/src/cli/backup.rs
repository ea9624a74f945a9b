//! `backup`.

use std::path::PathBuf;

use bilinc::log::LogError;
use bilinc::{EngineError, Error};
use clap::Args;

use super::console::Console;
use super::errors::CliError;
use super::progress::Progress;
use super::{render, store};
use crate::backend::Reply;
use crate::wire::backup::BackupView;

/// Options of `backup`.
#[derive(Debug, Args)]
#[command(after_help = "\
The copy is a store that opens at once, under an id of its own: name it with --store, or put it where \
the other was. Others may write meanwhile; the answer says which position the copy stands at, and the \
head there, which `verify --since-head` proves later in both stores. What is copied is proved on the \
way: a damaged store is refused and nothing is left in the folder. Whatever is purged later stays in \
backups that were made before.

Examples:
  bilinc backup /media/disk/memory-2026-02-08
  bilinc verify --store /media/disk/memory-2026-02-08")]
pub(super) struct BackupArgs {
    /// The folder for the copy: one that is empty, or not there yet
    #[arg(value_name = "DIR")]
    target: PathBuf,
}

/// Copies the store.
pub(super) fn backup(console: &mut Console<'_>, args: &BackupArgs) -> Result<(), CliError> {
    let store = store::inspect(&console.globals)?;
    if !store.exists {
        // A copy of nothing would only look like one.
        return Err(store::not_found(&store.path));
    }
    let progress = Progress::bytes("Copying", console.globals.json);
    let done = store.memory.backup(&args.target, &mut |done, total| progress.at(done, total));
    drop(progress);
    let done = done.map_err(|error| match error {
        error @ Error::Engine(EngineError::Log(LogError::Damage(_)) | EngineError::Unreadable { .. }) => {
            CliError::NotCopied(error)
        }
        error => error.into(),
    })?;
    console.answer(&Reply::of_store(store.memory, BackupView::from(&done)), render::backed_up)
}
