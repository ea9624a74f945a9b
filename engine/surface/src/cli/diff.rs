//! `diff`.

use clap::Args;

use super::console::Console;
use super::errors::CliError;
use super::{carry, render, times};
use crate::wire::requests::DiffRequest;

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
    limit: u64,
}

/// Compares two points.
pub(super) fn diff(console: &mut Console<'_>, args: &DiffArgs) -> Result<(), CliError> {
    let to = args.to_snapshot.as_deref();
    let request = DiffRequest {
        from_snapshot_id: times::point("from_snapshot_id", &args.from_snapshot)?,
        to_snapshot_id: to.map(|text| times::point("to_snapshot_id", text)).transpose()?,
        include_values: Some(args.include_values),
        limit: Some(args.limit),
    };
    let typed = to.is_some_and(|to| request.to_snapshot_id.as_deref() != Some(to));
    let mut reply = carry::read(console, request)?;
    // A point is named as it was typed.
    if let Some(to) = to.filter(|_| typed) {
        to.clone_into(&mut reply.change().target);
    }
    console.answer(&reply, render::diff)
}
