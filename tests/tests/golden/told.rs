//! Everything that a store says, in words that do not depend on how the program is made.

use std::fmt::Write;

use bilinc::{ActionRecord, ActionStatus, Entry, HistoryState, Json, ListQuery, LogQuery, Memory, Timestamp, Version};

pub(super) fn all(memory: &Memory) -> String {
    let mut text = String::new();
    let head = memory.head().unwrap();
    writeln!(text, "store {} at {} {}", memory.store_id(), head.seq, head.chain).unwrap();
    entries(memory, &mut text);
    log(memory, &mut text);
    for snapshot in memory.snapshots(100).unwrap() {
        let (label, metadata) = (snapshot.label.as_deref().unwrap_or("-"), snapshot.metadata);
        let (id, seq, hash, types) = (snapshot.id, snapshot.seq, snapshot.root_hash, snapshot.by_type);
        writeln!(text, "snapshot {id} {seq} {label} {metadata} {types:?} {hash}").unwrap();
    }
    for dream in memory.dreams(100).unwrap() {
        let view = memory.dream(dream.dream).unwrap();
        let (phase, until) = (view.phase.name(), exact(view.undo_until));
        writeln!(text, "dream {} {phase} until {until}", view.dream).unwrap();
        for candidate in &view.candidates {
            writeln!(text, "  candidate {} {}", candidate.key, candidate.version).unwrap();
        }
        view.actions.iter().for_each(|one| action(one, &mut text));
        writeln!(text, "  report {}", json(&view.report)).unwrap();
        if let Some(undo) = view.undo {
            let keys: Vec<_> = undo.undone.restored.iter().map(|item| item.key.as_str()).collect();
            let kept: Vec<_> = undo.undone.conflicts.iter().map(|conflict| conflict.key.as_str()).collect();
            writeln!(text, "  undone {keys:?} but {kept:?}").unwrap();
        }
    }
    text
}

fn entries(memory: &Memory, text: &mut String) {
    for listed in memory.list(&ListQuery::default()).unwrap().entries {
        writeln!(text, "entry {} {}", listed.key, entry(&listed.entry)).unwrap();
        writeln!(text, "  {} {}", json(&listed.value), json(&listed.metadata)).unwrap();
    }
}

fn log(memory: &Memory, text: &mut String) {
    let query = LogQuery { oldest_first: true, include_values: true, limit: Some(1_000), ..LogQuery::default() };
    for event in memory.log(&query).unwrap().events {
        let (seq, at, op, source) = (event.seq, exact(event.operation.at), event.op, &event.source);
        let session = event.session_id.as_deref().unwrap_or("-");
        let key = event.event.key().map_or("-", |key| key.as_str());
        let reason = event.event.reason().unwrap_or("-");
        writeln!(text, "event {seq} {at} {op} {} {key} [{source}] {session} ({reason})", event.event.name()).unwrap();
        let (value, hidden, undoes) = (json(&event.value), event.values_redacted, event.event.undoes());
        let (version, name) = (version(event.event.version()), event.operation.idempotency.as_deref().unwrap_or("-"));
        let undoes: Vec<u64> = undoes.iter().map(|seq| seq.get()).collect();
        writeln!(text, "  {} {version} {value} hidden {hidden} undoes {undoes:?} name {name}", event.operation.id)
            .unwrap();
        if let Some(key) = event.event.key() {
            history(memory, key.as_str(), event.seq, text);
        }
    }
}

/// Both sides of one change.
fn history(memory: &Memory, key: &str, seq: bilinc::Seq, text: &mut String) {
    let items = memory.history(key, 1_000, true).unwrap().items;
    let item = items.iter().find(|item| item.seq == seq).unwrap();
    writeln!(text, "  before {}", side(&item.before)).unwrap();
    writeln!(text, "  after {}", side(&item.after)).unwrap();
}

fn side(state: &Option<HistoryState>) -> String {
    state.as_ref().map_or("-".into(), |state| format!("{} {}", entry(&state.entry), json(&state.value)))
}

fn entry(entry: &Entry) -> String {
    let facts = &entry.facts;
    let options = (facts.canonical, facts.priority, facts.ttl);
    let flags: Vec<_> = entry.flags.iter().map(|flag| (flag.seq.get(), flag.reason.as_ref())).collect();
    let (created, updated) = (exact(entry.created_at), exact(entry.updated_at));
    format!(
        "{} {} {:?} [{}] {} {options:?} {created} {updated} {} {flags:?}",
        entry.version,
        facts.memory_type,
        facts.importance,
        facts.source,
        facts.session_id.as_deref().unwrap_or("-"),
        entry.confirmed_at.map_or("-".into(), exact),
    )
}

fn action(record: &ActionRecord, text: &mut String) {
    let (op, key, named) = (record.op.name(), &record.key, version(record.expected_version));
    let became = match &record.status {
        ActionStatus::Applied { version: given } => format!("applied {}", version(*given)),
        ActionStatus::Conflict { current, change } => {
            let change = change.as_ref().map_or("-".into(), |change| format!("{} {}", change.op, change.seq));
            format!("conflict {} {change}", version(*current))
        }
        ActionStatus::Error { code, .. } => format!("error {code}"),
    };
    let keys = |keys: &[bilinc::Key]| keys.iter().map(ToString::to_string).collect::<Vec<_>>();
    let (merged, evidence) = (keys(&record.merged_from), keys(&record.evidence_keys));
    writeln!(text, "  {op} {key} {named} ({}) {merged:?} {evidence:?}: {became}", record.reason).unwrap();
}

fn version(version: Option<Version>) -> String {
    version.map_or("-".into(), |version| version.to_string())
}

fn json(json: &Option<Json>) -> &str {
    json.as_ref().map_or("-", Json::as_str)
}

fn exact(time: Timestamp) -> String {
    format!("{}us", time.micros())
}
