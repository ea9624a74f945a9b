//! Dreams as they stand.

use std::borrow::Cow;

use bilinc::{Candidate, DreamId, DreamOptions, DreamSummary, Json, Key, Version};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::apply::ResultView;
use crate::wire::Time;
use crate::wire::undos::UndoView;

/// What a dream was asked for.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OptionsView {
    /// Most candidates.
    pub limit: u32,
    /// Only keys that begin so.
    pub prefix: Option<String>,
    /// Begin of the window, when given.
    pub since: Option<Time>,
    /// Also entries that an earlier dream had looked at.
    pub include_reviewed: bool,
}

impl From<&DreamOptions> for OptionsView {
    fn from(options: &DreamOptions) -> Self {
        Self {
            limit: options.limit,
            prefix: options.prefix.clone(),
            since: options.since.map(Time),
            include_reviewed: options.include_reviewed,
        }
    }
}

/// A candidate with the version it had.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CandidateRef {
    /// The entry's key.
    #[schema(value_type = String)]
    pub key: Key,
    /// Its version at the start.
    #[schema(value_type = String)]
    pub entry_version: Version,
}

impl From<&Candidate> for CandidateRef {
    fn from(candidate: &Candidate) -> Self {
        Self { key: candidate.key.clone(), entry_version: candidate.version }
    }
}

/// An action, without its value, with what became of it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActionView {
    /// The version that was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub expected_version: Option<Version>,
    /// Duplicates folded in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<String>)]
    pub merged_from: Vec<Key>,
    /// Why.
    pub reason: String,
    /// Entries that spoke for it.
    #[schema(value_type = Vec<String>)]
    pub evidence_keys: Vec<Key>,
    /// What became of it.
    #[serde(flatten)]
    pub result: ResultView,
}

/// A dream as it stands.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DreamView {
    /// Its id.
    #[schema(value_type = String)]
    pub dream_id: DreamId,
    /// `open`, `finished`, `undone` or `partly_undone`.
    pub state: Cow<'static, str>,
    /// When it started.
    pub started_at: Time,
    /// When it was finished last.
    pub finished_at: Option<Time>,
    /// Until when it can be undone.
    pub undo_until: Time,
    /// What it was asked for.
    pub options: OptionsView,
    /// Most entries that it may forget.
    pub forget_cap: u32,
    /// Forgets it has carried out.
    pub forgets_reserved: u32,
    /// How many more entries matched at its start.
    pub more_candidates: u64,
    /// Its candidates.
    pub candidates: Vec<CandidateRef>,
    /// Its actions with what became of them.
    pub actions: Vec<ActionView>,
    /// The agent's report.
    #[schema(value_type = Option<serde_json::Value>)]
    pub report: Option<Json>,
    /// The undo that stands.
    pub undo: Option<UndoView>,
}

impl From<&bilinc::DreamView> for DreamView {
    fn from(dream: &bilinc::DreamView) -> Self {
        let actions = (dream.actions.iter().enumerate())
            .map(|(index, record)| ActionView {
                expected_version: record.expected_version,
                merged_from: record.merged_from.clone(),
                reason: record.reason.to_string(),
                evidence_keys: record.evidence_keys.clone(),
                result: ResultView::new(index, record),
            })
            .collect();
        Self {
            dream_id: dream.dream,
            state: dream.phase.name().into(),
            started_at: dream.started_at.into(),
            finished_at: dream.finished_at.map(Time),
            undo_until: dream.undo_until.into(),
            options: (&dream.options).into(),
            forget_cap: dream.forget_cap,
            forgets_reserved: dream.forgets,
            more_candidates: dream.more_candidates,
            candidates: dream.candidates.iter().map(CandidateRef::from).collect(),
            actions,
            report: dream.report.clone(),
            undo: dream.undo.as_ref().map(|undo| UndoView::new(undo, false)),
        }
    }
}

/// A dream in a list.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SummaryView {
    /// Its id.
    #[schema(value_type = String)]
    pub dream_id: DreamId,
    /// Where it is in its life.
    pub state: Cow<'static, str>,
    /// When it started.
    pub started_at: Time,
    /// When it was finished last.
    pub finished_at: Option<Time>,
    /// Until when it can be undone.
    pub undo_until: Time,
    /// How many candidates it had.
    pub candidates: u64,
    /// Its own changes and flags.
    pub changes: u64,
    /// Most entries that it may forget.
    pub forget_cap: u32,
    /// Forgets it has carried out.
    pub forgets_reserved: u32,
}

impl From<&DreamSummary> for SummaryView {
    fn from(dream: &DreamSummary) -> Self {
        Self {
            dream_id: dream.dream,
            state: dream.phase.name().into(),
            started_at: dream.started_at.into(),
            finished_at: dream.finished_at.map(Time),
            undo_until: dream.undo_until.into(),
            candidates: dream.candidates,
            changes: dream.changes,
            forget_cap: dream.forget_cap,
            forgets_reserved: dream.forgets,
        }
    }
}

/// Dreams, newest first.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct DreamsView {
    /// The dreams.
    pub dreams: Vec<SummaryView>,
}
