//! What the agent of the guided run decides about the candidates. A real agent writes such a list
//! after it has read them; this one was written by hand.

use bilinc::ActionOp;

/// An action without the version that was looked at: that comes from the candidates.
pub(super) struct Decision {
    pub(super) op: ActionOp,
    pub(super) key: &'static str,
    pub(super) new_value: Option<&'static str>,
    pub(super) merged_from: &'static [&'static str],
    pub(super) evidence: &'static [&'static str],
    pub(super) reason: &'static str,
}

/// Says a merged entry anew; the duplicate is forgotten by an action of its own.
const fn merge(
    key: &'static str,
    duplicate: &'static [&'static str],
    value: &'static str,
    reason: &'static str,
) -> Decision {
    Decision { op: ActionOp::Revise, key, new_value: Some(value), merged_from: duplicate, evidence: duplicate, reason }
}

const fn other(op: ActionOp, key: &'static str, evidence: &'static [&'static str], reason: &'static str) -> Decision {
    Decision { op, key, new_value: None, merged_from: &[], evidence, reason }
}

/// The entry that another agent changes while the dream runs.
pub(super) const CHANGED_MEANWHILE: &str = "team.on-call";
/// What it changes it to.
pub(super) const CHANGED_MEANWHILE_TO: &str = "Sofia is on call until the 14th.";
/// The merged entry that another agent changes after the dream.
pub(super) const CHANGED_AFTERWARDS: &str = "release.steps";
/// What it changes it to.
pub(super) const CHANGED_AFTERWARDS_TO: &str = "Changelog, tag, wait for CI, tell #releases.";
/// The merged entry that is looked at afterwards.
pub(super) const SHOWN: &str = "test.database";
/// A question that it answers.
pub(super) const QUESTION: &str = "postgres for integration tests";
/// Of two entries that contradict each other, the one that gets the flag.
pub(super) const UNCLEAR: &str = "api.rate-limit";
/// A word for the report.
pub(super) const REPORT: &str =
    "Five duplicates merged, facts before 3.2 retired, one contradiction for Mina to settle.";

use ActionOp::{Confirm, Flag, Forget};

/// The list, in the order in which it is sent.
#[rustfmt::skip]
pub(super) const DECISIONS: &[Decision] = &[
    merge("build.command", &["build.how-to"],
        "Build with `just build`: plain `cargo build` does not bundle the web assets.",
        "said twice; one sentence keeps it all"),
    other(Forget, "build.how-to", &["build.command"], "merged into build.command"),
    merge("test.database", &["test.needs-postgres"],
        "`just db-up` before integration tests: Postgres 16, port 5433.",
        "said twice; version and port kept"),
    other(Forget, "test.needs-postgres", &["test.database"], "merged into test.database"),
    merge("user.mina.pr-size", &["user.mina.small-prs"],
        "Mina wants pull requests under 300 changed lines, smaller if possible.",
        "said twice; the limit is Mina's own"),
    other(Forget, "user.mina.small-prs", &["user.mina.pr-size"], "merged into user.mina.pr-size"),
    merge("release.steps", &["release.process"],
        "1. `just changelog` 2. tag vX.Y.Z 3. CI builds the image and publishes it.",
        "said twice; the steps are clearer"),
    other(Forget, "release.process", &["release.steps"], "merged into release.steps"),
    merge("bug.1182.root-cause", &["bug.double-announcement"],
        "Parcels were announced twice (1182): jobs were acknowledged before the transaction ended.",
        "one bug, told by two agents"),
    other(Forget, "bug.double-announcement", &["bug.1182.root-cause"], "merged into bug.1182.root-cause"),
    other(Forget, "test.command", &["test.nextest"], "out of date: CI runs nextest since May"),
    other(Forget, "arch.queue", &["arch.queue.since-3.2"], "out of date: Redis is gone since 3.2"),
    other(Forget, "env.rust", &["env.toolchain"], "out of date: the toolchain file says 1.95"),
    other(Forget, "release.3-2.waiting", &["arch.queue.since-3.2"], "3.2 is out, nothing waits for it"),
    other(Forget, "team.on-call", &[], "last week's rota"),
    other(Confirm, "arch.time", &[], "still so in migration 0043"),
    other(Confirm, "env.node", &[], "matches web/package.json"),
    other(Flag, "api.rate-limit", &["limits.public-api"], "600 or 100 a minute? Both are claimed"),
];
