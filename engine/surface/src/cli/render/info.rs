//! The store as a whole.

use std::io::Write;

use super::Drawn;
use super::style::{Style, Tone};
use super::text::{bytes, count, escape};
use crate::wire::backup::BackupView;
use crate::wire::status::StatusView;
use crate::wire::transfer::ImportView;
use crate::wire::verify::VerifiedView;

pub(in crate::cli) fn status(out: &mut dyn Write, style: Style, view: &StatusView) -> Drawn {
    let project = view.workspace.project.as_deref().map(|project| format!("project {}", escape(project)));
    let path = view.workspace.path.as_deref().map(|path| escape(path).into_owned()).or(project).unwrap_or_default();
    if !view.store.exists {
        writeln!(out, "No store yet at {}. The first write creates it:", style.bold(&path))?;
        return style.next_step(out, " ", "bilinc commit --key my.first.memory --value 'hello'");
    }
    writeln!(out, "{}", style.bold(&path))?;
    if let Some(reason) = &view.store.read_only {
        writeln!(out, "{}", style.paint(Tone::Bad, &format!("Read-only: {}", escape(reason))))?;
        let next =
            "Reads go on. `bilinc verify` says where a damage begins, `bilinc salvage --preview` what can be kept.";
        writeln!(out, "{}", style.dim(next))?;
    }
    if let Some(recovered) = &view.store.recovered {
        writeln!(out, "{}", style.paint(Tone::Warning, &format!("Recovered: {}", escape(recovered))))?;
    }
    let mut line = |name: &str, text: String| writeln!(out, "{} {text}", style.dim(&format!("{name:<12}")));
    if let Some(id) = view.workspace.id {
        line("store id", id.to_string())?;
    }
    let usage = &view.usage;
    let types: Vec<_> = (usage.by_type.iter().filter(|(_, number)| *number > 0))
        .map(|(kind, number)| format!("{number} {kind}"))
        .collect();
    let types = if types.is_empty() { String::new() } else { format!(" ({})", types.join(", ")) };
    line("memories", format!("{}{types}", usage.memories))?;
    line("keys ever", usage.keys.to_string())?;
    line("open flags", count(usage.flagged, "memory", "memories"))?;
    line("snapshots", usage.snapshots.to_string())?;
    line("position", format!("@{}", view.store.seq))?;
    line("head", view.store.head.clone())?;
    let segments = count(view.store.segments, "segment", "segments");
    line("on disk", format!("{} in {segments}", bytes(usage.log_bytes)))?;
    let purged = match usage.purged_bytes {
        0 => String::new(),
        purged => format!(", {} purged", bytes(purged)),
    };
    line("values", format!("{} live, {} of history{purged}", bytes(usage.live_bytes), bytes(usage.history_bytes)))?;
    if let Some(checkpoint) = view.store.checkpoint {
        line("checkpoint", format!("@{checkpoint}"))?;
    }
    line("durability", view.store.durability.to_string())?;
    if view.store.lost_events > 0 || view.store.lost_bodies > 0 {
        let events = count(view.store.lost_events, "event", "events");
        let values = count(view.store.lost_bodies, "value", "values");
        line("lost", format!("{events} and {values}, with damage that was salvaged"))?;
    }
    for dream in &view.store.dreams {
        let left = count(dream.days_left.max(0).unsigned_abs(), "day", "days");
        line("dream", format!("{}  {}, {left} left to undo it", dream.dream_id, dream.state.replace('_', " ")))?;
    }
    Ok(())
}

pub(in crate::cli) fn verified(out: &mut dyn Write, style: Style, view: &VerifiedView) -> Drawn {
    writeln!(out, "{}", style.paint(Tone::Good, "The log is whole."))?;
    super::salvage::records(out, style, &view.salvages)?;
    let segments = count(view.segments, "segment", "segments");
    writeln!(out, "  Read {} in {segments}; every checksum holds.", bytes(view.bytes))?;
    let (operations, events) =
        (count(view.operations, "operation", "operations"), count(view.events, "event", "events"));
    writeln!(out, "  {operations} with {events}, in order and without gaps, up to position {}.", view.seq)?;
    let bodies = match view.bodies {
        1 => "1 body matches its salted digest".to_owned(),
        bodies => format!("{bodies} bodies match their salted digests"),
    };
    let erased = match view.erased_bodies {
        0 => String::new(),
        1 => "; 1 was erased, as recorded".to_owned(),
        erased => format!("; {erased} were erased, as recorded"),
    };
    writeln!(out, "  {bodies}{erased}.")?;
    writeln!(out, "  The hash chain was computed anew and ends at {}.", view.head)?;
    if let Some(since) = &view.since {
        let events = match since.events_since {
            0 => "nothing has come since".to_owned(),
            1 => "1 event has come since".to_owned(),
            events => format!("{events} events have come since"),
        };
        writeln!(out, "  It goes through {}: the history up to there is unchanged, and {events}.", since.head)?;
    }
    writeln!(out, "  The state folded anew from the log equals the state that answers.")?;
    for (what, kept) in [("checkpoint", view.checkpoint), ("checkpoint of the recall index", view.recall_checkpoint)] {
        if let Some(kept) = kept {
            writeln!(out, "  The {what}, made at position {}, equals what the log gives.", kept.seq)?;
        }
    }
    Ok(())
}

pub(in crate::cli) fn backed_up(out: &mut dyn Write, style: Style, view: &BackupView) -> Drawn {
    writeln!(out, "Copied to {}", style.bold(&escape(&view.target)))?;
    let (operations, events) =
        (count(view.operations, "operation", "operations"), count(view.events, "event", "events"));
    let segments = count(view.segments, "segment", "segments");
    writeln!(out, "  {operations} with {events}, {} in {segments}; all of it was proved.", bytes(view.bytes))?;
    writeln!(out, "  The store {} stands at the head {}.", view.store_id, view.head)
}

pub(in crate::cli) fn imported(out: &mut dyn Write, style: Style, view: &ImportView) -> Drawn {
    let lines = count(view.lines, "line", "lines");
    writeln!(out, "Read {lines}: {} created, {} replaced.", view.created, view.replaced)?;
    if view.skipped_existing > 0 {
        let skipped = count(view.skipped_existing, "memory that exists", "memories that exist");
        writeln!(out, "Left alone: {skipped}.")?;
    }
    if view.skipped_reserved > 0 {
        let skipped = count(view.skipped_reserved, "line with a reserved key", "lines with reserved keys");
        writeln!(out, "Left out: {skipped}.")?;
    }
    match view.import_id {
        Some(import) => style.next_step(out, "To take it back:", &format!("bilinc undo --import {import}")),
        None => writeln!(out, "Nothing was written."),
    }
}
