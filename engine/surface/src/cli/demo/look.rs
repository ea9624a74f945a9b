//! What the memory looks like after the dream.

use bilinc::{ListQuery, ListedEntry, Memory, RecallQuery};

use super::decisions::{QUESTION, SHOWN, UNCLEAR};
use super::error::{Step, check, check_count, present};
use super::page::{Cell, Page, Paint};
use super::remember;

/// Results of the recall on the page.
const RESULTS: usize = 3;

/// Compares with before, asks a question, and shows the history of a merged entry.
pub(super) fn look(page: &mut Page<'_>, memory: &Memory, before: &[ListedEntry]) -> Step {
    page.heading("4. The memory afterwards")?;
    counts(page, memory, before)?;
    recall(page, memory)?;
    history(page, memory)
}

fn counts(page: &mut Page<'_>, memory: &Memory, before: &[ListedEntry]) -> Step {
    page.command("status", "")?;
    let counts = memory.status()?.counts;
    let reports = memory.list(&ListQuery { prefix: Some(bilinc::DREAM_PREFIX.into()), ..ListQuery::default() })?.total;
    check_count("reports of dreams", reports, 1_u64)?;
    let memories = counts.entries().saturating_sub(reports);
    check_count("memories", memories, remember::all(memory)?.len())?;
    page.say(&format!(
        "{} memories before, {memories} now, and {reports} report of what was done and why.",
        before.len()
    ))?;
    page.command("flags", "")?;
    let flagged = memory.list(&ListQuery { flagged: Some(true), ..ListQuery::default() })?.entries;
    check_count("flagged entries", flagged.len(), 1_u64)?;
    check_count("flagged entries by status", counts.flagged, 1_u64)?;
    for entry in &flagged {
        check(entry.key.as_str() == UNCLEAR, || format!("{} is flagged", entry.key))?;
        let flag = present(entry.entry.flags.first(), "the flag")?;
        page.row(&[Cell(entry.key.as_str(), 20, Paint::Plain), Cell(&flag.reason, 0, Paint::Yellow)])?;
    }
    Ok(())
}

fn recall(page: &mut Page<'_>, memory: &Memory) -> Step {
    page.command(&format!("recall --query '{QUESTION}' --limit {RESULTS}"), "the merged one is first")?;
    let hits = memory.recall(&RecallQuery { limit: RESULTS, ..RecallQuery::new(QUESTION) })?;
    let first = present(hits.first(), "a result of the recall")?;
    check(first.memory.key.as_str() == SHOWN, || format!("the recall finds {} first", first.memory.key))?;
    for hit in &hits {
        let value = hit.memory.value.as_ref().map(remember::text_of).unwrap_or_default();
        page.row(&[
            Cell(hit.memory.key.as_str(), 20, Paint::Plain),
            Cell(&format!("{:.2}", hit.score), 6, Paint::Faint),
            Cell(&value, 0, Paint::Plain),
        ])?;
    }
    Ok(())
}

fn history(page: &mut Page<'_>, memory: &Memory) -> Step {
    page.command(&format!("history {SHOWN}"), "newest first; nothing is ever overwritten")?;
    let history = memory.history(SHOWN, 10, true)?;
    check_count("changes of the merged entry", history.items.len(), 2_u64)?;
    check(history.items.first().is_some_and(|item| item.dream.is_some()), || "the merge names no dream".into())?;
    for item in &history.items {
        let writer = if item.dream.is_some() { format!("{} (dream)", item.source) } else { item.source.to_string() };
        let value = item.after.as_ref().and_then(|state| state.value.as_ref()).map(remember::text_of);
        page.row(&[
            Cell(&format!("@{}", item.seq), 4, Paint::Faint),
            Cell(item.op.name(), 6, Paint::Plain),
            Cell(&writer, 15, Paint::Faint),
            Cell(&value.unwrap_or_default(), 0, Paint::Plain),
        ])?;
    }
    page.gap()
}
