//! Writes: each is a command, decided, recorded, and answered from what was recorded.

use std::sync::Arc;

use bilinc_core::{
    ChangeOp, Command, Commit, Confirm, Flag, Forget, History, Outcome, RecordedEvent, Rejection, Revise, Seq, Unflag,
    limits,
};

use super::Memory;
use crate::answer::{EntryChange, PurgeSummary, Written};
use crate::error::{EngineError, Error};
use crate::secrets::{FoundSecret, find_secret, find_secret_in_text};
use crate::store::{Done, LogHistory, Request};

impl Memory {
    /// Creates or replaces an entry. What is not given takes its default; a replaced entry keeps its
    /// creation time.
    ///
    /// # Errors
    /// [`Rejection`] when the command is refused; nothing is written then.
    pub fn commit(&self, commit: Commit) -> Result<Written<EntryChange>, Error> {
        self.entry_write(Command::Commit(commit))
    }

    /// Replaces the value of an entry that exists.
    ///
    /// # Errors
    /// [`Rejection`] when the command is refused; nothing is written then.
    pub fn revise(&self, revise: Revise) -> Result<Written<EntryChange>, Error> {
        self.entry_write(Command::Revise(revise))
    }

    /// Takes an entry out of use. The log keeps its value, so that an undo can bring it back.
    ///
    /// With `purge` the values, metadata objects and fingerprints of all events of the key are erased
    /// for good, also of one that was forgotten earlier. Keys, times, reasons, types, sources and lengths
    /// stay, and so does what a writer copied into other keys.
    ///
    /// # Errors
    /// [`Rejection`] when the command is refused; nothing is written then.
    pub fn forget(&self, forget: Forget) -> Result<Written<EntryChange>, Error> {
        let written = self.write(Command::Forget(forget))?;
        let Outcome::Purged { purged, at, seq } = written.answer else { return entry_change(written) };
        let summary = PurgeSummary {
            bodies: purged.bodies.len() as u64,
            bytes: purged.bytes,
            events: purged.events,
            also_in: purged.also_in,
        };
        let (key, op) = (purged.key, ChangeOp::Purge);
        let answer = EntryChange { key, op, version: None, at, seq, purged: Some(summary) };
        Ok(Written { answer, replayed: written.replayed })
    }

    /// Says that an entry is still right.
    ///
    /// # Errors
    /// [`Rejection`] when the command is refused; nothing is written then.
    pub fn confirm(&self, confirm: Confirm) -> Result<Written<EntryChange>, Error> {
        self.entry_write(Command::Confirm(confirm))
    }

    /// Marks an entry for a person; its version does not change.
    ///
    /// # Errors
    /// [`Rejection`] when the command is refused; nothing is written then.
    pub fn flag(&self, flag: Flag) -> Result<Written<EntryChange>, Error> {
        self.entry_write(Command::Flag(flag))
    }

    /// Clears the open flags of an entry.
    ///
    /// # Errors
    /// [`Rejection`] when the command is refused; nothing is written then.
    pub fn unflag(&self, unflag: Unflag) -> Result<Written<EntryChange>, Error> {
        self.entry_write(Command::Unflag(unflag))
    }

    fn entry_write(&self, command: Command) -> Result<Written<EntryChange>, Error> {
        entry_change(self.write(command)?)
    }

    /// Carries a command through and makes its answer from what was recorded.
    pub(super) fn write(&self, command: Command) -> Result<Written<Outcome>, Error> {
        self.write_as(command, self.idempotency.clone())
    }

    pub(super) fn write_as(&self, command: Command, idempotency: Option<String>) -> Result<Written<Outcome>, Error> {
        let done = self.carry(command, idempotency)?;
        self.answer(done)
    }

    pub(super) fn carry(&self, command: Command, idempotency: Option<String>) -> Result<Done, Error> {
        self.store.write(self.request(command, idempotency)?)
    }

    /// The idempotency key of one of the operations that a call takes: the call's own for the first,
    /// so that another payload under it is noticed whatever that payload's kind.
    pub(super) fn idempotency_of_page(&self, page: u32) -> Option<String> {
        let name = self.idempotency.as_ref()?;
        Some(match page {
            1 => name.clone(),
            page => {
                let numbered = format!("{name}#{page}");
                // A name at the limit leaves no room for a number.
                if numbered.chars().count() <= limits::IDEMPOTENCY_KEY_CHARS {
                    numbered
                } else {
                    format!("{}#{page}", blake3::hash(name.as_bytes()).to_hex())
                }
            }
        })
    }

    /// What a command would answer; writes nothing.
    pub(super) fn dry_run(&self, command: Command) -> Result<Written<Outcome>, Error> {
        let request = self.request(command, None)?;
        let done = self.store.judge(&request)?;
        self.answer(done)
    }

    pub(super) fn request(&self, command: Command, idempotency: Option<String>) -> Result<Request, Error> {
        if self.store.settings.refuse_secrets {
            refuse_secrets(&command)?;
        }
        Ok(Request { command, actor: self.actor.clone(), idempotency })
    }

