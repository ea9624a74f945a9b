//! Commands about one entry.

use alloc::format;
use alloc::sync::Arc;

use super::Refusal;
use super::batch::{Batch, json_bytes};
use crate::command::{Commit, Confirm, Flag, Forget, Revise, Strategy, Unflag};
use crate::entry::{Entry, Facts};
use crate::event::{Actor, Body, Committed, Confirmed, Event, Flagged, Forgotten, ImportedTimes, Revised, Unflagged};
use crate::history::History;
use crate::id::Version;
use crate::json::Json;
use crate::key::Key;
use crate::limits::OPEN_FLAGS;
use crate::rejection::Rejection;

type Decided<H> = Result<(), Refusal<<H as History>::Error>>;

pub(super) fn commit<H: History>(batch: &mut Batch<'_, H>, command: &Commit) -> Decided<H> {
    let there = batch.entry(&command.key).map(|entry| entry.version);
    if let Some(current) = there.filter(|_| command.if_absent) {
        return Err(Rejection::MemoryExists { key: command.key.clone(), current }.into());
    }
    if let Some(expected) = command.expected_version {
        existing(batch, &command.key, Some(expected))?;
    }
    let session_id = command.session_id.clone().or_else(|| batch.actor().session_id.clone());
    push_commit(batch, command, there.is_none(), session_id, None);
    Ok(())
}

/// Writes what a commit says, whatever is there; `created` says that nothing is.
pub(super) fn push_commit<H: History>(
    batch: &mut Batch<'_, H>,
    command: &Commit,
    created: bool,
    session_id: Option<Arc<str>>,
    times: Option<ImportedTimes>,
) {
    let metadata = command.metadata.clone().filter(|metadata| metadata.as_str() != "{}");
    let event = Event::Committed(Committed {
        key: command.key.clone(),
        created,
        facts: facts(command, batch.actor(), session_id),
        times,
        version: batch.next_version(),
        value_bytes: json_bytes(&command.value),
        metadata_bytes: metadata.as_ref().map_or(0, json_bytes),
    });
    batch.push_with(event, Body { value: Some(command.value.clone()), metadata, fingerprint: None });
}

fn facts(command: &Commit, actor: &Actor, session_id: Option<Arc<str>>) -> Facts {
    Facts {
        memory_type: command.memory_type.unwrap_or_default(),
        importance: command.importance.unwrap_or(1.0),
        source: command.source.clone().unwrap_or_else(|| Arc::clone(&actor.source)),
        session_id,
        canonical: command.canonical,
        priority: command.priority,
        ttl: command.ttl,
    }
}

pub(super) fn revise<H: History>(batch: &mut Batch<'_, H>, command: &Revise) -> Decided<H> {
    let entry = existing(batch, &command.key, command.expected_version)?;
    if let Some(why) = gives_way(command.strategy, &entry, command.importance) {
        return Err(Rejection::RevisionRejected { key: command.key.clone(), strategy: command.strategy, why }.into());
    }
    let revised = Revised {
        key: command.key.clone(),
        importance: command.importance,
        strategy: command.strategy,
        reason: command.reason.as_deref().map(Arc::from),
        merged_from: [].into(),
        version: batch.next_version(),
        value_bytes: json_bytes(&command.value),
    };
    push_revise(batch, revised, &command.value);
    Ok(())
}

pub(super) fn push_revise<H: History>(batch: &mut Batch<'_, H>, revised: Revised, value: &Json) {
    let body = Body { value: Some(value.clone()), metadata: None, fingerprint: None };
    batch.push_with(Event::Revised(revised), body);
}

/// Why the strategy keeps what is stored, if it does.
fn gives_way(strategy: Strategy, stored: &Entry, importance: Option<f64>) -> Option<&'static str> {
    let below = importance.is_some_and(|new| new < stored.facts.importance);
    match strategy {
        Strategy::Recency => None,
        Strategy::Importance => below.then_some("the new importance is below the stored one"),
        Strategy::Entrenchment => (below && stored.facts.canonical == Some(true))
            .then_some("the entry is canonical and the new importance is below the stored one"),
        Strategy::Verification => (below && stored.confirmed_at.is_some())
            .then_some("the entry was confirmed since its last change and the new importance is below the stored one"),
    }
}

pub(super) fn forget<H: History>(batch: &mut Batch<'_, H>, command: &Forget) -> Decided<H> {
    existing(batch, &command.key, command.expected_version)?;
    batch.push(Event::Forgotten(Forgotten { key: command.key.clone(), reason: command.reason.as_str().into() }));
    Ok(())
}

pub(super) fn confirm<H: History>(batch: &mut Batch<'_, H>, command: &Confirm) -> Decided<H> {
    existing(batch, &command.key, command.expected_version)?;
    batch.push(Event::Confirmed(Confirmed {
        key: command.key.clone(),
        reason: command.reason.as_deref().map(Arc::from),
        version: batch.next_version(),
    }));
    Ok(())
}

pub(super) fn flag<H: History>(batch: &mut Batch<'_, H>, command: &Flag) -> Decided<H> {
    let entry = existing(batch, &command.key, command.expected_version)?;
    if entry.flags.len() >= OPEN_FLAGS {
        return Err(too_many_flags().into());
    }
    batch.push(Event::Flagged(Flagged {
        key: command.key.clone(),
        reason: command.reason.as_str().into(),
        evidence_keys: command.evidence_keys.clone(),
    }));
    Ok(())
}

/// The refusal of one more flag.
pub(super) fn too_many_flags() -> Rejection {
    let message = format!("this memory has {OPEN_FLAGS} open flags; clear them with unflag first");
    Rejection::invalid("key", "too_many_flags", message)
}

pub(super) fn unflag<H: History>(batch: &mut Batch<'_, H>, command: &Unflag) -> Decided<H> {
    let entry = existing(batch, &command.key, command.expected_version)?;
    if entry.flags.is_empty() {
        return Err(Rejection::invalid("key", "not_flagged", "this memory has no open flag").into());
    }
    batch.push(Event::Unflagged(Unflagged {
        key: command.key.clone(),
        cleared: entry.flags.iter().map(|flag| flag.seq).collect(),
        reason: command.reason.as_deref().map(Arc::from),
        undoes: [].into(),
    }));
    Ok(())
}

/// The entry, if it is there and at the expected version.
pub(super) fn existing<H: History>(
    batch: &Batch<'_, H>,
    key: &Key,
    expected: Option<Version>,
) -> Result<Entry, Refusal<H::Error>> {
    let Some(entry) = batch.entry(key) else {
        return Err(Rejection::MemoryNotFound { key: key.clone() }.into());
    };
    match expected {
        Some(expected) if expected != entry.version => {
            let change = batch.newest_change(key)?;
            let current = entry.version;
            Err(Rejection::VersionConflict { key: key.clone(), expected, current, change }.into())
        }
        _ => Ok(entry.clone()),
    }
}
