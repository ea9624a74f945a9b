//! Snapshots and rollbacks.

use std::io::Write;

use super::Drawn;
use super::diffs::keys;
use super::style::{Style, Tone};
use super::table::Grid;
use super::text::{count, escape, shell_word};
use crate::wire::snapshots::{PreviewView, RolledBackView, SnapshotView, SnapshotsView};

fn label(view: &SnapshotView) -> String {
    view.label.as_deref().map(|label| escape(label).into_owned()).unwrap_or_default()
}

pub(in crate::cli) fn snapshot_taken(out: &mut dyn Write, style: Style, view: &SnapshotView) -> Drawn {
    let label = if view.label.is_some() { format!(" {}", label(view)) } else { String::new() };
    writeln!(out, "Snapshot{label} {}", style.bold(&view.id.to_string()))?;
    let memories = count(view.total_entries, "memory", "memories");
    writeln!(out, "{}", style.dim(&format!("{memories} at position {}, root {}", view.seq, view.root_hash)))?;
    style.next_step(out, "See what changes since:", &format!("bilinc diff --from-snapshot {}", view.id))
}

pub(in crate::cli) fn snapshots(out: &mut dyn Write, style: Style, view: &SnapshotsView) -> Drawn {
    if view.snapshots.is_empty() {
        return writeln!(out, "No snapshots. Take one with `bilinc snapshot create --label NAME`.");
    }
    let mut grid = Grid::new(&["ID", "TAKEN", "POSITION", "MEMORIES", "LABEL"]).whole(0);
    for snapshot in &view.snapshots {
        let cells = vec![
            snapshot.id.to_string(),
            snapshot.created_at.to_string(),
            format!("@{}", snapshot.seq),
            snapshot.total_entries.to_string(),
            label(snapshot),
        ];
        grid.row(Tone::Plain, cells);
    }
    grid.draw(out, style)
}

/// What a rollback would do, and how to go on.
pub(in crate::cli) fn preview(out: &mut dyn Write, style: Style, view: &PreviewView, reason: &str) -> Drawn {
    let counts = &view.counts;
    if counts.create + counts.update + counts.remove == 0 {
        writeln!(out, "Rollback to {} would change nothing.", view.snapshot_id)?;
        return skipped(out, style, &view.skipped_keys);
    }
    writeln!(out, "{}", style.bold(&format!("Rollback to {} would", view.snapshot_id)))?;
    for (what, sign, tone, list, all) in [
        ("bring back", "+", Tone::Good, &view.create_keys, counts.create),
        ("change", "~", Tone::Warning, &view.update_keys, counts.update),
        ("remove", "-", Tone::Bad, &view.remove_keys, counts.remove),
    ] {
        if all > 0 {
            writeln!(out, "{what} {}", count(all, "memory", "memories"))?;
            keys(out, style, sign, tone, list, all)?;
        }
    }
    skipped(out, style, &view.skipped_keys)?;
    let command = format!(
        "bilinc rollback execute --snapshot {} --reason {} --confirmation-token {}",
        view.snapshot_id,
        shell_word(&escape(reason)),
        view.confirmation_token,
    );
    writeln!(out, "Nothing was changed yet.")?;
    style.next_step(
        out,
        &format!("To do it, until {} and as long as nothing else is written:\n ", view.expires_at),
        &command,
    )
}

fn skipped(out: &mut dyn Write, style: Style, list: &[bilinc::Key]) -> Drawn {
    if list.is_empty() {
        return Ok(());
    }
    writeln!(out, "Left as they are, because their values were erased:")?;
    keys(out, style, "!", Tone::Warning, list, list.len() as u64)
}

pub(in crate::cli) fn rolled_back(out: &mut dyn Write, style: Style, view: &RolledBackView) -> Drawn {
    let counts = &view.counts;
    writeln!(
        out,
        "Rolled back to {}: {} brought back, {} changed, {} removed.",
        style.bold(&view.snapshot_id.to_string()),
        counts.created,
        counts.updated,
        counts.deleted
    )?;
    skipped(out, style, &view.skipped_keys)?;
    style.next_step(out, "To take it back:\n ", &format!("bilinc undo --seq {}", view.seq))
}
