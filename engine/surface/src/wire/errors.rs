//! Errors as JSON: one shape on every surface.

use std::borrow::Cow;

use bilinc::{
    DreamId, EngineError, Error, Head, HeadNotMet, Ids, Key, Rejection, Seq, SnapshotId, TimeOrderedIds, Version,
    log::LogError,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::dreams::ResultView;
use super::fields::camel_case;
use super::{Change, Time};
use crate::backend::ApplyFailed;

/// An error.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErrorView {
    /// The code.
    pub error: String,
    /// What is wrong and what to do.
    pub message: String,
    /// Names this answer, so that it can be spoken about.
    pub request_id: String,
    /// Whether the same call may succeed later.
    pub retryable: bool,
    /// What the code leaves open.
    pub details: Details,
}

/// A name for one answer.
#[must_use]
pub fn request_id() -> String {
    uuid::Uuid::from_u128(TimeOrderedIds.next_id()).to_string()
}

/// What an error code leaves open. Which of these are there depends on the code.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Details {
    /// Which part of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// Which line of an import, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The rule that was broken, or why something is closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Which entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub key: Option<Key>,
    /// The version that was expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub expected_version: Option<Version>,
    /// The version that the entry has.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub current_version: Option<Version>,
    /// The change that came between.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
    /// The strategy that gave way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy: Option<Cow<'static, str>>,
    /// Which snapshot.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub snapshot_id: Option<SnapshotId>,
    /// Which dream.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub dream_id: Option<DreamId>,
    /// Until when it was possible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
    /// Most entries that a dream may forget.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cap: Option<u32>,
    /// How many it has forgotten.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applied: Option<u32>,
    /// How many the page asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<u32>,
    /// How large the operation is, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The limit, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// The kind of credential that was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Cow<'static, str>>,
    /// Where: a JSON path, or a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The damaged segment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment: Option<String>,
    /// The offset in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// The first position that is affected.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>)]
    pub position: Option<Seq>,
    /// The last position of the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>)]
    pub head: Option<Seq>,
    /// How many positions, from the affected one to the last, are not proved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub affected: Option<u64>,
    /// The chain head that was noted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_head: Option<String>,
    /// The chain head of this log at that position.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found_head: Option<String>,
    /// Who holds a lock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// `unknown` when it cannot be said whether the write is there, `recorded` when it is and only its answer
    /// is missing; the idempotency key settles it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Cow<'static, str>>,
    /// The idempotency key under which the same request finds out or acts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// The last position that is surely durable.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>)]
    pub durable_through: Option<Seq>,
    /// The damage before which the store answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub degraded: Option<String>,
    /// The page of a dream that failed, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    /// What became of the actions on earlier pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub results: Option<Vec<ResultView>>,
    /// Indexes of the actions that were never carried out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_tried: Option<Vec<usize>>,
}

impl From<&Error> for Details {
    fn from(error: &Error) -> Self {
        match error {
            Error::Rejected(rejection) => rejection.into(),
            Error::Engine(EngineError::Log(error)) => error.into(),
            Error::Engine(EngineError::Unreadable { position, .. }) => {
                Self { position: Some(*position), ..Self::default() }
            }
            Error::Engine(EngineError::OtherHistory(not_met)) => not_met.as_ref().into(),
            Error::Engine(EngineError::Unanswered { .. }) => {
                Self { outcome: Some("recorded".into()), ..Self::default() }
            }
            _ => Self::default(),
        }
    }
}

impl From<&HeadNotMet> for Details {
    fn from(not_met: &HeadNotMet) -> Self {
        let HeadNotMet { expected, found, last } = not_met;
        let found = expected.seq.zip(*found).map(|(seq, chain)| Head { seq, chain });
        Self {
            reason: Some("other_history".to_owned()),
            expected_head: Some(expected.to_string()),
            found_head: found.map(|head| head.to_string()),
            head: Some(last.seq),
            ..Self::default()
        }
    }
}

impl Details {
    /// With what a damage costs in a log that ends at `head`.
    #[must_use]
    pub fn with_cost(self, head: Option<Seq>) -> Self {
        let affected = |position: Seq, head: Seq| head.get().saturating_add(1).saturating_sub(position.get());
        let affected = self.position.zip(head).map(|(position, head)| affected(position, head));
        Self { head: head.filter(|_| affected.is_some()).or(self.head), affected, ..self }
    }

    /// With what is known of a dream that failed part-way.
    #[must_use]
    pub fn with_pages(self, failed: &ApplyFailed) -> Self {
        Self {
            page: Some(failed.page),
            results: Some(failed.results.clone()),
            not_tried: Some(failed.not_tried.clone()),
            ..self
        }
    }
}

