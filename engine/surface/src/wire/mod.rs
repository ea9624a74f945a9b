//! Answers and requests as JSON, the same on every surface.
//!
//! Domain types are not the wire format: each family of answers has serialisable twins here, in
//! camelCase, made from the domain's with `From`. Values and metadata go through as the raw JSON
//! text that was stored, so number text and member order stay as they are. The command line's
//! human output is drawn from the same twins, so that it can never show what the JSON does not hold.

pub mod actions;
pub mod backup;
pub mod diffs;
pub mod dreams;
pub mod entries;
pub mod errors;
pub mod fields;
pub mod history;
pub mod log;
pub mod recall;
pub mod requests;
pub mod salvage;
pub mod snapshots;
pub mod status;
pub mod transfer;
pub mod undos;
pub mod verify;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use bilinc::{ChangeInfo, Head, Json, MemoryType, Seq, Timestamp};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::ToSchema;

/// The chain hash at the head of the log, as answers carry it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateVersion(pub String);

impl From<Head> for StateVersion {
    fn from(head: Head) -> Self {
        Self(head.chain.to_string())
    }
}

/// An answer with what every answer carries.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer<T> {
    success: bool,
    #[serde(flatten)]
    body: T,
    state_version: StateVersion,
    #[serde(skip_serializing_if = "is_false")]
    replayed: bool,
}

impl<T> Answer<T> {
    /// The answer of a read, or the first answer of a write.
    #[must_use]
    pub fn new(body: T, state: impl Into<StateVersion>) -> Self {
        Self { success: true, body, state_version: state.into(), replayed: false }
    }

    /// The same answer, marked as given before.
    #[must_use]
    pub fn replayed(self, replayed: bool) -> Self {
        Self { replayed, ..self }
    }
}

/// A moment, as RFC 3339 with milliseconds and `Z`.
#[derive(ToSchema, Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[schema(value_type = String, format = DateTime)]
pub struct Time(pub Timestamp);

impl From<Timestamp> for Time {
    fn from(time: Timestamp) -> Self {
        Self(time)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Timestamp::parse(&String::deserialize(deserializer)?).map(Self).map_err(serde::de::Error::custom)
    }
}

/// Numbers of entries by memory type, as an object.
#[derive(ToSchema, Debug, Clone, Copy, PartialEq, Eq)]
#[schema(value_type = std::collections::BTreeMap<String, u64>)]
pub struct ByType(pub [u64; 5]);

impl ByType {
    /// All entries.
    #[must_use]
    pub fn total(self) -> u64 {
        self.0.iter().sum()
    }

    /// Each type with its number.
    pub fn iter(self) -> impl Iterator<Item = (MemoryType, u64)> {
        MemoryType::ALL.into_iter().zip(self.0)
    }
}

impl Serialize for ByType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (kind, number) in self.iter() {
            map.serialize_entry(kind.name(), &number)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for ByType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let numbers = BTreeMap::<String, u64>::deserialize(deserializer)?;
        Ok(Self(MemoryType::ALL.map(|kind| numbers.get(kind.name()).copied().unwrap_or(0))))
    }
}

/// A change that came between, as conflicts name it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Change {
    /// What it did.
    pub op: Cow<'static, str>,
    /// Who did it.
    pub source: String,
    /// When.
    pub at: Time,
    /// Where in the log.
    #[schema(value_type = u64)]
    pub seq: Seq,
}

impl From<&ChangeInfo> for Change {
    fn from(change: &ChangeInfo) -> Self {
        Self { op: change.op.name().into(), source: change.source.to_string(), at: change.at.into(), seq: change.seq }
    }
}

/// A value that is there, whatever it is: a null is one, too.
pub(crate) fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

/// Whether a mark that is only written when set can be left out.
#[allow(clippy::trivially_copy_pass_by_ref)]
pub(crate) fn is_false(mark: &bool) -> bool {
    !mark
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use bilinc::ChainHash;

    use super::*;

    #[derive(Serialize)]
    struct Body {
        value: Json,
    }

    #[test]
    fn values_keep_their_number_text_and_member_order_inside_an_answer() {
        let text = r#"{"z":1.10,"a":[12345678901234567890,1e400]}"#;
        let body = Body { value: Json::parse(text, 1000).unwrap() };
        let head = Head { seq: Seq::new(1), chain: ChainHash([1; 32]) };
        let answer = serde_json::to_string(&Answer::new(body, head)).unwrap();
        let hash = "01".repeat(32);
        assert_eq!(answer, format!(r#"{{"success":true,"value":{text},"stateVersion":"{hash}"}}"#));
    }

    #[test]
    fn a_replayed_answer_says_so() {
        let head = Head { seq: Seq::ZERO, chain: ChainHash([0; 32]) };
        let answer = Answer::new(Body { value: Json::string("x") }, head).replayed(true);
        assert!(serde_json::to_string(&answer).unwrap().ends_with(r#","replayed":true}"#));
    }
}
