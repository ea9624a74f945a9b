//! Events, one to a line.

use std::io::Write;

use super::Drawn;
use super::style::{Style, Tone};
use super::text::{cut, escape, value_line};
use crate::wire::log::{LogEvent, LogView};

/// Longest value on a line.
const VALUE: usize = 60;

pub(in crate::cli) fn log(out: &mut dyn Write, style: Style, view: &LogView, more: &str) -> Drawn {
    if view.events.is_empty() {
        return writeln!(out, "No events match.");
    }
    for event in &view.events {
        log_line(out, style, event)?;
    }
    match &view.next_cursor {
        Some(cursor) => style.next_step(out, "More:", &format!("{more} --cursor {cursor}")),
        None => Ok(()),
    }
}

/// One event.
pub(in crate::cli) fn log_line(out: &mut dyn Write, style: Style, event: &LogEvent) -> Drawn {
    let place = style.dim(&format!("@{:<7} {}", event.seq, event.at));
    let mut parts = Vec::new();
    if let Some(key) = &event.key {
        parts.push(style.bold(&escape(key.as_str())));
    }
    if let Some(value) = &event.value {
        parts.push(cut(&value_line(value), VALUE).into_owned());
    } else if event.value_lost {
        parts.push("(value lost with damage of the log)".to_owned());
    } else if event.values_redacted {
        parts.push("(value not shown: forgotten)".to_owned());
    }
    if let Some(reason) = &event.reason {
        parts.push(style.dim(&format!("because {}", escape(reason))));
    }
    let mut notes = Vec::new();
    if !event.source.is_empty() {
        notes.push(format!("by {}", escape(&event.source)));
    }
    if let Some(dream) = event.dream_id {
        notes.push(format!("dream {dream}"));
    }
    if let Some(import) = event.import_id {
        notes.push(format!("import {import}"));
    }
    if let Some(snapshot) = event.snapshot_id {
        notes.push(format!("snapshot {snapshot}"));
    }
    if !event.undoes.is_empty() {
        let seqs: Vec<_> = event.undoes.iter().map(|seq| format!("@{seq}")).collect();
        notes.push(format!("takes back {}", seqs.join(", ")));
    }
    if !notes.is_empty() {
        parts.push(style.dim(&notes.join(", ")));
    }
    let op = style.paint(tone(&event.op), &format!("{:<12}", event.op));
    writeln!(out, "{place}  {op}  {}", parts.join("  "))
}

fn tone(op: &str) -> Tone {
    match op {
        "create" => Tone::Good,
        "forget" | "delete" => Tone::Bad,
        "flag" | "undo" | "rollback" | "restore" => Tone::Warning,
        _ => Tone::Plain,
    }
}