impl From<&Rejection> for Details {
    fn from(rejection: &Rejection) -> Self {
        let none = Self::default();
        match rejection {
            Rejection::Invalid { field, reason, .. } => {
                let (line, field) = line_and_rest(field);
                // An entry of an import as a whole is its line.
                let field = field.filter(|field| line.is_none() || *field != "entry").map(camel_case);
                Self { line, field, reason: Some((*reason).to_owned()), ..none }
            }
            Rejection::MemoryNotFound { key } => Self { key: Some(key.clone()), ..none },
            Rejection::MemoryExists { key, current } => {
                Self { key: Some(key.clone()), current_version: Some(*current), ..none }
            }
            Rejection::VersionConflict { key, expected, current, change } => Self {
                key: Some(key.clone()),
                expected_version: Some(*expected),
                current_version: Some(*current),
                change: change.as_ref().map(Change::from),
                ..none
            },
            // Each strategy gives way for one reason; they differ in what they guard.
            Rejection::RevisionRejected { key, strategy, .. } => Self {
                key: Some(key.clone()),
                strategy: Some(strategy.name().into()),
                reason: Some("importance_below_stored".to_owned()),
                ..none
            },
            Rejection::SnapshotNotFound(snapshot) => Self { snapshot_id: Some(*snapshot), ..none },
            Rejection::DreamNotFound(dream) => Self { dream_id: Some(*dream), ..none },
            Rejection::DreamClosed { dream, reason } => {
                Self { dream_id: Some(*dream), reason: Some(reason.name().to_owned()), ..none }
            }
            Rejection::UndoWindowExpired { dream, until } => {
                Self { dream_id: Some(*dream), until: Some((*until).into()), ..none }
            }
            Rejection::ForgetCapExceeded { cap, applied, asked } => {
                Self { cap: Some(*cap), applied: Some(*applied), asked: Some(*asked), ..none }
            }
            Rejection::OperationTooLarge { bytes, limit } => Self { bytes: Some(*bytes), limit: Some(*limit), ..none },
            Rejection::SecretDetected { kind, path } => {
                let (line, path) = line_and_rest(path);
                Self { kind: Some((*kind).into()), line, path: path.map(str::to_owned), ..none }
            }
            _ => none,
        }
    }
}

/// Takes apart where in an import something is: `line 3: value`, or `line 3` alone.
fn line_and_rest(place: &str) -> (Option<u64>, Option<&str>) {
    let (number, rest) = match place.strip_prefix("line ").map(|place| (place, place.split_once(": "))) {
        Some((_, Some((number, rest)))) => (number, Some(rest)),
        Some((number, None)) => (number, None),
        None => return (None, Some(place)),
    };
    match number.parse() {
        Ok(number) => (Some(number), rest),
        Err(_) => (None, Some(place)),
    }
}

impl From<&LogError> for Details {
    fn from(error: &LogError) -> Self {
        let none = Self::default();
        match error {
            LogError::Damage(damage) => Self {
                segment: Some(damage.segment.clone()),
                offset: Some(damage.offset),
                position: Some(Seq::new(damage.position)),
                reason: Some(damage.reason.clone()),
                ..none
            },
            LogError::Io { path, .. }
            | LogError::NotFound { path }
            | LogError::NotAStore { path, .. }
            | LogError::SalvageUnfinished { path } => Self { path: Some(path.clone()), ..none },
            LogError::NewerFormat { path, .. } => {
                Self { path: Some(path.clone()), reason: Some("newer_format".to_owned()), ..none }
            }
            LogError::Busy { holder, .. } => Self { holder: Some(holder.clone()), ..none },
            LogError::Poisoned { durable, .. } => {
                Self { outcome: Some("unknown".into()), durable_through: Some(Seq::new(*durable)), ..none }
            }
            LogError::Unsettled { .. } => Self { outcome: Some("unknown".into()), ..none },
            LogError::ReadOnly { reason } => Self { reason: Some(reason.clone()), ..none },
            LogError::OperationTooLarge { bytes, limit } => Self { bytes: Some(*bytes), limit: Some(*limit), ..none },
            _ => none,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn details_hold_what_belongs_to_the_code_and_nothing_else() {
        let rejection = Rejection::ForgetCapExceeded { cap: 3, applied: 2, asked: 4 };
        let details = serde_json::to_string(&Details::from(&rejection)).unwrap();
        assert_eq!(details, r#"{"cap":3,"applied":2,"asked":4}"#);
        let details = serde_json::to_string(&Details::from(&Rejection::IdempotencyConflict)).unwrap();
        assert_eq!(details, "{}");
    }

    #[test]
    fn a_field_is_in_camel_case_and_apart_from_the_line_of_an_import() {
        for (field, wanted) in [
            ("session_id", r#"{"field":"sessionId","reason":"r"}"#),
            ("line 3: session_id", r#"{"field":"sessionId","line":3,"reason":"r"}"#),
            ("line 3: entry", r#"{"line":3,"reason":"r"}"#),
            ("line 12", r#"{"line":12,"reason":"r"}"#),
            ("line x", r#"{"field":"line x","reason":"r"}"#),
        ] {
            let details: Details = (&Rejection::invalid(field, "r", "m")).into();
            let details: serde_json::Value = serde_json::to_value(details).unwrap();
            assert_eq!(details, serde_json::from_str::<serde_json::Value>(wanted).unwrap(), "{field}");
        }
        let secret = Rejection::SecretDetected { kind: "k", path: "line 2: value$.a".to_owned() };
        let details = serde_json::to_string(&Details::from(&secret)).unwrap();
        assert_eq!(details, r#"{"line":2,"kind":"k","path":"value$.a"}"#);
    }

    #[test]
    fn a_damage_costs_all_from_its_position_to_the_last() {
        let at = |position| Details { position: Some(Seq::new(position)), ..Details::default() };
        assert_eq!(at(3).with_cost(Some(Seq::new(5))).affected, Some(3));
        assert_eq!(at(6).with_cost(Some(Seq::new(5))).affected, Some(0));
        assert_eq!(at(3).with_cost(None).affected, None);
        assert_eq!(Details::default().with_cost(Some(Seq::new(5))).head, None);
    }
}
