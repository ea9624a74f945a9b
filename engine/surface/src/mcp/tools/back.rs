//! `snapshot`, `diff`, `rollback` and `undo`.

use bilinc::Rejection;

use super::{Call, DRY_RUN, IDEMPOTENCY, SESSION, Tool};
use crate::catalogue;
use crate::mcp::arguments::Change;
use crate::mcp::errors::Failure;
use crate::mcp::limits::{Cut, Omitted, Shortened};
use crate::mcp::outputs;
use crate::mcp::reply::{Making, Reply};
use crate::mcp::schema::{Default, Field, Kind};
use crate::wire::diffs::DiffView;
use crate::wire::requests::{
    DiffRequest, PreviewRequest, RollbackRequest, SnapshotRequest, SnapshotsRequest, UndoRequest,
};
use crate::wire::snapshots::{RolledBackView, SnapshotTaken, SnapshotsView};
use crate::wire::undos::UndoView;

/// Keys in each list of a diff or a preview, and snapshots in a list, when nothing is asked for.
const KEYS: u64 = 100;
const SNAPSHOTS: u64 = 20;

pub(super) const SNAPSHOT: Tool = Tool {
    name: "snapshot",
    title: "Name the present position, or list the names",
    about: "Take a snapshot before risky work (action create), or list those there are (action list). Nothing is \
            copied: it is a name for a place in the log, which diff and rollback take.",
    operations: &[catalogue::SNAPSHOT_CREATE, catalogue::SNAPSHOT_LIST],
    idempotent: false,
    fields: &[
        Field::optional("action", Kind::Word(&["create", "list"]), "What to do").or(Default::Word("create")),
        Field::optional("label", Kind::Text, "What people call it; for create"),
        Field::optional("metadata", Kind::Object, "A JSON object kept with it; for create"),
        Field::optional("limit", Kind::Whole(1, 1_000), "Most snapshots; for list").or(Default::Whole(SNAPSHOTS)),
        SESSION,
        IDEMPOTENCY,
    ],
    output: outputs::snapshots,
    run: |call| if call.arguments.text("action").as_deref() == Some("list") { list(call) } else { create(call) },
};

/// Refuses an argument that this use of a tool has no place for.
fn no_place(call: &Call<'_>, names: &[&str], used: &str) -> Result<(), Rejection> {
    match names.iter().find(|name| call.arguments.has(name)) {
        Some(name) => Err(Rejection::invalid(*name, "unexpected", format!("{used} has no place for it"))),
        None => Ok(()),
    }
}

fn create(call: &Call<'_>) -> Result<Reply, Failure> {
    no_place(call, &["limit"], "action create")?;
    let handle = call.store.create()?;
    let written = call.carry_out::<SnapshotRequest>(&handle, &[Change::Drop("action")])?;
    // Metadata of many kilobytes would not fit, and the caller has it.
    Making::of(&handle).replayed(written.replayed).cut(1, |cut| {
        let mut omitted = Omitted::default();
        let mut taken = vec![written.answer.snapshot.clone()];
        cut.entries("snapshots", &mut taken, &mut omitted);
        let view = taken.into_iter().next().map(|snapshot| SnapshotTaken { snapshot });
        Ok(Shortened { view, omitted })
    })
}

fn list(call: &Call<'_>) -> Result<Reply, Failure> {
    no_place(call, &["label", "metadata", "session_id", "idempotency_key"], "action list")?;
    let handle = call.store.read()?;
    let found = call.carry_out::<SnapshotsRequest>(&handle, &[Change::Drop("action")])?.answer.snapshots;
    Making::of(&handle).with_notice().cut(found.len(), |cut| {
        let mut omitted = Omitted::default();
        let mut snapshots = found.clone();
        cut.entries("snapshots", &mut snapshots, &mut omitted);
        Ok(Shortened { view: SnapshotsView { snapshots }, omitted })
    })
}

const POINT: &str = "A snapshot's id, a position such as @120, or a time in RFC 3339";

pub(super) const DIFF: Tool = Tool {
    name: "diff",
    title: catalogue::DIFF.summary,
    about: "Compare two points of the past, or one with now: which memories were added, modified and removed.",
    operations: &[catalogue::DIFF],
    idempotent: true,
    fields: &[
        Field::required("from_snapshot_id", Kind::Text, POINT),
        Field::optional("to_snapshot_id", Kind::Text, "The same; now when absent"),
        Field::optional("include_values", Kind::Flag, "Show the values before and after").or(Default::No),
        Field::optional("limit", Kind::Whole(1, 1_000), "Most keys in each list").or(Default::Whole(KEYS)),
    ],
    output: outputs::diff,
    run: |call| {
        let handle = call.store.read()?;
        let found = call.carry_out::<DiffRequest>(&handle, &[])?.answer;
        let items = [&found.added, &found.modified, &found.removed].map(Vec::len).into_iter().max();
        Making::of(&handle).with_notice().cut(items.unwrap_or(0), |cut| {
            let mut omitted = Omitted::default();
            let mut lists = [&found.added, &found.modified, &found.removed].map(Clone::clone);
            for (name, list) in ["added", "modified", "removed"].into_iter().zip(&mut lists) {
                cut.entries(name, list, &mut omitted);
            }
            let [added, modified, removed] = lists;
            let DiffView { from_seq, to_seq, counts, values_included, .. } = found;
            let truncated = found.truncated || !omitted.is_empty();
            let target = found.target.clone();
            let view =
                DiffView { target, from_seq, to_seq, counts, added, modified, removed, values_included, truncated };
            Ok(Shortened { view, omitted })
        })
    },
};

