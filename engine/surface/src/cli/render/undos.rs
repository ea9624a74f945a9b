//! What an undo did.

use std::io::Write;

use super::Drawn;
use super::style::{Style, Tone};
use super::text::{count, escape};
use crate::wire::Change;
use crate::wire::undos::{ConflictKey, UndoView};

/// Most unchanged keys that are named.
const UNCHANGED: usize = 20;

/// What an undo did, or would do, to each key. `what` names what was taken back.
pub(in crate::cli) fn undone(out: &mut dyn Write, style: Style, view: &UndoView, what: &str) -> Drawn {
    let state = view
        .state
        .as_deref()
        .map(|state| format!(" The dream is {} now.", state.replace('_', " ")))
        .unwrap_or_default();
    if view.restored.is_empty() && view.conflicts.is_empty() && view.unchanged.is_empty() && view.seq.is_none() {
        return writeln!(out, "Nothing to take back ({what}); nothing was written.{state}");
    }
    match (view.dry_run, view.already_undone) {
        (true, _) => {
            writeln!(out, "{}", style.bold(&format!("Dry run, nothing was written. Undo of {what} would give:")))?
        }
        (false, true) => {
            let text = format!("{} had been undone before; nothing was written now. It gave:", capitalised(what));
            writeln!(out, "{}", style.bold(&text))?;
        }
        (false, false) if view.seq.is_none() => {
            let why = match (view.conflicts.is_empty(), view.unchanged.is_empty()) {
                (true, _) => "there is nothing to do",
                (false, true) => "no memory in it could be taken back",
                (false, false) => {
                    "what could not be taken back is named below, and with the rest there is nothing to do"
                }
            };
            let text = format!("Nothing was undone ({what}), and nothing was written: {why}.");
            writeln!(out, "{}{state}", style.bold(&text))?;
        }
        (false, false) => writeln!(out, "{}{state}", style.bold(&format!("Undid {what}.")))?,
    }
    for item in &view.restored {
        let how = if item.gone { "  (gone again)" } else { "" };
        let line = format!("↩ {}  {}{how}", escape(item.key.as_str()), item.op);
        writeln!(out, "{}", style.paint(Tone::Good, &line))?;
    }
    for conflict in &view.conflicts {
        conflict_lines(out, style, conflict)?;
    }
    unchanged(out, style, view)?;
    let sums = format!(
        "{} restored, {} left as conflicts, {} unchanged",
        view.restored.len(),
        view.conflicts.len(),
        view.unchanged.len()
    );
    writeln!(out, "{}", style.dim(&sums))?;
    if view.restored.iter().any(|item| item.op == "forget") && !view.metadata_restored {
        let note = if view.dry_run {
            "Removed memories would come back without metadata, session, canonical, priority, ttl and \
             flags; --restore-metadata brings these back, too."
        } else {
            "Removed memories came back without metadata, session, canonical, priority, ttl and flags. To have \
             these, too, redo it and undo it again with --restore-metadata."
        };
        writeln!(out, "{}", style.dim(note))?;
    }
    match view.seq {
        Some(seq) if !view.already_undone && !view.dry_run => {
            style.next_step(out, "To take this undo back (redo):", &format!("bilinc undo --seq {seq}"))
        }
        _ => Ok(()),
    }
}

/// A name with a capital letter, at the begin of a sentence.
fn capitalised(what: &str) -> String {
    let mut chars = what.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

fn conflict_lines(out: &mut dyn Write, style: Style, conflict: &ConflictKey) -> Drawn {
    writeln!(out, "{}", style.paint(Tone::Warning, &format!("! {}", escape(conflict.key.as_str()))))?;
    let why = match (&*conflict.reason, &conflict.change) {
        ("purged", _) => "the value to bring back was erased".to_owned(),
        (_, Some(change)) => format!("kept as it is: {}", change_words(change)),
        (_, None) => "kept as it is: somebody else changed it since".to_owned(),
    };
    writeln!(out, "    {}", style.dim(&why))
}

fn unchanged(out: &mut dyn Write, style: Style, view: &UndoView) -> Drawn {
    for key in view.unchanged.iter().take(UNCHANGED) {
        writeln!(out, "{}", style.dim(&format!("= {}", escape(key.as_str()))))?;
    }
    match view.unchanged.len().saturating_sub(UNCHANGED) {
        0 => Ok(()),
        more => writeln!(out, "{}", style.dim(&format!("= and {} more", count(more as u64, "key", "keys")))),
    }
}

/// A change that came between, in words.
pub(in crate::cli) fn change_words(change: &Change) -> String {
    let source = if change.source.is_empty() { "somebody without a name".into() } else { escape(&change.source) };
    format!("{} by {source} at {} (@{})", change.op, change.at, change.seq)
}
