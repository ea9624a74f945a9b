//! The dream pass: its start and its pages.

use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use unicode_normalization::UnicodeNormalization;

use super::batch::{Batch, json_bytes};
use super::entry::{push_revise, too_many_flags};
use super::{Refusal, history, report};
use crate::command::{Action, ActionOp, DreamApply, DreamStart, Strategy};
use crate::event::{
    ActionRecord, ActionStatus, Candidate, Confirmed, DreamFinished, DreamOptions, DreamPageApplied, DreamStarted,
    Event, Flagged, Forgotten, Revised,
};
use crate::history::History;
use crate::id::{DreamId, Seq};
use crate::limits;
use crate::outcome::Outcome;
use crate::rejection::{DreamClosedReason, Rejection};
use crate::state::{DreamPhase, DreamRecord};
use crate::time::Timestamp;

/// `Some` is the answer when nothing is to be written.
type Decided<H> = Result<Option<Outcome>, Refusal<<H as History>::Error>>;

pub(super) fn start<H: History>(batch: &mut Batch<'_, H>, command: &DreamStart) -> Decided<H> {
    let (state, now) = (batch.state, batch.now());
    let week = || before(batch, now.plus(-limits::DREAM_MICROS));
    let mark = match state.dream_mark() {
        Some(mark) => mark,
        // Where no mark can be relied on any more, nothing behind the last one is passed over.
        None => week()?.min(state.last_complete_dream().unwrap_or(Seq::MAX)),
    };
    // The window begins at `since`, so a change recorded at that very moment is in it.
    let window = match command.since {
        Some(since) => before(batch, since)?,
        None => mark,
    };
    let prefix: Option<String> =
        command.prefix.as_ref().filter(|prefix| !prefix.is_empty()).map(|prefix| prefix.nfc().collect());
    let (candidates, more) = candidates(batch, window, prefix.as_deref(), command);
    if candidates.is_empty() {
        return Ok(Some(Outcome::DreamStarted(None)));
    }
    let number = u32::try_from(candidates.len()).unwrap_or(u32::MAX);
    batch.push(Event::DreamStarted(DreamStarted {
        dream: batch.operation().id.into(),
        options: DreamOptions {
            limit: command.limit,
            since: command.since,
            include_reviewed: command.include_reviewed,
            prefix: prefix.clone(),
        },
        candidates,
        more,
        forget_cap: forget_cap(number),
        complete: prefix.is_none() && window <= mark && more == 0,
    }));
    Ok(None)
}

/// The last position recorded before a moment; nothing is recorded before the first of all.
fn before<H: History>(batch: &Batch<'_, H>, time: Timestamp) -> Result<Seq, Refusal<H::Error>> {
    if time == Timestamp::MIN {
        return Ok(Seq::ZERO);
    }
    batch.history().position_at(time.plus(-1)).map_err(history)
}

/// Most entries that a dream with so many candidates may forget.
fn forget_cap(candidates: u32) -> u32 {
    (candidates * limits::FORGET_PERCENT / 100).min(limits::FORGET_MOST)
}

/// The newest entries of the window, and how many more there are. Costs what it returns and the entries that have
/// expired; a prefix makes it walk over what does not match, and what it counts.
fn candidates<H: History>(
    batch: &Batch<'_, H>,
    window: Seq,
    prefix: Option<&str>,
    command: &DreamStart,
) -> (Vec<Candidate>, u64) {
    let (state, now) = (batch.state, batch.now());
    let most = usize::try_from(limits::DREAM_MORE_EXACT).unwrap_or(usize::MAX);
    let mut matching = state
        .changed_since(window, command.include_reviewed)
        .filter(|(key, _)| prefix.is_none_or(|prefix| key.as_str().starts_with(prefix)))
        .filter_map(|(key, slot)| Some((key, slot.live(now)?.version)));
    let page = matching.by_ref().take(command.limit as usize);
    let candidates: Vec<_> = page.map(|(key, version)| Candidate { key: key.clone(), version }).collect();
    let more = if candidates.len() < command.limit as usize {
        0
    } else if prefix.is_some() {
        matching.take(most).count()
    } else {
        let most = candidates.len().saturating_add(most);
        state.count_changed_since(window, command.include_reviewed, now, most).saturating_sub(candidates.len())
    };
    (candidates, more as u64)
}

pub(super) fn apply<H: History>(batch: &mut Batch<'_, H>, command: &DreamApply) -> Decided<H> {
    let state = batch.state;
    let dream = state.dream(command.dream).ok_or(Rejection::DreamNotFound(command.dream))?;
    if let Some(reason) = closed(batch, dream) {
        return Err(Rejection::DreamClosed { dream: command.dream, reason }.into());
    }
    let forgets = command.actions.iter().filter(|action| action.op == ActionOp::Forget).count();
    let asked = u32::try_from(forgets).unwrap_or(u32::MAX);
    let cap = dream.start.forget_cap;
    if asked > 0 && dream.forgets.saturating_add(asked) > cap {
        return Err(Rejection::ForgetCapExceeded { cap, applied: dream.forgets, asked }.into());
    }
    let mut actions = Vec::with_capacity(command.actions.len());
    for action in &command.actions {
        let status = act(batch, dream, action)?;
        actions.push(record(action, status));
    }
    if command.dry_run {
        return Ok(Some(Outcome::Page { dream: command.dream, actions }));
    }
    if !actions.is_empty() {
        batch.push(Event::DreamPageApplied(DreamPageApplied { dream: command.dream, actions: actions.clone() }));
    }
    if command.finish {
        finish(batch, command, dream, &actions)?;
    }
    Ok(None)
}

