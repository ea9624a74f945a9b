//! What each operation of the catalogue does here.

use std::sync::Arc;

use bilinc::Memory;
use utoipa::ToSchema;

use super::SURFACE;
use super::answer;
use super::body::Whole;
use super::errors::Failure;
use super::keys::KeyRecord;
use super::openapi::Shape;
use crate::catalogue::{self, Operation};
use crate::wire::requests::{
    CommitRequest, ConfirmRequest, DiffRequest, DreamApplyRequest, DreamListRequest, DreamShowRequest,
    DreamStartRequest, DreamUndoRequest, FlagRequest, ForgetRequest, GetRequest, HistoryRequest, ImportRequest,
    ListRequest, LogRequest, Members, PreviewRequest, Read, RecallRequest, Request, ReviseRequest, RollbackRequest,
    SnapshotRequest, SnapshotsRequest, StatusRequest, UndoRequest, UnflagRequest, Unsound, VerifyRequest, beginning,
    sound,
};
use crate::wire::status::StatusView;
use crate::wire::transfer::ImportView;
use crate::wire::verify::VerifiedView;

/// What a request brings to its operation.
#[derive(Debug)]
pub(super) struct Input {
    pub(super) operation: &'static Operation,
    pub(super) key: Arc<KeyRecord>,
    pub(super) idempotency: Option<String>,
    /// The id in the path.
    pub(super) id: Option<String>,
    pub(super) query: Vec<(String, String)>,
    pub(super) body: Whole,
}

/// Gives the store of the request's project.
pub(super) type Store<'a> = &'a dyn Fn() -> Result<Memory, Failure>;

/// How an operation is carried out.
#[derive(Debug, Clone, Copy)]
pub(super) enum Run {
    /// One request, one answer.
    Call(fn(&Input, Store<'_>) -> Result<Vec<u8>, Failure>),
    /// One that reads the whole store, however long that takes.
    Long(fn(&Input, Store<'_>) -> Result<Vec<u8>, Failure>),
    /// The log, a page of it or as it grows.
    Log,
    /// Lines go out.
    Export,
    /// Lines come in.
    Import,
}

/// An operation here: how it is carried out, and how what it takes and gives looks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    pub(super) run: Run,
    pub(super) shape: fn() -> Shape,
}

/// One request, one answer.
fn call_way<R: Request + ToSchema>() -> Way
where
    R::Answer: ToSchema,
{
    Way { run: Run::Call(call::<R>), shape: Shape::of::<R, R::Answer> }
}

/// The way of an operation, unless it is local.
pub(super) fn way(operation: &Operation) -> Option<Way> {
    Some(match *operation {
        catalogue::COMMIT => call_way::<CommitRequest>(),
        catalogue::REVISE => call_way::<ReviseRequest>(),
        catalogue::CONFIRM => call_way::<ConfirmRequest>(),
        catalogue::FORGET => call_way::<ForgetRequest>(),
        catalogue::FLAG => call_way::<FlagRequest>(),
        catalogue::UNFLAG => call_way::<UnflagRequest>(),
        catalogue::RECALL => call_way::<RecallRequest>(),
        catalogue::GET => call_way::<GetRequest>(),
        catalogue::LIST | catalogue::FLAGS => call_way::<ListRequest>(),
        catalogue::HISTORY => call_way::<HistoryRequest>(),
        catalogue::DREAM_START => call_way::<DreamStartRequest>(),
        catalogue::DREAM_APPLY => call_way::<DreamApplyRequest>(),
        catalogue::DREAM_SHOW => call_way::<DreamShowRequest>(),
        catalogue::DREAM_LIST => call_way::<DreamListRequest>(),
        catalogue::DREAM_UNDO => call_way::<DreamUndoRequest>(),
        catalogue::UNDO => call_way::<UndoRequest>(),
        catalogue::SNAPSHOT_CREATE => call_way::<SnapshotRequest>(),
        catalogue::SNAPSHOT_LIST => call_way::<SnapshotsRequest>(),
        catalogue::DIFF => call_way::<DiffRequest>(),
        catalogue::ROLLBACK_PREVIEW => call_way::<PreviewRequest>(),
        catalogue::ROLLBACK_EXECUTE => call_way::<RollbackRequest>(),
        catalogue::STATUS => Way { run: Run::Call(status), ..call_way::<StatusRequest>() },
        catalogue::VERIFY => Way { run: Run::Long(verify), ..call_way::<VerifyRequest>() },
        catalogue::LOG => Way { run: Run::Log, ..call_way::<LogRequest>() },
        catalogue::IMPORT => Way { run: Run::Import, shape: Shape::of::<ImportRequest, ImportView> },
        catalogue::EXPORT => Way { run: Run::Export, shape: Shape::of::<StatusRequest, StatusView> },
        _ => return None,
    })
}

/// Reads a request out of what came.
pub(super) fn read<R: Read>(input: &Input) -> Result<R, Failure> {
    let body = std::str::from_utf8(&input.body.bytes)
        .map_err(|error| Failure::invalid("body", "invalid_utf8", &format!("not UTF-8: {error}")))?;
    let members = match input.query.first() {
        _ if input.operation.method == "GET" => Members::of_query(input.query.iter().cloned()),
        None => Members::of_body(body)?,
        Some((name, _)) => {
            let message = "unknown; the fields of this request stand in its body";
            return Err(Failure::invalid(beginning(name).as_str(), "unknown_field", message));
        }
    };
    let members = match &input.id {
        Some(id) => members.with("id", id),
        None => members,
    };
    Ok(R::read_all(members)?)
}

/// The handle for one request.
pub(super) fn handle(memory: &Memory, input: &Input) -> Memory {
    input.idempotency.as_deref().map_or_else(|| memory.clone(), |name| memory.with_idempotency_key(name))
}

/// Reads a request, carries it out and answers.
pub(super) fn call<R: Request>(input: &Input, store: Store<'_>) -> Result<Vec<u8>, Failure> {
    let prepared = read::<R>(input)?.prepare(&SURFACE)?;
    let memory = store()?;
    let written = prepared(&handle(&memory, input))?;
    answer::bytes(written, memory.head()?)
}

/// A page of the log.
pub(super) fn log(input: &Input, store: Store<'_>) -> Result<Vec<u8>, Failure> {
    call::<LogRequest>(input, store)
}

/// The status says what the key may do, too.
fn status(input: &Input, store: Store<'_>) -> Result<Vec<u8>, Failure> {
    let prepared = read::<StatusRequest>(input)?.prepare(&SURFACE)?;
    let memory = store()?;
    let mut written = prepared(&memory)?;
    let view: &mut StatusView = &mut written.answer;
    view.workspace.project = Some(input.key.project.clone());
    view.capabilities.write &= !input.key.read_only;
    answer::bytes(written, memory.head()?)
}

/// A log that is not whole, or a state that is not what it says, is no proof.
fn verify(input: &Input, store: Store<'_>) -> Result<Vec<u8>, Failure> {
    let prepared = read::<VerifyRequest>(input)?.prepare(&SURFACE)?;
    let memory = store()?;
    let written = prepared(&memory)?;
    let view: &VerifiedView = &written.answer;
    match sound(view) {
        None => answer::bytes(written, memory.head()?),
        Some(Unsound::State) => Err(Failure::new("store_corrupt", Unsound::State.message())),
        Some(Unsound::Checkpoint) => Err(Failure::new("store_corrupt", Unsound::Checkpoint.message())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_its_way_here_unless_it_is_local() {
        for operation in catalogue::ALL {
            assert_eq!(way(operation).is_some(), !operation.is_local(), "{}", operation.name);
        }
    }
}
