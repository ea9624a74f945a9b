//! Entries, lists of them and their histories.

use std::io::Write;

use bilinc::Json;

use super::Drawn;
use super::style::{Style, Tone};
use super::table::Grid;
use super::text::{bytes, count, cut, escape, value_line, value_lines};
use crate::wire::entries::{Committed, Confirmed, EntryView, FlagView, Flags, Forgotten, ListView, Revised};
use crate::wire::history::{HistoryEntry, HistoryView};
use crate::wire::recall::{RecallResult, RecallView};

/// Longest value on a line of a history.
const HISTORY_VALUE: usize = 48;

fn first_key(keys: &[bilinc::Key]) -> String {
    keys.first().map(|key| escape(key.as_str()).into_owned()).unwrap_or_default()
}

fn version(version: Option<bilinc::Version>) -> String {
    version.map(|version| version.to_string()).unwrap_or_default()
}

pub(in crate::cli) fn committed(out: &mut dyn Write, style: Style, view: &Committed) -> Drawn {
    let done = if view.operation == "create" { "Saved" } else { "Replaced" };
    let key = style.bold(&first_key(&view.affected_keys));
    writeln!(out, "{done} {key}  {}", style.dim(&version(view.entry_version)))
}

pub(in crate::cli) fn revised(out: &mut dyn Write, style: Style, view: &Revised) -> Drawn {
    let key = style.bold(&escape(view.key.as_str()));
    writeln!(out, "Revised {key}  {}", style.dim(&version(view.entry_version)))
}

pub(in crate::cli) fn forgotten(out: &mut dyn Write, style: Style, view: &Forgotten) -> Drawn {
    let key = style.bold(&escape(view.key.as_str()));
    let Some(purged) = &view.purged else {
        return writeln!(out, "Forgot {key}. The reason is in its history.");
    };
    let events = count(purged.events, "recorded change", "recorded changes");
    writeln!(out, "Purged {key}: erased {} of {events}, for good.", bytes(purged.bytes))?;
    if !purged.also_in.is_empty() {
        let keys: Vec<_> = purged.also_in.iter().map(|key| escape(key.as_str())).collect();
        writeln!(out, "It was folded into {}, where copies may live on.", keys.join(", "))?;
    }
    Ok(())
}

pub(in crate::cli) fn confirmed(out: &mut dyn Write, style: Style, view: &Confirmed) -> Drawn {
    let key = style.bold(&escape(view.key.as_str()));
    writeln!(out, "Confirmed {key} at {}  {}", view.updated_at, style.dim(&version(view.entry_version)))
}

pub(in crate::cli) fn flags(out: &mut dyn Write, style: Style, view: &Flags) -> Drawn {
    let key = style.bold(&escape(view.key.as_str()));
    if view.flags.is_empty() {
        return writeln!(out, "{key} has no open flags.");
    }
    writeln!(out, "{key} has {}:", count(view.flags.len() as u64, "open flag", "open flags"))?;
    flag_lines(out, style, &view.flags)
}

fn flag_lines(out: &mut dyn Write, style: Style, flags: &[FlagView]) -> Drawn {
    for flag in flags {
        writeln!(out, "  {} {}", style.paint(Tone::Warning, "!"), escape(&flag.reason))?;
        let dream = flag.dream_id.map(|dream| format!(", dream {dream}")).unwrap_or_default();
        writeln!(out, "    {}", style.dim(&format!("{}, position {}{dream}", flag.at, flag.seq)))?;
        if !flag.evidence_keys.is_empty() {
            let keys: Vec<_> = flag.evidence_keys.iter().map(|key| escape(key.as_str())).collect();
            writeln!(out, "    {}", style.dim(&format!("see {}", keys.join(", "))))?;
        }
    }
    Ok(())
}

