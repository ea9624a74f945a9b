//! The report entry of a dream.

use alloc::string::String;
use alloc::string::ToString;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::batch::{Batch, json_bytes};
use super::dream::report_key;
use super::{Refusal, history};
use crate::command::ActionOp;
use crate::event::{ActionRecord, ActionStatus, Body, Event, ReportWritten, Undone};
use crate::history::History;
use crate::id::{DreamId, Seq};
use crate::json::Json;
use crate::limits::VALUE_BYTES;
use crate::time::Timestamp;

/// Changes are listed up to this many bytes of JSON; a report must fit a value with the
/// agent's own report in it.
const CHANGES_BYTES: usize = VALUE_BYTES / 4;

/// When a dream was what.
pub(super) struct Times {
    pub(super) started_at: Timestamp,
    pub(super) finished_at: Option<Timestamp>,
    pub(super) undo_until: Timestamp,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    dream_id: String,
    started_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    finished_at: Option<String>,
    undo_until: String,
    counts: Counts,
    changes: Vec<Line<'a>>,
    #[serde(skip_serializing_if = "is_zero")]
    changes_left_out: usize,
    report: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    undo: Option<UndoLine<'a>>,
}

// The signature is serde's.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

#[derive(Serialize, Default)]
struct Counts {
    revised: u64,
    forgotten: u64,
    confirmed: u64,
    flagged: u64,
    conflicts: u64,
    errors: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    key: &'a str,
    op: &'static str,
    status: &'static str,
    reason: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    merged_from: Vec<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct UndoLine<'a> {
    undone_at: String,
    restored: usize,
    unchanged: usize,
    conflicts: Vec<&'a str>,
    metadata_restored: bool,
}

/// The one part of a report that is carried over when it is written again.
#[derive(Deserialize)]
struct Earlier<'a> {
    #[serde(borrow, default)]
    report: Option<&'a RawValue>,
}

/// Writes the report entry, unless somebody forgot it: then it stays forgotten. Without a `report`
/// of its own it keeps the one that is there.
pub(super) fn write<H: History>(
    batch: &mut Batch<'_, H>,
    dream: DreamId,
    times: &Times,
    actions: &[ActionRecord],
    report: Option<&Json>,
    undone: Option<&Undone>,
) -> Result<(), Refusal<H::Error>> {
    let key = report_key(dream);
    let (entry, forgotten) = batch
        .slot(&key)
        .map_or((None, false), |slot| (slot.entry.as_ref(), slot.hidden_through.is_some() && slot.entry.is_none()));
    if forgotten {
        return Ok(());
    }
    let created = entry.is_none();
    let earlier = match (report, entry.map(|entry| entry.value_at)) {
        (None, Some(at)) => value_at(batch, at)?,
        _ => None,
    };
    let kept = earlier.as_ref().and_then(|value| serde_json::from_str::<Earlier<'_>>(value.as_str()).ok());
    let raw = match report {
        Some(report) => serde_json::from_str::<&RawValue>(report.as_str()).ok(),
        None => kept.and_then(|kept| kept.report),
    };
    let value = compose(dream, times, actions, raw, undone.map(|undone| undo_line(undone, batch.at())));
    let event = ReportWritten { key, dream, created, version: batch.next_version(), value_bytes: json_bytes(&value) };
    batch.push_with(Event::ReportWritten(event), Body { value: Some(value), metadata: None, fingerprint: None });
    Ok(())
}

fn value_at<H: History>(batch: &Batch<'_, H>, at: Seq) -> Result<Option<Json>, Refusal<H::Error>> {
    Ok(batch.history().body(at).map_err(history)?.and_then(|body| body.value))
}

fn undo_line(undone: &Undone, at: Timestamp) -> UndoLine<'_> {
    UndoLine {
        undone_at: at.to_string(),
        restored: undone.restored.len(),
        unchanged: undone.unchanged.len(),
        conflicts: undone.conflicts.iter().map(|conflict| conflict.key.as_str()).collect(),
        metadata_restored: undone.metadata_restored,
    }
}

fn compose(
    dream: DreamId,
    times: &Times,
    actions: &[ActionRecord],
    report: Option<&RawValue>,
    undo: Option<UndoLine<'_>>,
) -> Json {
    let mut room = CHANGES_BYTES;
    let changes: Vec<_> = actions
        .iter()
        .map(line)
        .take_while(|line| {
            let size = serde_json::to_string(line).map_or(CHANGES_BYTES, |text| text.len() + 1);
            let fits = size <= room;
            room = room.saturating_sub(size);
            fits
        })
        .collect();
    Json::from_serialize(&Report {
        dream_id: dream.to_string(),
        started_at: times.started_at.to_string(),
        finished_at: times.finished_at.map(|at| at.to_string()),
        undo_until: times.undo_until.to_string(),
        counts: count(actions),
        changes_left_out: actions.len() - changes.len(),
        changes,
        report,
        undo,
    })
}

fn line(action: &ActionRecord) -> Line<'_> {
    Line {
        key: action.key.as_str(),
        op: action.op.name(),
        status: match action.status {
            ActionStatus::Applied { .. } => "applied",
            ActionStatus::Conflict { .. } => "conflict",
            ActionStatus::Error { .. } => "error",
        },
        reason: &action.reason,
        merged_from: action.merged_from.iter().map(crate::key::Key::as_str).collect(),
    }
}

fn count(actions: &[ActionRecord]) -> Counts {
    let mut counts = Counts::default();
    for action in actions {
        let count = match (&action.status, action.op) {
            (ActionStatus::Conflict { .. }, _) => &mut counts.conflicts,
            (ActionStatus::Error { .. }, _) => &mut counts.errors,
            (ActionStatus::Applied { .. }, ActionOp::Revise) => &mut counts.revised,
            (ActionStatus::Applied { .. }, ActionOp::Forget) => &mut counts.forgotten,
            (ActionStatus::Applied { .. }, ActionOp::Confirm) => &mut counts.confirmed,
            (ActionStatus::Applied { .. }, ActionOp::Flag) => &mut counts.flagged,
        };
        *count += 1;
    }
    counts
}
