//! Human output: drawn from the same answers that `--json` prints.

mod diffs;
mod dreams;
mod entries;
mod info;
mod log;
mod salvage;
mod snapshots;
mod style;
mod table;
mod text;
mod undos;

pub(super) use self::diffs::diff;
pub(super) use self::dreams::{applied, dream, dreams, results, started};
pub(super) use self::entries::{
    committed, confirmed, entry, flagged, flags, forgotten, history, list, recall, revised,
};
pub(super) use self::info::{backed_up, imported, status, verified};
pub(super) use self::log::{log, log_line};
pub(super) use self::salvage::salvage;
pub(super) use self::snapshots::{preview, rolled_back, snapshot_taken, snapshots};
pub use self::style::Style;
pub(super) use self::style::Tone;
pub(super) use self::text::{escape, shell_word};
pub(super) use self::undos::{change_words, undone};

use std::io;

/// What drawing gives.
type Drawn = io::Result<()>;
