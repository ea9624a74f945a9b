//! `commit_mem`, `revise`, `forget` and `confirm`.

use super::{Call, EXPECTED, IDEMPOTENCY, MEMORY_TYPES, SESSION, Tool};
use crate::catalogue;
use crate::mcp::errors::Failure;
use crate::mcp::limits::{Omitted, Shortened};
use crate::mcp::outputs;
use crate::mcp::reply::{Making, Reply};
use crate::mcp::schema::{Default, Field, Kind};
use crate::wire::entries::{Forgotten, PurgedView};
use crate::wire::requests::{CommitRequest, ConfirmRequest, ForgetRequest, Request, ReviseRequest};

pub(super) const STRATEGIES: &[&str] = &["recency", "importance", "entrenchment", "verification"];
const FRACTION: Kind = Kind::Number(0.0, Some(1.0));

pub(super) const COMMIT_MEM: Tool = Tool {
    name: "commit_mem",
    title: catalogue::COMMIT.summary,
    about: "Save one memory under a key, or replace the one that is there with every field of this call. \
            Use revise to change the value alone. Never save credentials: they are refused.",
    operations: &[catalogue::COMMIT],
    idempotent: false,
    fields: &[
        Field::required(
            "key",
            Kind::Text,
            "A short dotted path of what it is about, such as project.editor; 1 to 512 characters",
        ),
        Field::required("value", Kind::Any, "What to remember: any JSON, most often a plain sentence as a string"),
        Field::optional(
            "memory_type",
            Kind::Word(MEMORY_TYPES),
            "What kind of memory it is: fact, event, way of doing, of the moment, place",
        )
        .or(Default::Word("semantic")),
        Field::optional("importance", FRACTION, "How much it matters; 1.0 when absent"),
        Field::optional("metadata", Kind::Object, "A JSON object kept with it"),
        Field::optional("source", Kind::Text, "Who says so; bilinc_mcp when absent"),
        SESSION,
        Field::optional("canonical", Kind::Flag, "Mark it as the agreed truth, which revise guards"),
        Field::optional("priority", FRACTION, "How urgent it is"),
        Field::optional("ttl", Kind::Number(0.0, None), "Seconds after which it is gone"),
        Field::optional("if_absent", Kind::Flag, "Refuse when the key exists").or(Default::No),
        EXPECTED,
        IDEMPOTENCY,
    ],
    output: outputs::committed,
    run: |call| {
        let handle = call.store.create()?;
        let written = call.carry_out::<CommitRequest>(&handle, &[])?;
        Making::of(&handle).replayed(written.replayed).whole(&written.answer)
    },
};

pub(super) const REVISE: Tool = Tool {
    name: "revise",
    title: catalogue::REVISE.summary,
    about: "Replace the value of a memory that exists; its type, source and metadata stay, and the old value stays in \
            its history. Fails with memory_not_found where there is none.",
    operations: &[catalogue::REVISE],
    idempotent: false,
    fields: &[
        Field::required("key", Kind::Text, "The memory's key, exactly"),
        Field::required("value", Kind::Any, "Its new value: any JSON"),
        Field::optional("importance", FRACTION, "Its new importance; kept when absent"),
        Field::optional(
            "strategy",
            Kind::Word(STRATEGIES),
            "When to keep what is stored against a lower importance: never, always, if it is canonical, if it was confirmed",
        )
        .or(Default::Word("entrenchment")),
        Field::optional("reason", Kind::Text, "Why, 1 to 512 characters"),
        SESSION,
        EXPECTED,
        IDEMPOTENCY,
    ],
    output: outputs::revised,
    run: |call| change::<ReviseRequest>(call),
};

pub(super) const FORGET: Tool = Tool {
    name: "forget",
    title: catalogue::FORGET.summary,
    about: "Take one memory out of use, by its exact key and with a reason. undo can bring it back. With purge its \
            values are erased for good, which nothing undoes: only when a person asks for that.",
    operations: &[catalogue::FORGET],
    idempotent: true,
    fields: &[
        Field::required("key", Kind::Text, "The memory's key, exactly"),
        Field::required("reason", Kind::Text, "Why, 1 to 512 characters; it stays in the history"),
        Field::optional("purge", Kind::Flag, "Erase it for good, with all its earlier values").or(Default::No),
        SESSION,
        EXPECTED,
        IDEMPOTENCY,
    ],
    output: outputs::forgotten,
    run: |call| {
        let handle = call.store.change()?;
        let written = call.carry_out::<ForgetRequest>(&handle, &[])?;
        let Forgotten { key, removed, reason_recorded, purged } = written.answer;
        let items = purged.as_ref().map_or(0, |purged| purged.also_in.len());
        Making::of(&handle).replayed(written.replayed).cut(items, |cut| {
            let mut omitted = Omitted::default();
            let purged = purged.as_ref().map(|purged| {
                let mut also_in = purged.also_in.clone();
                cut.list("alsoIn", &mut also_in, &mut omitted);
                PurgedView { also_in, ..*purged }
            });
            Ok(Shortened { view: Forgotten { key: key.clone(), removed, reason_recorded, purged }, omitted })
        })
    },
};

pub(super) const CONFIRM: Tool = Tool {
    name: "confirm",
    title: catalogue::CONFIRM.summary,
    about: "Say that a memory is still right: its value stays, and it counts as looked at now.",
    operations: &[catalogue::CONFIRM],
    idempotent: false,
    fields: &[
        Field::required("key", Kind::Text, "The memory's key, exactly"),
        Field::optional("reason", Kind::Text, "Why, 1 to 512 characters"),
        SESSION,
        EXPECTED,
        IDEMPOTENCY,
    ],
    output: outputs::confirmed,
    run: |call| change::<ConfirmRequest>(call),
};

/// A change of something that is there, with a short answer.
fn change<R: Request>(call: &Call<'_>) -> Result<Reply, Failure> {
    let handle = call.store.change()?;
    let written = call.carry_out::<R>(&handle, &[])?;
    Making::of(&handle).replayed(written.replayed).whole(&written.answer)
}
