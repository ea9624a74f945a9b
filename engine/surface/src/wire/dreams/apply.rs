//! What became of the actions of a dream.

use std::borrow::Cow;
use std::collections::HashSet;

use bilinc::{ActionOp, ActionRecord, ActionStatus, DreamApplied, DreamId, Key, Version};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::wire::{Change, Time, is_false};

/// What became of one action.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResultView {
    /// Its place in the list that was sent.
    pub index: usize,
    /// What was to be done.
    pub op: Cow<'static, str>,
    /// To which entry.
    #[schema(value_type = String)]
    pub key: Key,
    /// `applied`, `conflict` or `error`.
    pub status: Cow<'static, str>,
    /// The entry's version afterwards; a dry run makes none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub entry_version: Option<Version>,
    /// Why it could not be carried out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ResultError>,
    /// The entry as it is now, with a conflict; left out when it is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current: Option<Current>,
    /// The change that came between, with a conflict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
}

/// Why an action could not be carried out.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ResultError {
    /// The error code.
    pub code: String,
    /// What is wrong.
    pub message: String,
}

/// An entry that changed since the named version.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Current {
    /// Its version now; none when a dry run stands before a version that it did not make.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub entry_version: Option<Version>,
}

impl ResultView {
    /// What became of the action at this place.
    #[must_use]
    pub fn new(index: usize, record: &ActionRecord) -> Self {
        let view = Self {
            index,
            op: record.op.name().into(),
            key: record.key.clone(),
            status: "applied".into(),
            entry_version: None,
            error: None,
            current: None,
            change: None,
        };
        match &record.status {
            ActionStatus::Applied { version } => Self { entry_version: *version, ..view },
            ActionStatus::Conflict { current, change } => Self {
                status: "conflict".into(),
                current: current.map(|version| Current { entry_version: Some(version) }),
                change: change.as_ref().map(Change::from),
                ..view
            },
            ActionStatus::Error { code, message } => {
                let error = ResultError { code: code.to_string(), message: message.to_string() };
                Self { status: "error".into(), error: Some(error), ..view }
            }
        }
    }

    /// What became of each of these actions.
    #[must_use]
    pub fn all(records: &[ActionRecord]) -> Vec<Self> {
        records.iter().enumerate().map(|(index, record)| Self::new(index, record)).collect()
    }

    /// What would become of each of these actions. The versions that they would make never come to
    /// be, so none of these is given out.
    #[must_use]
    pub fn trial(records: &[ActionRecord]) -> Vec<Self> {
        let mut changed = HashSet::new();
        let results = records.iter().enumerate().map(|(index, record)| {
            let mut view = Self::new(index, record);
            if matches!(record.status, ActionStatus::Applied { .. }) && record.op != ActionOp::Flag {
                changed.insert(&record.key);
            }
            if changed.contains(&record.key) {
                view.entry_version = None;
                view.current = view.current.map(|_| Current { entry_version: None });
            }
            view
        });
        results.collect()
    }

    /// What became, or would become, of each of these actions.
    #[must_use]
    pub fn of(records: &[ActionRecord], dry_run: bool) -> Vec<Self> {
        if dry_run { Self::trial(records) } else { Self::all(records) }
    }
}

/// Pages of a dream were judged.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AppliedView {
    /// Which dream.
    #[schema(value_type = String)]
    pub dream_id: DreamId,
    /// Where it is in its life.
    pub state: Cow<'static, str>,
    /// Most entries that it may forget.
    pub forget_cap: u32,
    /// Forgets it has carried out.
    pub forgets_reserved: u32,
    /// Until when it can be undone.
    pub undo_until: Time,
    /// What became of each action, in the order they were sent.
    pub results: Vec<ResultView>,
    /// Pages that the actions went in.
    pub pages: u32,
    /// Whether nothing was written because it was only tried out.
    #[serde(default, skip_serializing_if = "is_false")]
    pub dry_run: bool,
}

impl AppliedView {
    /// The answer of an apply, or of a trial of one.
    #[must_use]
    pub fn new(applied: &DreamApplied, dry_run: bool) -> Self {
        Self {
            dream_id: applied.dream,
            state: applied.phase.name().into(),
            forget_cap: applied.forget_cap,
            forgets_reserved: applied.forgets,
            undo_until: applied.undo_until.into(),
            results: ResultView::of(&applied.results, dry_run),
            pages: applied.pages,
            dry_run,
        }
    }
}
