//! Decisions: commands judged into events. Nothing here reads a clock, a file or a random number.

mod batch;
mod dream;
mod entry;
mod form;
mod import;
mod purge;
mod report;
mod rollback;
mod snapshot;
mod undo;

use alloc::vec::Vec;

pub use self::purge::complete_purges;
pub use self::rollback::{RollbackPlan, rollback_plan};

use self::batch::Batch;
use crate::command::Command;
use crate::event::{Actor, IdempotencyKey, OperationKind, RecordedEvent};
use crate::history::History;
use crate::id::{OperationId, Seq};
use crate::outcome::Outcome;
use crate::rejection::Rejection;
use crate::state::{IdempotencyRecord, State};
use crate::time::Timestamp;

/// What a decision is made with beside the state.
#[derive(Debug)]
pub struct Context<'a, H> {
    /// The clock: expiry and windows are judged by it.
    pub now: Timestamp,
    /// The time to record, see [`crate::recorded_time`].
    pub at: Timestamp,
    /// Whether the clock was seen to have stepped back.
    pub clock_back: bool,
    /// The id of the operation to be made; dream and snapshot ids and versions come from it.
    pub operation: OperationId,
    /// The position that its first event gets.
    pub first: Seq,
    /// Who acts.
    pub actor: &'a Actor,
    /// By what a repeated request is recognised.
    pub idempotency: Option<&'a IdempotencyKey>,
    /// What was recorded earlier.
    pub history: &'a H,
}

/// What was decided.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// Append these events as one operation.
    Append(Vec<RecordedEvent>),
    /// The request came before: give the answer of this operation again and write nothing.
    Replay(IdempotencyRecord),
    /// There is nothing to write; this is the answer.
    Nothing(Outcome),
}

/// Why there is no decision.
#[derive(Debug, Clone, PartialEq)]
pub enum Refusal<E> {
    /// The domain says no.
    Rejected(Rejection),
    /// What was recorded earlier cannot be read.
    History(E),
}

impl<E> From<Rejection> for Refusal<E> {
    fn from(rejection: Rejection) -> Self {
        Self::Rejected(rejection)
    }
}

/// Carries a failed look-up over.
fn history<E>(error: E) -> Refusal<E> {
    Refusal::History(error)
}

impl State {
    /// Judges a command.
    ///
    /// The order of checks: form, limits, reserved key, idempotency, confirmation token, existence,
    /// expected version, strategy, cap. A refused command has no event.
    ///
    /// # Errors
    /// [`Refusal::Rejected`] when the domain says no, [`Refusal::History`] when the history that the
    /// decision rests on cannot be read.
    pub fn decide<H: History>(
        &self,
        command: &Command,
        context: &Context<'_, H>,
    ) -> Result<Decision, Refusal<H::Error>> {
        form::check(command, context.actor, context.idempotency)?;
        let dry_run = command.in_earnest().is_some();
        if let Some(key) = context.idempotency.filter(|_| !dry_run)
            && let Some(record) = self.remembered(&key.name, context.now)
        {
            return if record.fingerprint == Some(key.fingerprint) {
                Ok(Decision::Replay(*record))
            } else {
                Err(Rejection::IdempotencyConflict.into())
            };
        }
        let mut batch = Batch::new(self, context, kind_of(command, context.operation));
        let nothing = match command {
            Command::Commit(commit) => entry::commit(&mut batch, commit).map(|()| None)?,
            Command::Revise(revise) => entry::revise(&mut batch, revise).map(|()| None)?,
            Command::Forget(forget) if forget.purge => purge::purge(&mut batch, forget).map(|()| None)?,
            Command::Forget(forget) => entry::forget(&mut batch, forget).map(|()| None)?,
            Command::Confirm(confirm) => entry::confirm(&mut batch, confirm).map(|()| None)?,
            Command::Flag(flag) => entry::flag(&mut batch, flag).map(|()| None)?,
            Command::Unflag(unflag) => entry::unflag(&mut batch, unflag).map(|()| None)?,
            Command::Snapshot(command) => {
                snapshot::snapshot(&mut batch, command);
                None
            }
            Command::Rollback(command) => rollback::rollback(&mut batch, command).map(|()| None)?,
            Command::Import(page) => import::import(&mut batch, page),
            Command::DreamStart(start) => dream::start(&mut batch, start)?,
            Command::DreamApply(apply) => dream::apply(&mut batch, apply)?,
            Command::DreamUndo(command) => undo::undo_dream(&mut batch, command)?,
            Command::Undo(command) => undo::undo(&mut batch, command)?,
        };
        Ok(match nothing {
            Some(outcome) => Decision::Nothing(outcome),
            None => Decision::Append(batch.finish()),
        })
    }
}

impl Command {
    /// Judges what can be judged without the state: form, limits, reserved keys.
    ///
    /// # Errors
    /// The [`Rejection`] that a decision would begin with.
    pub fn check_form(&self) -> Result<(), Rejection> {
        form::check_command(self)
    }
}

fn kind_of(command: &Command, operation: OperationId) -> OperationKind {
    match command {
        Command::Commit(_) => OperationKind::Commit,
        Command::Revise(_) => OperationKind::Revise,
        Command::Forget(_) => OperationKind::Forget,
        Command::Confirm(_) => OperationKind::Confirm,
        Command::Flag(_) => OperationKind::Flag,
        Command::Unflag(_) => OperationKind::Unflag,
        Command::Snapshot(_) => OperationKind::Snapshot,
        Command::Rollback(rollback) => OperationKind::Rollback(rollback.snapshot),
        Command::Import(page) => OperationKind::Import(page.import),
        Command::DreamStart(_) => OperationKind::DreamStart(operation.into()),
        Command::DreamApply(apply) => OperationKind::DreamApply(apply.dream),
        Command::DreamUndo(undo) => OperationKind::DreamUndo(undo.dream),
        Command::Undo(_) => OperationKind::Undo,
    }
}