    /// What can be judged of a command without the state: its form, its limits, credentials in it.
    pub(super) fn check_form(&self, command: &Command) -> Result<(), Rejection> {
        command.check_form()?;
        if self.store.settings.refuse_secrets { refuse_secrets(command) } else { Ok(()) }
    }

    pub(super) fn answer(&self, done: Done) -> Result<Written<Outcome>, Error> {
        match done {
            Done::Nothing(answer) => Ok(Written { answer, replayed: false }),
            Done::Written(events) => Ok(Written { answer: outcome_of(&events)?, replayed: false }),
            Done::Replayed(record) => {
                let history = LogHistory::new(&self.store, Seq::MAX);
                let seqs = (0..u64::from(record.count)).map(|index| record.first.plus(index));
                let events = seqs.map(|seq| history.event(seq)).collect::<Result<Vec<_>, _>>()?;
                Ok(Written { answer: outcome_of(&events)?, replayed: true })
            }
        }
    }
}

fn entry_change(written: Written<Outcome>) -> Result<Written<EntryChange>, Error> {
    match written.answer {
        Outcome::Entry { key, op, version, at, seq } => {
            Ok(Written { answer: EntryChange { key, op, version, at, seq, purged: None }, replayed: written.replayed })
        }
        other => Err(unexpected(&other)),
    }
}

pub(in crate::memory) fn outcome_of(events: &[Arc<RecordedEvent>]) -> Result<Outcome, Error> {
    Outcome::of(events).ok_or_else(|| {
        let position = events.first().map_or(Seq::ZERO, |event| event.seq);
        Error::Engine(EngineError::Unreadable { position, reason: "an operation without an answer".to_owned() })
    })
}

/// An answer of another kind than the command's: the log holds under this idempotency key what no
/// command of this kind writes.
pub(in crate::memory) fn unexpected(outcome: &Outcome) -> Error {
    let kind = match outcome {
        Outcome::Entry { .. } => "an entry's",
        Outcome::Purged { .. } => "a purge's",
        Outcome::Snapshot { .. } => "a snapshot's",
        Outcome::DreamStarted(_) => "a dream start's",
        Outcome::Page { .. } => "a dream page's",
        Outcome::Undo { .. } => "an undo's",
        Outcome::RolledBack { .. } => "a rollback's",
        Outcome::Imported(_) => "an import's",
    };
    Error::Engine(EngineError::Unreadable {
        position: Seq::ZERO,
        reason: format!("the answer is {kind}, which this command never gives"),
    })
}

/// Looks for credentials in what a command would record. Actions of a dream are looked at one by
/// one before, since a credential in one of them is an error of that action alone.
fn refuse_secrets(command: &Command) -> Result<(), Rejection> {
    match command {
        Command::Commit(command) => commit(command, ""),
        Command::Revise(command) => {
            json("value", command.value.as_str())?;
            optional_text("reason", command.reason.as_deref())
        }
        Command::Forget(command) => text("reason", &command.reason),
        Command::Confirm(command) => optional_text("reason", command.reason.as_deref()),
        Command::Flag(command) => text("reason", &command.reason),
        Command::Unflag(command) => optional_text("reason", command.reason.as_deref()),
        Command::Snapshot(command) => {
            optional_text("label", command.label.as_deref())?;
            command.metadata.as_ref().map_or(Ok(()), |metadata| json("metadata", metadata.as_str()))
        }
        Command::Rollback(command) => text("reason", &command.reason),
        Command::Import(page) => page
            .entries
            .iter()
            .enumerate()
            .try_for_each(|(index, entry)| commit(&entry.commit, &format!("entries[{index}]."))),
        Command::DreamApply(command) => {
            command.report.as_ref().map_or(Ok(()), |report| json("report", report.as_str()))
        }
        Command::DreamStart(_) | Command::DreamUndo(_) | Command::Undo(_) => Ok(()),
    }
}

fn commit(command: &Commit, at: &str) -> Result<(), Rejection> {
    json(&format!("{at}value"), command.value.as_str())?;
    command.metadata.as_ref().map_or(Ok(()), |metadata| json(&format!("{at}metadata"), metadata.as_str()))
}

fn json(field: &str, text: &str) -> Result<(), Rejection> {
    found(field, find_secret(text))
}

fn text(field: &str, text: &str) -> Result<(), Rejection> {
    found(field, find_secret_in_text(text))
}

fn optional_text(field: &str, value: Option<&str>) -> Result<(), Rejection> {
    value.map_or(Ok(()), |value| text(field, value))
}

fn found(field: &str, secret: Option<FoundSecret>) -> Result<(), Rejection> {
    match secret {
        Some(FoundSecret { kind, path }) => {
            Err(Rejection::SecretDetected { kind, path: format!("{field}{}", path.trim_start_matches('$')) })
        }
        None => Ok(()),
    }
}
