//! The tools, in the order in which they are listed.
//!
//! A tool is a table of arguments and a function. What it may do follows from the operations of the
//! catalogue that it carries out.

mod back;
mod dreams;
mod entries;
mod get;
mod reads;
mod status;

use bilinc::Written;
use rmcp::model::ToolAnnotations;
use serde_json::{Map, Value};

use super::arguments::{Arguments, Change};
use super::errors::Failure;
use super::reply::Reply;
use super::schema::{self, Field, Kind};
use super::store::{Handle, Store};

pub(super) use self::get::GET;
use crate::catalogue::Operation;
use crate::wire::requests::{Request, Surface};

/// What MCP brings to each request. Answers have a limit of their own here.
pub(super) const SURFACE: Surface = Surface { source: super::SOURCE, answer_bytes: None };

/// A tool.
pub(super) struct Tool {
    /// Its name.
    pub(super) name: &'static str,
    /// What a person sees.
    pub(super) title: &'static str,
    /// What a model reads.
    pub(super) about: &'static str,
    /// The operations that it carries out.
    pub(super) operations: &'static [Operation],
    /// Whether a second call with the same arguments adds nothing.
    pub(super) idempotent: bool,
    /// Its arguments.
    pub(super) fields: &'static [Field],
    /// What it answers.
    pub(super) output: fn() -> Map<String, Value>,
    /// What it does.
    pub(super) run: fn(&Call<'_>) -> Result<Reply, Failure>,
}

/// All tools, in the order in which they are listed.
pub(super) const ALL: &[Tool] = &[
    entries::COMMIT_MEM,
    reads::RECALL,
    GET,
    entries::REVISE,
    entries::FORGET,
    status::STATUS,
    back::SNAPSHOT,
    back::DIFF,
    back::ROLLBACK,
    reads::LIST_MEMORIES,
    reads::HISTORY,
    entries::CONFIRM,
    dreams::DREAM_START,
    dreams::DREAM_APPLY,
    dreams::DREAM_UNDO,
    dreams::DREAM_SHOW,
    dreams::DREAM_LIST,
    back::UNDO,
];

/// The names of all tools, in the order in which they are listed.
pub fn tool_names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|tool| tool.name)
}

impl Tool {
    /// Whether it can write.
    pub(super) fn writes(&self) -> bool {
        self.operations.iter().any(|operation| operation.writes)
    }

    /// As a client sees it.
    pub(super) fn listed(&self) -> rmcp::model::Tool {
        let destructive = self.operations.iter().any(|operation| operation.destructive);
        let annotations = ToolAnnotations::from_raw(
            Some(self.title.to_owned()),
            Some(!self.writes()),
            Some(destructive),
            Some(self.idempotent),
            Some(false),
        );
        let mut listed = rmcp::model::Tool::new(self.name, self.about, schema::input(self.fields));
        listed.title = Some(self.title.to_owned());
        listed.output_schema = Some((self.output)().into());
        listed.annotations = Some(annotations);
        listed
    }
}

/// A call of a tool.
pub(super) struct Call<'a> {
    /// The store.
    pub(super) store: &'a Store,
    /// What was given.
    pub(super) arguments: Arguments<'a>,
}

impl Call<'_> {
    /// The request that the arguments make, carried out on a handle.
    pub(super) fn carry_out<R: Request>(
        &self,
        handle: &Handle,
        changes: &[Change<'_>],
    ) -> Result<Written<R::Answer>, Failure> {
        let request: R = self.arguments.request(&[changes, &[Change::Drop("idempotency_key")]].concat())?;
        Ok(handle.ask(request, self.once().as_deref())?)
    }

    /// The name that makes this call repeatable.
    pub(super) fn once(&self) -> Option<String> {
        self.arguments.text("idempotency_key")
    }
}

const MEMORY_TYPES: &[&str] = &["semantic", "episodic", "procedural", "working", "spatial"];
const EXPECTED: Field = Field::optional(
    "expected_version",
    Kind::Text,
    "Refuse when the memory has another version than this entryVersion",
);
const SESSION: Field =
    Field::optional("session_id", Kind::Text, "The session it is done in; undo takes one back whole");
const IDEMPOTENCY: Field =
    Field::optional("idempotency_key", Kind::Text, "Makes a repeated call give the first answer again, for 24 hours");
const DREAM: Field = Field::required("dream_id", Kind::Text, "The dream's id");
const DRY_RUN: Field =
    Field::optional("dry_run", Kind::Flag, "Show what it would do and write nothing").or(schema::Default::No);

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::catalogue;

    /// What is asked for on the other surfaces only.
    const NOT_HERE: [Operation; 6] =
        [catalogue::FLAG, catalogue::UNFLAG, catalogue::LOG, catalogue::VERIFY, catalogue::EXPORT, catalogue::IMPORT];

    #[test]
    fn every_operation_of_the_catalogue_has_its_tool_or_is_known_to_have_none() {
        for operation in catalogue::ALL.iter().filter(|operation| !operation.is_local()) {
            let has_tool = ALL.iter().any(|tool| tool.operations.contains(operation));
            assert_ne!(has_tool, NOT_HERE.contains(operation), "{}", operation.name);
        }
    }

    #[test]
    fn a_tool_of_one_operation_has_its_title_and_only_reads_repeat_for_certain() {
        for tool in ALL {
            if let [operation] = tool.operations {
                assert_eq!(tool.title, operation.summary, "{}", tool.name);
            }
            assert!(tool.writes() || tool.idempotent, "{}", tool.name);
        }
    }

    #[test]
    fn words_are_those_of_the_library() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        assert_eq!(names(MEMORY_TYPES), names(&bilinc::MemoryType::ALL.map(bilinc::MemoryType::name)));
        assert_eq!(names(entries::STRATEGIES), names(&bilinc::Strategy::ALL.map(bilinc::Strategy::name)));
        assert_eq!(names(reads::PROFILES), names(&crate::wire::fields::PROFILE_NAMES));
    }

    #[test]
    fn arguments_are_named_once_and_defaults_belong_to_what_may_be_left_out() {
        for tool in ALL {
            let names: BTreeSet<_> = tool.fields.iter().map(|field| field.name).collect();
            assert_eq!(names.len(), tool.fields.len(), "{}", tool.name);
            assert!(tool.fields.iter().all(|field| !field.required || field.default.is_none()), "{}", tool.name);
        }
    }
}
