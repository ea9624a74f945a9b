//! The undo of the whole dream, which leaves alone what somebody else changed since.

use std::collections::BTreeMap;

use bilinc::{DreamId, DreamPhase, DreamUndo, Json, ListedEntry, Memory};

use super::decisions::{CHANGED_AFTERWARDS, CHANGED_AFTERWARDS_TO, CHANGED_MEANWHILE};
use super::error::{Step, check, check_count, present};
use super::page::{Cell, Page, Paint};
use super::{dream, remember};

/// Another agent changes a merged entry; then the dream is undone, and all entries are compared.
pub(super) fn undo(page: &mut Page<'_>, memory: &Memory, dream: DreamId, before: &[ListedEntry]) -> Step {
    page.heading("5. Second thoughts: the whole dream is undone")?;
    page.say("In between, editor-2 changed one of the merged entries:")?;
    dream::revise_as(page, memory, "editor-2", CHANGED_AFTERWARDS, CHANGED_AFTERWARDS_TO)?;
    page.command(&format!("dream undo {dream} --restore-metadata"), "")?;
    let request = DreamUndo { dream, dry_run: false, restore_metadata: true };
    let answer = memory.dream_undo(request.clone())?.answer;
    let phase = answer.dream.map(|(_, phase)| phase);
    check(phase == Some(DreamPhase::PartlyUndone), || format!("after the undo the dream is {phase:?}"))?;
    check(answer.undone.metadata_restored, || "metadata was not restored".into())?;

    let mut ops: BTreeMap<&str, usize> = BTreeMap::new();
    for item in &answer.undone.restored {
        *ops.entry(&item.op).or_default() += 1;
    }
    let ops: Vec<String> = ops.iter().map(|(op, count)| format!("{count} {op}")).collect();
    page.say(&format!(
        "{} entries restored ({}); {} conflict, kept as it is:",
        answer.undone.restored.len(),
        ops.join(", "),
        answer.undone.conflicts.len()
    ))?;
    for conflict in &answer.undone.conflicts {
        let change = present(conflict.change.as_ref(), "the change behind the conflict")?;
        page.row(&[
            Cell(conflict.key.as_str(), 20, Paint::Plain),
            Cell("conflict", 8, Paint::Yellow),
            Cell(&format!("{} by {} at position {}", change.op, change.source, change.seq), 0, Paint::Plain),
        ])?;
    }
    let conflicts: Vec<&str> = answer.undone.conflicts.iter().map(|conflict| conflict.key.as_str()).collect();
    check(conflicts == [CHANGED_AFTERWARDS], || format!("conflicts on {conflicts:?}"))?;
    page.say("An undo takes back the dream's own changes and nobody else's, so a later change stays.")?;
    compare(page, memory, before)?;

    let again = memory.dream_undo(request)?.answer;
    check(again.already_undone && again.undone == answer.undone, || "a second undo answered anew".into())?;
    page.gap()
}

/// Every entry is what it was before the dream, but for the two that another agent changed.
fn compare(page: &mut Page<'_>, memory: &Memory, before: &[ListedEntry]) -> Step {
    let now = remember::all(memory)?;
    check_count("memories after the undo", now.len(), before.len())?;
    let differing: Vec<&str> = before
        .iter()
        .zip(&now)
        .filter(|(before, now)| !same(before, now))
        .map(|(before, _)| before.key.as_str())
        .collect();
    check(differing == [CHANGED_AFTERWARDS, CHANGED_MEANWHILE], || format!("these differ: {differing:?}"))?;
    let kept = memory.get(CHANGED_AFTERWARDS)?.and_then(|entry| entry.value);
    check(kept == Some(Json::string(CHANGED_AFTERWARDS_TO)), || "the undo lost a change".into())?;
    page.say(&format!(
        "{} of {} memories are again what they were before the dream; {} differ, and both are",
        now.len() - differing.len(),
        now.len(),
        differing.len()
    ))?;
    page.say(&format!("as editor-2 left them: {}.", differing.join(" and ")))
}

/// Whether two entries are equal but for version, times of change and flags.
fn same(before: &ListedEntry, now: &ListedEntry) -> bool {
    before.key == now.key
        && before.value == now.value
        && before.metadata == now.metadata
        && before.entry.facts == now.entry.facts
        && before.entry.created_at == now.entry.created_at
        && before.entry.confirmed_at == now.entry.confirmed_at
        && before.entry.flags == now.entry.flags
}
