//! What each operation of the catalogue does here.

use std::sync::Arc;

use bilinc::Memory;

use super::SURFACE;
use super::answer;
use super::errors::Failure;
use super::keys::KeyRecord;
use crate::catalogue::{self, Operation};
use crate::wire::requests::{
    CommitRequest, ConfirmRequest, DiffRequest, DreamApplyRequest, DreamListRequest, DreamShowRequest,
    DreamStartRequest, DreamUndoRequest, FlagRequest, ForgetRequest, GetRequest, HistoryRequest, ListRequest,
    LogRequest, Members, PreviewRequest, Read, RecallRequest, Request, ReviseRequest, RollbackRequest, SnapshotRequest,
    SnapshotsRequest, StatusRequest, UndoRequest, UnflagRequest, Unsound, VerifyRequest, beginning, sound,
};
use crate::wire::status::StatusView;
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
    pub(super) body: Vec<u8>,
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

/// How an operation is carried out, unless it is local.
pub(super) fn run(operation: &Operation) -> Option<Run> {
    Some(match *operation {
        catalogue::COMMIT => Run::Call(call::<CommitRequest>),
        catalogue::REVISE => Run::Call(call::<ReviseRequest>),
        catalogue::CONFIRM => Run::Call(call::<ConfirmRequest>),
        catalogue::FORGET => Run::Call(call::<ForgetRequest>),
        catalogue::FLAG => Run::Call(call::<FlagRequest>),
        catalogue::UNFLAG => Run::Call(call::<UnflagRequest>),
        catalogue::RECALL => Run::Call(call::<RecallRequest>),
        catalogue::GET => Run::Call(call::<GetRequest>),
        catalogue::LIST | catalogue::FLAGS => Run::Call(call::<ListRequest>),
        catalogue::HISTORY => Run::Call(call::<HistoryRequest>),
        catalogue::DREAM_START => Run::Call(call::<DreamStartRequest>),
        catalogue::DREAM_APPLY => Run::Call(call::<DreamApplyRequest>),
        catalogue::DREAM_SHOW => Run::Call(call::<DreamShowRequest>),
        catalogue::DREAM_LIST => Run::Call(call::<DreamListRequest>),
        catalogue::DREAM_UNDO => Run::Call(call::<DreamUndoRequest>),
        catalogue::UNDO => Run::Call(call::<UndoRequest>),
        catalogue::SNAPSHOT_CREATE => Run::Call(call::<SnapshotRequest>),
        catalogue::SNAPSHOT_LIST => Run::Call(call::<SnapshotsRequest>),
        catalogue::DIFF => Run::Call(call::<DiffRequest>),
        catalogue::ROLLBACK_PREVIEW => Run::Call(call::<PreviewRequest>),
        catalogue::ROLLBACK_EXECUTE => Run::Call(call::<RollbackRequest>),
        catalogue::STATUS => Run::Call(status),
        catalogue::VERIFY => Run::Long(verify),
        catalogue::LOG => Run::Log,
        catalogue::EXPORT => Run::Export,
        catalogue::IMPORT => Run::Import,
        _ => return None,
    })
}

/// Reads a request out of what came.
pub(super) fn read<R: Read>(input: &Input) -> Result<R, Failure> {
    let body = std::str::from_utf8(&input.body)
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
            assert_eq!(run(operation).is_some(), !operation.is_local(), "{}", operation.name);
        }
    }
}
