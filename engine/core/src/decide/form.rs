//! Form, limits and reserved keys: what can be judged without the state.

use alloc::format;
use alloc::string::String;

use crate::command::{Action, ActionOp, Command, Commit, ImportEntry, Selection};
use crate::event::{Actor, IdempotencyKey};
use crate::key::Key;
use crate::limits;
use crate::rejection::Rejection;

type Checked = Result<(), Rejection>;

pub(super) fn check(command: &Command, actor: &Actor, idempotency: Option<&IdempotencyKey>) -> Checked {
    text("source", &actor.source, 0, limits::SOURCE_CHARS)?;
    optional("session_id", actor.session_id.as_deref(), limits::SOURCE_CHARS)?;
    if let Some(key) = idempotency {
        text("idempotency_key", &key.name, 1, limits::IDEMPOTENCY_KEY_CHARS)?;
    }
    check_command(command)
}

pub(super) fn check_command(command: &Command) -> Checked {
    match command {
        Command::Commit(command) => {
            commit(command)?;
            not_reserved(&command.key)
        }
        Command::Revise(command) => {
            json_size("value", command.value.as_str().len(), limits::VALUE_BYTES)?;
            fraction("importance", command.importance)?;
            optional_reason(command.reason.as_deref())?;
            not_reserved(&command.key)
        }
        Command::Forget(command) => reason(&command.reason),
        Command::Confirm(command) => {
            optional_reason(command.reason.as_deref())?;
            not_reserved(&command.key)
        }
        Command::Flag(command) => {
            reason(&command.reason)?;
            keys("evidence_keys", command.evidence_keys.len())?;
            not_reserved(&command.key)
        }
        Command::Unflag(command) => optional_reason(command.reason.as_deref()),
        Command::Snapshot(command) => {
            optional("label", command.label.as_deref(), limits::LABEL_CHARS)?;
            metadata(command.metadata.as_ref().map(|json| json.as_str()))
        }
        Command::Rollback(command) => reason(&command.reason),
        Command::Import(page) => {
            count("entries", page.entries.len(), limits::IMPORT_ENTRIES)?;
            page.entries.iter().try_for_each(import_entry)
        }
        Command::DreamStart(command) => {
            if command.limit == 0 || command.limit > limits::DREAM_CANDIDATES {
                let message = format!("a dream has 1 to {} candidates", limits::DREAM_CANDIDATES);
                return Err(Rejection::invalid("limit", "out_of_range", message));
            }
            optional("prefix", command.prefix.as_deref(), limits::KEY_CHARS)
        }
        Command::DreamApply(command) => {
            count("actions", command.actions.len(), limits::PAGE_ACTIONS)?;
            if command.actions.is_empty() && !command.finish {
                return Err(Rejection::invalid(
                    "actions",
                    "required",
                    "a page that does not finish the dream needs actions",
                ));
            }
            if command.report.is_some() && !command.finish {
                let message = "a report goes with the page that finishes the dream";
                return Err(Rejection::invalid("report", "unexpected", message));
            }
            if let Some(report) = &command.report {
                json_size("report", report.as_str().len(), limits::REPORT_BYTES)?;
            }
            command.actions.iter().enumerate().try_for_each(|(index, one)| action(index, one))
        }
        Command::DreamUndo(_) => Ok(()),
        Command::Undo(command) => match &command.selection {
            Selection::Seqs(seqs) => count("seqs", seqs.len(), limits::UNDO_SEQS),
            Selection::Range(from, to) if from > to => {
                Err(Rejection::invalid("from_seq", "out_of_range", format!("{from} lies behind to_seq {to}")))
            }
            Selection::Time { after: None, before: None } => {
                Err(Rejection::invalid("after", "required", "a time range needs `after`, `before` or both"))
            }
            _ => Ok(()),
        },
    }
}

fn import_entry(entry: &ImportEntry) -> Checked {
    commit(&entry.commit)
}