pub(in crate::cli) fn entry(out: &mut dyn Write, style: Style, view: &EntryView) -> Drawn {
    writeln!(out, "{}", style.bold(&escape(view.key.as_str())))?;
    match &view.value {
        Some(value) => {
            for line in value_lines(value) {
                writeln!(out, "  {line}")?;
            }
        }
        None if view.value_lost => {
            writeln!(out, "  {}", style.paint(Tone::Bad, "(lost with damage of the log)"))?;
        }
        None if view.values_redacted => {
            writeln!(out, "  {}", style.dim("(not shown: the memory was forgotten later)"))?;
        }
        None => writeln!(out, "  {}", style.dim("(erased)"))?,
    }
    if view.incomplete {
        let note = "(a part of its past is lost: what follows is the last that is known)";
        writeln!(out, "  {}", style.paint(Tone::Warning, note))?;
    }
    let mut line = |name: &str, text: String| writeln!(out, "{} {text}", style.dim(&format!("{name:<10}")));
    line("type", format!("{}, importance {}", view.memory_type, view.importance))?;
    if !view.source.is_empty() {
        line("source", escape(&view.source).into_owned())?;
    }
    if let Some(session) = &view.session_id {
        line("session", escape(session).into_owned())?;
    }
    if view.canonical == Some(true) {
        line("canonical", "yes".to_owned())?;
    }
    if let Some(priority) = view.priority {
        line("priority", priority.to_string())?;
    }
    if let Some(metadata) = view.metadata.as_ref().filter(|json| json.as_str() != "{}") {
        line("metadata", value_line(metadata))?;
    }
    line("created", view.created_at.to_string())?;
    line("updated", view.updated_at.to_string())?;
    if let Some(at) = view.confirmed_at {
        line("confirmed", at.to_string())?;
    }
    if let Some(at) = view.expires_at {
        line("expires", at.to_string())?;
    }
    line("version", view.entry_version.to_string())?;
    if !view.flags.is_empty() {
        line("flags", view.flags.len().to_string())?;
        flag_lines(out, style, &view.flags)?;
    }
    Ok(())
}

fn mark(flags: &[FlagView]) -> (&'static str, Tone) {
    if flags.is_empty() { ("", Tone::Plain) } else { ("! ", Tone::Warning) }
}

fn key_cell(key: &bilinc::Key, flags: &[FlagView]) -> String {
    format!("{}{}", mark(flags).0, escape(key.as_str()))
}

fn value_cell(value: Option<&Json>) -> String {
    value.map(value_line).unwrap_or_default()
}

pub(in crate::cli) fn list(out: &mut dyn Write, style: Style, view: &ListView, more: &str) -> Drawn {
    if view.entries.is_empty() {
        return writeln!(out, "No memories match.");
    }
    let mut grid = Grid::new(&["KEY", "TYPE", "UPDATED", "VALUE"]);
    for entry in &view.entries {
        let cells = vec![
            key_cell(&entry.key, &entry.flags),
            entry.memory_type.to_string(),
            entry.updated_at.to_string(),
            value_cell(entry.value.as_ref()),
        ];
        grid.row(mark(&entry.flags).1, cells);
    }
    grid.draw(out, style)?;
    page_end(out, style, view, more)
}

fn page_end(out: &mut dyn Write, style: Style, view: &ListView, more: &str) -> Drawn {
    writeln!(out, "{}", style.dim(&format!("{} of {}", view.entries.len(), count(view.total, "memory", "memories"))))?;
    match &view.next_cursor {
        Some(cursor) => style.next_step(out, "Next page:", &format!("{more} --cursor {cursor}")),
        None => Ok(()),
    }
}

pub(in crate::cli) fn flagged(out: &mut dyn Write, style: Style, view: &ListView, more: &str) -> Drawn {
    if view.entries.is_empty() {
        return writeln!(out, "No memory has an open flag.");
    }
    for entry in &view.entries {
        writeln!(out, "{}", style.bold(&escape(entry.key.as_str())))?;
        flag_lines(out, style, &entry.flags)?;
    }
    page_end(out, style, view, more)
}