fn closed<H: History>(batch: &Batch<'_, H>, dream: &DreamRecord) -> Option<DreamClosedReason> {
    match dream.phase() {
        DreamPhase::Undone | DreamPhase::PartlyUndone => Some(DreamClosedReason::Undone),
        DreamPhase::Open | DreamPhase::Finished => {
            (batch.now() > dream.acts_until()).then_some(DreamClosedReason::Expired)
        }
    }
}

fn record(action: &Action, status: ActionStatus) -> ActionRecord {
    ActionRecord {
        op: action.op,
        key: action.key.clone(),
        expected_version: action.expected_version,
        merged_from: action.merged_from.clone(),
        reason: action.reason.as_str().into(),
        evidence_keys: action.evidence_keys.clone(),
        status,
    }
}

fn error(code: &str, message: &str) -> ActionStatus {
    ActionStatus::Error { code: code.into(), message: message.into() }
}

/// Judges one action on what the actions before it on the page left, and carries it out.
fn act<H: History>(
    batch: &mut Batch<'_, H>,
    dream: &DreamRecord,
    action: &Action,
) -> Result<ActionStatus, Refusal<H::Error>> {
    if let Some(refused) = &action.refused {
        return Ok(error(&refused.code, &refused.message));
    }
    if !dream.has_candidate(&action.key) {
        return Ok(error("invalid_request", "the key is not a candidate of this dream"));
    }
    if action.expected_version.is_none() && action.op != ActionOp::Flag {
        return Ok(error("invalid_request", "expected_version is required: name the version that was looked at"));
    }
    let current = batch.entry(&action.key).map(|entry| entry.version);
    let Some(current) = current.filter(|version| action.expected_version.is_none_or(|named| named == *version)) else {
        // An entry that expired went without an event, so no change explains it.
        let expired = current.is_none() && batch.slot(&action.key).is_some_and(|slot| slot.entry.is_some());
        let change = if expired { None } else { batch.newest_change(&action.key)? };
        return Ok(ActionStatus::Conflict { current, change });
    };
    let flags = batch.entry(&action.key).map_or(0, |entry| entry.flags.len());
    if action.op == ActionOp::Flag && flags >= limits::OPEN_FLAGS {
        let refused = too_many_flags();
        return Ok(error(refused.code(), &refused.to_string()));
    }
    let (key, reason): (_, Arc<str>) = (action.key.clone(), action.reason.as_str().into());
    let version = batch.next_version();
    let version = match (action.op, &action.new_value) {
        (ActionOp::Revise, Some(value)) if value.as_str().len() > limits::VALUE_BYTES => {
            return Ok(error("invalid_request", "the new value is too large"));
        }
        (ActionOp::Revise, Some(value)) => {
            let revised = Revised {
                key,
                importance: None,
                strategy: Strategy::Entrenchment,
                reason: Some(reason),
                merged_from: action.merged_from.clone(),
                version,
                value_bytes: json_bytes(value),
            };
            push_revise(batch, revised, value);
            Some(version)
        }
        // The form was checked: a revise without a value was refused with its page.
        (ActionOp::Revise, None) => {
            return Ok(error("invalid_request", "a revise needs the new value"));
        }
        (ActionOp::Forget, _) => {
            batch.push(Event::Forgotten(Forgotten { key, reason }));
            None
        }
        (ActionOp::Confirm, _) => {
            batch.push(Event::Confirmed(Confirmed { key, reason: Some(reason), version }));
            Some(version)
        }
        (ActionOp::Flag, _) => {
            batch.push(Event::Flagged(Flagged { key, reason, evidence_keys: action.evidence_keys.clone() }));
            Some(current)
        }
    };
    Ok(ActionStatus::Applied { version })
}

fn finish<H: History>(
    batch: &mut Batch<'_, H>,
    command: &DreamApply,
    dream: &DreamRecord,
    last_page: &[ActionRecord],
) -> Result<(), Refusal<H::Error>> {
    batch.push(Event::DreamFinished(DreamFinished { dream: command.dream }));
    let mut actions = recorded_actions(batch.history(), dream).map_err(history)?;
    actions.extend_from_slice(last_page);
    let finished_at = batch.at();
    let times = report::Times {
        started_at: dream.started_at,
        finished_at: Some(finished_at),
        undo_until: finished_at.plus(limits::DREAM_MICROS),
    };
    report::write(batch, command.dream, &times, &actions, command.report.as_ref(), None)
}

/// All actions of a dream's pages, in order.
pub(super) fn recorded_actions<H: History>(from: &H, dream: &DreamRecord) -> Result<Vec<ActionRecord>, H::Error> {
    let mut actions = Vec::new();
    for page in &dream.pages {
        if let Event::DreamPageApplied(event) = &from.event(*page)?.event {
            actions.extend_from_slice(&event.actions);
        }
    }
    Ok(actions)
}

/// The key of a dream's report.
pub(super) fn report_key(dream: DreamId) -> crate::key::Key {
    crate::key::Key::from_recorded(&alloc::format!("{}{dream}", crate::key::DREAM_PREFIX))
}
