//! Differences between two points.

use std::io::Write;

use super::Drawn;
use super::style::{Style, Tone};
use super::text::{count, cut, escape, value_line};
use crate::wire::diffs::{DiffEntry, DiffView};

/// Longest value on a line.
const VALUE: usize = 60;

pub(in crate::cli) fn diff(out: &mut dyn Write, style: Style, view: &DiffView) -> Drawn {
    let target = if view.target == "current" { "now".to_owned() } else { escape(&view.target).into_owned() };
    writeln!(out, "{}", style.bold(&format!("@{} → @{} ({target})", view.from_seq, view.to_seq)))?;
    let counts = &view.counts;
    if counts.added + counts.modified + counts.removed == 0 {
        return writeln!(out, "No difference.");
    }
    for (sign, tone, entries) in
        [("+", Tone::Good, &view.added), ("~", Tone::Warning, &view.modified), ("-", Tone::Bad, &view.removed)]
    {
        for entry in entries {
            writeln!(out, "{}", style.paint(tone, &format!("{sign} {}", escape(entry.key.as_str()))))?;
            values(out, style, entry, view.values_included)?;
        }
    }
    let sums = format!("{} added, {} modified, {} removed", counts.added, counts.modified, counts.removed);
    writeln!(out, "{}", style.dim(&sums))?;
    if view.truncated {
        writeln!(out, "{}", style.dim("Some keys are not shown; raise --limit to see more."))?;
    }
    Ok(())
}

fn values(out: &mut dyn Write, style: Style, entry: &DiffEntry, asked: bool) -> Drawn {
    if entry.values_redacted && asked {
        writeln!(out, "    {}", style.dim("(a value is not shown: the memory was forgotten)"))?;
    }
    if entry.value_lost && asked {
        writeln!(out, "    {}", style.dim("(a value was lost with damage of the log)"))?;
    }
    for (sign, value) in [("-", &entry.before), ("+", &entry.after)] {
        if let Some(value) = value {
            writeln!(out, "    {sign} {}", cut(&value_line(value), VALUE))?;
        }
    }
    Ok(())
}

/// Keys of a preview, a few to a line.
pub(super) fn keys(out: &mut dyn Write, style: Style, sign: &str, tone: Tone, keys: &[bilinc::Key], all: u64) -> Drawn {
    for key in keys {
        writeln!(out, "{}", style.paint(tone, &format!("{sign} {}", escape(key.as_str()))))?;
    }
    match all.saturating_sub(keys.len() as u64) {
        0 => Ok(()),
        more => writeln!(out, "{}", style.dim(&format!("{sign} and {} more", count(more, "key", "keys")))),
    }
}
