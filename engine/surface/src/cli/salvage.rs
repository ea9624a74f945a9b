//! `salvage`.

use bilinc::{Error, SalvageReport};
use clap::Args;

use super::console::Console;
use super::errors::CliError;
use super::{render, store};
use crate::wire::salvage::SalvageView;

/// Options of `salvage`.
#[derive(Debug, Args)]
#[command(after_help = "\
For a store that says it is damaged. Keeps everything that is whole, also what lies behind the damage, \
and records for ever what was lost; `verify` lists it. Nothing is thrown away: the damaged files are \
moved to `quarantine/` in the store's folder. A store that is not damaged is left as it is. When it is \
interrupted, the next command that writes, or the next salvage, goes on with it.

Examples:
  bilinc salvage --preview
  bilinc salvage --store ./memory")]
pub(super) struct SalvageArgs {
    /// Say what would be kept and what is lost, and change nothing
    #[arg(long)]
    preview: bool,
}

/// Puts a damaged store in order, or says what that would do.
pub(super) fn salvage(console: &mut Console<'_>, args: &SalvageArgs) -> Result<(), CliError> {
    let report = store::salvage(&console.globals, |builder, path| -> Result<SalvageReport, Error> {
        if args.preview { builder.salvage_preview(path) } else { builder.salvage(path) }
    })?;
    match report {
        Some(report) => {
            let head = report.head.unwrap_or(report.before);
            console.answer_at(head, &SalvageView::from(&report), render::salvage)
        }
        None => console.answer_at(super::console::NO_STORE, &SalvageView::nothing(args.preview), |out, _, _| {
            writeln!(out, "No store yet: nothing to salvage.")
        }),
    }
}
