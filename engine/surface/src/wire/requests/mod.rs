//! What is asked for, the same on every surface.
//!
//! A request is read member by member from a body or a query string, or made of options of the
//! command line. [`Request::prepare`] judges its form; what it gives is then carried out on a store
//! and answers with a twin of [`crate::wire`]. What a surface says of itself comes in through
//! [`Surface`].

mod back;
mod dreams;
mod entries;
mod members;
mod reads;
mod store;
#[cfg(test)]
mod tests;

use bilinc::{Actor, Error, Key, Memory, MemoryType, Rejection, Version, Written};
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use self::back::{
    DiffRequest, PreviewRequest, RollbackRequest, SnapshotRequest, SnapshotsRequest, UndoRequest, undo_selection,
};
pub use self::dreams::{DreamApplyRequest, DreamListRequest, DreamShowRequest, DreamStartRequest, DreamUndoRequest};
pub use self::entries::{CommitRequest, ConfirmRequest, FlagRequest, ForgetRequest, ReviseRequest, UnflagRequest};
pub use self::members::{Field, Members};
pub(crate) use self::members::{beginning, members, wrong_type};
pub(crate) use self::reads::response_too_large;
pub use self::reads::{GetRequest, HistoryRequest, ListRequest, RecallRequest};
pub use self::store::{ImportRequest, LogRequest, StatusRequest, Unsound, VerifyRequest, sound};

use super::fields;
use crate::catalogue::Operation;

/// What a surface brings to each request.
#[derive(Debug, Clone, Copy)]
pub struct Surface {
    /// Who saves when nobody is named.
    pub source: &'static str,
    /// The largest answer with values of several entries, in bytes, where there is a limit.
    pub answer_bytes: Option<usize>,
}

/// A value that is cut keeps so many characters.
pub const CUT_CHARS: usize = 2_000;

/// A request whose form is right, to be carried out on a store.
pub type Prepared<A> = Box<dyn FnOnce(&Memory) -> Result<Written<A>, Error> + Send>;

/// A request that can be read.
pub trait Read: Sized {
    /// Its members, in snake case.
    const FIELDS: &'static [&'static str];

    /// Takes its members.
    ///
    /// # Errors
    /// For the first that cannot be read.
    fn read(members: &mut Members<'_>) -> Result<Self, Rejection>;

    /// Reads it whole.
    ///
    /// # Errors
    /// For the first member that cannot be read, or that nobody knows.
    fn read_all(mut members: Members<'_>) -> Result<Self, Rejection> {
        let request = Self::read(&mut members);
        // A name that nobody knows explains why one that is needed is not there.
        match (request, members.finish(Self::FIELDS)) {
            (Ok(request), Ok(())) => Ok(request),
            (Err(Rejection::Invalid { reason: "required", .. }) | Ok(_), Err(unknown)) => Err(unknown),
            (Err(error), _) => Err(error),
        }
    }
}

/// A request of the catalogue. Written down as JSON, it is what its route reads.
pub trait Request: Read + Clone + Serialize {
    /// Which operation it asks for.
    const OPERATION: Operation;

    /// What it answers.
    type Answer: Answer;

    /// The same with who writes, where that can be said of it and nobody is named.
    #[must_use]
    fn signed(self, _source: &str) -> Self {
        self
    }

    /// Judges its form.
    ///
    /// # Errors
    /// When something in it is malformed.
    fn prepare(self, surface: &Surface) -> Result<Prepared<Self::Answer>, Rejection>;
}

/// What is done about an answer over the limit of its surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Oversize {
    /// It is given whole.
    Whole,
    /// The request is refused; it can be repeated with a smaller page.
    Refused,
    /// Its values are cut.
    Cut,
}

/// An answer.
pub trait Answer: Serialize + DeserializeOwned {
    /// What is done about it when it is too large.
    fn oversize(&self) -> Oversize {
        Oversize::Whole
    }

    /// Cuts its values to so many characters.
    fn cut(&mut self, _chars: usize) {}
}

/// Answers that are never large enough for a limit to matter, or are given whole at any size.
macro_rules! whole {
    ($($answer:ty),* $(,)?) => { $(impl crate::wire::requests::Answer for $answer {})* };
}
use whole;

/// Who writes stands in the member `source`.
macro_rules! signed {
    () => {
        fn signed(self, source: &str) -> Self {
            Self { source: self.source.or_else(|| Some(source.to_owned())), ..self }
        }
    };
}
use signed;

/// Defines a request: its members and how they are read.
macro_rules! request {
    ($(#[$meta:meta])* $name:ident { $($(#[$of_field:meta])* $field:ident: $kind:ty,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, serde::Serialize, utoipa::ToSchema)]
        #[serde(rename_all = "camelCase")]
        pub struct $name { $($(#[$of_field])* pub $field: $kind,)* }

        impl crate::wire::requests::Read for $name {
            const FIELDS: &'static [&'static str] = &[$(stringify!($field)),*];

            fn read(_members: &mut crate::wire::requests::Members<'_>) -> Result<Self, bilinc::Rejection> {
                Ok(Self { $($field: _members.take(stringify!($field))?,)* })
            }
        }
    };
}
use request;

/// The response to a repeated read is never a replay.
fn fresh<A>(answer: A) -> Written<A> {
    Written { answer, replayed: false }
}

/// The same with another answer.
fn answered<T, A>(written: Written<T>, answer: impl FnOnce(T) -> A) -> Written<A> {
    Written { answer: answer(written.answer), replayed: written.replayed }
}

/// Who writes.
pub(crate) fn actor(source: Option<&str>, session_id: Option<&str>, surface: &Surface) -> Actor {
    Actor { source: source.unwrap_or(surface.source).into(), session_id: session_id.map(Into::into) }
}

fn key(text: &str) -> Result<Key, Rejection> {
    fields::key("key", text)
}

fn keys(field: &str, texts: Option<Vec<String>>) -> Result<Vec<Key>, Rejection> {
    texts.unwrap_or_default().iter().map(|text| fields::key(field, text)).collect()
}

fn version(text: Option<&str>) -> Result<Option<Version>, Rejection> {
    text.map(|text| fields::id("expected_version", text)).transpose()
}

fn memory_type(field: &str, name: &str) -> Result<MemoryType, Rejection> {
    named(field, name, MemoryType::ALL, MemoryType::name)
}

/// One of a few by its name.
fn named<T: Copy, const N: usize>(
    field: &str,
    name: &str,
    all: [T; N],
    of: impl Fn(T) -> &'static str,
) -> Result<T, Rejection> {
    all.into_iter().find(|one| of(*one) == name).ok_or_else(|| {
        let names: Vec<_> = all.into_iter().map(&of).collect();
        Rejection::invalid(field, "unknown_value", format!("one of {}", names.join(", ")))
    })
}

/// A number of items, which the library holds to its own limits.
fn limit(given: Option<u64>, default: usize) -> usize {
    given.map_or(default, |given| usize::try_from(given).unwrap_or(usize::MAX))
}
