//! What a salvage found, kept and lost.

use std::io::Write;

use super::Drawn;
use super::style::{Style, Tone};
use super::text::{bytes, count, escape};
use crate::wire::salvage::{LostView, SalvageRecordView, SalvageView};

/// So many of each kind are shown; `--json` has them all.
const SHOWN: usize = 20;

pub(in crate::cli) fn salvage(out: &mut dyn Write, style: Style, view: &SalvageView) -> Drawn {
    if view.finished_earlier {
        writeln!(out, "A salvage that had been interrupted was finished.")?;
    }
    if !view.needed {
        let found = style.paint(Tone::Good, "Nothing to salvage: the log is whole.");
        return writeln!(out, "{found} Nothing was changed.");
    }
    let lost_values = view.lost_bodies.len() as u64;
    let nothing = view.lost_events == 0 && lost_values == 0;
    if view.preview {
        writeln!(out, "{}", style.paint(Tone::Bad, "The store is damaged."))?;
        writeln!(out, "This is a preview: nothing was changed. A salvage would do the following.")?;
    } else {
        writeln!(out, "{}", style.paint(Tone::Good, "Salvaged: the store can be written to again."))?;
    }
    let kept = &view.kept;
    let (operations, events) =
        (count(kept.operations, "operation", "operations"), count(kept.events, "event", "events"));
    writeln!(out, "\n{}", style.bold("Kept, exactly as recorded"))?;
    writeln!(out, "  {operations} with {events}, {}.", bytes(kept.bytes))?;
    if nothing {
        writeln!(out, "  No event and no value is lost.")?;
    }
    if view.lost_events > 0 {
        let events = count(view.lost_events, "event", "events");
        writeln!(out, "\n{}", style.bold(&format!("Lost: {events}")))?;
        some(out, style, &view.lost, |out, range| lost_lines(out, style, range))?;
    }
    if lost_values > 0 {
        let values = count(lost_values, "value", "values");
        writeln!(out, "\n{}", style.bold(&format!("Lost: {values}; that they were recorded is known")))?;
        some(out, style, &view.lost_bodies, |out, body| {
            let key = body.key.as_ref().map(|key| format!(" of {}", style.bold(&escape(key.as_str()))));
            writeln!(out, "  position {}{}: {}", body.seq, key.unwrap_or_default(), escape(&body.reason))
        })?;
    }
    keys(out, style, view)?;
    writeln!(out, "\n{}", style.bold("What was found"))?;
    some(out, style, &view.damage, |out, damage| writeln!(out, "  {}", escape(damage)))?;
    next(out, style, view)
}

fn keys(out: &mut dyn Write, style: Style, view: &SalvageView) -> Drawn {
    if !view.unproven.is_empty() {
        let operations = count(view.unproven.len() as u64, "operation", "operations");
        writeln!(out, "\n{}", style.bold(&format!("Kept, but not proven any more: {operations}")))?;
        some(out, style, &view.unproven, |out, seq| writeln!(out, "  from position {seq}"))?;
    }
    if !view.incomplete_keys.is_empty() {
        writeln!(out, "\n{}", style.bold("Memories with a gap in their past; look at them"))?;
        some(out, style, &view.incomplete_keys, |out, key| writeln!(out, "  {}", escape(key.as_str())))?;
    }
    if view.lost_events > 0 {
        let note = "A memory that changed last in what is lost shows what stood before; which ones is not known.";
        writeln!(out, "\n{}", style.dim(note))?;
    }
    Ok(())
}

fn next(out: &mut dyn Write, style: Style, view: &SalvageView) -> Drawn {
    writeln!(out)?;
    if view.preview {
        writeln!(out, "The damaged files would be moved to quarantine/ in the store's folder, unchanged.")?;
        writeln!(out, "Keep a copy of the whole folder first, if you have the room.")?;
        return style.next_step(out, "Then:", "bilinc salvage");
    }
    if !view.quarantined.is_empty() {
        writeln!(out, "The damaged files lie in the store's folder, unchanged:")?;
        some(out, style, &view.quarantined, |out, path| writeln!(out, "  {}", escape(path)))?;
    }
    style.next_step(out, "What was lost is recorded for ever and listed by:", "bilinc verify")
}

/// The first of a list, and how many more there are.
fn some<T>(out: &mut dyn Write, style: Style, list: &[T], mut line: impl FnMut(&mut dyn Write, &T) -> Drawn) -> Drawn {
    for item in list.iter().take(SHOWN) {
        line(out, item)?;
    }
    match list.len().saturating_sub(SHOWN) {
        0 => Ok(()),
        more => writeln!(out, "  {}", style.dim(&format!("and {more} more; --json has them all"))),
    }
}

fn lost_lines(out: &mut dyn Write, style: Style, range: &LostView) -> Drawn {
    let place = match (range.first_seq, range.last_seq) {
        (first, last) if first == last => format!("position {first}"),
        (first, last) => format!("positions {first} to {last}"),
    };
    let found = if range.bytes > 0 { format!(", {}", bytes(range.bytes)) } else { String::new() };
    writeln!(out, "  {place}{found}: {}", escape(&range.reason))?;
    if !range.keys.is_empty() {
        let keys: Vec<_> = range.keys.iter().take(SHOWN).map(|key| escape(key.as_str())).collect();
        writeln!(out, "    {}", style.dim(&format!("known to be of {}", keys.join(", "))))?;
    }
    Ok(())
}

/// The salvages that a log records, for its proof.
pub(super) fn records(out: &mut dyn Write, style: Style, records: &[SalvageRecordView]) -> Drawn {
    for record in records {
        let events: u64 = record.lost.iter().map(|range| range.last_seq.get() - range.first_seq.get() + 1).sum();
        let (events, values) =
            (count(events, "event", "events"), count(record.lost_bodies.len() as u64, "value", "values"));
        let told = format!("Salvaged at {} (position {}): {events} and {values} were lost.", record.at, record.seq);
        writeln!(out, "  {}", style.paint(Tone::Warning, &told))?;
        some(out, style, &record.lost, |out, range| {
            write!(out, "  ")?;
            lost_lines(out, style, range)
        })?;
        some(out, style, &record.lost_bodies, |out, seq| writeln!(out, "    the value of position {seq}"))?;
        some(out, style, &record.unproven, |out, seq| writeln!(out, "    not proven any more: from position {seq}"))?;
    }
    Ok(())
}