pub(in crate::cli) fn recall(out: &mut dyn Write, style: Style, view: &RecallView) -> Drawn {
    if view.results.is_empty() {
        return writeln!(out, "Nothing found.");
    }
    let mut grid = Grid::new(&["SCORE", "KEY", "TYPE", "UPDATED", "VALUE"]);
    for hit in &view.results {
        let cells = vec![
            format!("{:.3}", hit.score),
            key_cell(&hit.key, &hit.flags),
            hit.memory_type.to_string(),
            hit.updated_at.to_string(),
            value_cell(hit.value.as_ref()),
        ];
        grid.row(mark(&hit.flags).1, cells);
    }
    grid.draw(out, style)?;
    for hit in &view.results {
        if let Some(seq) = hit.earlier_at {
            let found = format!("found by an earlier value, at @{seq}");
            writeln!(out, "{} {}", style.bold(&escape(hit.key.as_str())), style.dim(&found))?;
        }
        if !hit.matched.is_empty() {
            explained(out, style, hit)?;
        }
    }
    Ok(())
}

fn explained(out: &mut dyn Write, style: Style, hit: &RecallResult) -> Drawn {
    let terms: Vec<_> = (hit.matched.iter())
        .map(|term| format!("{} ({} in {})", escape(&term.term), term.how, term.fields.join(", ")))
        .collect();
    writeln!(out, "{} {}", style.bold(&escape(hit.key.as_str())), style.dim(&format!("matched {}", terms.join("; "))))
}

pub(in crate::cli) fn history(out: &mut dyn Write, style: Style, view: &HistoryView) -> Drawn {
    let key = style.bold(&escape(view.key.as_str()));
    if view.entries.is_empty() {
        return writeln!(out, "No recorded changes for {key}.");
    }
    let state = if view.exists { "" } else { ", not there now" };
    let changes = count(view.entries.len() as u64, "change", "changes");
    writeln!(out, "{key}  {}", style.dim(&format!("{changes}, newest first{state}")))?;
    for change in &view.entries {
        change_lines(out, style, change)?;
    }
    if view.truncated {
        writeln!(out, "{}", style.dim("Older changes are not shown; raise --limit to see more."))?;
    }
    Ok(())
}

fn change_lines(out: &mut dyn Write, style: Style, change: &HistoryEntry) -> Drawn {
    let short = |value: &Json| cut(&value_line(value), HISTORY_VALUE).into_owned();
    let values = match (&change.before, &change.after) {
        _ if matches!(&*change.op, "flag" | "unflag") => String::new(),
        _ if change.value_lost => style.paint(Tone::Bad, "(lost with damage of the log)"),
        _ if change.values_redacted => style.dim("(not shown: the memory was forgotten)"),
        (Some(before), Some(after)) if before != after => format!("{} → {}", short(before), short(after)),
        (_, Some(after)) => short(after),
        _ => String::new(),
    };
    let head = format!("@{:<6} {}  {:<8} {values}", change.seq, change.at, change.op);
    writeln!(out, "  {}", head.trim_end())?;
    let mut notes = Vec::new();
    if let Some(reason) = &change.reason {
        notes.push(format!("because {}", escape(reason)));
    }
    if !change.source.is_empty() {
        notes.push(format!("by {}", escape(&change.source)));
    }
    if let Some(session) = &change.session_id {
        notes.push(format!("session {}", escape(session)));
    }
    if let Some(dream) = change.dream_id {
        notes.push(format!("dream {dream}"));
    }
    if let Some(snapshot) = change.rollback_snapshot_id {
        notes.push(format!("rollback to {snapshot}"));
    }
    if !change.undoes.is_empty() {
        let seqs: Vec<_> = change.undoes.iter().map(|seq| format!("@{seq}")).collect();
        notes.push(format!("takes back {}", seqs.join(", ")));
    }
    if notes.is_empty() { Ok(()) } else { writeln!(out, "          {}", style.dim(&notes.join(", "))) }
}