fn commit(command: &Commit) -> Checked {
    json_size("value", command.value.as_str().len(), limits::VALUE_BYTES)?;
    metadata(command.metadata.as_ref().map(|json| json.as_str()))?;
    fraction("importance", command.importance)?;
    optional("source", command.source.as_deref(), limits::SOURCE_CHARS)?;
    optional("session_id", command.session_id.as_deref(), limits::SOURCE_CHARS)?;
    fraction("priority", command.priority)?;
    match command.ttl {
        Some(ttl) if !(ttl.is_finite() && ttl > 0.0) => {
            Err(Rejection::invalid("ttl", "out_of_range", "a time to live is a number of seconds above 0"))
        }
        _ => Ok(()),
    }
}

fn action(index: usize, action: &Action) -> Checked {
    let at = |field: &str| format!("actions[{index}].{field}");
    in_field(reason(&action.reason), &at("reason"))?;
    in_field(keys("evidence_keys", action.evidence_keys.len()), &at("evidence_keys"))?;
    in_field(keys("merged_from", action.merged_from.len()), &at("merged_from"))?;
    if action.op == ActionOp::Revise {
        if action.new_value.is_none() && action.refused.is_none() {
            return Err(Rejection::invalid(at("new_value"), "required", "a revise needs the new value"));
        }
        return Ok(());
    }
    if action.new_value.is_some() {
        return Err(Rejection::invalid(at("new_value"), "unexpected", "only a revise takes a new value"));
    }
    if !action.merged_from.is_empty() {
        return Err(Rejection::invalid(at("merged_from"), "unexpected", "only a revise folds other entries in"));
    }
    Ok(())
}

/// Names the same rejection for the field of an action.
fn in_field(checked: Checked, name: &str) -> Checked {
    checked.map_err(|rejection| match rejection {
        Rejection::Invalid { reason, message, .. } => Rejection::invalid(name, reason, message),
        other => other,
    })
}

fn not_reserved(key: &Key) -> Checked {
    if key.is_reserved() {
        let message =
            format!("keys that begin with `{}` hold dream reports; choose another key", crate::key::DREAM_PREFIX);
        return Err(Rejection::invalid("key", "reserved_key", message));
    }
    Ok(())
}

fn reason(text_: &str) -> Checked {
    if text_.trim().is_empty() {
        return Err(Rejection::invalid("reason", "required", "say why, in 1 to 512 characters"));
    }
    text("reason", text_, 1, limits::REASON_CHARS)
}

fn optional_reason(text_: Option<&str>) -> Checked {
    text_.map_or(Ok(()), reason)
}

fn optional(field: &str, value: Option<&str>, most: usize) -> Checked {
    value.map_or(Ok(()), |value| text(field, value, 0, most))
}

fn text(field: &str, value: &str, least: usize, most: usize) -> Checked {
    let chars = value.chars().count();
    if chars < least || chars > most {
        let message = format!("holds {least} to {most} characters, this one {chars}");
        return Err(Rejection::invalid(field, "out_of_range", message));
    }
    Ok(())
}

fn keys(field: &str, number: usize) -> Checked {
    count(field, number, limits::EVIDENCE_KEYS)
}

fn count(field: &str, number: usize, most: usize) -> Checked {
    if number > most {
        let message: String = format!("at most {most}, these are {number}");
        return Err(Rejection::invalid(field, "too_many", message));
    }
    Ok(())
}

fn fraction(field: &str, value: Option<f64>) -> Checked {
    match value {
        Some(value) if !(0.0..=1.0).contains(&value) => {
            Err(Rejection::invalid(field, "out_of_range", "a number from 0.0 to 1.0"))
        }
        _ => Ok(()),
    }
}

fn metadata(object: Option<&str>) -> Checked {
    let Some(object) = object else { return Ok(()) };
    if !object.starts_with('{') {
        return Err(Rejection::invalid("metadata", "not_an_object", "metadata is a JSON object"));
    }
    json_size("metadata", object.len(), limits::METADATA_BYTES)
}

fn json_size(field: &str, bytes: usize, limit: usize) -> Checked {
    if bytes > limit {
        let message = format!("{bytes} bytes as compact JSON, the limit is {limit}");
        return Err(Rejection::invalid(field, "too_large", message));
    }
    Ok(())
}