pub(super) const ROLLBACK: Tool = Tool {
    name: "rollback",
    title: "Bring back the state of a snapshot: preview first, then execute",
    about: "Go back to a snapshot, in two calls. Mode preview changes nothing, says what would change, and gives a \
            confirmationToken; mode execute with that token and the same reason does it. A rollback can be undone.",
    operations: &[catalogue::ROLLBACK_PREVIEW, catalogue::ROLLBACK_EXECUTE],
    idempotent: false,
    fields: &[
        Field::required("snapshot_id", Kind::Text, "The snapshot to go back to"),
        Field::required("reason", Kind::Text, "Why, 1 to 512 characters; the same in both modes"),
        Field::optional("mode", Kind::Word(&["preview", "execute"]), "How far to go").or(Default::Word("preview")),
        Field::optional("confirmation_token", Kind::Text, "The token of the preview; for execute"),
        Field::optional("limit", Kind::Whole(1, 1_000), "Most keys in each list; for preview").or(Default::Whole(KEYS)),
        SESSION,
        IDEMPOTENCY,
    ],
    output: outputs::rollback,
    run: |call| if call.arguments.text("mode").as_deref() == Some("execute") { execute(call) } else { preview(call) },
};

fn preview(call: &Call<'_>) -> Result<Reply, Failure> {
    no_place(call, &["confirmation_token", "session_id", "idempotency_key"], "mode preview")?;
    let handle = call.store.change()?;
    let mut limit = call.arguments.whole("limit").unwrap_or(KEYS);
    // The token is bound to the moment, so the keys are asked for once and then cut.
    limit = limit.min(1_000);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let changes = [Change::Drop("mode"), Change::Set("limit", limit)];
    let found = call.carry_out::<PreviewRequest>(&handle, &changes)?.answer;
    let lists = [&found.create_keys, &found.update_keys, &found.remove_keys, &found.skipped_keys];
    let items = lists.map(Vec::len).into_iter().max();
    Making::of(&handle).cut(items.unwrap_or(0), |cut| {
        let mut omitted = Omitted::default();
        let mut view = found.clone();
        cut.list("createKeys", &mut view.create_keys, &mut omitted);
        cut.list("updateKeys", &mut view.update_keys, &mut omitted);
        cut.list("removeKeys", &mut view.remove_keys, &mut omitted);
        cut.list("skippedKeys", &mut view.skipped_keys, &mut omitted);
        view.truncated |= !omitted.is_empty();
        Ok(Shortened { view, omitted })
    })
}

fn execute(call: &Call<'_>) -> Result<Reply, Failure> {
    no_place(call, &["limit"], "mode execute")?;
    let handle = call.store.change()?;
    let written = call.carry_out::<RollbackRequest>(&handle, &[Change::Drop("mode")])?;
    let done = written.answer;
    Making::of(&handle).replayed(written.replayed).cut(done.skipped_keys.len(), |cut| {
        let mut omitted = Omitted::default();
        let mut skipped_keys = done.skipped_keys.clone();
        cut.list("skippedKeys", &mut skipped_keys, &mut omitted);
        let RolledBackView { snapshot_id, counts, seq, .. } = done;
        Ok(Shortened { view: RolledBackView { snapshot_id, counts, skipped_keys, seq }, omitted })
    })
}

pub(super) const UNDO: Tool = Tool {
    name: "undo",
    title: catalogue::UNDO.summary,
    about: "Take back one set of changes, named by exactly one of dream_id, session_id, source, import_id, seqs, a range \
            of positions, or a range of times. A memory that somebody else changed since is left as it is and listed \
            as a conflict. Undoing the seq of an undo is the redo. Try it with dry_run first.",
    operations: &[catalogue::UNDO],
    idempotent: false,
    fields: &[
        Field::optional("dream_id", Kind::Text, "What a dream changed"),
        Field::optional("session_id", Kind::Text, "What was written in a session"),
        Field::optional("source", Kind::Text, "What a writer wrote"),
        Field::optional("import_id", Kind::Text, "What an import wrote"),
        Field::optional("seqs", Kind::Wholes, "Single positions"),
        Field::optional("from_seq", Kind::Whole(1, u64::MAX), "Positions from this one"),
        Field::optional("to_seq", Kind::Whole(1, u64::MAX), "Up to this one"),
        Field::optional("after", Kind::Text, "What was recorded after this time, RFC 3339"),
        Field::optional("before", Kind::Text, "What was recorded before this time, RFC 3339"),
        DRY_RUN,
        IDEMPOTENCY,
    ],
    output: outputs::undone,
    run: |call| {
        let handle = call.store.change()?;
        let written = call.carry_out::<UndoRequest>(&handle, &[])?;
        Making::of(&handle)
            .replayed(written.replayed)
            .cut(undo_items(&written.answer), |cut| Ok(undo_cut(&written.answer, cut)))
    },
};

/// The length of the longest list of an undo.
pub(super) fn undo_items(view: &UndoView) -> usize {
    view.restored.len().max(view.conflicts.len()).max(view.unchanged.len())
}

/// An undo with its lists cut.
pub(super) fn undo_cut(view: &UndoView, cut: Cut) -> Shortened<UndoView> {
    let mut omitted = Omitted::default();
    let mut view = view.clone();
    cut.list("conflicts", &mut view.conflicts, &mut omitted);
    cut.list("restored", &mut view.restored, &mut omitted);
    cut.list("unchanged", &mut view.unchanged, &mut omitted);
    Shortened { view, omitted }
}
