//! The dream pass: the agent reads candidates and sends decisions, while another agent works on.

use std::collections::BTreeMap;

use bilinc::{
    Action, ActionOp, ActionRecord, ActionStatus, DreamId, DreamPhase, DreamStart, DreamStarted, Json, Key, Memory,
    Revise, Strategy, Version, limits,
};

use super::decisions::{CHANGED_MEANWHILE, CHANGED_MEANWHILE_TO, DECISIONS, Decision, REPORT};
use super::error::{Step, check, check_count, present};
use super::page::{Cell, Page, Paint};
use super::{actor, remember};

/// Candidates on the short table.
const SHOWN: usize = 5;
/// Candidates asked for, at most.
const LIMIT: u32 = 50;

/// Starts the dream and shows some candidates.
pub(super) fn start(page: &mut Page<'_>, memory: &Memory) -> Step<DreamStarted> {
    page.heading("2. A dream pass begins: what has changed and wants a look?")?;
    page.command(&format!("dream start --limit {LIMIT}"), "")?;
    let started = memory.dream_start(DreamStart { limit: LIMIT, ..DreamStart::default() })?.answer;
    check_count("candidates", started.candidates.len(), remember::all(memory)?.len())?;
    page.say(&format!(
        "{} candidates. Of these the dream may forget {} at most; it can be undone for {} days.",
        started.candidates.len(),
        started.forget_cap,
        limits::UNDO_WINDOW_DAYS
    ))?;
    for candidate in started.candidates.iter().take(SHOWN) {
        let entry = &candidate.memory;
        let value = entry.value.as_ref().map(remember::text_of).unwrap_or_default();
        page.row(&[
            Cell(entry.key.as_str(), 20, Paint::Plain),
            Cell(entry.entry.facts.memory_type.name(), 10, Paint::Faint),
            Cell(&short(entry.entry.version), 9, Paint::Faint),
            Cell(&value, 0, Paint::Plain),
        ])?;
    }
    page.say(&format!("… and {} more", started.candidates.len().saturating_sub(SHOWN)))?;
    page.say("The engine runs no model: an agent reads them, decides, and names the versions it saw.")?;
    page.gap()?;
    Ok(started)
}

/// Another agent changes a candidate; then the decisions are sent. Gives the dream's id.
pub(super) fn apply(page: &mut Page<'_>, memory: &Memory, started: &DreamStarted) -> Step<DreamId> {
    let dream = present(started.dream, "the dream's id")?;
    page.say("Meanwhile editor-2 works on, and changes one of them:")?;
    revise_as(page, memory, "editor-2", CHANGED_MEANWHILE, CHANGED_MEANWHILE_TO)?;
    page.gap()?;
    page.heading("3. The agent's decisions are applied")?;
    page.command(&format!("dream apply {dream} --file actions.json"), "")?;
    let actions = actions(started)?;
    let sent = actions.len();
    let applied = memory.dream_apply(dream, actions, Some(Json::string(REPORT)), false)?.answer;
    check_count("results", applied.results.len(), sent)?;
    check(applied.phase == DreamPhase::Finished, || format!("the dream is {}", applied.phase.name()))?;
    for result in &applied.results {
        result_row(page, result)?;
    }
    let (mut done, mut conflicts) = (0_usize, Vec::new());
    for result in &applied.results {
        match &result.status {
            ActionStatus::Applied { .. } => done += 1,
            ActionStatus::Conflict { .. } => conflicts.push(result.key.as_str()),
            ActionStatus::Error { message, .. } => check(false, || format!("{}: {message}", result.key))?,
        }
    }
    check(conflicts == [CHANGED_MEANWHILE], || format!("conflicts on {conflicts:?}"))?;
    let current = present(memory.get(CHANGED_MEANWHILE)?, CHANGED_MEANWHILE)?;
    check(current.value == Some(Json::string(CHANGED_MEANWHILE_TO)), || "the conflict lost a change".into())?;
    page.say(&format!(
        "{done} applied, {} of them forgets; {} conflict: what changed since it was read is left alone.",
        applied.forgets,
        conflicts.len()
    ))?;
    page.gap()?;
    Ok(dream)
}

/// Changes an entry as another writer.
pub(super) fn revise_as(page: &mut Page<'_>, memory: &Memory, writer: &str, key: &str, value: &str) -> Step {
    page.command(&format!("revise --key {key} --value '{value}'"), "")?;
    memory.acting_as(actor(writer)).revise(Revise {
        key: Key::new(key)?,
        value: Json::string(value),
        importance: None,
        strategy: Strategy::default(),
        reason: None,
        expected_version: None,
    })?;
    Ok(())
}

/// The decisions with the versions that the candidates have.
fn actions(started: &DreamStarted) -> Step<Vec<Action>> {
    let versions: BTreeMap<&str, Version> = started
        .candidates
        .iter()
        .map(|candidate| (candidate.memory.key.as_str(), candidate.memory.entry.version))
        .collect();
    DECISIONS.iter().map(|decision| action(decision, &versions)).collect()
}

fn action(decision: &Decision, versions: &BTreeMap<&str, Version>) -> Step<Action> {
    Ok(Action {
        op: decision.op,
        key: Key::new(decision.key)?,
        expected_version: Some(*present(versions.get(decision.key), decision.key)?),
        new_value: decision.new_value.map(Json::string),
        merged_from: keys(decision.merged_from)?,
        reason: decision.reason.into(),
        evidence_keys: keys(decision.evidence)?,
        refused: None,
    })
}

fn keys(names: &[&str]) -> Step<Vec<Key>> {
    names.iter().map(|name| Ok(Key::new(name)?)).collect()
}

fn result_row(page: &mut Page<'_>, result: &ActionRecord) -> Step {
    let (status, paint, remark) = match &result.status {
        ActionStatus::Applied { .. } => ("applied", Paint::Green, result.reason.to_string()),
        ActionStatus::Conflict { change: Some(change), .. } => {
            ("conflict", Paint::Yellow, format!("{} by {} came between: kept as it is", change.op, change.source))
        }
        ActionStatus::Conflict { change: None, .. } => ("conflict", Paint::Yellow, String::from("it is gone")),
        ActionStatus::Error { code, .. } => ("error", Paint::Yellow, code.to_string()),
    };
    let op = match result.op {
        ActionOp::Revise if !result.merged_from.is_empty() => "merge",
        op => op.name(),
    };
    page.row(&[
        Cell(op, 7, Paint::Plain),
        Cell(result.key.as_str(), 23, Paint::Plain),
        Cell(status, 8, paint),
        Cell(&remark, 0, Paint::Plain),
    ])
}

/// Enough of a version to tell it from others.
fn short(version: Version) -> String {
    let text = version.to_string();
    let begin: String = text.chars().take(8).collect();
    format!("{begin}…")
}
