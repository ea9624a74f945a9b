//! `diff`.

use bilinc::{At, DiffQuery};
use clap::Args;

use super::console::Console;
use super::errors::CliError;
use super::{render, store, times};
use crate::wire::diffs::{DiffView, in_terms_of_the_request};

/// Options of `diff`.
#[derive(Debug, Args)]
#[command(after_help = "\
A point is the id of a snapshot, a position such as @120, a time in RFC 3339, a day, or an age.

Examples:
  bilinc diff --from-snapshot 0192a1b2-…
  bilinc diff --from-snapshot @120 --to-snapshot @180 --include-values
  bilinc diff --from-snapshot 24h")]
pub(super) struct DiffArgs {
    /// The point to compare from
    #[arg(long, value_name = "POINT")]
    from_snapshot: String,
    /// The point to compare with; now when absent
    #[arg(long, value_name = "POINT")]
    to_snapshot: Option<String>,
    /// Show the values before and after
    #[arg(long)]
    include_values: bool,
    /// Most keys in each list
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    limit: usize,
}

/// Compares two points.
pub(super) fn diff(console: &mut Console<'_>, args: &DiffArgs) -> Result<(), CliError> {
    let query = DiffQuery {
        from: times::point("from_snapshot_id", &args.from_snapshot)?,
        to: args.to_snapshot.as_deref().map_or(Ok(At::Now), |text| times::point("to_snapshot_id", text))?,
        include_values: args.include_values,
        limit: args.limit,
    };
    let store = store::read(&console.globals)?;
    let diff = store.memory.diff(&query).map_err(in_terms_of_the_request)?;
    let target = args.to_snapshot.clone().unwrap_or_else(|| "current".to_owned());
    console.answer(&store.memory, &DiffView::new(&diff, target, args.include_values), render::diff)
}
